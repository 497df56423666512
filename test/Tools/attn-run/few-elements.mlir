// A gradient of two elements, for inputs of which the unfused computation has a small error by chance, and for others.

// RUN: attn-opt --attn-grad=recompute=true %s -o %t.mlir
// RUN: attn-run %t.mlir --function=f_grad --random=1 --verify | FileCheck %s
// RUN: not attn-run %t.mlir --function=f_grad --random=19 --verify | FileCheck %s --check-prefix=CHANCE

// Over several inputs, of which that is one.
// RUN: attn-run %t.mlir --function=f_grad --random=15 --trials=8 --verify | FileCheck %s --check-prefix=TRIALS

// TRIALS: reference: attention by definition in float64; the worst of 8 runs
// TRIALS: 2xf32 {{.*}} pass
// TRIALS-NEXT: result 3: judged by the medians of 8 runs; the worst is shown
// TRIALS-NEXT: verify: PASS

// CHECK: 2xf32 {{.*}} pass
// CHECK: verify: PASS

// CHANCE: 2xf32 {{.*}} FAIL
// CHANCE: result 3: of 2 elements that are neither 0 nor infinite, whose error beside the unfused one is mostly chance: compare both over several inputs by --trials=8
// CHANCE: result 3: worst at [{{[01]}}]: expected {{.*}}, got
// CHANCE: verify: FAIL

func.func @f(%q: tensor<2x4x70x16xf16>, %k: tensor<2x2x77x16xf16>, %v: tensor<2x2x77x16xf16>, %t: tensor<2xf32>) -> tensor<2x4x70x16xf16> {
  %o, %lse = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %x = tensor.extract %t[%b] : tensor<2xf32>
    %y = math.tanh %s : f32
    %r = arith.mulf %x, %y : f32
    attn.yield %r : f32
  } mask_mod causal(bottom_right) : tensor<2x4x70x16xf16>, tensor<2x2x77x16xf16>, tensor<2x2x77x16xf16> -> tensor<2x4x70x16xf16>, tensor<2x4x70xf32>
  return %o : tensor<2x4x70x16xf16>
}

// An LSE of two rows with a key among 200 is one of few elements.
// RUN: attn-run %s --function=last_row --device=sim:sm_80 --random=1000 --trials=32 --verify | FileCheck %s --check-prefix=ROWS
// ROWS: result 1: judged by the medians of 32 runs; the worst is shown
// ROWS-NEXT: verify: PASS
func.func @last_row(%q: tensor<1x2x100x32xbf16>, %k: tensor<1x1x1x32xbf16>, %v: tensor<1x1x1x32xbf16>, %w: tensor<32xf32>) -> (tensor<1x2x100x32xbf16>, tensor<1x2x100xf32>) {
  %n = attn.qk_norm %k weight(%w : tensor<32xf32>) epsilon(0.01) : tensor<1x1x1x32xbf16>
  %o, %l = attn.attention %q, %n, %v mask_mod causal(bottom_right) : tensor<1x2x100x32xbf16>, tensor<1x1x1x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x2x100x32xbf16>, tensor<1x2x100xf32>
  return %o, %l : tensor<1x2x100x32xbf16>, tensor<1x2x100xf32>
}
