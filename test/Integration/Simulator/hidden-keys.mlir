// A mask that is known to hide every key: rows are 0, and gradients.
// RUN: rm -rf %t && mkdir %t
// RUN: split-file %s %t
// RUN: attn-run %t/forward.mlir --device=sim:sm_80 --random 1 --verify
// RUN: attn-run %t/forward.mlir --device=sim:sm_90a --random 1 --verify
// RUN: attn-run %t/forward.mlir --device=cpu --random 1 --verify
// RUN: sed 's/wgmma/mma_sync/' %t/wgmma.mlir > %t/mma_sync.mlir
// RUN: attn-run %t/wgmma.mlir --device=sim:sm_90a --random 1 --verify
// RUN: attn-run %t/mma_sync.mlir --device=sim:sm_80 --random 1 --verify
// RUN: attn-run %t/backward.mlir --device=sim:sm_80 --random 1 --verify
// RUN: attn-opt %t/forward.mlir --attn-to-scheduled=target=sm_80 --attn-to-tiled | FileCheck %s
// CHECK: scf.for %{{.*}} = %[[C0:.*]] to %[[C0]] step
// CHECK: attn.online_attention

//--- forward.mlir
!q = tensor<1x2x32x64xf16>
!l = tensor<1x2x32xf32>
func.func @hidden(%q: !q) -> (!q, !l) {
  %o, %l = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %false = arith.constant false
        attn.yield %false : i1
      } : !q, !q, !q -> !q, !l
  return %o, %l : !q, !l
}

//--- wgmma.mlir
!q = tensor<1x2x256x64xf16>
func.func @hidden(%q: !q) -> !q {
  %c300 = arith.constant 300 : index
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %far = arith.cmpi sge, %j, %c300 : index
        attn.yield %far : i1
      } {schedule = #attn.schedule<mma = "wgmma">} : !q, !q, !q -> !q
  return %o : !q
}

//--- backward.mlir
!q = tensor<1x2x64x64xf16>
!l = tensor<1x2x64xf32>
func.func @hidden(%q: !q, %k: !q, %v: !q, %o: !q, %lse: !l, %g: !q) -> (!q, !q, !q) {
  %d:3 = attn.attention_backward %q, %k, %v output(%o : !q) lse(%lse : !l) d_output(%g : !q)
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %false = arith.constant false
        attn.yield %false : i1
      } : !q, !q, !q -> !q, !q, !q
  return %d#0, %d#1, %d#2 : !q, !q, !q
}
