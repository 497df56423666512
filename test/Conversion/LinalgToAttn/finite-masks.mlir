// RUN: attn-opt %s --attn-raise --split-input-file --verify-diagnostics | FileCheck %s
// RUN: attn-opt %s --attn-raise=assume-visible-rows --split-input-file | FileCheck %s --check-prefix=ASSUME
// RUN: attn-opt %s --attn-raise=mask-threshold=-1e4 --split-input-file | FileCheck %s --check-prefix=LOW

// Finite mask values count as -inf where every row is known to see a key, and
// keep their value elsewhere.

// 20 queries, 10 keys, aligned at the end: the first rows see no key. With a
// finite mask value they get even weights, which is not what a masked row means
// in attn.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @empty_rows
// CHECK-NOT: mask_mod
// CHECK: score_mod
func.func @empty_rows(%q: tensor<2x3x20x16xf32>, %k: tensor<2x3x10x16xf32>, %v: tensor<2x3x10x8xf32>) -> tensor<2x3x20x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x20x10xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x20x10xf32>) -> tensor<2x3x20x10xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x20x16xf32>, tensor<2x3x10x16xf32>) outs(%s0 : tensor<2x3x20x10xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x20x10xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x20x10xf32>) outs(%es : tensor<2x3x20x10xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %low = arith.constant -3.40282347E+38 : f32
    %ten = arith.constant 10 : index
    %j10 = arith.addi %j, %ten : index
    %c = arith.cmpi sle, %j10, %i : index
    %y = arith.select %c, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x3x20x10xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x20x10xf32>) outs(%es : tensor<2x3x20x10xf32>) -> tensor<2x3x20x10xf32>
  %eo = tensor.empty() : tensor<2x3x20x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x20x8xf32>) -> tensor<2x3x20x8xf32>
  // expected-remark@below {{mask value -3.402823e+38 is finite and a row may have every key masked: kept as a change of the score; kernels of a GPU skip hidden keys, and compute such rows again}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x20x10xf32>, tensor<2x3x10x8xf32>) outs(%o0 : tensor<2x3x20x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x20x8xf32>
  return %o : tensor<2x3x20x8xf32>
}

// -----

// What the mask holds is not known.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @unknown_rows
// CHECK-NOT: mask_mod
// CHECK: score_mod
// ASSUME-LABEL: @unknown_rows
// ASSUME-NOT: score_mod
// ASSUME: mask_mod
func.func @unknown_rows(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>, %mask: tensor<2x20xi1>) -> tensor<2x3x10x8xf32> {
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
  %x = linalg.generic {indexing_maps = [#id, affine_map<(b, h, i, j) -> (b, j)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<2x3x10x20xf32>, tensor<2x20xi1>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %in0: i1, %out: f32):
    %low = arith.constant -3.40282347E+38 : f32
    %y = arith.select %in0, %x, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  // expected-remark@below {{mask value -3.402823e+38 is finite and a row may have every key masked: kept as a change of the score; kernels of a GPU skip hidden keys, and compute such rows again}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// -----

// -10000 is a number like any other, unless the user says otherwise.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
// CHECK-LABEL: @not_low_enough
// CHECK-NOT: mask_mod
// CHECK: score_mod
// LOW-LABEL: @not_low_enough
// LOW: mask_mod causal(top_left)
func.func @not_low_enough(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
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
    %low = arith.constant -10000.0 : f32
    %c = arith.cmpi sle, %j, %i : index
    %m = arith.select %c, %zero, %low : f32
    %y = arith.addf %x, %m : f32
    linalg.yield %y : f32
  } -> tensor<2x3x10x20xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  // expected-remark@below {{mask value -1.000000e+04 is a number that scores may reach: kept as a change of the score; --mask-threshold=-1.000000e+04 says that none does, so that hidden keys are skipped}}
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}
