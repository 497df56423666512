// Heads of dK and dV that a map selects are summed by kernels behind the others, which write the gradients of all query heads to
// workspaces. The map of the keys is data, that of the values a table.

// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile --split-input-file | FileCheck %s

// CHECK-LABEL: attn_launch.program "summed"
// CHECK: attn_launch.operand input "key" vector(8) argument(1) dims ["B", "key_heads", "N", "D"]
// CHECK: attn_launch.operand output "d_key" result(1) dims ["B", "key_heads", "N", "D"] : <2x3x?x40xf32>
// CHECK: attn_launch.operand output "d_value" result(2) dims ["B", "value_heads", "N", "Dv"] : <2x2x?x16xf32>
// CHECK: %[[KEYS:.*]] = attn_launch.workspace "d_key_heads"
// CHECK: %[[KEY_VIEW:.*]] = attn_launch.view %[[KEYS]]{{.*}} to <2x5x?x40xf32>
// CHECK: %[[VALUES:.*]] = attn_launch.workspace "d_value_heads"
// CHECK: attn_launch.view %[[VALUES]]{{.*}} to <2x5x?x16xf32>
// CHECK: attn_launch.launch @summed_dq
// CHECK: attn_launch.launch @summed_dkv
// CHECK: attn_launch.launch @summed_sum_d_key grid(%{{.*}}, %c3{{[_0-9]*}}, %c2{{[_0-9]*}})
// CHECK: attn_launch.launch @summed_sum_d_value grid(%{{.*}}, %c2{{[_0-9]*}}, %c2{{[_0-9]*}})

// The gradients of the query heads go to the workspaces alone.
// CHECK-LABEL: attn_tile.kernel @summed_dkv(
// CHECK-DAG: attn_tile.store %{{.*}}, %arg10
// CHECK-DAG: attn_tile.store %{{.*}}, %arg11
// CHECK-NOT: attn_tile.store

// Two columns for a lane, of which the second is there for 8.
// CHECK-LABEL: attn_tile.kernel @summed_sum_d_key(
// CHECK: %[[ROWS:.*]] = attn_tile.dim %arg8, 2
// CHECK: arith.cmpi ult, %[[ROW:.*]], %[[ROWS]]
// CHECK: %[[HEADS:.*]] = attn_tile.dim %arg10, 1
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[HEAD:.*]] = %c0{{[_0-9]*}} to %[[HEADS]] step %c1{{[_0-9]*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[ENTRY:.*]] = attn_tile.extract %arg6[%{{.*}}] : <5xi64>
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[ENTRY]]
// CHECK: %[[CLAMPED:.*]] = arith.minui %[[INDEX]]
// CHECK: %[[IS_OWN:.*]] = arith.cmpi eq, %[[CLAMPED]], %block_id_y
// CHECK: scf.if %[[IS_OWN]]
// CHECK: %[[FIRST:.*]] = attn_tile.extract %arg10
// CHECK-NEXT: arith.addf %[[A]], %[[FIRST]]
// CHECK: %[[SECOND:.*]] = attn_tile.extract %arg10
// CHECK-NEXT: arith.addf %[[B]], %[[SECOND]]
// CHECK: attn_tile.insert %[[SUMS]]#0, %arg8
// CHECK: arith.cmpi ult, %{{.*}}, %c40
// CHECK: attn_tile.insert %[[SUMS]]#1, %arg8

// CHECK-LABEL: attn_tile.kernel @summed_sum_d_value(
// CHECK: attn_tile.lookup dense<[1, 0, 0, 1, 0]> : tensor<5xi32>
// CHECK: attn_tile.extract %arg11
// CHECK: attn_tile.insert %{{.*}}, %arg9

func.func @summed(%q: tensor<2x5x?x40xf16>, %k: tensor<2x3x?x40xf16>, %v: tensor<2x2x?x16xf16>, %map: tensor<5xi64>, %do: tensor<2x5x?x16xf16>,
                  %o: tensor<2x5x?x16xf16>, %lse: tensor<2x5x?xf32>)
    -> (tensor<2x5x?x40xf32>, tensor<2x3x?x40xf32>, tensor<2x2x?x16xf32>) {
  %table = arith.constant dense<[1, 0, 0, 1, 0]> : tensor<5xi64>
  %keys = attn.select_heads %k[%map] : tensor<2x3x?x40xf16>[tensor<5xi64>] -> tensor<2x5x?x40xf16>
  %values = attn.select_heads %v[%table] : tensor<2x2x?x16xf16>[tensor<5xi64>] -> tensor<2x5x?x16xf16>
  %dq, %dk, %dv = attn.attention_backward %q, %keys, %values
      output(%o : tensor<2x5x?x16xf16>) lse(%lse : tensor<2x5x?xf32>) d_output(%do : tensor<2x5x?x16xf16>)
      {schedule = #attn.schedule<kind = "large_cache", tile_m = 64, tile_n = 64, tile_d = 48, tile_dv = 16, mma = "mma_sync", warps = 4, stages = 2>}
      : tensor<2x5x?x40xf16>, tensor<2x5x?x40xf16>, tensor<2x5x?x16xf16>
      -> tensor<2x5x?x40xf32>, tensor<2x5x?x40xf32>, tensor<2x5x?x16xf32>
  %c2 = arith.constant 2 : index
  %keyRows = tensor.dim %k, %c2 : tensor<2x3x?x40xf16>
  %valueRows = tensor.dim %v, %c2 : tensor<2x2x?x16xf16>
  %keySizes = tensor.empty(%keyRows) : tensor<2x3x?x40xf32>
  %valueSizes = tensor.empty(%valueRows) : tensor<2x2x?x16xf32>
  %dKey = attn.sum_heads %dk[%map] into %keySizes : tensor<2x5x?x40xf32>[tensor<5xi64>] into tensor<2x3x?x40xf32>
  %dValue = attn.sum_heads %dv[%table] into %valueSizes : tensor<2x5x?x16xf32>[tensor<5xi64>] into tensor<2x2x?x16xf32>
  return %dq, %dKey, %dValue : tensor<2x5x?x40xf32>, tensor<2x3x?x40xf32>, tensor<2x2x?x16xf32>
}
