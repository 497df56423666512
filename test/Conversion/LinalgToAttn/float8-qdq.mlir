// Attention of which a graph quantises and dequantises query, key and value, by scales of tensors, and the result of the softmax, by a constant, as eager
// Q/DQ modules export it: of the bytes, by products of 8 bits, with the scales as descales. Weights that the graph does not round, or to another type, keep
// products of the wider type, which a remark says.
// RUN: attn-opt %s --attn-raise | FileCheck %s
// RUN: attn-run %s --raise --random=1 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --raise --device=sim:sm_89 --random=2 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --raise --device=sim:sm_90a --random=3 --verify | FileCheck %s --check-prefix=PASS
// RUN: %if long %{ attn-run %s --raise --device=sim:sm_100a --random=4 --verify | FileCheck %s --check-prefix=PASS %}
// CHECK-LABEL: func @f
// CHECK-SAME: %[[SQ:[a-z0-9]*]]: tensor<f32>, %[[SK:[a-z0-9]*]]: tensor<f32>, %[[SV:[a-z0-9]*]]: tensor<f32>)
// CHECK-COUNT-3: arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK-NOT: arith.extf
// CHECK: tensor.extract %[[SQ]][]
// CHECK: tensor.extract %[[SK]][]
// CHECK: tensor.extract %[[SV]][]
// CHECK-NOT: linalg.generic
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} descale(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) scale({{.*}}) : tensor<8x1x48x64xf8E4M3FN>, tensor<8x1x80x64xf8E4M3FN>, tensor<8x1x80x64xf8E4M3FN> -> tensor<8x1x48x64xf32>
// CHECK-NOT: arith.truncf
// PASS: verify: PASS

// RUN: sed '/WEIGHTS[-]BEGIN/,/WEIGHTS[-]END/d; s/ins(.pq, /ins(%%p, /' %s > %t.plain.mlir
// RUN: attn-opt %t.plain.mlir --attn-raise -o %t 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: FileCheck %s --check-prefix=WIDE < %t
// PLAIN: remark: query, key and value are of 8 bits in the graph, and their products of 'f32': the graph does not round weights, which products of 8 bits do
// WIDE: attn.attention {{.*}} : tensor<8x1x48x64xf32>, tensor<8x1x80x64xf32>, tensor<8x1x80x64xf32>
// RUN: sed '/WEIGHTS[-]BEGIN/,/WEIGHTS[-]END/s/f8E4M3FN/f8E5M2/g' %s > %t.other.mlir
// RUN: attn-opt %t.other.mlir --attn-raise -o %t 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: remark: query, key and value are of 8 bits in the graph, and their products of 'f32': the graph rounds weights to f8E5M2, and kernels to the type of the value, f8E4M3FN
// RUN: sed '/VALUE[-]BEGIN/,/VALUE[-]END/s/f8E4M3FN/f8E5M2/g' %s > %t.mixed.mlir
// RUN: attn-opt %t.mixed.mlir --attn-raise -o %t 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: remark: query, key and value are of 8 bits in the graph, and their products of 'f32': the graph rounds weights to f8E4M3FN, and kernels to the type of the value, f8E5M2
// RUN: sed '/WEIGHTS[-]BEGIN/,/WEIGHTS[-]END/s/f8E4M3FN/f8E5M2/g' %t.mixed.mlir > %t.types.mlir
// RUN: attn-opt %t.types.mlir --attn-raise | FileCheck %s --check-prefix=TYPES
// RUN: attn-run %t.types.mlir --raise --device=sim:sm_89 --random=5 --verify | FileCheck %s --check-prefix=PASS
// TYPES: attn.attention {{.*}} descale({{.*}} : tensor<8x1x48x64xf8E4M3FN>, tensor<8x1x80x64xf8E4M3FN>, tensor<8x1x80x64xf8E5M2> -> tensor<8x1x48x64xf32>
// RUN: sed '/QUERY[-]BEGIN/,/QUERY[-]END/{s/tensor<f32>/tensor<8xf32>/g; s/#number/#head/}; s/sq: tensor<f32>/sq: tensor<8xf32>/' %s > %t.heads.mlir
// RUN: attn-opt %t.heads.mlir --attn-raise -o %t 2>&1 | FileCheck %s --check-prefix=HEADS
// HEADS: remark: query, key and value are of 8 bits in the graph, and their products of 'f32': they have scales of heads or tokens

