// Two attentions of one row tile, whose accumulators begin as equal tensors, each written by blocks of columns: bufferization must give them memory
// of their own.
// RUN: attn-run %s --function=columns --random=3 --verify | FileCheck %s
// RUN: attn-run %s --function=few --random=3 --verify | FileCheck %s
// CHECK: verify: PASS

func.func @columns(%q: tensor<1x1x8x64xf16>, %k: tensor<1x1x8x64xf16>, %v: tensor<1x1x8x48xf16>) -> tensor<1x1x8x48xf16> {
  %o, %lse = attn.attention %q, %k, %v : tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x48xf16> -> tensor<1x1x8x48xf16>, tensor<1x1x8xf32>
  %p = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %l = tensor.extract %lse[%b, %h, %i] : tensor<1x1x8xf32>
        %shifted = arith.subf %s, %l : f32
        %e = math.exp %shifted : f32
        attn.yield %e : f32
      } : tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x48xf16> -> tensor<1x1x8x48xf16>
  return %p : tensor<1x1x8x48xf16>
}

func.func @few(%q: tensor<1x1x4x64xf16>, %k: tensor<1x1x8x64xf16>, %v: tensor<1x1x8x64xf16>) -> tensor<1x1x4x64xf16> {
  %o, %lse = attn.attention %q, %k, %v : tensor<1x1x4x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16> -> tensor<1x1x4x64xf16>, tensor<1x1x4xf32>
  %p = attn.attention %q, %k, %v normalization(#attn.none)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %l = tensor.extract %lse[%b, %h, %i] : tensor<1x1x4xf32>
        %shifted = arith.subf %s, %l : f32
        %e = math.exp %shifted : f32
        attn.yield %e : f32
      } : tensor<1x1x4x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16> -> tensor<1x1x4x64xf16>
  return %p : tensor<1x1x4x64xf16>
}
