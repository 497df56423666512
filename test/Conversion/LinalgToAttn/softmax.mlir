// RUN: attn-opt %s --attn-raise --split-input-file | FileCheck %s

// Spellings of the softmax, on [B * H, M, D] tensors.

// CHECK-LABEL: @named_softmax
// CHECK-NOT: linalg.softmax
// CHECK: attn.attention %{{.*}} scale(1.000000e+00)
// CHECK-SAME: tensor<6x1x10x16xf32>, tensor<6x1x20x16xf32>, tensor<6x1x20x8xf32> -> tensor<6x1x10x8xf32>
func.func @named_softmax(%q: tensor<6x10x16xf32>, %kt: tensor<6x16x20xf32>, %v: tensor<6x20x8xf32>) -> tensor<6x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<6x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<6x10x20xf32>) -> tensor<6x10x20xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<6x10x16xf32>, tensor<6x16x20xf32>) outs(%s0 : tensor<6x10x20xf32>) -> tensor<6x10x20xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<6x10x20xf32>) outs(%e0 : tensor<6x10x20xf32>) -> tensor<6x10x20xf32>
  %e1 = tensor.empty() : tensor<6x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x10x8xf32>) -> tensor<6x10x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<6x10x20xf32>, tensor<6x20x8xf32>) outs(%o0 : tensor<6x10x8xf32>) -> tensor<6x10x8xf32>
  return %o : tensor<6x10x8xf32>
}

// -----

// The maximum guarded against -inf, exp2 with log2(e), a product with the
// reciprocal, and f16 around f32: one chain of generics. The scale is folded
// into the query.

#id3 = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#p = affine_map<(b, i, d, j) -> (b, i, j)>
#v = affine_map<(b, i, d, j) -> (b, j, d)>
#o = affine_map<(b, i, d, j) -> (b, i, d)>
// CHECK-LABEL: @exp2_reciprocal
// CHECK: attn.attention %{{.*}} scale(2.500000e-01) :
// CHECK-SAME: tensor<6x1x10x16xf16>, tensor<6x1x20x16xf16>, tensor<6x1x20x8xf16> -> tensor<6x1x10x8xf16>
func.func @exp2_reciprocal(%q: tensor<6x10x16xf16>, %k: tensor<6x20x16xf16>, %v: tensor<6x20x8xf16>) -> tensor<6x10x8xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %log2e = arith.constant 1.44269502 : f32
  %quarter = arith.constant 0.25 : f16
  %eq = tensor.empty() : tensor<6x10x16xf16>
  %qs = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q : tensor<6x10x16xf16>) outs(%eq : tensor<6x10x16xf16>) {
  ^bb0(%x: f16, %out: f16):
    %y = arith.mulf %x, %quarter : f16
    linalg.yield %y : f16
  } -> tensor<6x10x16xf16>
  %es = tensor.empty() : tensor<6x10x20xf32>
  %er = tensor.empty() : tensor<6x10xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<6x10x20xf32>) -> tensor<6x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%qs, %k : tensor<6x10x16xf16>, tensor<6x20x16xf16>) outs(%s0 : tensor<6x10x20xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %x32 = arith.extf %x : f16 to f32
    %y32 = arith.extf %y : f16 to f32
    %z = arith.mulf %x32, %y32 : f32
    %a = arith.addf %acc, %z : f32
    linalg.yield %a : f32
  } -> tensor<6x10x20xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%er : tensor<6x10xf32>) -> tensor<6x10xf32>
  %m = linalg.reduce ins(%s : tensor<6x10x20xf32>) outs(%m0 : tensor<6x10xf32>) dimensions = [2]
    (%x: f32, %acc: f32) {
      %y = arith.maximumf %x, %acc : f32
      linalg.yield %y : f32
    }
  %e = linalg.generic {indexing_maps = [#id3, #row, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<6x10x20xf32>, tensor<6x10xf32>) outs(%es : tensor<6x10x20xf32>) {
  ^bb0(%x: f32, %max: f32, %out: f32):
    %empty = arith.cmpf oeq, %max, %inf : f32
    %safe = arith.select %empty, %zero, %max : f32
    %d = arith.subf %x, %safe : f32
    %d2 = arith.mulf %d, %log2e : f32
    %y = math.exp2 %d2 : f32
    linalg.yield %y : f32
  } -> tensor<6x10x20xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<6x10xf32>) -> tensor<6x10xf32>
  %l = linalg.reduce ins(%e : tensor<6x10x20xf32>) outs(%l0 : tensor<6x10xf32>) dimensions = [2]
    (%x: f32, %acc: f32) {
      %y = arith.addf %x, %acc : f32
      linalg.yield %y : f32
    }
  %ep = tensor.empty() : tensor<6x10x20xf16>
  %p = linalg.generic {indexing_maps = [#id3, #row, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %l : tensor<6x10x20xf32>, tensor<6x10xf32>) outs(%ep : tensor<6x10x20xf16>) {
  ^bb0(%x: f32, %sum: f32, %out: f16):
    %r = arith.divf %one, %sum : f32
    %y = arith.mulf %x, %r : f32
    %h = arith.truncf %y : f32 to f16
    linalg.yield %h : f16
  } -> tensor<6x10x20xf16>
  %zero16 = arith.constant 0.0 : f16
  %eo = tensor.empty() : tensor<6x10x8xf16>
  %o0 = linalg.fill ins(%zero16 : f16) outs(%eo : tensor<6x10x8xf16>) -> tensor<6x10x8xf16>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<6x10x20xf16>, tensor<6x20x8xf16>) outs(%o0 : tensor<6x10x8xf16>) {
  ^bb0(%x: f16, %y: f16, %acc: f16):
    %z = arith.mulf %x, %y : f16
    %a = arith.addf %acc, %z : f16
    linalg.yield %a : f16
  } -> tensor<6x10x8xf16>
  return %o : tensor<6x10x8xf16>
}

