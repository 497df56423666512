// A graph that rounds an output to 8 bits is the kernel's from sm_89 on; before
// it, the kernel's output has 16 bits, and the rest is the host's.

// RUN: attn-opt %s --target=sm_89 --emit=manifest -o - | FileCheck %s --check-prefix=BYTES
// RUN: attn-opt %s --target=sm_80 --emit=manifest -o - 2>/dev/null | FileCheck %s --check-prefix=HOST
// RUN: attn-run %s --raise --device=sim:sm_89 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --raise --device=sim:sm_80 --random=2 --verify | FileCheck %s
// RUN: attn-run %s --raise --device=cpu --random=3 --verify | FileCheck %s
// CHECK: verify: PASS
// BYTES: "name": "output"
// BYTES-NEXT: "role": "output"
// BYTES-NEXT: "dtype": "f8E4M3FN"
// HOST: "name": "output"
// HOST-NEXT: "role": "output"
// HOST-NEXT: "dtype": "f16"

!q = tensor<2x4x20x32xf16>
!y = tensor<2x4x20x32xf8E4M3FN>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#one = affine_map<(d0, d1, d2, d3) -> ()>
func.func @quantised(%q: !q, %k: !q, %v: !q, %s: tensor<f32>) -> !y {
  %o = attn.attention %q, %k, %v : !q, !q, !q -> !q
  %e8 = tensor.empty() : !y
  %y = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o, %s : !q, tensor<f32>) outs(%e8 : !y) {
  ^bb0(%in: f16, %scale: f32, %out: f8E4M3FN):
    %low = arith.constant -448.0 : f32
    %high = arith.constant 448.0 : f32
    %f = arith.extf %in : f16 to f32
    %d = arith.mulf %f, %scale : f32
    %m = arith.maximumf %d, %low : f32
    %c = arith.minimumf %m, %high : f32
    %r = arith.truncf %c : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> !y
  return %y : !y
}
