// Weights that are a function of each score, and no softmax: sigmoid and ReLU attention as exported.
// RUN: attn-opt %s --attn-raise | FileCheck %s
// RUN: attn-run %s --function sigmoid --device=cpu --random 1 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function relu --device=sim:sm_80 --random 2 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function relu --device=sim:sm_90a --random 3 --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function feed_forward --device=cpu --random 4 --verify | FileCheck %s --check-prefix=PASS
// PASS: verify: PASS

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#w = affine_map<(b, h, i, d, j) -> (j, d)>
#kw = affine_map<(b, h, i, j, d) -> (j, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>

// The mask multiplies the weights, as does 1 / n.
// CHECK-LABEL: @sigmoid
// CHECK: attn.attention {{.*}} scale(-2.500000e-01) normalization(#attn.none) score_mod
// CHECK: math.exp
// CHECK: mask_mod causal(top_left)
func.func @sigmoid(%q: tensor<2x3x10x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
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
    %one = arith.constant 1.0 : f32
    %n = arith.constant 0.05 : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y = arith.mulf %x, %c : f32
    %neg = arith.negf %y : f32
    %e = math.exp %neg : f32
    %d = arith.addf %e, %one : f32
    %f = arith.divf %one, %d : f32
    %visible = arith.cmpi sle, %j, %i : index
    %mask = arith.uitofp %visible : i1 to f32
    %masked = arith.mulf %f, %mask : f32
    %mean = arith.mulf %masked, %n : f32
    linalg.yield %mean : f32
  } -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %v : tensor<2x3x10x20xf32>, tensor<2x3x20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}

// The mask is added to the scores, of which ReLU makes 0.
// CHECK-LABEL: @relu
// CHECK: attn.attention {{.*}} normalization(#attn.none) score_mod
// CHECK: arith.maximumf
// CHECK: mask_mod causal(top_left)
func.func @relu(%q: tensor<1x2x40x64xf16>, %k: tensor<1x2x40x64xf16>, %v: tensor<1x2x40x64xf16>) -> tensor<1x2x40x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<1x2x40x40xf32>
  %ep = tensor.empty() : tensor<1x2x40x40xf16>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<1x2x40x40xf32>) -> tensor<1x2x40x40xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<1x2x40x64xf16>, tensor<1x2x40x64xf16>) outs(%s0 : tensor<1x2x40x40xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %m = arith.mulf %aw, %bw : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<1x2x40x40xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<1x2x40x40xf32>) outs(%ep : tensor<1x2x40x40xf16>) {
  ^bb0(%x: f32, %out: f16):
    %c = arith.constant 0.125 : f32
    %inf = arith.constant 0xFF800000 : f32
    %z = arith.constant 0.0 : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y = arith.mulf %x, %c : f32
    %visible = arith.cmpi sle, %j, %i : index
    %add = arith.select %visible, %z, %inf : f32
    %masked = arith.addf %y, %add : f32
    %f = arith.maximumf %masked, %z : f32
    %t = arith.truncf %f : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x2x40x40xf16>
  %eo = tensor.empty() : tensor<1x2x40x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x2x40x64xf32>) -> tensor<1x2x40x64xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %v : tensor<1x2x40x40xf16>, tensor<1x2x40x64xf16>) outs(%o0 : tensor<1x2x40x64xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %m = arith.mulf %aw, %bw : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<1x2x40x64xf32>
  return %o : tensor<1x2x40x64xf32>
}

// A feed-forward layer: the same keys and values for all.
// CHECK-LABEL: @feed_forward
// CHECK-NOT: attn.attention
func.func @feed_forward(%q: tensor<2x3x10x16xf32>, %k: tensor<20x16xf32>, %v: tensor<20x8xf32>) -> tensor<2x3x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x3x10x20xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x10x20xf32>) -> tensor<2x3x10x20xf32>
  %s = linalg.generic {indexing_maps = [#q, #kw, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x10x16xf32>, tensor<20x16xf32>) outs(%s0 : tensor<2x3x10x20xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x20xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x10x20xf32>) outs(%es : tensor<2x3x10x20xf32>) {
  ^bb0(%x: f32, %out: f32):
    %z = arith.constant 0.0 : f32
    %f = arith.maximumf %x, %z : f32
    linalg.yield %f : f32
  } -> tensor<2x3x10x20xf32>
  %eo = tensor.empty() : tensor<2x3x10x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x10x8xf32>) -> tensor<2x3x10x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %v : tensor<2x3x10x20xf32>, tensor<20x8xf32>) outs(%o0 : tensor<2x3x10x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x10x8xf32>
  return %o : tensor<2x3x10x8xf32>
}
