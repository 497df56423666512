// RUN: attn-opt %s --attn-gather-pages --verify-diagnostics

func.func @f(%pool: tensor<30x1x16x32xf32>, %table: tensor<3x9xi32>) -> tensor<3x1x144x32xf32> {
  // expected-error @+1 {{expected only attentions to read the view, tile by tile}}
  %k = attn.paged %pool[%table] : tensor<30x1x16x32xf32>[tensor<3x9xi32>] -> tensor<3x1x144x32xf32>
  // expected-note @+1 {{read here}}
  return %k : tensor<3x1x144x32xf32>
}
