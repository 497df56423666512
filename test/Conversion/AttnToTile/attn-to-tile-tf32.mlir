// Products of f32 are rounded to tf32 only where that was asked for, wherever a
// compilation starts.
// RUN: not attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile 2>&1 | FileCheck %s
// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile=allow-tf32 | FileCheck %s --check-prefix=ALLOWED
// CHECK: [[#@LINE+3]]:8: error: 'attn.online_attention' op expected f16 or bf16 inputs on a GPU, got f32; products rounded to tf32 need the option allow-tf32
// ALLOWED: attn_tile.kernel @f32
func.func @f32(%q: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}
