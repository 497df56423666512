// Keys and values that a graph widens from 8 bits and multiplies by a number each are read as they are, with descales.
// RUN: attn-opt %s --attn-raise --split-input-file | FileCheck %s
// RUN: awk '/^\/\/ -----/ {exit} {print}' %s > %t.mlir
// RUN: attn-run %t.mlir --raise --function=scalars --random=1 --verify | FileCheck %s --check-prefix=PASSES
// RUN: attn-run %t.mlir --raise --function=scalars --random=2 --device=sim:sm_80 --verify | FileCheck %s --check-prefix=PASSES
// RUN: attn-run %t.mlir --raise --function=scalars --random=3 --device=sim:sm_90a --verify | FileCheck %s --check-prefix=PASSES
// RUN: attn-run %t.mlir --raise --function=integers --fill=arg1=normal --fill=arg2=normal --random=4 --device=sim:sm_80 --verify | FileCheck %s --check-prefix=PASSES
// RUN: attn-run %t.mlir --raise --function=tokens --random=5 --verify | FileCheck %s --check-prefix=PASSES
// RUN: attn-run %t.mlir --raise --function=tokens --random=6 --device=sim:sm_80 --verify | FileCheck %s --check-prefix=PASSES
// RUN: attn-run %t.mlir --raise --function=tokens --random=7 --device=sim:sm_90a --verify 2>/dev/null | FileCheck %s --check-prefix=PASSES
// PASSES: verify: PASS

#id = affine_map<(b, h, j, d) -> (b, h, j, d)>
#moved = affine_map<(b, h, j, d) -> (b, j, h, d)>
#one = affine_map<(b, h, j, d) -> ()>
#row = affine_map<(b, h, j, d) -> (b, h, j)>
#token = affine_map<(b, h, j, d) -> (b, j)>
#loops = ["parallel", "parallel", "parallel", "parallel"]

