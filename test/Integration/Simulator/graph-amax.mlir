// Delayed scaling as a graph leaves it, and heads scaled by the maximum of what a gate gives, against float64: the maxima of rows are the kernels'.

// RUN: attn-run %s --function delayed --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function delayed --random 2 --device=sim:sm_90a --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function delayed --random 3 --device=sim:sm_100a --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function current --random 4 --verify | FileCheck %s %}
// RUN: attn-run %s --function current --random 5 --device=sim:sm_90a --verify | FileCheck %s
// CHECK: verify: PASS

!q = tensor<2x4x20x16xf16>

#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#one = affine_map<(d0, d1, d2, d3) -> ()>
#number = affine_map<() -> ()>
func.func @delayed(%q: !q, %k: !q, %v: !q, %scale: tensor<f32>) -> (tensor<2x20x4x16xf8E4M3FN>, tensor<f16>) {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %te = tensor.empty() : tensor<2x20x4x16xf16>
  %t = linalg.transpose ins(%o : !q) outs(%te : tensor<2x20x4x16xf16>) permutation = [0, 2, 1, 3]
  %a = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t : tensor<2x20x4x16xf16>) outs(%te : tensor<2x20x4x16xf16>) {
  ^bb0(%in: f16, %out: f16):
    %r = math.absf %in : f16
    linalg.yield %r : f16
  } -> tensor<2x20x4x16xf16>
  %least = arith.constant 0xFC00 : f16
  %ne = tensor.empty() : tensor<f16>
  %init = linalg.fill ins(%least : f16) outs(%ne : tensor<f16>) -> tensor<f16>
  %amax = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a : tensor<2x20x4x16xf16>) outs(%init : tensor<f16>) {
  ^bb0(%in: f16, %out: f16):
    %r = arith.maximumf %in, %out : f16
    linalg.yield %r : f16
  } -> tensor<f16>
  %next = linalg.generic {indexing_maps = [#number, #number], iterator_types = []} ins(%amax : tensor<f16>) outs(%ne : tensor<f16>) {
  ^bb0(%in: f16, %out: f16):
    %most = arith.constant 448.0 : f16
    %r = arith.divf %most, %in : f16
    linalg.yield %r : f16
  } -> tensor<f16>
  %e8 = tensor.empty() : tensor<2x20x4x16xf8E4M3FN>
  %y = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t, %scale : tensor<2x20x4x16xf16>, tensor<f32>) outs(%e8 : tensor<2x20x4x16xf8E4M3FN>) {
  ^bb0(%in: f16, %s: f32, %out: f8E4M3FN):
    %high = arith.constant 448.0 : f32
    %low = arith.constant -448.0 : f32
    %w = arith.extf %in : f16 to f32
    %p = arith.mulf %w, %s : f32
    %c = arith.minimumf %p, %high : f32
    %d = arith.maximumf %c, %low : f32
    %r = arith.truncf %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<2x20x4x16xf8E4M3FN>
  return %y, %next : tensor<2x20x4x16xf8E4M3FN>, tensor<f16>
}

!p = tensor<2x4x20x16xf16>

#head = affine_map<(d0, d1, d2, d3) -> (d1)>
func.func @current(%q: !p, %k: !p, %v: !p, %f: tensor<4xf16>) -> !p {
  %o = attn.attention %q, %k, %v : !p, !p, !p -> !p
  %e = tensor.empty() : !p
  %g = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o, %f : !p, tensor<4xf16>) outs(%e : !p) {
  ^bb0(%in: f16, %w: f16, %out: f16):
    %r = arith.mulf %in, %w : f16
    linalg.yield %r : f16
  } -> !p
  %zero = arith.constant 0.0 : f16
  %he = tensor.empty() : tensor<4xf16>
  %init = linalg.fill ins(%zero : f16) outs(%he : tensor<4xf16>) -> tensor<4xf16>
  %amax = linalg.generic {indexing_maps = [#all, #head], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
      ins(%g : !p) outs(%init : tensor<4xf16>) {
  ^bb0(%in: f16, %out: f16):
    %m = math.absf %in : f16
    %r = arith.maximumf %out, %m : f16
    linalg.yield %r : f16
  } -> tensor<4xf16>
  %y = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%g, %amax : !p, tensor<4xf16>) outs(%e : !p) {
  ^bb0(%in: f16, %w: f16, %out: f16):
    %r = arith.divf %in, %w : f16
    linalg.yield %r : f16
  } -> !p
  return %y : !p
}
