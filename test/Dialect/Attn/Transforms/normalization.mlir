// The state of each row reduction through the tiled form, and what it becomes on a CPU.
// RUN: attn-opt %s --attn-to-scheduled=target=sm_80 --attn-to-tiled | FileCheck %s --check-prefix=TILED
// RUN: attn-opt %s --attn-to-scheduled=target=cpu --attn-to-tiled --attn-pad-tiles --attn-decompose-online | FileCheck %s --check-prefix=CPU

!q = tensor<1x2x256x64xf16>

// Nothing but the accumulator is carried.
// TILED-LABEL: @none
// TILED: scf.for {{.*}} iter_args(%{{[^,]*}}) -> (tensor<1x1x{{[0-9]+}}x64xf32>)
// TILED: attn.online_attention {{.*}} normalization(#attn.none)
// TILED: attn.normalize {{.*}} normalization(#attn.none)
// CPU-LABEL: @none
// CPU-NOT: math.exp
// CPU-NOT: arith.divf
// CPU-NOT: arith.maximumf
// CPU-LABEL: @sum
// CPU-NOT: arith.maximumf
// CPU: arith.divf
func.func @none(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q normalization(#attn.none)
      mask_mod causal(top_left) : !q, !q, !q -> !q
  return %o : !q
}

// TILED-LABEL: @sum
// TILED: scf.for {{.*}} -> (tensor<1x1x{{[0-9]+}}x64xf32>, tensor<1x1x{{[0-9]+}}xf32>)
// TILED: attn.online_attention {{.*}} normalization(#attn.sum<
func.func @sum(%q: !q) -> !q {
  %o = attn.attention %q, %q, %q normalization(#attn.sum<0.0>)
      : !q, !q, !q -> !q
  return %o : !q
}
