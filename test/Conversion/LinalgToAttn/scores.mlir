// RUN: attn-opt %s --attn-raise --split-input-file | FileCheck %s

// What happens to the score between product and softmax.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @scale_and_bias
// CHECK: attn.attention %{{.*}} bias(%{{.*}} : tensor<1x3x10x20xf32>) scale(2.500000e-01) :
func.func @scale_and_bias(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %bias: tensor<3x10x20xf32>) -> tensor<2x3x10x8xf32> {
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
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (h, i, j)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %bias : tensor<2x3x10x20xf32>, tensor<3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: f32, %out: f32):
    %c = arith.constant 0.25 : f32
    %m = arith.mulf %x, %c : f32
    %y = arith.addf %m, %in0 : f32
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

// A division by a constant is a scale.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @padding_bias
// CHECK: attn.attention %{{.*}} bias(%arg3 : tensor<2x1x1x20xf32>) scale(2.500000e-01) :
func.func @padding_bias(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %bias: tensor<2x1x1x20xf32>) -> tensor<2x3x10x8xf32> {
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
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (b, 0, 0, j)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %bias : tensor<2x3x10x20xf32>, tensor<2x1x1x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: f32, %out: f32):
    %c = arith.constant 4.0 : f32
    %m = arith.divf %x, %c : f32
    %y = arith.addf %in0, %m : f32
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
// CHECK-LABEL: @bias_before_scale
// CHECK-NOT: scale(2
// CHECK: attn.attention %{{.*}} bias(%arg3 : tensor<2x3x10x20xf32>) scale(1.000000e+00) score_mod
// CHECK: arith.mulf
func.func @bias_before_scale(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %bias: tensor<2x3x10x20xf32>) -> tensor<2x3x10x8xf32> {
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
  %x = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %bias : tensor<2x3x10x20xf32>, tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: f32, %out: f32):
    %c = arith.constant 0.25 : f32
    %m = arith.addf %x, %in0 : f32
    %y = arith.mulf %m, %c : f32
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
// CHECK-LABEL: @soft_cap
// CHECK: attn.attention %{{.*}} scale(2.500000e-01) score_mod soft_cap(3.000000e+01) mask_mod causal(top_left)
func.func @soft_cap(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
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
    %c = arith.constant 0.25 : f32
    %cap = arith.constant 30.0 : f32
    %m = arith.mulf %x, %c : f32
    %u = arith.divf %m, %cap : f32
    %t = math.tanh %u : f32
    %w = arith.mulf %t, %cap : f32
    %vis = arith.cmpi sle, %j, %i : index
    %y = arith.select %vis, %w, %inf : f32
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

// A formula over positions stays one: no tensor of all pairs.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @alibi
// CHECK: score_mod (%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK-DAG: arith.subi %[[J]], %[[I]]
// CHECK-DAG: tensor.extract %arg3[%[[H]]]
// CHECK: mask_mod causal(top_left)
func.func @alibi(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %slopes: tensor<3xf32>) -> tensor<2x3x10x8xf32> {
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
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (h)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %slopes : tensor<2x3x10x20xf32>, tensor<3xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %d = arith.subi %j, %i : index
    %d32 = arith.index_cast %d : index to i32
    %df = arith.sitofp %d32 : i32 to f32
    %m = arith.mulf %in0, %df : f32
    %w = arith.addf %x, %m : f32
    %vis = arith.cmpi sle, %j, %i : index
    %y = arith.select %vis, %w, %inf : f32
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
// CHECK-LABEL: @learned_scale
// CHECK: scale(1.000000e+00) score_mod
// CHECK: tensor.extract %arg3
func.func @learned_scale(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %scales: tensor<3xf32>) -> tensor<2x3x10x8xf32> {
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
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (h)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %scales : tensor<2x3x10x20xf32>, tensor<3xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: f32, %out: f32):
    %y = arith.mulf %x, %in0 : f32
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
