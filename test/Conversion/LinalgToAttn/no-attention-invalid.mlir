// RUN: attn-opt %s --attn-raise --split-input-file --verify-diagnostics
// RUN: attn-opt %s --attn-raise=allow-none --split-input-file

// A module without attention: what was looked for, and the nearest miss.

// expected-note@below {{there is no contraction in it}}
// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @empty(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @linear(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  // expected-note@below {{the match broke here: expected the weights to be a softmax, got an argument}}
  %o = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// -----

// The softmax runs over the queries.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @wrong_dimension(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
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
    %c = arith.constant 0.25 : f32
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  // expected-note@below {{the match broke here: expected the denominator to be the sum of the exponentials over the keys, got a reduction}}
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// Exponentials without a sum.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @no_sum(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
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
    %c = arith.constant 0.25 : f32
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  // expected-note@below {{the match broke here: expected the weights to be divided by their row sum, got math.exp}}
  %p = linalg.exp ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// Probabilities of several heads, mixed: talking heads.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#of = affine_map<(b, h, i, j, g) -> (b, g, i, j)>
#mix = affine_map<(b, h, i, j, g) -> (h, g)>
// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @talking_heads(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %mix: tensor<3x3xf32>) -> tensor<2x3x10x8xf32> {
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
    %c = arith.constant 0.25 : f32
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p0 = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  // expected-note@below {{the match broke here: expected the weights of a head to be made of its own softmax, got a contraction that mixes several, as talking heads do}}
  %p = linalg.generic {indexing_maps = [#of, #mix, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p0, %mix : tensor<2x3x10x20xf32>, tensor<3x3xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// The product of two softmaxes in the weights.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @product_of_softmaxes(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
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
    %c = arith.constant 0.25 : f32
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p0 = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %y = linalg.mul ins(%x, %x : tensor<2x3x10x20xf32>, tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %p1 = linalg.softmax dimension(3) ins(%y : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  // expected-note@below {{the match broke here: expected weights of one softmax, element by element, got those of several or with a reduction behind it: each softmax is an attention of its own}}
  %p = linalg.mul ins(%p0, %p1 : tensor<2x3x10x20xf32>, tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @no_product(%x: tensor<4x8xf32>, %v: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x8xf32>
  %p = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%es : tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  // expected-note@below {{the match broke here: expected the scores to come from a contraction of query and key, found none between here and the softmax}}
  %o = linalg.matmul ins(%p, %v : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// -----

// The output is added to something.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// expected-error@below {{found no attention: looked for softmax(query * key^T) * value, a contraction (of linalg or TOSA) one of whose operands is a softmax over another contraction}}
func.func @accumulator(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %acc0: tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32> {
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
    %c = arith.constant 0.25 : f32
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  // expected-note@below {{nearest miss: this contraction as weights times values}}
  // expected-note@below {{the match broke here: expected the product of weights and values to start from zero}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%acc0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}
