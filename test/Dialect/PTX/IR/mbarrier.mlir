// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --convert-nvvm-to-llvm | FileCheck %s --check-prefix=PTX

// CHECK: attn_ptx.mbarrier_arrive %{{.*}} if %{{.*}} : <3>
// CHECK: attn_ptx.mbarrier_arrive %{{.*}} : <3>
// PTX: llvm.inline_asm has_side_effects {{.*}}"@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b" %{{.*}}, %{{.*}}
// PTX: llvm.inline_asm has_side_effects {{.*}}"mbarrier.arrive.shared.b64 _, [$0];", "r" %{{.*}}
llvm.func @arrive(%barrier: !llvm.ptr<3>, %is_first: i1) {
  attn_ptx.mbarrier_arrive %barrier if %is_first : !llvm.ptr<3>
  attn_ptx.mbarrier_arrive %barrier : !llvm.ptr<3>
  llvm.return
}
