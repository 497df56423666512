// A CTA takes the sequence of its batch out of each packed operand, and ends where the query's has no row for it; loads and stores are
// those of batches.
// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --canonicalize | FileCheck %s

// CHECK-LABEL: attn_launch.program "f"
// CHECK: attn_launch.operand input "query" vector(8) argument(0) dims ["query_rows", "Hq", "D"]
// CHECK: attn_launch.operand input "key" vector(8) argument(1) dims ["key_rows", "Hkv", "D"]
// CHECK: attn_launch.operand input "value" vector(8) argument(2) dims ["key_rows", "Hkv", "Dv"]
// CHECK: attn_launch.operand input "query_offsets" argument(3) dims ["offsets"]
// CHECK: attn_launch.operand input "key_offsets" argument(4) dims ["offsets"]
// CHECK: attn_launch.operand output "output" vector(2) result(0) dims ["query_rows", "Hq", "Dv"]
// CHECK: attn_launch.operand output "lse" result(1) dims ["Hq", "query_rows"]
// CHECK: attn_tile.kernel @f(%[[QP:[a-z0-9]+]]: !attn_tile.global<?x4x64xf16>, %[[KP:[a-z0-9]+]]: !attn_tile.global<?x2x64xf16>, %{{.*}}, %[[QO:[a-z0-9]+]]: !attn_tile.global<?xi32>, %[[KO:[a-z0-9]+]]: !attn_tile.global<?xi64>, %[[OP:[a-z0-9]+]]: !attn_tile.global<?x4x64xf16>, %[[LP:[a-z0-9]+]]: !attn_tile.global<4x?xf32>
// CHECK: %[[Q:.*]] = attn_tile.sequence %[[QP]][%{{.*}}] rows(%[[ROWS:[a-z0-9_]+]]) : <?x4x64xf16> -> <1x4x?x64xf16>
// CHECK: %[[DONE:.*]] = arith.cmpi sge, %{{.*}}, %[[ROWS]]
// CHECK: attn_tile.exit if %[[DONE]]
// CHECK: %[[K:.*]] = attn_tile.sequence %[[KP]]
// CHECK: %[[O:.*]] = attn_tile.sequence %[[OP]]
// CHECK: %[[L:.*]] = attn_tile.sequence %[[LP]][{{.*}}] rows({{.*}}) : <4x?xf32> -> <1x4x?xf32>
// CHECK: attn_tile.load %[[Q]]
// CHECK: attn_tile.load %[[K]][{{.*}}] rows(
// CHECK: attn_tile.store %{{.*}}, %[[O]]
// CHECK: attn_tile.store %{{.*}}, %[[L]]
func.func @f(%qp: tensor<?x4x64xf16>, %kp: tensor<?x2x64xf16>, %vp: tensor<?x2x64xf16>, %qo: tensor<?xi32>, %ko: tensor<?xi64>) -> (tensor<?x4x64xf16>, tensor<4x?xf32>) {
  %c0 = arith.constant 0 : index
  %q = attn.ragged %qp[%qo] : tensor<?x4x64xf16>[tensor<?xi32>] -> tensor<?x4x?x64xf16>
  %k = attn.ragged %kp[%ko] : tensor<?x2x64xf16>[tensor<?xi64>] -> tensor<?x2x?x64xf16>
  %v = attn.ragged %vp[%ko] : tensor<?x2x64xf16>[tensor<?xi64>] -> tensor<?x2x?x64xf16>
  %m = attn.sequence_lengths %qo : tensor<?xi32> -> tensor<?xi32>
  %n = attn.sequence_lengths %ko : tensor<?xi64> -> tensor<?xi64>
  %o, %lse = attn.attention %q, %k, %v lengths(key %n : tensor<?xi64>, query %m : tensor<?xi32>) {schedule = #attn.schedule<tile_m = 64, tile_n = 32, warps = 4, stages = 2, pack_gqa = false>}
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> -> tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
  %rows = tensor.dim %qp, %c0 : tensor<?x4x64xf16>
  %eo = tensor.empty(%rows) : tensor<?x4x64xf16>
  %el = tensor.empty(%rows) : tensor<4x?xf32>
  %po = attn.pack %o[%qo] into %eo : tensor<?x4x?x64xf16>[tensor<?xi32>] into tensor<?x4x64xf16>
  %pl = attn.pack %lse[%qo] into %el : tensor<?x4x?xf32>[tensor<?xi32>] into tensor<4x?xf32>
  return %po, %pl : tensor<?x4x64xf16>, tensor<4x?xf32>
}
