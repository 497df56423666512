// RUN: attn-opt %s --attn-raise --split-input-file | FileCheck %s

// Masks that become mask_mod.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @causal_top_left
// CHECK: mask_mod causal(top_left)
func.func @causal_top_left(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %c = arith.cmpi sle, %j, %i : index
    %y = arith.select %c, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// 10 queries, 20 keys: the last query sees every key.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @causal_bottom_right
// CHECK: mask_mod causal(bottom_right)
func.func @causal_bottom_right(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ten = arith.constant 10 : index
    %d = arith.subi %j, %ten : index
    %c = arith.cmpi sgt, %d, %i : index
    %y = arith.select %c, %inf, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @sliding_window
// CHECK: mask_mod sliding_window(4, 0)
func.func @sliding_window(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %four = arith.constant 4 : index
    %c = arith.cmpi sle, %j, %i : index
    %i4 = arith.subi %i, %four : index
    %w = arith.cmpi sge, %j, %i4 : index
    %cw = arith.andi %c, %w : i1
    %y = arith.select %cw, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// The lowest f32 instead of -inf is the same where every row sees a key: key 0.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @additive_finite
// CHECK-NOT: score_mod
// CHECK: mask_mod causal(top_left)
func.func @additive_finite(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %low = arith.constant -3.40282347E+38 : f32
    %c = arith.cmpi sle, %j, %i : index
    %m = arith.select %c, %zero, %low : f32
    %y = arith.addf %x, %m : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @constant_triangle
// CHECK-NOT: bias
// CHECK: mask_mod causal(top_left)
func.func @constant_triangle(%q: tensor<2x3x4x16xf32>, %k: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %t = arith.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %es = tensor.empty() : tensor<2x3x4x4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>) outs(%s0 : tensor<2x3x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x4x4xf32>
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (i, j)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %t : tensor<2x3x4x4xf32>, tensor<4x4xf32>) outs(%es : tensor<2x3x4x4xf32>) {
  ^bb0(%x: f32, %in0: f32, %out: f32):
    %y = arith.addf %x, %in0 : f32
    linalg.yield %y : f32
  } -> tensor<2x3x4x4xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x4x4xf32>) outs(%es : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %eo = tensor.empty() : tensor<2x3x4x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32>) outs(%o0 : tensor<2x3x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x4x8xf32>
  return %o : tensor<2x3x4x8xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @constant_band
// CHECK: mask_mod sliding_window(1, 1)
func.func @constant_band(%q: tensor<2x3x4x16xf32>, %k: tensor<2x3x4x16xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %t = arith.constant dense<[[[true, true, false, false], [true, true, true, false], [false, true, true, true], [false, false, true, true]]]> : tensor<1x4x4xi1>
  %es = tensor.empty() : tensor<2x3x4x4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>) outs(%s0 : tensor<2x3x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x4x4xf32>
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (0, i, j)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %t : tensor<2x3x4x4xf32>, tensor<1x4x4xi1>) outs(%es : tensor<2x3x4x4xf32>) {
  ^bb0(%x: f32, %in0: i1, %out: f32):
    %y = arith.select %in0, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x4x4xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x4x4xf32>) outs(%es : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %eo = tensor.empty() : tensor<2x3x4x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x4x4xf32>, tensor<2x3x4x8xf32>) outs(%o0 : tensor<2x3x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x4x8xf32>
  return %o : tensor<2x3x4x8xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @boolean_mask
// CHECK: mask_mod (%{{.*}}: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK: tensor.extract %arg3[%{{.*}}, %c0{{.*}}, %[[I]], %[[J]]]
// CHECK: attn.yield
func.func @boolean_mask(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %mask: tensor<2x1x10x20xi1>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (b, 0, i, j)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<2x3x10x20xf32>, tensor<2x1x10x20xi1>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: i1, %out: f32):
    %y = arith.select %in0, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @lengths
// CHECK: mask_mod (%[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[J:[a-z0-9]*]]: index)
// CHECK: %[[L:.*]] = tensor.extract %arg3[%[[B]]] : tensor<2xi64>
// CHECK: %[[N:.*]] = arith.index_cast %[[L]]
// CHECK: arith.cmpi slt, %[[J]], %[[N]]
func.func @lengths(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %lengths: tensor<2xi64>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (b)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %lengths : tensor<2x3x10x20xf32>, tensor<2xi64>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: i64, %out: f32):
    %j = linalg.index 3 : index
    %j64 = arith.index_cast %j : index to i64
    %c = arith.cmpi slt, %j64, %in0 : i64
    %y = arith.select %c, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// The first 8 keys are visible to all.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @prefix
// CHECK: mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:[a-z0-9]*]]: index)
// CHECK-DAG: arith.cmpi sle, %[[J]], %[[I]]
// CHECK-DAG: arith.cmpi slt, %[[J]], %c8
// CHECK: arith.ori
func.func @prefix(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %p = arith.constant 8 : index
    %c = arith.cmpi sle, %j, %i : index
    %w = arith.cmpi ult, %j, %p : index
    %cw = arith.ori %c, %w : i1
    %y = arith.select %cw, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @static_padding
// CHECK: mask_mod (%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[J:[a-z0-9]*]]: index)
// CHECK-NEXT: arith.cmpi slt, %[[J]], %c15
func.func @static_padding(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %j = linalg.index 3 : index
    %n = arith.constant 15 : index
    %c = arith.cmpi slt, %j, %n : index
    %low = arith.constant -3.40282347E+38 : f32
    %y = arith.select %c, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// A position that is read for each score, and one that the function reads once.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @position_read_by_mask
// CHECK: mask_mod (%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index)
// CHECK: %[[READ:.*]] = tensor.extract %arg3[] : tensor<i64>
// CHECK: arith.cmpi sle, %[[J]], %{{.*}}
func.func @position_read_by_mask(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %pos: tensor<i64>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %read = tensor.extract %pos[] : tensor<i64>
    %at = arith.index_cast %read : i64 to index
    %j = linalg.index 3 : index
    %c = arith.cmpi sle, %j, %at : index
    %y = arith.select %c, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @position_read_before
// CHECK: %[[READ:.*]] = tensor.extract %arg3[] : tensor<i64>
// CHECK: %[[AT:.*]] = arith.index_cast %[[READ]]
// CHECK: mask_mod (%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index)
// CHECK: arith.cmpi sle, %[[J]], %[[AT]]
func.func @position_read_before(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %pos: tensor<i64>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %read = tensor.extract %pos[] : tensor<i64>
  %at = arith.index_cast %read : i64 to index
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<2x3x20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %j = linalg.index 3 : index
    %c = arith.cmpi sle, %j, %at : index
    %y = arith.select %c, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}
