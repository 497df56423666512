// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// Heads in parallel; chunks of 64 rows, between which output rows and state go; K of the head's group.

// CHECK-LABEL: @chunks
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (1, 4)
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c64{{.*}} -> (tensor<100x24xf16>, tensor<32x24xf32>)
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], %[[H]], %[[I]], 0]
// CHECK: math.exp
// CHECK: %[[HK:.*]] = arith.divui %[[H]], %{{.*}} : index
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], %[[HK]], %[[I]], 0]
// CHECK: scf.forall.in_parallel
// CHECK-NOT: attn.linear_attention
func.func @chunks(%q: tensor<1x4x100x32xf16>, %k: tensor<1x2x100x32xf16>, %v: tensor<1x2x100x24xf16>,
                  %g: tensor<1x4x100xf32>) -> tensor<1x4x100x24xf16> {
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<1x4x100xf32>)
      : tensor<1x4x100x32xf16>, tensor<1x2x100x32xf16>, tensor<1x2x100x24xf16> -> tensor<1x4x100x24xf16>
  return %o : tensor<1x4x100x24xf16>
}

// In reverse the last chunk is the first.

// CHECK-LABEL: @reverse
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c64
// CHECK: %[[FIRST:.*]] = arith.subi %{{.*}}, %[[I]] : index
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %{{.*}}, %[[FIRST]], 0]
func.func @reverse(%q: tensor<1x4x100x32xf16>) -> tensor<1x4x100x32xf16> {
  %o = attn.linear_attention %q, %q, %q reverse
      : tensor<1x4x100x32xf16>, tensor<1x4x100x32xf16>, tensor<1x4x100x32xf16> -> tensor<1x4x100x32xf16>
  return %o : tensor<1x4x100x32xf16>
}

// The state of all keys, then all rows.

// CHECK-LABEL: @full
// CHECK: scf.for {{.*}} -> (tensor<32x24xf32>)
// CHECK: scf.for {{.*}} -> (tensor<100x24xf16>)
// CHECK-NOT: math.exp
func.func @full(%q: tensor<1x4x100x32xf16>, %k: tensor<1x2x50x32xf16>, %v: tensor<1x2x50x24xf16>) -> tensor<1x4x100x24xf16> {
  %o = attn.linear_attention %q, %k, %v full
      : tensor<1x4x100x32xf16>, tensor<1x2x50x32xf16>, tensor<1x2x50x24xf16> -> tensor<1x4x100x24xf16>
  return %o : tensor<1x4x100x24xf16>
}
