// RUN: attn-opt %s --attn-convert-to-online --attn-tile --attn-insert-block-skipping \
// RUN:   --attn-pad-tiles --cse --attn-verify-normal-form | FileCheck %s

// Rows and keys are ragged: every step is static, padded keys are masked, the
// regions read at valid positions, and the results of padded rows are cut off.
// CHECK-LABEL: @ragged
// CHECK-SAME: %[[Q:.*]]: tensor<1x2x?x8xf16>, %[[K:[^:]*]]: tensor<1x2x?x8xf16>
// CHECK: scf.forall
// CHECK: %[[ROWS:.*]] = affine.min
// CHECK: tensor.extract_slice %[[Q]]
// CHECK: %[[QP:.*]] = tensor.pad %{{.*}} low[0, 0, 0, 0] high[0, 0, %{{.*}}, 0]
// CHECK: tensor<1x1x?x8xf16> to tensor<1x1x32x8xf16>
// CHECK: scf.for
// CHECK: attn.online_attention %[[QP]], %{{.*}} score_mod ({{.*}} %[[I1:.*]]: index, %{{.*}}: index) {
// CHECK: %[[LAST1:.*]] = arith.subi %[[END1:.*]], %
// CHECK: %[[AT1:.*]] = arith.minsi %[[I1]], %[[LAST1]]
// CHECK: tensor.extract %{{.*}}[%[[AT1]]]
// CHECK-NOT: mask_mod
// CHECK: scf.for %[[N:[a-z0-9]+]] =
// CHECK: %[[KEYS:.*]] = affine.min
// CHECK: %[[END:.*]] = arith.addi %[[N]], %[[KEYS]]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 0] high[0, 0, %{{.*}}, 0]
// CHECK: tensor<1x1x?x8xf16> to tensor<1x1x16x8xf16>
// CHECK: attn.online_attention %[[QP]],
// CHECK: } mask_mod ({{.*}} %[[J:[a-z0-9]+]]: index) {
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[J]], %[[END]] : index
// CHECK: arith.andi %{{.*}}, %[[IN]] : i1
// CHECK: %[[O:.*]] = attn.normalize {{.*}} -> tensor<1x1x32x8xf16>
// CHECK: %[[VALID:.*]] = tensor.extract_slice %[[O]][0, 0, 0, 0] [1, 1, %[[ROWS]], 8]
// CHECK: tensor.parallel_insert_slice %[[VALID]]
func.func @ragged(%q: tensor<1x2x?x8xf16>, %k: tensor<1x2x?x8xf16>,
                  %rows: tensor<?xf32>) -> tensor<1x2x?x8xf16> {
  %o = attn.attention %q, %k, %k
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %t = tensor.extract %rows[%i] : tensor<?xf32>
        %r = arith.addf %s, %t : f32
        attn.yield %r : f32
      }
      {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>, tensor<1x2x?x8xf16>
      -> tensor<1x2x?x8xf16>
  return %o : tensor<1x2x?x8xf16>
}

// Whole tiles stay as they are.
// CHECK-LABEL: @even
// CHECK-NOT: tensor.pad
// CHECK: return
func.func @even(%q: tensor<1x2x64x8xf16>) -> tensor<1x2x64x8xf16> {
  %o = attn.attention %q, %q, %q {schedule = #attn.schedule<
          tile_m = 32, tile_n = 16, warps = 1, stages = 1>}
      : tensor<1x2x64x8xf16>, tensor<1x2x64x8xf16>, tensor<1x2x64x8xf16>
      -> tensor<1x2x64x8xf16>
  return %o : tensor<1x2x64x8xf16>
}