// -----

// softmax(s) = exp(s) / sum exp(s) without a maximum; the weights on the right
// of the contraction, the result transposed; sqrt(scale) on query and key.

#id = affine_map<(i, j) -> (i, j)>
#rowm = affine_map<(i, j) -> (i)>
// CHECK-LABEL: @no_maximum
// CHECK: attn.attention %{{.*}} scale(2.500000e-01) :
// CHECK-SAME: tensor<1x1x10x16xf32>, tensor<1x1x20x16xf32>, tensor<1x1x20x8xf32> -> tensor<1x1x10x8xf32>
func.func @no_maximum(%q: tensor<10x16xf32>, %k: tensor<20x16xf32>, %v: tensor<20x8xf32>) -> tensor<8x10xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %eq = tensor.empty() : tensor<10x16xf32>
  %ek = tensor.empty() : tensor<16x20xf32>
  %qs = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<10x16xf32>) outs(%eq : tensor<10x16xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.mulf %half, %x : f32
    linalg.yield %y : f32
  } -> tensor<10x16xf32>
  %kt = linalg.transpose ins(%k : tensor<20x16xf32>) outs(%ek : tensor<16x20xf32>) permutation = [1, 0]
  %two = arith.constant dense<2.0> : tensor<16x20xf32>
  %ks = linalg.div ins(%kt, %two : tensor<16x20xf32>, tensor<16x20xf32>) outs(%ek : tensor<16x20xf32>) -> tensor<16x20xf32>
  %es = tensor.empty() : tensor<10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %s = linalg.matmul ins(%qs, %ks : tensor<10x16xf32>, tensor<16x20xf32>) outs(%s0 : tensor<10x20xf32>) -> tensor<10x20xf32>
  %e = linalg.exp ins(%s : tensor<10x20xf32>) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %er = tensor.empty() : tensor<10xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<10xf32>) -> tensor<10xf32>
  %l = linalg.reduce { arith.addf } ins(%e : tensor<10x20xf32>) outs(%l0 : tensor<10xf32>) dimensions = [1]
  %lb = linalg.broadcast ins(%l : tensor<10xf32>) outs(%es : tensor<10x20xf32>) dimensions = [1]
  %p = linalg.div ins(%e, %lb : tensor<10x20xf32>, tensor<10x20xf32>) outs(%es : tensor<10x20xf32>) -> tensor<10x20xf32>
  %eo = tensor.empty() : tensor<8x10xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x10xf32>) -> tensor<8x10xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(d, i, j) -> (j, d)>, affine_map<(d, i, j) -> (i, j)>, affine_map<(d, i, j) -> (d, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v, %p : tensor<20x8xf32>, tensor<10x20xf32>) outs(%o0 : tensor<8x10xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %z = arith.mulf %x, %y : f32
    %a = arith.addf %acc, %z : f32
    linalg.yield %a : f32
  } -> tensor<8x10xf32>
  return %o : tensor<8x10xf32>
}
