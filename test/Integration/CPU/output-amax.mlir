// The largest magnitude of each row of an output on the CPU, against float64: in the tiles of the attention, alone, of slices of Dv, in f64, with a NaN.

// RUN: attn-run %s --function scaled --shape 'B=2,M=65,N=130; B=1,M=3,N=0; B=0,M=3,N=4' --random 1 --verify | FileCheck %s
// RUN: attn-run %s --function alone --shape B=2,M=70 --random 3 --verify | FileCheck %s
// RUN: attn-run %s --function special --shape B=1,M=40,N=33 --random 4 --verify | FileCheck %s
// RUN: sed 's/{chosen}/{schedule = #attn.schedule<kind = "small_cache", tile_m = 20, tile_n = 24, tile_d = 16, tile_dv = 16>}/' %s > %t.small.mlir
// RUN: attn-run %t.small.mlir --function special --shape B=1,M=70,N=70 --random 5 --verify | FileCheck %s
// CHECK: verify: PASS
// CHECK-NOT: FAIL

// In the tiles.
// RUN: attn-opt %s --attn-select-schedule=target=cpu --attn-convert-to-online --attn-tile --attn-fuse-outputs | FileCheck %s --check-prefix=FUSED
// FUSED-LABEL: @scaled
// FUSED: scf.forall {{.*}} -> (tensor<?x4x?x24xf8E4M3FN>, tensor<?x4x?xf32>, tensor<?x4x?xf32>)
// FUSED: %[[SAME:.*]], %[[AMAX:.*]] = attn.output_mod %{{.*}} offsets(
// FUSED: } : tensor<1x1x?x24xf32> -> tensor<1x1x?x24xf32>, tensor<1x1x?xf32>
// FUSED: %[[SCALED:.*]] = attn.output_mod %[[SAME]] offsets(
// FUSED: tensor.parallel_insert_slice %[[SCALED]]
// FUSED: tensor.parallel_insert_slice %[[AMAX]] into %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] [1, 1, %{{.*}}] [1, 1, 1] : tensor<1x1x?xf32> into tensor<?x4x?xf32>
// FUSED-LABEL: @alone

!q = tensor<?x4x?x32xf16>
!k = tensor<?x2x?x32xf16>
!v = tensor<?x2x?x24xf16>
!o = tensor<?x4x?x24xf32>
!y = tensor<?x4x?x24xf16>
!l = tensor<?x4x?xf32>

func.func @scaled(%q: !q, %k: !k, %v: !v, %scale: tensor<1xf32>) -> (tensor<?x4x?x24xf8E4M3FN>, !l, !l) {
  %o, %l = attn.attention %q, %k, %v mask_mod causal(bottom_right) : !q, !k, !v -> !o, !l
  %same, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    attn.yield %x : f32
  } : !o -> !o, !l
  %y = attn.output_mod %same (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %c0 = arith.constant 0 : index
    %s = tensor.extract %scale[%c0] : tensor<1xf32>
    %r = arith.mulf %x, %s : f32
    attn.yield %r : f32
  } : !o -> tensor<?x4x?x24xf8E4M3FN>
  return %y, %l, %amax : tensor<?x4x?x24xf8E4M3FN>, !l, !l
}

func.func @alone(%o: tensor<?x4x?x24xf64>) -> (tensor<?x4x?x24xf64>, tensor<?x4x?xf64>) {
  %y, %amax = attn.output_mod %o (%x: f64, %b: index, %h: index, %i: index, %c: index) {
    %s = arith.constant -3.0 : f64
    %r = arith.mulf %x, %s : f64
    attn.yield %r : f64
  } : tensor<?x4x?x24xf64> -> tensor<?x4x?x24xf64>, tensor<?x4x?xf64>
  return %y, %amax : tensor<?x4x?x24xf64>, tensor<?x4x?xf64>
}

func.func @special(%q: !q, %k: !k, %v: !v) -> (!l, !y) {
  %o = attn.attention %q, %k, %v {chosen} : !q, !k, !v -> !o
  %y, %amax = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
    %nan = arith.constant 0x7FC00000 : f32
    %c3 = arith.constant 3 : index
    %c17 = arith.constant 17 : index
    %c0 = arith.constant 0 : index
    %third = arith.remui %i, %c3 : index
    %is0 = arith.cmpi eq, %third, %c0 : index
    %at17 = arith.cmpi eq, %c, %c17 : index
    %hasNan = arith.andi %is0, %at17 : i1
    %r = arith.select %hasNan, %nan, %x : f32
    attn.yield %r : f32
  } : !o -> !y, !l
  return %amax, %y : !l, !y
}
