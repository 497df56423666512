// RUN: attn-opt %s --target=sm_80 --emit=ptx -o - | FileCheck %s
// RUN: attn-opt %s --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=SM90A
// RUN: attn-opt %s --target=h100 --emit=ptx -o - | FileCheck %s --check-prefix=SM90A
// RUN: attn-opt %s --target=sm_120 -o - | FileCheck %s --check-prefix=SM120
// RUN: attn-opt %s --target=sm_80 --emit=llvm -o - | FileCheck %s --check-prefix=LLVM

module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  llvm.func @scale(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %factor: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %src = llvm.getelementptr %in[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x = llvm.load %src : !llvm.ptr<1> -> f32
    %y = llvm.fmul %x, %factor : f32
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %slot = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %y, %slot : f32, !llvm.ptr<3>
    nvvm.barrier0
    %z = llvm.load %slot : !llvm.ptr<3> -> f32
    %dst = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %z, %dst : f32, !llvm.ptr<1>
    llvm.return
  }
}

// CHECK:      .version 7.0
// CHECK-NEXT: .target sm_80
// CHECK:      .extern .shared .align 128 .b8 smem[]
// CHECK:      .visible .entry scale(
// CHECK:      .param .u64 .ptr .global {{.*}}scale_param_0
// CHECK:      .param .f32 scale_param_2
// CHECK:      .reqntid 128
// CHECK:      ld.global
// CHECK:      mul{{(.rn)?}}.f32
// CHECK:      bar.sync
// CHECK:      st.global

// SM90A:      .version 8.0
// SM90A-NEXT: .target sm_90a
// SM120:      .version 8.7
// SM120-NEXT: .target sm_120

// LLVM: target triple = "nvptx64-nvidia-cuda"
// LLVM: define ptx_kernel void @scale(
