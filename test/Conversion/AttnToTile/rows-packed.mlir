// Packed rows are turned by a kernel before, whose workspace has the rows of all
// sequences; positions, as data, have one for each of them.
// RUN: attn-opt %s --attn-to-scheduled=target=sm_80 --attn-to-tiled --attn-to-tile=target=sm_80 | FileCheck %s
// RUN: attn-opt %s --attn-insert-device-asserts | FileCheck %s --check-prefix=ASSERT

// CHECK-LABEL: attn_launch.program "varlen"
// CHECK-DAG: attn_launch.constraint %{{.*}} equals 0, "expected positions to have one for each row of query"
// CHECK-DAG: attn_launch.constraint %{{.*}} equals 0, "expected cos to have a row for each position of query"
// CHECK-DAG: attn_launch.workspace "query_rows"
// CHECK: attn_launch.launch @varlen_rows

// ASSERT: attn.device_assert {{.*}}"expected positions that are rows of the tables"
func.func @varlen(%qp: tensor<?x4x64xf16>, %kp: tensor<?x4x64xf16>, %vp: tensor<?x4x64xf16>, %offsets: tensor<?xi32>,
    %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>, %at: tensor<?xi32>) -> tensor<?x4x64xf16> {
  %c0 = arith.constant 0 : index
  %turned = attn.rotary %qp, %cos, %sin halves positions(%at : tensor<?xi32>) : tensor<?x4x64xf16>, tensor<?x32xf32>
  %q = attn.ragged %turned[%offsets] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.ragged %kp[%offsets] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %v = attn.ragged %vp[%offsets] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %n = attn.sequence_lengths %offsets : tensor<?xi32> -> tensor<?xi32>
  %o = attn.attention %q, %k, %v lengths(key %n : tensor<?xi32>, query %n : tensor<?xi32>)
      : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %empty = tensor.empty(%rows) : tensor<?x4x64xf16>
  %packed = attn.pack %o[%offsets] into %empty : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  return %packed : tensor<?x4x64xf16>
}
