// RUN: attn-opt %s --attn-tile-backward --cse --convert-attn-to-tile --split-input-file | FileCheck %s

// The gradient of a table of relative positions: a CTA for each diagonal of tiles adds one tile to exact sums, which a kernel
// before it makes 0 and one behind it rounds, a thread for each.

// CHECK-LABEL: attn_launch.program "grad"
// CHECK: %[[Q:.*]] = attn_launch.operand input "query"
// CHECK: %[[K:.*]] = attn_launch.operand input "key"
// CHECK: %[[TABLE:.*]] = attn_launch.operand output "d_capture0" result(3) dims ["capture0_dim0", "capture0_dim1"] : <2x?xf16>
// CHECK: %[[COLUMNS:.*]] = attn_tile.dim %[[TABLE]], 1
// CHECK: %[[WORDS:.*]] = arith.muli %[[COLUMNS]], %c13{{.*}} : index
// CHECK: %[[ALL:.*]] = arith.muli %[[WORDS]], %c2{{.*}} : index
// CHECK: %[[BYTES:.*]] = arith.muli %[[ALL]], %c8{{.*}} : index
// CHECK: attn_launch.workspace "d_capture0_sums" bytes(%[[BYTES]])
// CHECK: %[[TOO_MANY:.*]] = arith.floordivsi %{{.*}}, %c549755813888 : index
// CHECK: attn_launch.constraint %[[TOO_MANY]] equals 0, "expected fewer than 2^39 scores
// CHECK: %[[ELEMENTS:.*]] = arith.ceildivsi %{{.*}}, %c32{{.*}} : index
// CHECK: %[[M:.*]] = attn_tile.dim %[[Q]], 2
// CHECK: %[[ROWS:.*]] = arith.ceildivsi %[[M]], %c64{{.*}} : index
// CHECK: %[[N:.*]] = attn_tile.dim %[[K]], 2
// CHECK: %[[KEYS:.*]] = arith.ceildivsi %[[N]], %c64{{.*}} : index
// CHECK: %[[DIAGONALS:.*]] = arith.addi %[[ROWS]], %[[KEYS]] : index
// CHECK: %[[OF_HEADS:.*]] = arith.muli %[[DIAGONALS]], %c2{{.*}} : index
// CHECK: %[[CTAS:.*]] = arith.muli %{{.*}}, %[[OF_HEADS]] : index
// CHECK: attn_launch.launch @grad_dcapture0_clear grid(%[[ELEMENTS]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @grad_dcapture0_scatter grid(%[[CTAS]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK: attn_launch.launch @grad_dcapture0_round grid(%[[ELEMENTS]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK-LABEL: attn_tile.kernel @grad_dcapture0_clear(
// CHECK-SAME: warps(1)
// CHECK-COUNT-13: attn_tile.insert
// CHECK-NOT: attn_tile.insert
// CHECK-LABEL: attn_tile.kernel @grad_dcapture0_scatter(
// CHECK-SAME: %[[WORDS:[a-z0-9]+]]: !attn_tile.global<2x?x13xi64>
// CHECK: %[[SUM:.+]] = scf.for {{.*}} -> (!attn_tile.fragment<64x64xf32, accumulator>)
// CHECK: attn_tile.mma
// CHECK: attn_tile.mma
// CHECK-NOT: attn_tile.atomic_add
// CHECK: scf.yield %{{.*}} : !attn_tile.fragment<64x64xf32, accumulator>
// CHECK: attn_tile.map %[[SUM]]
// CHECK: scf.if
// CHECK: attn_tile.atomic_add %{{.*}}, %[[WORDS]][
// CHECK: scf.if
// CHECK: attn_tile.atomic_add %{{.*}}, %[[WORDS]][
// CHECK-LABEL: attn_tile.kernel @grad_dcapture0_round(
// CHECK-SAME: warps(1)
// CHECK-COUNT-13: attn_tile.extract
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: attn_tile.insert
!q = tensor<?x2x?x64xf16>
func.func @grad(%table: tensor<2x?xf16>, %q: !q, %k: !q, %lse: tensor<?x2x?xf32>) -> (!q, !q, !q, tensor<2x?xf16>) {
  %c = arith.constant 95 : index
  %d:4 = attn.attention_backward %q, %k, %k output(%q : !q) lse(%lse : tensor<?x2x?xf32>) d_output(%q : !q) captures(%table : tensor<2x?xf16>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %d = arith.subi %i, %j : index
        %at = arith.addi %d, %c : index
        %x = tensor.extract %table[%h, %at] : tensor<2x?xf16>
        %wide = arith.extf %x : f16 to f32
        %r = arith.addf %wide, %s : f32
        attn.yield %r : f32
      }
      mask_mod causal(bottom_right) {schedule = #attn.schedule<tile_m = 128, tile_n = 64>}
      : !q, !q, !q -> !q, !q, !q d_captures(tensor<2x?xf16>)
  return %d#0, %d#1, %d#2, %d#3 : !q, !q, !q, tensor<2x?xf16>
}

// -----

// At an index of j each tile is scattered.

// CHECK-LABEL: attn_launch.program "keys"
// CHECK: attn_launch.launch @keys_dcapture0_scatter grid(%c4{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK-LABEL: attn_tile.kernel @keys_dcapture0_scatter(
// CHECK: scf.for
// CHECK-NOT: scf.yield
// CHECK: attn_tile.atomic_add
// CHECK-LABEL: attn_tile.kernel @keys_dcapture0_round(
!k = tensor<1x2x128x64xf16>
func.func @keys(%table: tensor<9xf32>, %q: !k, %lse: tensor<1x2x128xf32>) -> (!k, !k, !k, tensor<9xf32>) {
  %c9 = arith.constant 9 : index
  %d:4 = attn.attention_backward %q, %q, %q output(%q : !k) lse(%lse : tensor<1x2x128xf32>) d_output(%q : !k) captures(%table : tensor<9xf32>)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %at = arith.remui %j, %c9 : index
        %x = tensor.extract %table[%at] : tensor<9xf32>
        %r = arith.mulf %x, %s : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<tile_m = 64, tile_n = 64>}
      : !k, !k, !k -> !k, !k, !k d_captures(tensor<9xf32>)
  return %d#0, %d#1, %d#2, %d#3 : !k, !k, !k, tensor<9xf32>
}
