// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK-LABEL: @plain
// CHECK: attn.linear_attention %{{.*}}, %{{.*}}, %{{.*}} scale(1.000000e+00) : tensor<?x4x?x32xf16>
func.func @plain(%q: tensor<?x4x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x24xf16>) -> tensor<?x4x?x24xf16> {
  %o = attn.linear_attention %q, %k, %v scale(1.0)
      : tensor<?x4x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x24xf16> -> tensor<?x4x?x24xf16>
  return %o : tensor<?x4x?x24xf16>
}

// CHECK-LABEL: @all
// CHECK: %{{.*}}, %{{.*}} = attn.linear_attention %{{.*}}, %{{.*}}, %{{.*}} slope(%{{.*}} : tensor<4xf32>) state(%{{.*}} : tensor<?x4x32x24xf32>)
// CHECK-SAME: -> tensor<?x4x?x24xf32>, tensor<?x4x32x24xf32>
func.func @all(%q: tensor<?x4x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x24xf16>,
               %slope: tensor<4xf32>, %s: tensor<?x4x32x24xf32>) -> (tensor<?x4x?x24xf32>, tensor<?x4x32x24xf32>) {
  %o, %t = attn.linear_attention %q, %k, %v slope(%slope : tensor<4xf32>) state(%s : tensor<?x4x32x24xf32>)
      : tensor<?x4x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x24xf16> -> tensor<?x4x?x24xf32>, tensor<?x4x32x24xf32>
  return %o, %t : tensor<?x4x?x24xf32>, tensor<?x4x32x24xf32>
}

// CHECK-LABEL: @walks
// CHECK: attn.linear_attention %{{.*}}, %{{.*}}, %{{.*}} reverse slope(
// CHECK: attn.linear_attention %{{.*}}, %{{.*}}, %{{.*}} full scale(1.000000e+00) : tensor<1x4x8x32xf16>, tensor<1x2x9x32xf16>
func.func @walks(%q: tensor<1x4x8x32xf16>, %k: tensor<1x2x9x32xf16>, %slope: tensor<4xf32>) -> (tensor<1x4x8x32xf16>, tensor<1x4x8x32xf16>) {
  %r = attn.linear_attention %q, %q, %q reverse slope(%slope : tensor<4xf32>)
      : tensor<1x4x8x32xf16>, tensor<1x4x8x32xf16>, tensor<1x4x8x32xf16> -> tensor<1x4x8x32xf16>
  %f = attn.linear_attention %q, %k, %k full scale(1.0)
      : tensor<1x4x8x32xf16>, tensor<1x2x9x32xf16>, tensor<1x2x9x32xf16> -> tensor<1x4x8x32xf16>
  return %r, %f : tensor<1x4x8x32xf16>, tensor<1x4x8x32xf16>
}

// CHECK-LABEL: @states
// CHECK: %{{.*}}, %{{.*}} = attn.linear_attention {{.*}} -> tensor<1x4x?x32xf16> states tensor<1x4x?x32x32xf32>
// CHECK: %{{.*}}, %{{.*}}, %{{.*}} = attn.linear_attention {{.*}} -> tensor<1x4x65x32xf16>, tensor<1x4x32x32xf32> states tensor<1x4x2x32x32xf32>
func.func @states(%q: tensor<1x4x?x32xf16>, %p: tensor<1x4x65x32xf16>) -> (tensor<1x4x?x32x32xf32>, tensor<1x4x2x32x32xf32>) {
  %o, %s = attn.linear_attention %q, %q, %q
      : tensor<1x4x?x32xf16>, tensor<1x4x?x32xf16>, tensor<1x4x?x32xf16> -> tensor<1x4x?x32xf16> states tensor<1x4x?x32x32xf32>
  %o1, %e1, %s1 = attn.linear_attention %p, %p, %p : tensor<1x4x65x32xf16>, tensor<1x4x65x32xf16>, tensor<1x4x65x32xf16>
      -> tensor<1x4x65x32xf16>, tensor<1x4x32x32xf32> states tensor<1x4x2x32x32xf32>
  return %s, %s1 : tensor<1x4x?x32x32xf32>, tensor<1x4x2x32x32xf32>
}