// Scales that are constants, as calibration leaves them; that of the scores behind the query's.
// RUN: sed 's/f %\([xw]\), %%s : f32/f %\1, %%sc : f32/; s/^  %zero = .*/&\n  %%sc = arith.constant 0.0123 : f32/' %s > %t.constants.mlir
// RUN: attn-opt %t.constants.mlir --attn-raise | FileCheck %s --check-prefix=CONSTANTS
// RUN: attn-run %t.constants.mlir --raise --device=sim:sm_89 --random=5 --verify | FileCheck %s --check-prefix=PASS
// CONSTANTS: arith.constant dense<1.230000e-02> : tensor<1xf32>
// CONSTANTS: attn.attention {{.*}} descale(

#id = affine_map<(h, i, d) -> (h, i, d)>
#number = affine_map<(h, i, d) -> ()>
#head = affine_map<(h, i, d) -> (h)>
#p3 = ["parallel", "parallel", "parallel"]
func.func @f(%q: tensor<1x8x48x64xf32>, %k: tensor<1x8x80x64xf32>, %v: tensor<1x8x80x64xf32>, %sq: tensor<f32>, %sk: tensor<f32>, %sv: tensor<f32>) -> tensor<1x8x48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 448.0 : f32
  %least = arith.constant -448.0 : f32
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<1x8x48x64xf32> into tensor<8x48x64xf32>
  %k3 = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<1x8x80x64xf32> into tensor<8x80x64xf32>
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<1x8x80x64xf32> into tensor<8x80x64xf32>
  // QUERY-BEGIN
  %qe8 = tensor.empty() : tensor<8x48x64xf8E4M3FN>
  %q8 = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = #p3} ins(%q3, %sq : tensor<8x48x64xf32>, tensor<f32>) outs(%qe8 : tensor<8x48x64xf8E4M3FN>) {
  ^bb0(%x: f32, %s: f32, %o: f8E4M3FN):
    %y = arith.divf %x, %s : f32
    %lo = arith.maximumf %y, %least : f32
    %hi = arith.minimumf %lo, %most : f32
    %r = arith.truncf %hi : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<8x48x64xf8E4M3FN>
  %qe = tensor.empty() : tensor<8x48x64xf32>
  %qw = linalg.generic {indexing_maps = [#id, #id], iterator_types = #p3} ins(%q8 : tensor<8x48x64xf8E4M3FN>) outs(%qe : tensor<8x48x64xf32>) {
  ^bb0(%x: f8E4M3FN, %o: f32):
    %r = arith.extf %x : f8E4M3FN to f32
    linalg.yield %r : f32
  } -> tensor<8x48x64xf32>
  %qs = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = #p3} ins(%qw, %sq : tensor<8x48x64xf32>, tensor<f32>) outs(%qe : tensor<8x48x64xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %r = arith.mulf %x, %s : f32
    linalg.yield %r : f32
  } -> tensor<8x48x64xf32>
  // QUERY-END
  %ke8 = tensor.empty() : tensor<8x80x64xf8E4M3FN>
  %ke = tensor.empty() : tensor<8x80x64xf32>
  %k8 = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = #p3} ins(%k3, %sk : tensor<8x80x64xf32>, tensor<f32>) outs(%ke8 : tensor<8x80x64xf8E4M3FN>) {
  ^bb0(%x: f32, %s: f32, %o: f8E4M3FN):
    %y = arith.divf %x, %s : f32
    %lo = arith.maximumf %y, %least : f32
    %hi = arith.minimumf %lo, %most : f32
    %r = arith.truncf %hi : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<8x80x64xf8E4M3FN>
  // In one op, as fusion leaves it.
  %ks = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = #p3} ins(%k8, %sk : tensor<8x80x64xf8E4M3FN>, tensor<f32>) outs(%ke : tensor<8x80x64xf32>) {
  ^bb0(%x: f8E4M3FN, %s: f32, %o: f32):
    %w = arith.extf %x : f8E4M3FN to f32
    %r = arith.mulf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<8x80x64xf32>
  // VALUE-BEGIN
  %ve8 = tensor.empty() : tensor<8x80x64xf8E4M3FN>
  %v8 = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = #p3} ins(%v3, %sv : tensor<8x80x64xf32>, tensor<f32>) outs(%ve8 : tensor<8x80x64xf8E4M3FN>) {
  ^bb0(%x: f32, %s: f32, %o: f8E4M3FN):
    %y = arith.divf %x, %s : f32
    %lo = arith.maximumf %y, %least : f32
    %hi = arith.minimumf %lo, %most : f32
    %r = arith.truncf %hi : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<8x80x64xf8E4M3FN>
  %vw = linalg.generic {indexing_maps = [#id, #id], iterator_types = #p3} ins(%v8 : tensor<8x80x64xf8E4M3FN>) outs(%ke : tensor<8x80x64xf32>) {
  ^bb0(%x: f8E4M3FN, %o: f32):
    %r = arith.extf %x : f8E4M3FN to f32
    linalg.yield %r : f32
  } -> tensor<8x80x64xf32>
  // VALUE-END
  %vs = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = #p3} ins(%vw, %sv : tensor<8x80x64xf32>, tensor<f32>) outs(%ke : tensor<8x80x64xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %r = arith.mulf %x, %s : f32
    linalg.yield %r : f32
  } -> tensor<8x80x64xf32>
  %te = tensor.empty() : tensor<8x64x80xf32>
  %kt = linalg.transpose ins(%ks : tensor<8x80x64xf32>) outs(%te : tensor<8x64x80xf32>) permutation = [0, 2, 1]
  %se = tensor.empty() : tensor<8x48x80xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<8x48x80xf32>) -> tensor<8x48x80xf32>
  %s1 = linalg.batch_matmul ins(%qs, %kt : tensor<8x48x64xf32>, tensor<8x64x80xf32>) outs(%s0 : tensor<8x48x80xf32>) -> tensor<8x48x80xf32>
  %s2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = #p3} ins(%s1 : tensor<8x48x80xf32>) outs(%se : tensor<8x48x80xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.constant 0.125 : f32
    %r = arith.mulf %x, %c : f32
    linalg.yield %r : f32
  } -> tensor<8x48x80xf32>
  %p = linalg.softmax dimension(2) ins(%s2 : tensor<8x48x80xf32>) outs(%se : tensor<8x48x80xf32>) -> tensor<8x48x80xf32>
  // WEIGHTS-BEGIN
  %pe8 = tensor.empty() : tensor<8x48x80xf8E4M3FN>
  %p8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = #p3} ins(%p : tensor<8x48x80xf32>) outs(%pe8 : tensor<8x48x80xf8E4M3FN>) {
  ^bb0(%x: f32, %o: f8E4M3FN):
    %c = arith.constant 2.232143e-03 : f32
    %y = arith.divf %x, %c : f32
    %lo = arith.maximumf %y, %least : f32
    %hi = arith.minimumf %lo, %most : f32
    %r = arith.truncf %hi : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<8x48x80xf8E4M3FN>
  %pw = linalg.generic {indexing_maps = [#id, #id], iterator_types = #p3} ins(%p8 : tensor<8x48x80xf8E4M3FN>) outs(%se : tensor<8x48x80xf32>) {
  ^bb0(%x: f8E4M3FN, %o: f32):
    %r = arith.extf %x : f8E4M3FN to f32
    linalg.yield %r : f32
  } -> tensor<8x48x80xf32>
  %pq = linalg.generic {indexing_maps = [#id, #id], iterator_types = #p3} ins(%pw : tensor<8x48x80xf32>) outs(%se : tensor<8x48x80xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.constant 2.232143e-03 : f32
    %r = arith.mulf %x, %c : f32
    linalg.yield %r : f32
  } -> tensor<8x48x80xf32>
  // WEIGHTS-END
  %oe = tensor.empty() : tensor<8x48x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
  %o1 = linalg.batch_matmul ins(%pq, %vs : tensor<8x48x80xf32>, tensor<8x80x64xf32>) outs(%o0 : tensor<8x48x64xf32>) -> tensor<8x48x64xf32>
  %o = tensor.expand_shape %o1 [[0, 1], [2], [3]] output_shape [1, 8, 48, 64] : tensor<8x48x64xf32> into tensor<1x8x48x64xf32>
  return %o : tensor<1x8x48x64xf32>
}