// Rounded to the query's type where the graph does: what is read is not.
// CHECK-LABEL: func @scalars
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x16x32xf16>, %[[K:.*]]: tensor<2x2x24x32xf8E4M3FN>, %[[V:.*]]: tensor<2x24x2x32xf8E4M3FN>, %[[SK:.*]]: tensor<f32>, %[[SV:.*]]: tensor<1xf16>)
// CHECK: %[[ROWS:.*]] = linalg.transpose ins(%[[V]] : tensor<2x24x2x32xf8E4M3FN>) outs({{.*}} : tensor<2x2x24x32xf8E4M3FN>) permutation = [0, 2, 1, 3]
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[SK]][] : tensor<f32>
// CHECK: %[[DK:.*]] = tensor.from_elements %[[NUMBER]] : tensor<1xf32>
// CHECK: %[[HALF:.*]] = tensor.extract %[[SV]][%{{.*}}] : tensor<1xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[HALF]] : f16 to f32
// CHECK: %[[SCALED:.*]] = arith.mulf %[[WIDE]], %{{.*}} : f32
// CHECK: %[[DV:.*]] = tensor.from_elements %[[SCALED]] : tensor<1xf32>
// CHECK: attn.attention %[[Q]], %[[K]], %[[ROWS]] descale(%[[DK]], %[[DV]] : tensor<1xf32>, tensor<1xf32>)
func.func @scalars(%q: tensor<2x4x16x32xf16>, %k8: tensor<2x2x24x32xf8E4M3FN>, %v8: tensor<2x24x2x32xf8E4M3FN>, %sk: tensor<f32>, %sv: tensor<1xf16>) -> tensor<2x4x16x32xf16> {
  %e = tensor.empty() : tensor<2x2x24x32xf16>
  %k = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = #loops} ins(%k8, %sk : tensor<2x2x24x32xf8E4M3FN>, tensor<f32>) outs(%e : tensor<2x2x24x32xf16>) {
  ^bb0(%x: f8E4M3FN, %s: f32, %o: f16):
    %w = arith.extf %x : f8E4M3FN to f32
    %p = arith.mulf %w, %s : f32
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x2x24x32xf16>
  %c0 = arith.constant 0 : index
  %four = arith.constant 4.0 : f16
  %v = linalg.generic {indexing_maps = [#moved, #id], iterator_types = #loops} ins(%v8 : tensor<2x24x2x32xf8E4M3FN>) outs(%e : tensor<2x2x24x32xf16>) {
  ^bb0(%x: f8E4M3FN, %o: f16):
    %w = arith.extf %x : f8E4M3FN to f16
    %s = tensor.extract %sv[%c0] : tensor<1xf16>
    %t = arith.divf %s, %four : f16
    %p = arith.mulf %w, %t : f16
    linalg.yield %p : f16
  } -> tensor<2x2x24x32xf16>
  %o = attn.attention %q, %k, %v : tensor<2x4x16x32xf16>, tensor<2x2x24x32xf16>, tensor<2x2x24x32xf16> -> tensor<2x4x16x32xf16>
  return %o : tensor<2x4x16x32xf16>
}

// Of integers.
// CHECK-LABEL: func @integers
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} descale(%{{.*}}, %{{.*}} : tensor<1xf32>, tensor<1xf32>) : tensor<2x4x16x32xf16>, tensor<2x2x24x32xi8>, tensor<2x2x24x32xi8>
func.func @integers(%q: tensor<2x4x16x32xf16>, %k8: tensor<2x2x24x32xi8>, %v8: tensor<2x24x2x32xi8>) -> tensor<2x4x16x32xf16> {
  %e = tensor.empty() : tensor<2x2x24x32xf16>
  %small = arith.constant 0.02 : f32
  %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = #loops} ins(%k8 : tensor<2x2x24x32xi8>) outs(%e : tensor<2x2x24x32xf16>) {
  ^bb0(%x: i8, %o: f16):
    %w = arith.sitofp %x : i8 to f32
    %p = arith.mulf %w, %small : f32
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x2x24x32xf16>
  %v = linalg.generic {indexing_maps = [#moved, #id], iterator_types = #loops} ins(%v8 : tensor<2x24x2x32xi8>) outs(%e : tensor<2x2x24x32xf16>) {
  ^bb0(%x: i8, %o: f16):
    %w = arith.sitofp %x : i8 to f16
    linalg.yield %w : f16
  } -> tensor<2x2x24x32xf16>
  %o = attn.attention %q, %k, %v : tensor<2x4x16x32xf16>, tensor<2x2x24x32xf16>, tensor<2x2x24x32xf16> -> tensor<2x4x16x32xf16>
  return %o : tensor<2x4x16x32xf16>
}

// Numbers of tokens, of heads or of all, are factors: of scores before a score_mod, and of weights.
// CHECK-LABEL: func @tokens
// CHECK-SAME: %[[SK:[^ ]*]]: tensor<2x2x24xf32>, %[[SV:[^ ]*]]: tensor<2x24xf16>)
// CHECK: attn.attention {{.*}} score_mod (%[[S:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %{{.*}}: index, %[[J:.*]]: index) {
// CHECK: %[[KEY_HEAD:.*]] = arith.divui %[[H]], %c2
// CHECK: %[[FK:.*]] = tensor.extract %[[SK]][%[[B]], %[[KEY_HEAD]], %[[J]]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[S]], %[[FK]]
// CHECK: arith.divf %[[SCALED]]
// CHECK: mask_mod causal(bottom_right) prob_mod (%[[P:.*]]: f32, %[[PB:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[PJ:.*]]: index) {
// CHECK: %[[FV:.*]] = tensor.extract %[[SV]][%[[PB]], %[[PJ]]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[FV]]
// CHECK: arith.mulf %[[P]], %[[WIDE]]
// CHECK: : tensor<2x4x16x32xf16>, tensor<2x2x24x32xi8>, tensor<2x2x24x32xi8>
func.func @tokens(%q: tensor<2x4x16x32xf16>, %k8: tensor<2x2x24x32xi8>, %v8: tensor<2x24x2x32xi8>, %sk: tensor<2x2x24xf32>, %sv: tensor<2x24xf16>) -> tensor<2x4x16x32xf16> {
  %e = tensor.empty() : tensor<2x2x24x32xf16>
  %k = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = #loops} ins(%k8, %sk : tensor<2x2x24x32xi8>, tensor<2x2x24xf32>) outs(%e : tensor<2x2x24x32xf16>) {
  ^bb0(%x: i8, %s: f32, %o: f16):
    %w = arith.sitofp %x : i8 to f32
    %p = arith.mulf %w, %s : f32
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x2x24x32xf16>
  %v = linalg.generic {indexing_maps = [#moved, #token, #id], iterator_types = #loops} ins(%v8, %sv : tensor<2x24x2x32xi8>, tensor<2x24xf16>) outs(%e : tensor<2x2x24x32xf16>) {
  ^bb0(%x: i8, %s: f16, %o: f16):
    %w = arith.sitofp %x : i8 to f16
    %p = arith.mulf %s, %w : f16
    linalg.yield %p : f16
  } -> tensor<2x2x24x32xf16>
  %o = attn.attention %q, %k, %v score_mod soft_cap(5.0) mask_mod causal(bottom_right) : tensor<2x4x16x32xf16>, tensor<2x2x24x32xf16>, tensor<2x2x24x32xf16> -> tensor<2x4x16x32xf16>
  return %o : tensor<2x4x16x32xf16>
}

// -----

// Constants, in two ops; from a matrix of all heads.
#id = affine_map<(b, j, c) -> (b, j, c)>
#loops = ["parallel", "parallel", "parallel"]
// CHECK-LABEL: func @constants
// CHECK-DAG: %[[DK:.*]] = arith.constant dense<2.500000e-01> : tensor<1xf32>
// CHECK-DAG: %[[DV:.*]] = arith.constant dense<1.500000e+00> : tensor<1xf32>
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} descale(%[[DK]], %[[DV]] : tensor<1xf32>, tensor<1xf32>)
// CHECK-SAME: tensor<2x2x16x32xbf16>, tensor<2x2x?x32xf8E5M2>, tensor<2x2x?x32xf8E5M2>
func.func @constants(%q: tensor<2x2x16x32xbf16>, %k8: tensor<2x?x64xf8E5M2>, %v8: tensor<2x?x64xf8E5M2>, %n: index) -> tensor<2x2x16x32xbf16> {
  %quarter = arith.constant 0.25 : f32
  %three = arith.constant 3.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty(%n) : tensor<2x?x64xf32>
  %eb = tensor.empty(%n) : tensor<2x?x64xbf16>
  %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = #loops} ins(%k8 : tensor<2x?x64xf8E5M2>) outs(%eb : tensor<2x?x64xbf16>) {
  ^bb0(%x: f8E5M2, %o: bf16):
    %w = arith.extf %x : f8E5M2 to f32
    %p = arith.mulf %w, %quarter : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x?x64xbf16>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = #loops} ins(%v8 : tensor<2x?x64xf8E5M2>) outs(%e : tensor<2x?x64xf32>) {
  ^bb0(%x: f8E5M2, %o: f32):
    %w = arith.extf %x : f8E5M2 to f32
    %p = arith.mulf %w, %three : f32
    linalg.yield %p : f32
  } -> tensor<2x?x64xf32>
  %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = #loops} ins(%wide : tensor<2x?x64xf32>) outs(%eb : tensor<2x?x64xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %p = arith.mulf %x, %half : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x?x64xbf16>
  %k4 = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [2, %n, 2, 32] : tensor<2x?x64xbf16> into tensor<2x?x2x32xbf16>
  %v4 = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, %n, 2, 32] : tensor<2x?x64xbf16> into tensor<2x?x2x32xbf16>
  %e4 = tensor.empty(%n) : tensor<2x2x?x32xbf16>
  %kt = linalg.transpose ins(%k4 : tensor<2x?x2x32xbf16>) outs(%e4 : tensor<2x2x?x32xbf16>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v4 : tensor<2x?x2x32xbf16>) outs(%e4 : tensor<2x2x?x32xbf16>) permutation = [0, 2, 1, 3]
  %o = attn.attention %q, %kt, %vt : tensor<2x2x16x32xbf16>, tensor<2x2x?x32xbf16>, tensor<2x2x?x32xbf16> -> tensor<2x2x16x32xbf16>
  return %o : tensor<2x2x16x32xbf16>
}

