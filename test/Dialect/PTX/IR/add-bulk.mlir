// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --convert-nvvm-to-llvm | FileCheck %s --check-prefix=ASM

// CHECK: attn_ptx.add_bulk %{{.*}} to %{{.*}}, %{{.*}}, %{{.*}} : <3> to <1>
// ASM: llvm.inline_asm has_side_effects {{.*}}"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.f32 [$1], [$0], $2, $3;"
llvm.func @add(%from: !llvm.ptr<3>, %to: !llvm.ptr<1>, %bytes: i32, %policy: i64) {
  attn_ptx.add_bulk %from to %to, %bytes, %policy : !llvm.ptr<3> to !llvm.ptr<1>
  llvm.return
}
