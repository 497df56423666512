// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --convert-nvvm-to-llvm | FileCheck %s --check-prefix=PTX

!acc = !llvm.struct<(f32, f32, f32, f32)>

// CHECK-LABEL: llvm.func @shared
// CHECK: attn_ptx.wgmma f16 a_descriptors(%{{.*}}, %{{.*}}) b(%{{.*}}, %{{.*}}) : !llvm.struct<(f32, f32, f32, f32)>
// CHECK: attn_ptx.wgmma_wait 0, %{{.*}} : !llvm.struct

// The first product overwrites, the second adds.
// PTX-LABEL: llvm.func @shared
// PTX: llvm.inline_asm has_side_effects
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $4, $6, set, 1, 1, 0, 0;
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $5, $7, add, 1, 1, 0, 0;
// PTX-SAME: "=f,=f,=f,=f,l,l,l,l"
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX-SAME: "=f,=f,=f,=f,0,1,2,3" {{.*}} -> !llvm.struct<(f32, f32, f32, f32)>
llvm.func @shared(%a0: i64, %a1: i64, %b0: i64, %b1: i64) -> !acc {
  %d = attn_ptx.wgmma f16 a_descriptors(%a0, %a1) b(%b0, %b1) : !acc
  %r = attn_ptx.wgmma_wait 0, %d : !acc
  llvm.return %r : !acc
}

// CHECK-LABEL: llvm.func @registers
// CHECK: attn_ptx.wgmma bf16 a_registers(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) b(%{{.*}}) b_mn_major acc(%{{.*}} : !llvm.struct

// PTX-LABEL: llvm.func @registers
// PTX: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, add, 1, 1, 1;
// PTX-SAME: "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l" {{.*}} -> !llvm.struct<(f32, f32, f32, f32)>
llvm.func @registers(%p: i32, %b: i64, %o: !acc) -> !acc {
  %d = attn_ptx.wgmma bf16 a_registers(%p, %p, %p, %p) b(%b) b_mn_major acc(%o : !acc) : !acc
  llvm.return %d : !acc
}

// Integers have no sign to be changed.
// PTX-LABEL: llvm.func @integers
// PTX: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, $4, $6, set;
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, $5, $7, add;
// PTX-SAME: "=r,=r,=r,=r,l,l,l,l"
llvm.func @integers(%a0: i64, %a1: i64, %b0: i64, %b1: i64) -> !llvm.struct<(i32, i32, i32, i32)> {
  %d = attn_ptx.wgmma i8 a_descriptors(%a0, %a1) b(%b0, %b1) : !llvm.struct<(i32, i32, i32, i32)>
  %r = attn_ptx.wgmma_wait 0, %d : !llvm.struct<(i32, i32, i32, i32)>
  llvm.return %r : !llvm.struct<(i32, i32, i32, i32)>
}

// CHECK-LABEL: llvm.func @two_floats
// CHECK: attn_ptx.wgmma f8E5M2 by f8E4M3FN a_descriptors(%{{.*}}) b(%{{.*}}) :

// PTX-LABEL: llvm.func @two_floats
// PTX: wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e4m3 {$0, $1, $2, $3}, $4, $5, set, 1, 1;
llvm.func @two_floats(%a: i64, %b: i64) -> !acc {
  %d = attn_ptx.wgmma f8E5M2 by f8E4M3FN a_descriptors(%a) b(%b) : !acc
  %r = attn_ptx.wgmma_wait 0, %d : !acc
  llvm.return %r : !acc
}
