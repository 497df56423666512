// RUN: attn-opt %s --attn-raise | FileCheck %s

// tensor.dim of a dimension that is not there is undefined, but verifies: its
// result is a size like any other.

#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @dynamic
// CHECK: attn.attention %arg0, %arg1, %arg2 {{.*}} mask_mod causal(bottom_right)
func.func @dynamic(%q: tensor<?x3x?x16xf32>, %k: tensor<?x3x?x16xf32>, %v: tensor<?x3x?x16xf32>) -> tensor<?x3x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2147483647 : index
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
