// A captured tensor of which nothing is used: its gradient is 0 on a CPU, and an error on a GPU, also where a simplification has taken the read away.
// RUN: attn-run %s --random=1 --verify | FileCheck %s
// RUN: not attn-opt %s --target=sm_80 --emit=ptx -o - 2>&1 | FileCheck %s --check-prefix=GPU
// CHECK: verify: PASS
// GPU: unused-captures.mlir:9:10: error: 'attn.attention_backward' op expected score_mod to use what it reads of captures on a GPU: leave out of them what it does not

func.func @f(%q: tensor<1x2x64x64xf16>, %o: tensor<1x2x64x64xf16>, %lse: tensor<1x2x64xf32>, %t: tensor<64xf32>)
    -> (tensor<1x2x64x64xf16>, tensor<64xf32>) {
  %d:4 = attn.attention_backward %q, %q, %q output(%o : tensor<1x2x64x64xf16>) lse(%lse : tensor<1x2x64xf32>) d_output(%o : tensor<1x2x64x64xf16>)
      captures(%t : tensor<64xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %y = tensor.extract %t[%j] : tensor<64xf32>
        %r = arith.addf %s, %y : f32
        attn.yield %s : f32
      }
      : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> -> tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16> d_captures(tensor<64xf32>)
  return %d#0, %d#3 : tensor<1x2x64x64xf16>, tensor<64xf32>
}
