// RUN: attn-opt %s --attn-tile --split-input-file --verify-diagnostics

func.func @unconverted(%q: tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> {
  // expected-error @+1 {{'attn.attention' op expected attn.online_attention, as --attn-convert-to-online gives}}
  %o = attn.attention %q, %q, %q
      : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
      -> tensor<1x1x4x8xf32>
  return %o : tensor<1x1x4x8xf32>
}

// -----

func.func @unscheduled(%q: tensor<1x1x4x8xf32>, %acc: tensor<1x1x4x8xf32>,
                       %s: tensor<1x1x4xf32>) -> tensor<1x1x4x8xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a complete schedule, as --attn-select-schedule gives}}
  %r:3 = attn.online_attention %q, %q, %q offsets(%c0, %c0, %c0, %c0)
      outs(%acc, %s, %s) {schedule = #attn.schedule<tile_m = 4>}
      : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
      -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
  return %r#0 : tensor<1x1x4x8xf32>
}

// -----

func.func @state(%q: tensor<1x1x4x8xf32>, %acc: tensor<1x1x4x8xf32>,
                 %s: tensor<1x1x4xf32>) -> tensor<1x1x4x8xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected to start from the initial state: acc = 0, max = -inf, sum = 0}}
  %r:3 = attn.online_attention %q, %q, %q offsets(%c0, %c0, %c0, %c0)
      outs(%acc, %s, %s) {schedule = #attn.schedule<
          tile_m = 4, tile_n = 4, warps = 1, stages = 1>}
      : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
      -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
  return %r#0 : tensor<1x1x4x8xf32>
}

// -----

func.func @end(%q: tensor<1x1x4x8xf32>, %acc: tensor<1x1x4x8xf32>,
               %s: tensor<1x1x4xf32>) -> tensor<1x1x4x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %acc0 = linalg.fill ins(%zero : f32) outs(%acc : tensor<1x1x4x8xf32>)
      -> tensor<1x1x4x8xf32>
  %max0 = linalg.fill ins(%inf : f32) outs(%s : tensor<1x1x4xf32>)
      -> tensor<1x1x4xf32>
  %sum0 = linalg.fill ins(%zero : f32) outs(%s : tensor<1x1x4xf32>)
      -> tensor<1x1x4xf32>
  // expected-error @+1 {{expected its results to be the state of one attn.normalize, and nothing else}}
  %r:3 = attn.online_attention %q, %q, %q offsets(%c0, %c0, %c0, %c0)
      outs(%acc0, %max0, %sum0) {schedule = #attn.schedule<
          tile_m = 4, tile_n = 4, warps = 1, stages = 1>}
      : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
      -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
  return %r#0 : tensor<1x1x4x8xf32>
}
