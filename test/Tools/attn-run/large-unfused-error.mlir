// Scores whose differences f32 rounds away beside -1e9: the unfused computation is as wrong, which is said.
// RUN: attn-run %s --random=1 --verify | FileCheck %s
// CHECK: result 0: the unfused error is {{[0-9][0-9]+}}% of the result, by which the rule proves little
// CHECK-NEXT: verify: PASS

func.func @f(%q: tensor<1x1x16x32xf16>, %k: tensor<1x1x64x32xf16>, %v: tensor<1x1x64x32xf16>) -> tensor<1x1x16x32xf16> {
  %o = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %low = arith.constant -1.0e+9 : f32
    %r = arith.addf %s, %low : f32
    attn.yield %r : f32
  } : tensor<1x1x16x32xf16>, tensor<1x1x64x32xf16>, tensor<1x1x64x32xf16> -> tensor<1x1x16x32xf16>
  return %o : tensor<1x1x16x32xf16>
}
