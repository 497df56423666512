// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK-LABEL: func.func @both
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} lengths(key %{{.*}} : tensor<?xi32>, query %{{.*}} : tensor<?xi64>) scale({{.*}}) mask_mod causal(bottom_right)
func.func @both(%q: tensor<?x4x?x64xf16>, %k: tensor<?x2x?x64xf16>, %n: tensor<?xi32>, %m: tensor<?xi64>) -> tensor<?x4x?x64xf16> {
  %o = attn.attention %q, %k, %k lengths(query %m : tensor<?xi64>, key %n : tensor<?xi32>) scale(0.25) mask_mod causal(bottom_right)
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>
  return %o : tensor<?x4x?x64xf16>
}

// CHECK-LABEL: func.func @one
// CHECK: lengths(query %{{.*}} : tensor<2xi32>) :
func.func @one(%q: tensor<2x4x8x64xf16>, %m: tensor<2xi32>) -> tensor<2x4x8x64xf16> {
  %o = attn.attention %q, %q, %q lengths(query %m : tensor<2xi32>)
      : tensor<2x4x8x64xf16>, tensor<2x4x8x64xf16>, tensor<2x4x8x64xf16> -> tensor<2x4x8x64xf16>
  return %o : tensor<2x4x8x64xf16>
}

// CHECK-LABEL: func.func @step
// CHECK: attn.online_attention %{{.*}}, %{{.*}}, %{{.*}} key_lengths(%{{.*}} : tensor<?xi32>) offsets
func.func @step(%q: tensor<1x1x8x16xf16>, %n: tensor<?xi32>, %c: index, %acc: tensor<1x1x8x16xf32>, %max: tensor<1x1x8xf32>, %sum: tensor<1x1x8xf32>) -> tensor<1x1x8x16xf32> {
  %a, %x, %s = attn.online_attention %q, %q, %q key_lengths(%n : tensor<?xi32>) offsets(%c, %c, %c, %c) outs(%acc, %max, %sum)
      : tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16> -> tensor<1x1x8x16xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>
  return %a : tensor<1x1x8x16xf32>
}