// -----

// A number for each column is no descale, and a key alone no cache.
#id = affine_map<(b, h, j, d) -> (b, h, j, d)>
#column = affine_map<(b, h, j, d) -> (d)>
#loops = ["parallel", "parallel", "parallel", "parallel"]
// CHECK-LABEL: func @columns
// CHECK: attn.attention
// CHECK-SAME: tensor<1x1x4x32xf16>, tensor<1x1x8x32xf16>, tensor<1x1x8x32xf16>
// CHECK: attn.attention
// CHECK-SAME: tensor<1x1x4x32xf16>, tensor<1x1x8x32xf16>, tensor<1x1x8x32xf16>
func.func @columns(%q: tensor<1x1x4x32xf16>, %k8: tensor<1x1x8x32xf8E4M3FN>, %v: tensor<1x1x8x32xf16>, %s: tensor<32xf16>) -> (tensor<1x1x4x32xf16>, tensor<1x1x4x32xf16>) {
  %e = tensor.empty() : tensor<1x1x8x32xf16>
  %two = arith.constant 2.0 : f16
  %a = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = #loops} ins(%k8, %s : tensor<1x1x8x32xf8E4M3FN>, tensor<32xf16>) outs(%e : tensor<1x1x8x32xf16>) {
  ^bb0(%x: f8E4M3FN, %y: f16, %o: f16):
    %w = arith.extf %x : f8E4M3FN to f16
    %p = arith.mulf %w, %y : f16
    linalg.yield %p : f16
  } -> tensor<1x1x8x32xf16>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = #loops} ins(%k8 : tensor<1x1x8x32xf8E4M3FN>) outs(%e : tensor<1x1x8x32xf16>) {
  ^bb0(%x: f8E4M3FN, %o: f16):
    %w = arith.extf %x : f8E4M3FN to f16
    %p = arith.mulf %w, %two : f16
    linalg.yield %p : f16
  } -> tensor<1x1x8x32xf16>
  %0 = attn.attention %q, %a, %a : tensor<1x1x4x32xf16>, tensor<1x1x8x32xf16>, tensor<1x1x8x32xf16> -> tensor<1x1x4x32xf16>
  %1 = attn.attention %q, %b, %v : tensor<1x1x4x32xf16>, tensor<1x1x8x32xf16>, tensor<1x1x8x32xf16> -> tensor<1x1x4x32xf16>
  return %0, %1 : tensor<1x1x4x32xf16>, tensor<1x1x4x32xf16>
}

