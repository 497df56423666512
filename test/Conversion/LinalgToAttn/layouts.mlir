// RUN: attn-opt %s --attn-raise --split-input-file | FileCheck %s

// Orders of dimensions, merged and repeated heads, dynamic sizes.

// [B, N, H, D] tensors, contracted as they are.

// CHECK-LABEL: @bnhd
// CHECK-COUNT-3: linalg.transpose {{.*}} permutation = [0, 2, 1, 3]
// CHECK: attn.attention {{.*}} tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>, tensor<2x3x20x8xf32> -> tensor<2x3x10x8xf32>
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 1, 3]
func.func @bnhd(%q: tensor<2x10x3x16xf32>, %k: tensor<2x20x3x16xf32>, %v: tensor<2x20x3x8xf32>) -> tensor<2x10x3x8xf32> {
  %zero = arith.constant 0.0 : f32
  %s0e = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s0e : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, i, h, d)>, affine_map<(b, h, i, j, d) -> (b, j, h, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x10x3x16xf32>, tensor<2x20x3x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x3x10x20xf32>) outs(%s0e : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %o0e = tensor.empty() : tensor<2x10x3x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%o0e : tensor<2x10x3x8xf32>) -> tensor<2x10x3x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, i, h, d, j) -> (b, h, i, j)>, affine_map<(b, i, h, d, j) -> (b, j, h, d)>, affine_map<(b, i, h, d, j) -> (b, i, h, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x20x3x8xf32>) outs(%o0 : tensor<2x10x3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x10x3x8xf32>
  return %o : tensor<2x10x3x8xf32>
}

// -----

// Repeated key heads: query head h reads key head h / 3.

// CHECK-LABEL: @gqa_repeat
// CHECK: attn.attention %arg0, %arg1, %arg2
// CHECK-SAME: tensor<2x6x10x16xf32>, tensor<2x2x20x16xf32>, tensor<2x2x20x8xf32> -> tensor<2x6x10x8xf32>
func.func @gqa_repeat(%q: tensor<2x6x10x16xf32>, %k: tensor<2x2x20x16xf32>, %v: tensor<2x2x20x8xf32>) -> tensor<2x6x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x2x3x20x16xf32>
  %kr = linalg.generic {indexing_maps = [affine_map<(b, h, g, j, d) -> (b, h, j, d)>, affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x2x20x16xf32>) outs(%ke : tensor<2x2x3x20x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<2x2x3x20x16xf32>
  %kc = tensor.collapse_shape %kr [[0], [1, 2], [3], [4]] : tensor<2x2x3x20x16xf32> into tensor<2x6x20x16xf32>
  %ve = tensor.empty() : tensor<2x2x3x20x8xf32>
  %vr = linalg.generic {indexing_maps = [affine_map<(b, h, g, j, d) -> (b, h, j, d)>, affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x2x20x8xf32>) outs(%ve : tensor<2x2x3x20x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<2x2x3x20x8xf32>
  %vc = tensor.collapse_shape %vr [[0], [1, 2], [3], [4]] : tensor<2x2x3x20x8xf32> into tensor<2x6x20x8xf32>
  %s0e = tensor.empty() : tensor<2x6x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s0e : tensor<2x6x10x20xf32>) -> tensor<2x6x10x20xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %kc : tensor<2x6x10x16xf32>, tensor<2x6x20x16xf32>) outs(%s0 : tensor<2x6x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x6x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x6x10x20xf32>) outs(%s0e : tensor<2x6x10x20xf32>) -> tensor<2x6x10x20xf32>
  %o0e = tensor.empty() : tensor<2x6x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%o0e : tensor<2x6x10x8xf32>) -> tensor<2x6x10x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, j, d)>, affine_map<(b, h, i, d, j) -> (b, h, i, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %vc : tensor<2x6x10x20xf32>, tensor<2x6x20x8xf32>) outs(%o0 : tensor<2x6x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x6x10x8xf32>
  return %o : tensor<2x6x10x8xf32>
}

// -----

// Tiled key heads: query head h reads key head h mod 2. The query heads are put
// in the order of attn, and back.

