// What multiplies all scores of a row, or of a row and a tile of keys, alike is multiplied into their maximum and the exponent: descales, and what a
// score_mod reads. Positive factors, and those that the kernels multiply scores by in a branch: negative ones, 0 of both signs, the smallest numbers, NaN
// and infinities; shifts that are too large to be taken after the product; hidden keys and rows.
// RUN: attn-run %s --function=descales --device=sim:sm_89 --random=1 --verify | FileCheck %s
// RUN: attn-run %s --function=descales --device=sim:sm_90a --random=2 --verify --schedules 2 | FileCheck %s
// RUN: %if long %{ attn-run %s --function=descales --device=sim:sm_100a --random=3 --verify | FileCheck %s %}
// RUN: attn-run %s --function=infinite --device=sim:sm_90a --random=4 --verify | FileCheck %s
// RUN: attn-run %s --function=rows --device=sim:sm_80 --random=5 --verify | FileCheck %s
// RUN: %if long %{ attn-run %s --function=rows --device=sim:sm_90a --random=6 --verify | FileCheck %s %}
// RUN: %if long %{ attn-run %s --function=blocks --device=sim:sm_80 --random=7 --verify | FileCheck %s %}
// RUN: attn-run %s --function=blocks --device=sim:sm_90a --random=8 --verify | FileCheck %s
// RUN: attn-run %s --function=blocks_tensor --device=sim:sm_100a --random=9 --verify | FileCheck %s
// CHECK: verify: PASS

!q8 = tensor<4x4x70x64xf8E4M3FN>
!k8 = tensor<4x2x150x64xf8E4M3FN>
func.func @descales(%q: !q8, %k: !k8, %v: !k8) -> (tensor<4x4x70x64xbf16>, tensor<4x4x70xf32>) {
  %d = arith.constant dense<[[0.5, -0.7], [0.0, 1.0e-40], [40.0, -80.0], [-0.0, 1.0e30]]> : tensor<4x2xf32>
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %o, %lse = attn.attention %q, %k, %v descale(%one, %d, %one : tensor<1xf32>, tensor<4x2xf32>, tensor<1xf32>) mask_mod causal(bottom_right)
      : !q8, !k8, !k8 -> tensor<4x4x70x64xbf16>, tensor<4x4x70xf32>
  return %o, %lse : tensor<4x4x70x64xbf16>, tensor<4x4x70xf32>
}

!q1 = tensor<1x4x70x64xf8E4M3FN>
!k1 = tensor<1x4x150x64xf8E4M3FN>
func.func @infinite(%q: !q1, %k: !k1, %v: !k1) -> tensor<1x4x70x64xbf16> {
  %d = arith.constant dense<[[0x7F800000, 0.1, 0x7FC00000, 0xFF800000]]> : tensor<1x4xf32>
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %o = attn.attention %q, %k, %v descale(%one, %d, %one : tensor<1xf32>, tensor<1x4xf32>, tensor<1xf32>) mask_mod sliding_window(20, 3)
      : !q1, !k1, !k1 -> tensor<1x4x70x64xbf16>
  return %o : tensor<1x4x70x64xbf16>
}

// Of each row another factor, a scale beside it; some rows see no key.
func.func @rows(%q: tensor<1x2x90x64xf16>, %k: tensor<1x2x60x64xf16>, %v: tensor<1x2x60x64xf16>) -> (tensor<1x2x90x64xf16>, tensor<1x2x90xf32>) {
  %factors = arith.constant dense<[0.5, -1.5, 300.0, 0.0, 2.0, 1.0e-38]> : tensor<6xf32>
  %six = arith.constant 6 : index
  %o, %lse = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %n = arith.remui %i, %six : index
        %f = tensor.extract %factors[%n] : tensor<6xf32>
        %r = arith.mulf %f, %s : f32
        attn.yield %r : f32
      } mask_mod causal(bottom_right) {scale = 0.3}
      : tensor<1x2x90x64xf16>, tensor<1x2x60x64xf16>, tensor<1x2x60x64xf16> -> tensor<1x2x90x64xf16>, tensor<1x2x90xf32>
  return %o, %lse : tensor<1x2x90x64xf16>, tensor<1x2x90xf32>
}

!q = tensor<1x2x100x64xf16>
!k = tensor<1x1x250x64xf16>
func.func @blocks(%q: !q, %k: !k, %v: !k, %n: tensor<1xi32>) -> (!q, tensor<1x2x100xf32>) {
  %ofRows = arith.constant dense<[1.5, -2.0, 0.25, 100.0]> : tensor<4xf32>
  %ofKeys = arith.constant dense<[1.0, 0.5, -0.1, 0.0]> : tensor<4xf32>
  %rows = arith.constant 32 : index
  %keys = arith.constant 64 : index
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<1xi32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %ib = arith.divui %i, %rows : index
        %jb = arith.divui %j, %keys : index
        %x = tensor.extract %ofRows[%ib] : tensor<4xf32>
        %y = tensor.extract %ofKeys[%jb] : tensor<4xf32>
        %f = arith.mulf %x, %y : f32
        %r = arith.mulf %s, %f : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : !q, !k, !k -> !q, tensor<1x2x100xf32>
  return %o, %lse : !q, tensor<1x2x100xf32>
}

func.func @blocks_tensor(%q: !q, %k: !k, %v: !k) -> !q {
  %ofKeys = arith.constant dense<[1.0, 0.5, -0.1, 40.0]> : tensor<4xf32>
  %keys = arith.constant 64 : index
  %o = attn.attention %q, %k, %v
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %jb = arith.divui %j, %keys : index
        %f = tensor.extract %ofKeys[%jb] : tensor<4xf32>
        %r = arith.mulf %s, %f : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<mma = "tcgen05", tile_m = 128, tile_n = 64, warps = 4, stages = 2>}
      : !q, !k, !k -> !q
  return %o : !q
}
