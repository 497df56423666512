// RUN: attn-opt %s --attn-to-tiled --cse --convert-attn-to-tile --split-input-file --verify-diagnostics | FileCheck %s

!q = tensor<1x2x?x64xf16>
!lse = tensor<1x2x?xf32>

// Two kernels with the same parameters: the second computes tiles again that have a row below the bound. Nobody asks for the LSE,
// which goes through a workspace.
// CHECK-LABEL: attn_launch.program "repaired"
// CHECK-NOT: "lse"
// CHECK: attn_launch.operand output "output" vector(2) result(0)
// CHECK: attn_launch.workspace "row_lse"
// CHECK: attn_launch.launch @repaired grid
// CHECK: attn_launch.launch @repaired_repair grid

// CHECK-LABEL: attn_tile.kernel @repaired(
// CHECK-NOT: attn_tile.exit
// CHECK-LABEL: attn_tile.kernel @repaired_repair(
// CHECK-SAME: %[[LSE:[a-z0-9]+]]: !attn_tile.global<1x2x?xf32>) warps
// CHECK: %[[BOUND:.*]] = arith.constant -5.000000e+03 : f32
// A tile of 64 rows is looked at by 32 lanes.
// CHECK: %[[A:.*]] = attn_tile.extract %[[LSE]]
// CHECK: %[[A_BELOW:.*]] = arith.cmpf olt, %[[A]], %[[BOUND]]
// CHECK: %[[B:.*]] = attn_tile.extract %[[LSE]]
// CHECK: %[[B_BELOW:.*]] = arith.cmpf olt, %[[B]], %[[BOUND]]
// CHECK: %[[EITHER:.*]] = arith.ori %[[A_BELOW]], %[[B_BELOW]]
// CHECK: %[[WORD:.*]] = arith.extui %[[EITHER]]
// CHECK: %[[ANY:.*]] = gpu.subgroup_reduce or %[[WORD]]
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[ANY]],
// CHECK: attn_tile.exit if %[[NONE]]
// CHECK: scf.for
func.func @repaired(%q: !q, %k: !q) -> !q {
  %value = arith.constant -1.0e+4 : f32
  %o, %lse = attn.attention %q, %k, %k mask_mod causal(top_left) {schedule = #attn.schedule<tile_m = 64, tile_n = 64, stages = 2, warps = 4>}
      : !q, !q, !q -> !q, !lse
  %w, %whole_lse = attn.attention %q, %k, %k
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %causal = arith.cmpi sle, %j, %i : index
        %r = arith.select %causal, %s, %value : f32
        attn.yield %r : f32
      } {schedule = #attn.schedule<tile_m = 64, tile_n = 64, stages = 2, warps = 4>} : !q, !q, !q -> !q, !lse
  %r, %r_lse = attn.repair %o, %lse by %w, %whole_lse below(-5000.0) : !q, !lse
  return %r : !q
}

// -----

!q = tensor<1x2x?x64xf16>
!lse = tensor<1x2x?xf32>

func.func @persistent(%q: !q, %k: !q) -> !q {
  %o, %lse = attn.attention %q, %k, %k {schedule = #attn.schedule<tile_m = 64, tile_n = 64, stages = 2, warps = 4>}
      : !q, !q, !q -> !q, !lse
  // expected-error @+1 {{expected large-cache schedules of a repaired attention, and that of what repairs without a persistent grid, clusters or slices of Dv, got #attn.schedule<tile_m = 64, tile_n = 64, stages = 2, warps = 4, persistent_ctas = 3>}}
  %w, %whole_lse = attn.attention %q, %k, %k
      {schedule = #attn.schedule<tile_m = 64, tile_n = 64, stages = 2, warps = 4, persistent_ctas = 3>} : !q, !q, !q -> !q, !lse
  %r, %r_lse = attn.repair %o, %lse by %w, %whole_lse below(-5000.0) : !q, !lse
  return %r : !q
}
