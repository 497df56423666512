// What masks read is checked before each attention, once for each condition.
// RUN: attn-opt %s --attn-insert-device-asserts --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @packed
// CHECK: attn.device_assert over() "expected the offsets of at least one sequence: 2 entries"
// CHECK: attn.device_assert over() "expected offsets[0] to be 0"
// CHECK: attn.device_assert over({{.*}}) "expected offsets that do not decrease"
// CHECK: ^bb0(%[[S:.*]]: index):
// CHECK: %[[NEXT:.*]] = arith.addi %[[S]],
// CHECK: arith.cmpi sle
// CHECK: attn.yield %{{.*}} : i1
// CHECK: attn.device_assert over() "expected offsets up to the number of query positions"
// CHECK: attn.device_assert over() "expected offsets up to the number of key positions"
// CHECK: attn.attention
func.func @packed(%q: tensor<1x2x?x64xf16>, %offsets: tensor<?xi32>) -> tensor<1x2x?x64xf16> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %x = attn.segment %offsets at %i : tensor<?xi32>
        %y = attn.segment %offsets at %j : tensor<?xi32>
        %same = arith.cmpi eq, %x, %y : index
        attn.yield %same : i1
      }
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// CHECK-LABEL: func.func @lists
// CHECK: attn.device_assert over() "expected num_blocks and indices for the batches, heads and row blocks of the attention"
// CHECK: attn.device_assert over({{.*}}) "expected num_blocks from 0 to the room for indices"
// CHECK: attn.device_assert over({{.*}}) "expected indices below the number of key blocks"
// CHECK: attn.device_assert over({{.*}}) "expected indices to ascend"
// CHECK: attn.device_assert over() "expected num_blocks and indices for
// CHECK: attn.device_assert over({{.*}}) "expected blocks that are in no other list"
func.func @lists(%q: tensor<1x2x256x64xf16>, %n: tensor<1x1x?xi32>, %e: tensor<1x1x?x?xi32>, %fn: tensor<1x1x?xi32>, %fe: tensor<1x1x?x?xi32>)
    -> tensor<1x2x256x64xf16> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %partial = attn.block_listed %n, %e at(%b, %h, %i, %j) block [128, 128] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
        %full = attn.block_listed %fn, %fe at(%b, %h, %i, %j) block [128, 128] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
        %any = arith.ori %partial, %full : i1
        attn.yield %any : i1
      }
      : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

// Masks that read nothing, and no masks at all, are not checked.
// CHECK-LABEL: func.func @causal
// CHECK-NOT: attn.device_assert
func.func @causal(%q: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  %o = attn.attention %q, %q, %q mask_mod causal(top_left)
      : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

// CHECK-LABEL: func.func @pages
// CHECK: attn.device_assert over(%{{.*}}) "expected key lengths from 0 to the number of positions"
// CHECK: attn.device_assert over(%{{.*}}, %{{.*}}) "expected entries that are pages of the pool"
// CHECK: %[[PAGE:.*]] = arith.cmpi ult
// CHECK: %[[BEHIND:.*]] = arith.cmpi sge
// CHECK: arith.ori %[[BEHIND]], %[[PAGE]]
func.func @pages(%q: tensor<2x1x4x8xf16>, %pool: tensor<?x1x16x8xf16>, %t: tensor<2x?xi32>, %n: tensor<2xi32>) -> tensor<2x1x4x8xf16> {
  %k = attn.paged %pool[%t] : tensor<?x1x16x8xf16>[tensor<2x?xi32>] -> tensor<2x1x?x8xf16>
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>)
      : tensor<2x1x4x8xf16>, tensor<2x1x?x8xf16>, tensor<2x1x?x8xf16> -> tensor<2x1x4x8xf16>
  return %o : tensor<2x1x4x8xf16>
}

// -----

// CHECK-LABEL: func.func @lengths
// CHECK: attn.device_assert over(%{{.*}}) "expected query lengths from 0 to the number of positions"
// CHECK: arith.cmpi ule
// CHECK: attn.device_assert over(%{{.*}}) "expected key lengths from 0 to the number of positions"
// CHECK: arith.cmpi ule
func.func @lengths(%q: tensor<2x1x4x8xf16>, %k: tensor<2x1x?x8xf16>, %n: tensor<2xi32>, %m: tensor<2xi64>) -> tensor<2x1x4x8xf16> {
  %o = attn.attention %q, %k, %k lengths(key %n : tensor<2xi32>, query %m : tensor<2xi64>)
      : tensor<2x1x4x8xf16>, tensor<2x1x?x8xf16>, tensor<2x1x?x8xf16> -> tensor<2x1x4x8xf16>
  return %o : tensor<2x1x4x8xf16>
}

