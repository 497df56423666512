// Whether a row and a key lie in one segment is asked from the side that stays: where rows stay, as bounds of keys by the row's segment, which
// are found once for a tile of rows; where keys stay, as bounds of rows by the key's.
//
// RUN: attn-opt %s --attn-convert-to-online --attn-tile-backward --split-input-file | FileCheck %s

!q = tensor<1x2x256x64xf16>

// CHECK-LABEL: @equal
// CHECK: attn.online_attention
// CHECK: mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK: %[[S:.*]] = attn.segment %{{.*}} at %[[I]]
// CHECK-NOT: attn.segment
// CHECK: arith.cmpi sge, %[[J]], %{{.*}}
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi slt, %[[J]], %{{.*}}
func.func @equal(%q: !q, %cu: tensor<?xi32>) -> !q {
  %o = attn.attention %q, %q, %q mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %s = attn.segment %cu at %i : tensor<?xi32>
    %t = attn.segment %cu at %j : tensor<?xi32>
    %r = arith.cmpi eq, %s, %t : index
    attn.yield %r : i1
  } : !q, !q, !q -> !q
  return %o : !q
}

// -----

!q = tensor<1x2x256x64xf16>

// The nest of dQ, then that of dK and dV: of `begin <= j <= i < end` for the row's segment, `j <= i < end` for the key's.
// CHECK-LABEL: @packed
// CHECK: scf.forall
// CHECK: attn.backward_step {{.*}} mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %{{.*}}: index)
// CHECK: attn.segment %{{.*}} at %[[I]]
// CHECK: scf.forall
// CHECK: attn.backward_step {{.*}} mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK: attn.segment %{{.*}} at %[[J]]
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, %[[I]], %{{.*}}
// CHECK: %[[CAUSAL:.*]] = arith.cmpi sle, %[[J]], %[[I]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[BEFORE]], %[[CAUSAL]]
// CHECK: attn.yield %[[BOTH]]
func.func @packed(%q: !q, %lse: tensor<1x2x256xf32>, %cu: tensor<?xi32>) -> (!q, !q, !q) {
  %d:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : tensor<1x2x256xf32>) d_output(%q : !q)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %s = attn.segment %cu at %i : tensor<?xi32>
        %x = tensor.extract %cu[%s] : tensor<?xi32>
        %begin = arith.index_cast %x : i32 to index
        %c1 = arith.constant 1 : index
        %next = arith.addi %s, %c1 : index
        %y = tensor.extract %cu[%next] : tensor<?xi32>
        %end = arith.index_cast %y : i32 to index
        %behind = arith.cmpi sge, %j, %begin : index
        %before = arith.cmpi slt, %i, %end : index
        %causal = arith.cmpi sle, %j, %i : index
        %0 = arith.andi %before, %behind : i1
        %1 = arith.andi %0, %causal : i1
        attn.yield %1 : i1
      } {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}

// -----

!q = tensor<1x2x256x64xf16>

// Without `i < end` the last segment has all rows behind it: no end is asked of it.
// CHECK-LABEL: @open
// CHECK: scf.forall
// CHECK: scf.forall
// CHECK: attn.backward_step {{.*}} mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK: attn.segment %{{.*}} at %[[J]]
// CHECK: %[[END:.*]] = arith.select
// CHECK: arith.cmpi slt, %[[I]], %[[END]]
func.func @open(%q: !q, %lse: tensor<1x2x256xf32>, %cu: tensor<?xi32>) -> (!q, !q, !q) {
  %d:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : tensor<1x2x256xf32>) d_output(%q : !q)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %s = attn.segment %cu at %i : tensor<?xi32>
        %x = tensor.extract %cu[%s] : tensor<?xi32>
        %begin = arith.index_cast %x : i32 to index
        %behind = arith.cmpi sge, %j, %begin : index
        %causal = arith.cmpi sle, %j, %i : index
        %0 = arith.andi %behind, %causal : i1
        attn.yield %0 : i1
      } {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}

// -----

!q = tensor<1x2x256x64xf16>

// A key that only has to be behind the segment's begin may lie in another: nothing is exchanged. Nor on a CPU, whose vectors are along keys.
// CHECK-LABEL: @behind
// CHECK: scf.forall
// CHECK: scf.forall
// CHECK: attn.backward_step {{.*}} mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %{{.*}}: index)
// CHECK: attn.segment %{{.*}} at %[[I]]
func.func @behind(%q: !q, %lse: tensor<1x2x256xf32>, %cu: tensor<?xi32>) -> (!q, !q, !q) {
  %d:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : tensor<1x2x256xf32>) d_output(%q : !q)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %s = attn.segment %cu at %i : tensor<?xi32>
        %x = tensor.extract %cu[%s] : tensor<?xi32>
        %begin = arith.index_cast %x : i32 to index
        %behind = arith.cmpi sge, %j, %begin : index
        attn.yield %behind : i1
      } {schedule = #attn.schedule<kind = "large_cache", mma = "mma_sync", tile_m = 64, tile_n = 64, warps = 4, stages = 2>}
      : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}

// -----

!q = tensor<1x2x256x64xf16>

// CHECK-LABEL: @on_cpu
// CHECK: scf.forall
// CHECK: scf.forall
// CHECK: attn.backward_step {{.*}} mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %{{.*}}: index)
// CHECK: attn.segment %{{.*}} at %[[I]]
func.func @on_cpu(%q: !q, %lse: tensor<1x2x256xf32>, %cu: tensor<?xi32>) -> (!q, !q, !q) {
  %d:3 = attn.attention_backward %q, %q, %q output(%q : !q) lse(%lse : tensor<1x2x256xf32>) d_output(%q : !q)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %s = attn.segment %cu at %i : tensor<?xi32>
        %t = attn.segment %cu at %j : tensor<?xi32>
        %r = arith.cmpi eq, %t, %s : index
        attn.yield %r : i1
      } : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}