// CHECK-LABEL: @gqa_tile
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 1, 3, 4]
// CHECK: attn.attention %{{.*}}, %arg1, %arg2
// CHECK-SAME: tensor<2x6x10x16xf32>, tensor<2x2x20x16xf32>, tensor<2x2x20x8xf32> -> tensor<2x6x10x8xf32>
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 1, 3, 4]
func.func @gqa_tile(%q: tensor<2x6x10x16xf32>, %k: tensor<2x2x20x16xf32>, %v: tensor<2x2x20x8xf32>) -> tensor<2x6x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x3x2x20x16xf32>
  %kr = linalg.generic {indexing_maps = [affine_map<(b, g, h, j, d) -> (b, h, j, d)>, affine_map<(b, g, h, j, d) -> (b, g, h, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x2x20x16xf32>) outs(%ke : tensor<2x3x2x20x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x2x20x16xf32>
  %kc = tensor.collapse_shape %kr [[0], [1, 2], [3], [4]] : tensor<2x3x2x20x16xf32> into tensor<2x6x20x16xf32>
  %ve = tensor.empty() : tensor<2x3x2x20x8xf32>
  %vr = linalg.generic {indexing_maps = [affine_map<(b, g, h, j, d) -> (b, h, j, d)>, affine_map<(b, g, h, j, d) -> (b, g, h, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x2x20x8xf32>) outs(%ve : tensor<2x3x2x20x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x2x20x8xf32>
  %vc = tensor.collapse_shape %vr [[0], [1, 2], [3], [4]] : tensor<2x3x2x20x8xf32> into tensor<2x6x20x8xf32>
  %s0e = tensor.empty() : tensor<2x6x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s0e : tensor<2x6x10x20xf32>) -> tensor<2x6x10x20xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %kc : tensor<2x6x10x16xf32>, tensor<2x6x20x16xf32>) outs(%s0 : tensor<2x6x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x6x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x6x10x20xf32>) outs(%s0e : tensor<2x6x10x20xf32>) -> tensor<2x6x10x20xf32>
  %o0e = tensor.empty() : tensor<2x6x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%o0e : tensor<2x6x10x8xf32>) -> tensor<2x6x10x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, j, d)>, affine_map<(b, h, i, d, j) -> (b, h, i, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %vc : tensor<2x6x10x20xf32>, tensor<2x6x20x8xf32>) outs(%o0 : tensor<2x6x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x6x10x8xf32>
  return %o : tensor<2x6x10x8xf32>
}

// -----

// One key head: heads and queries are rows of one product, and only the mask
// tells them apart.

#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @mqa
// CHECK: attn.attention {{.*}} mask_mod causal(top_left)
// CHECK-SAME: tensor<2x6x10x16xf32>, tensor<2x1x20x16xf32>, tensor<2x1x20x8xf32> -> tensor<2x6x10x8xf32>
func.func @mqa(%q4: tensor<2x6x10x16xf32>, %k: tensor<2x20x16xf32>, %v: tensor<2x20x8xf32>) -> tensor<2x6x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %q = tensor.collapse_shape %q4 [[0], [1, 2], [3]] : tensor<2x6x10x16xf32> into tensor<2x60x16xf32>
  %s0e = tensor.empty() : tensor<2x60x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s0e : tensor<2x60x20xf32>) -> tensor<2x60x20xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x60x16xf32>, tensor<2x20x16xf32>) outs(%s0 : tensor<2x60x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x60x20xf32>
  %s4 = tensor.expand_shape %s [[0], [1, 2], [3]] output_shape [2, 6, 10, 20] : tensor<2x60x20xf32> into tensor<2x6x10x20xf32>
  %e4 = tensor.empty() : tensor<2x6x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s4 : tensor<2x6x10x20xf32>) outs(%e4 : tensor<2x6x10x20xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %c = arith.cmpi sle, %j, %i : index
    %y = arith.select %c, %a, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x6x10x20xf32>
  %p4 = linalg.softmax dimension(3) ins(%x : tensor<2x6x10x20xf32>) outs(%e4 : tensor<2x6x10x20xf32>) -> tensor<2x6x10x20xf32>
  %p = tensor.collapse_shape %p4 [[0], [1, 2], [3]] : tensor<2x6x10x20xf32> into tensor<2x60x20xf32>
  %o0e = tensor.empty() : tensor<2x60x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%o0e : tensor<2x60x8xf32>) -> tensor<2x60x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, i, d, j) -> (b, i, j)>, affine_map<(b, i, d, j) -> (b, j, d)>, affine_map<(b, i, d, j) -> (b, i, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x60x20xf32>, tensor<2x20x8xf32>) outs(%o0 : tensor<2x60x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x60x8xf32>
  %o4 = tensor.expand_shape %o [[0], [1, 2], [3]] output_shape [2, 6, 10, 8] : tensor<2x60x8xf32> into tensor<2x6x10x8xf32>
  return %o4 : tensor<2x6x10x8xf32>
}