// -----

// CHECK-LABEL: func.func @append
// CHECK: attn.device_assert over(%{{.*}}) "expected slots that are -1 or rows of the pool"
// CHECK: attn.device_assert over(%{{.*}}, %{{.*}}) "expected slots that differ"
// CHECK: attn.append
func.func @append(%q: tensor<2x1x4x8xf16>, %k: tensor<?x1x8xf16>, %c: tensor<2x1x9x8xf16>, %s: tensor<?xi32>) -> tensor<2x1x4x8xf16> {
  %0 = attn.append %k into %c slots(%s : tensor<?xi32>) : tensor<?x1x8xf16> into tensor<2x1x9x8xf16>
  %o = attn.attention %q, %0, %0 : tensor<2x1x4x8xf16>, tensor<2x1x9x8xf16>, tensor<2x1x9x8xf16> -> tensor<2x1x4x8xf16>
  return %o : tensor<2x1x4x8xf16>
}

// -----

// A descale that both tensors have is looked at once, and one that rows are divided by is above 0.
// CHECK-LABEL: func.func @descales
// CHECK-SAME: %[[D:arg4]]: tensor<1xf32>
// CHECK: attn.device_assert over(%{{.*}}) "expected slots that differ"
// CHECK: attn.device_assert over(%{{.*}}) "expected finite descales above 0"
// CHECK: arith.cmpf ogt
// CHECK: attn.append
// CHECK: attn.device_assert over(%{{.*}}) "expected finite descales"
// CHECK: tensor.extract %[[D]]
// CHECK: arith.cmpf olt
// CHECK-NOT: attn.device_assert
// CHECK: attn.attention
func.func @descales(%q: tensor<2x1x4x8xf16>, %k: tensor<?x1x8xf16>, %c: tensor<2x1x9x8xi8>, %s: tensor<?xi32>, %d: tensor<1xf32>) -> tensor<2x1x4x8xf16> {
  %0 = attn.append %k into %c slots(%s : tensor<?xi32>) descale(%d : tensor<1xf32>) : tensor<?x1x8xf16> into tensor<2x1x9x8xi8>
  %o = attn.attention %q, %0, %0 descale(%d, %d : tensor<1xf32>, tensor<1xf32>)
      : tensor<2x1x4x8xf16>, tensor<2x1x9x8xi8>, tensor<2x1x9x8xi8> -> tensor<2x1x4x8xf16>
  return %o : tensor<2x1x4x8xf16>
}

// -----

// Of a backward the map of the view, and that of a sum if it is another one.
// CHECK-LABEL: func.func @sums
// CHECK: attn.device_assert over(%{{.*}}) "expected entries of the map that are heads of its source"
// CHECK: attn.device_assert over(%{{.*}}) "expected entries of the map that are heads of its destination"
// CHECK: tensor.extract %arg5
// CHECK: arith.cmpi ult, %{{.*}}, %c2
// CHECK-NOT: attn.device_assert
func.func @sums(%q: tensor<1x3x4x8xf16>, %k: tensor<1x2x9x8xf16>, %o: tensor<1x3x4x8xf16>, %lse: tensor<1x3x4xf32>, %m: tensor<3xi32>, %n: tensor<3xi32>)
    -> (tensor<1x2x9x8xf16>, tensor<1x2x9x8xf16>) {
  %view = attn.select_heads %k[%m] : tensor<1x2x9x8xf16>[tensor<3xi32>] -> tensor<1x3x9x8xf16>
  %dq, %dk, %dv = attn.attention_backward %q, %view, %view output(%o : tensor<1x3x4x8xf16>) lse(%lse : tensor<1x3x4xf32>) d_output(%o : tensor<1x3x4x8xf16>)
      : tensor<1x3x4x8xf16>, tensor<1x3x9x8xf16>, tensor<1x3x9x8xf16> -> tensor<1x3x4x8xf16>, tensor<1x3x9x8xf16>, tensor<1x3x9x8xf16>
  %none = tensor.empty() : tensor<1x2x9x8xf16>
  %key = attn.sum_heads %dk[%m] into %none : tensor<1x3x9x8xf16>[tensor<3xi32>] into tensor<1x2x9x8xf16>
  %value = attn.sum_heads %dv[%n] into %none : tensor<1x3x9x8xf16>[tensor<3xi32>] into tensor<1x2x9x8xf16>
  return %key, %value : tensor<1x2x9x8xf16>, tensor<1x2x9x8xf16>
}
