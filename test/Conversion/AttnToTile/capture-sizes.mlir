// RUN: attn-opt %s --attn-to-scheduled=target=sm_80 --attn-to-tiled --convert-attn-to-tile --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-grad --attn-to-scheduled=target=sm_80 --attn-to-tiled --convert-attn-to-tile --split-input-file | FileCheck %s --check-prefixes=CHECK,GRAD

// attention_c14 of sizes that only the launcher knows: a tensor that is read at a coordinate has an element for each.

// CHECK-LABEL: attn_launch.program "table
// CHECK: %[[KEYS:.*]] = attn_tile.dim %{{.*}}, 2
// CHECK-NEXT: %[[ELEMENTS:.*]] = attn_tile.dim %{{.*}}, 0
// CHECK: %[[MISSING:.*]] = arith.subi %[[KEYS]], %[[ELEMENTS]]
// CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[MISSING]]
// CHECK: attn_launch.constraint %[[POSITIVE]] equals 0, "expected dimension 0 of capture0, which is read at each position, to be at least N"
// CHECK: "expected dimension 1 of capture1, which is read at each position, to be at least M"
// CHECK-NOT: attn_launch.constraint
// CHECK: attn_launch.launch
// The backward's tiles are padded, and its coordinates clamped to the last key and row.
// GRAD-LABEL: attn_launch.program "table_grad
// GRAD-DAG: attn_launch.constraint {{.*}} "expected dimension 0 of capture{{[01]}}, which is read at each position, to be at least N"
// GRAD-DAG: attn_launch.constraint {{.*}} "expected dimension 1 of capture{{[01]}}, which is read at each position, to be at least M"
func.func @table(%q: tensor<2x2x?x64xf16>, %k: tensor<2x2x?x64xf16>, %v: tensor<2x2x?x64xf16>, %t: tensor<?xf32>,
                 %ids: tensor<2x?xi32>) -> (tensor<2x2x?x64xf16>, tensor<2x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(0.125) score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %x = tensor.extract %t[%j] : tensor<?xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } mask_mod (%b: index, %h: index, %i: index, %j: index) {
    // Of known sizes the verifier has seen it.
    %x = tensor.extract %ids[%b, %i] : tensor<2x?xi32>
    %y = arith.index_cast %x : i32 to index
    %z = arith.cmpi sle, %j, %y : index
    attn.yield %z : i1
  } : tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16> -> tensor<2x2x?x64xf16>, tensor<2x2x?xf32>
  return %o, %lse : tensor<2x2x?x64xf16>, tensor<2x2x?xf32>
}

// -----

// What an index computes is its own affair.
// CHECK-LABEL: attn_launch.program "computed
// CHECK-NOT: attn_launch.constraint
// CHECK: attn_launch.launch
func.func @computed(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %t: tensor<?xi32>)
    -> (tensor<1x2x?x64xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(0.125) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %c0 = arith.constant 0 : index
    %x = tensor.extract %t[%c0] : tensor<?xi32>
    %y = arith.index_cast %x : i32 to index
    %z = arith.cmpi slt, %j, %y : index
    attn.yield %z : i1
  } : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
}

// -----

// Lists of blocks by keys have keys for rows: what the mask reads at a row is no larger for it.
// CHECK-LABEL: attn_launch.program "documents"
// CHECK: "expected dimension 0 of capture0, which is read at each position, to be at least M"
// GRAD-LABEL: attn_launch.program "documents_grad"
// GRAD-NOT: "expected dimension 0 of capture0, which is read at each position, to be at least N"
// GRAD: "expected dimension 0 of capture0, which is read at each position, to be at least M"
// GRAD-NOT: "expected dimension 0 of capture0, which is read at each position, to be at least N"
// GRAD: attn_launch.launch
func.func @documents(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %rows: tensor<?xi32>, %keys: tensor<?xi32>)
    -> (tensor<1x2x?x64xf16>, tensor<1x2x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(0.125) mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %x = tensor.extract %rows[%i] : tensor<?xi32>
    %y = tensor.extract %keys[%j] : tensor<?xi32>
    %z = arith.cmpi eq, %x, %y : i32
    attn.yield %z : i1
  } : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf16>, tensor<1x2x?xf32>
}