// -----

// Dynamic batch and lengths; aligned at the end by the sizes themselves.

#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @dynamic
// CHECK: attn.attention %arg0, %arg1, %arg2 {{.*}} mask_mod causal(bottom_right)
// CHECK-SAME: tensor<?x3x?x16xf32>, tensor<?x3x?x16xf32>, tensor<?x3x?x16xf32> -> tensor<?x3x?x16xf32>
// SHAPE: --shape arg0=2x3x7x16 --shape arg1=2x3x12x16 --shape arg2=2x3x12x16
func.func @dynamic(%q: tensor<?x3x?x16xf32>, %k: tensor<?x3x?x16xf32>, %v: tensor<?x3x?x16xf32>) -> tensor<?x3x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %q, %c0 : tensor<?x3x?x16xf32>
  %M = tensor.dim %q, %c2 : tensor<?x3x?x16xf32>
  %N = tensor.dim %k, %c2 : tensor<?x3x?x16xf32>
  %s0e = tensor.empty(%B, %M, %N) : tensor<?x3x?x?xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s0e : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<?x3x?x16xf32>, tensor<?x3x?x16xf32>) outs(%s0 : tensor<?x3x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<?x3x?x?xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<?x3x?x?xf32>) outs(%s0e : tensor<?x3x?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %shift = arith.subi %N, %M : index
    %last = arith.addi %i, %shift : index
    %c = arith.cmpi sle, %j, %last : index
    %y = arith.select %c, %a, %inf : f32
    linalg.yield %y : f32
  } -> tensor<?x3x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<?x3x?x?xf32>) outs(%s0e : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %o0e = tensor.empty(%B, %M) : tensor<?x3x?x16xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%o0e : tensor<?x3x?x16xf32>) -> tensor<?x3x?x16xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, j, d)>, affine_map<(b, h, i, d, j) -> (b, h, i, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<?x3x?x?xf32>, tensor<?x3x?x16xf32>) outs(%o0 : tensor<?x3x?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<?x3x?x16xf32>
  return %o : tensor<?x3x?x16xf32>
}

// -----

// One query; the bias is what the product of query and key is added to.

// CHECK-LABEL: @decode_accumulated_bias
// CHECK: attn.attention {{.*}} bias(%{{.*}} : tensor<6x1x1x20xf32>)
// CHECK-SAME: tensor<6x1x1x16xf32>, tensor<6x1x20x16xf32>, tensor<6x1x20x8xf32> -> tensor<6x1x1x8xf32>
func.func @decode_accumulated_bias(%q: tensor<6x1x16xf32>, %kt: tensor<6x16x20xf32>, %v: tensor<6x20x8xf32>, %bias: tensor<6x1x20xf32>) -> tensor<6x1x8xf32> {
  %zero = arith.constant 0.0 : f32
  %s = linalg.batch_matmul ins(%q, %kt : tensor<6x1x16xf32>, tensor<6x16x20xf32>) outs(%bias : tensor<6x1x20xf32>) -> tensor<6x1x20xf32>
  %se = tensor.empty() : tensor<6x1x20xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<6x1x20xf32>) outs(%se : tensor<6x1x20xf32>) -> tensor<6x1x20xf32>
  %o0e = tensor.empty() : tensor<6x1x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%o0e : tensor<6x1x8xf32>) -> tensor<6x1x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<6x1x20xf32>, tensor<6x20x8xf32>) outs(%o0 : tensor<6x1x8xf32>) -> tensor<6x1x8xf32>
  return %o : tensor<6x1x8xf32>
}
