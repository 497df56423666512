// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-insert-block-skipping --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-insert-block-skipping --attn-pad-tiles --canonicalize --cse | FileCheck %s --check-prefix=PAD

// With lengths the steps are told where the keys begin that the rows of a tile see. On a CPU the partial tiles read no row before, and are 0 there.
// CHECK-LABEL: @window
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: attn.online_attention {{.*}} first_key(%[[FIRST:.*]]) offsets({{.*}}) outs
// CHECK: scf.for
// CHECK: attn.online_attention {{.*}} first_key(%[[FIRST]]) {{.*}} mask_mod
// PAD-LABEL: @window
// PAD-SAME: %{{.*}}: tensor<2x1x4x8xf32>, %[[K:[a-z0-9]+]]: tensor<2x1x96x8xf32>
// PAD-NOT: first_key
// PAD: attn.online_attention {{.*}} offsets({{.*}}) outs
// PAD: %[[KEY:.*]] = arith.select
// PAD: %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[KEY]]
// PAD: %[[COUNT:.*]] = arith.maxsi %[[BEFORE]], %c0
// PAD-DAG: %[[AT:.*]] = arith.addi %[[KEY]], %[[COUNT]]
// PAD-DAG: %[[SIZE:.*]] = arith.subi %c16, %[[COUNT]]
// PAD: %[[ROWS:.*]] = tensor.extract_slice %[[K]][%{{.*}}, 0, %[[AT]], 0] [1, 1, %[[SIZE]], 8]
// PAD: tensor.pad %[[ROWS]] low[0, 0, %[[COUNT]], 0] high[0, 0, 0, 0]
// PAD: attn.online_attention
func.func @window(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x96x8xf32>, %n: tensor<2xi32>) -> tensor<2x1x4x8xf32> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %l = attn.length key
    %c = arith.constant 40 : index
    %lo = arith.subi %l, %c : index
    %p = arith.addi %i, %lo : index
    %s = arith.cmpi sgt, %j, %p : index
    attn.yield %s : i1
  } {schedule = #attn.schedule<tile_m = 4, tile_n = 16, warps = 1, stages = 1>} : tensor<2x1x4x8xf32>, tensor<2x1x96x8xf32>, tensor<2x1x96x8xf32> -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}

// A mask looks at an entry of a table only where a key may be seen; so do the other regions.
// PAD-LABEL: @table
// PAD: attn.online_attention {{.*}} score_mod
// PAD: %[[BEFORE:.*]] = arith.subi %[[FIRST:.*]], %{{.*}} : index
// PAD: attn.online_attention {{.*}} score_mod ({{.*}}, %[[J:[a-z0-9]+]]: index) {
// PAD-NEXT: %[[AT:.*]] = arith.maxsi %[[J]], %[[FIRST]] : index
// PAD-NEXT: tensor.extract %{{.*}}[%[[AT]]]
// PAD: } mask_mod
func.func @table(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x96x8xf32>, %n: tensor<2xi32>, %t: tensor<96xi32>, %x: tensor<?xf32>) -> tensor<2x1x4x8xf32> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>) score_mod (%z: f32, %b: index, %h: index, %i: index, %j: index) {
    %e = tensor.extract %t[%j] : tensor<96xi32>
    %a = arith.index_cast %e : i32 to index
    %f = tensor.extract %x[%a] : tensor<?xf32>
    %y = arith.mulf %z, %f : f32
    attn.yield %y : f32
  } mask_mod sliding_window(8, 0)
    {schedule = #attn.schedule<tile_m = 4, tile_n = 16, warps = 1, stages = 1>} : tensor<2x1x4x8xf32>, tensor<2x1x96x8xf32>, tensor<2x1x96x8xf32> -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}

// Keys from 0 on, and keys of tensors that have no lengths: as they were.
// CHECK-LABEL: @causal
// CHECK-NOT: first_key
func.func @causal(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x96x8xf32>, %n: tensor<2xi32>) -> tensor<2x1x4x8xf32> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>) mask_mod causal(bottom_right)
    {schedule = #attn.schedule<tile_m = 4, tile_n = 16, warps = 1, stages = 1>} : tensor<2x1x4x8xf32>, tensor<2x1x96x8xf32>, tensor<2x1x96x8xf32> -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}

// CHECK-LABEL: @whole
// CHECK-NOT: first_key
func.func @whole(%q: tensor<2x1x96x8xf32>) -> tensor<2x1x96x8xf32> {
  %o = attn.attention %q, %q, %q mask_mod sliding_window(8, 0)
    {schedule = #attn.schedule<tile_m = 4, tile_n = 16, warps = 1, stages = 1>} : tensor<2x1x96x8xf32>, tensor<2x1x96x8xf32>, tensor<2x1x96x8xf32> -> tensor<2x1x96x8xf32>
  return %o : tensor<2x1x96x8xf32>
}

// Of several ranges it is where the first one begins.
// CHECK-LABEL: @ranges
// CHECK: attn.online_attention {{.*}} first_key(%
func.func @ranges(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x96x8xf32>, %n: tensor<2xi32>) -> tensor<2x1x4x8xf32> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %l = attn.length key
    %c40 = arith.constant 40 : index
    %c20 = arith.constant 20 : index
    %c4 = arith.constant 4 : index
    %lo = arith.subi %l, %c40 : index
    %hi = arith.addi %lo, %c4 : index
    %to = arith.subi %l, %c20 : index
    %s0 = arith.cmpi sge, %j, %lo : index
    %s1 = arith.cmpi slt, %j, %hi : index
    %s2 = arith.cmpi sge, %j, %to : index
    %s01 = arith.andi %s0, %s1 : i1
    %s = arith.ori %s01, %s2 : i1
    attn.yield %s : i1
  } {schedule = #attn.schedule<tile_m = 4, tile_n = 4, warps = 1, stages = 1>} : tensor<2x1x4x8xf32>, tensor<2x1x96x8xf32>, tensor<2x1x96x8xf32> -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}

// The length that the entries of a batch leave is one number, from which the bound is counted.
// CHECK-LABEL: @offsets
// CHECK: attn.online_attention {{.*}} first_key(%{{.*}}) offsets({{.*}}) outs
func.func @offsets(%q: tensor<2x1x4x8xf32>, %pool: tensor<?x1x4x8xf32>, %entries: tensor<?xi32>, %ends: tensor<3xi32>, %n: tensor<2xi32>) -> tensor<2x1x4x8xf32> {
  %k = attn.paged %pool[%entries, %ends] : tensor<?x1x4x8xf32>[tensor<?xi32>, tensor<3xi32>] -> tensor<2x1x?x8xf32>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %l = attn.length key
    %c = arith.constant 40 : index
    %lo = arith.subi %l, %c : index
    %p = arith.addi %i, %lo : index
    %s = arith.cmpi sgt, %j, %p : index
    attn.yield %s : i1
  } {schedule = #attn.schedule<tile_m = 4, tile_n = 16, warps = 1, stages = 1>} : tensor<2x1x4x8xf32>, tensor<2x1x?x8xf32>, tensor<2x1x?x8xf32> -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}

// So is one of offsets of 64 bits, whose differences would not fit if they were not cut first; and it is not negative, as a division without sign wants.
// CHECK-LABEL: @wide
// CHECK: attn.online_attention {{.*}} first_key(%{{.*}}) offsets({{.*}}) outs
func.func @wide(%q: tensor<2x1x4x8xf32>, %pool: tensor<?x1x4x8xf32>, %entries: tensor<?xi32>, %ends: tensor<3xi64>, %n: tensor<2xi32>) -> tensor<2x1x4x8xf32> {
  %k = attn.paged %pool[%entries, %ends] : tensor<?x1x4x8xf32>[tensor<?xi32>, tensor<3xi64>] -> tensor<2x1x?x8xf32>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %l = attn.length key
    %p = arith.addi %i, %l : index
    %four = arith.constant 4 : index
    %block = arith.divui %p, %four : index
    %begin = arith.muli %block, %four : index
    %c = arith.constant 40 : index
    %lo = arith.subi %begin, %c : index
    %s = arith.cmpi sgt, %j, %lo : index
    attn.yield %s : i1
  } {schedule = #attn.schedule<tile_m = 4, tile_n = 16, warps = 1, stages = 1>} : tensor<2x1x4x8xf32>, tensor<2x1x?x8xf32>, tensor<2x1x?x8xf32> -> tensor<2x1x4x8xf32>
  return %o : tensor<2x1x4x8xf32>
}