// -----

// Which key head a query head has must be known.
#id = affine_map<(b, h, j, d) -> (b, h, j, d)>
#row = affine_map<(b, h, j, d) -> (b, h, j)>
#loops = ["parallel", "parallel", "parallel", "parallel"]
// CHECK-LABEL: func @unknown_heads
// CHECK: attn.attention
// CHECK-SAME: tensor<1x?x4x32xf16>, tensor<1x2x8x32xf16>, tensor<1x2x8x32xf16>
func.func @unknown_heads(%q: tensor<1x?x4x32xf16>, %k8: tensor<1x2x8x32xi8>, %s: tensor<1x2x8xf16>) -> tensor<1x?x4x32xf16> {
  %e = tensor.empty() : tensor<1x2x8x32xf16>
  %k = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = #loops} ins(%k8, %s : tensor<1x2x8x32xi8>, tensor<1x2x8xf16>) outs(%e : tensor<1x2x8x32xf16>) {
  ^bb0(%x: i8, %y: f16, %o: f16):
    %w = arith.sitofp %x : i8 to f16
    %p = arith.divf %w, %y : f16
    linalg.yield %p : f16
  } -> tensor<1x2x8x32xf16>
  %o = attn.attention %q, %k, %k : tensor<1x?x4x32xf16>, tensor<1x2x8x32xf16>, tensor<1x2x8x32xf16> -> tensor<1x?x4x32xf16>
  return %o : tensor<1x?x4x32xf16>
}
