// Attentions in the trips of a parallel loop, by themselves and in what is called: on the CPU their own loops are the parallel ones.
// RUN: attn-run %s --function=direct --threads=2 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=called --threads=2 --random=2 --verify | FileCheck %s
// RUN: attn-run %s --function=direct --device=sim:sm_80 --random=3 --verify | FileCheck %s
// CHECK: verify: PASS

!x = tensor<1x2x40x32xf16>
func.func @direct(%q: !x, %k: !x) -> tensor<3x1x2x40x32xf16> {
  %e = tensor.empty() : tensor<3x1x2x40x32xf16>
  %o = scf.forall (%t) in (3) shared_outs(%all = %e) -> tensor<3x1x2x40x32xf16> {
    %y = attn.attention %q, %k, %k : !x, !x, !x -> !x
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %all[%t, 0, 0, 0, 0] [1, 1, 2, 40, 32] [1, 1, 1, 1, 1] : !x into tensor<3x1x2x40x32xf16>
    }
  }
  return %o : tensor<3x1x2x40x32xf16>
}

func.func private @layer(%q: !x, %k: !x) -> !x {
  %y = attn.attention %q, %k, %k mask_mod causal(top_left) : !x, !x, !x -> !x
  return %y : !x
}

func.func @called(%q: !x, %k: !x) -> tensor<3x1x2x40x32xf16> {
  %e = tensor.empty() : tensor<3x1x2x40x32xf16>
  %o = scf.forall (%t) in (3) shared_outs(%all = %e) -> tensor<3x1x2x40x32xf16> {
    %y = func.call @layer(%q, %k) : (!x, !x) -> !x
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %all[%t, 0, 0, 0, 0] [1, 1, 2, 40, 32] [1, 1, 1, 1, 1] : !x into tensor<3x1x2x40x32xf16>
    }
  }
  return %o : tensor<3x1x2x40x32xf16>
}
