// RUN: split-file %s %t
// RUN: not attn-opt %t/no-kernel.mlir --target=sm_80 -o - 2>&1 | FileCheck %s --check-prefix=NO-KERNEL
// RUN: not attn-opt %t/other-dialect.mlir --target=sm_80 -o - 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: not attn-opt %t/newer-chip.mlir --target=sm_80 -o - 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not attn-opt %t/newer-chip.mlir --target=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=ACCELERATED
// RUN: not attn-opt %t/dependents.mlir --target=sm_89 -o - 2>&1 | FileCheck %s --check-prefix=DEPENDENTS
// RUN: not attn-opt %t/unsupported.mlir --target=sm_80 -o - 2>&1 | FileCheck %s --check-prefix=BACKEND
// RUN: not attn-opt %t/operand.mlir --target=sm_80 -o - 2>&1 | FileCheck %s --check-prefix=OPERAND
// RUN: not attn-opt %t/modifier.mlir --target=sm_80 -o - 2>&1 | FileCheck %s --check-prefix=MODIFIER
// RUN: not attn-opt %t/type.mlir --target=sm_80 -o - 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: sed 's/<nvvm>/<tensor>/' %t/type.mlir > %t/cpu.type.mlir
// RUN: not attn-opt %t/cpu.type.mlir --target=cpu --emit=llvm -o - 2>&1 | FileCheck %s --check-prefix=TYPE

// NO-KERNEL: no-kernel.mlir:1:1: error: expected an llvm.func with nvvm.kernel, got a module without one

// DIALECT: other-dialect.mlir:3:8: error: expected only llvm and nvvm operations, got 'arith.constant'

// CHIP: newer-chip.mlir:3:5: error: 'nvvm.cluster.wait' op expected target sm_90 or newer, got sm_80

// ACCELERATED: newer-chip.mlir:5:5: error: 'nvvm.tcgen05.relinquish_alloc_permit' op expected target sm_100a or sm_101a, got sm_90a

// DEPENDENTS: dependents.mlir:3:5: error: 'nvvm.griddepcontrol' op expected target sm_90 or newer, got sm_89

// BACKEND: unsupported.mlir:2:3: error: NVPTX code generation failed: {{.*}}dynamic alloca

// OPERAND: operand.mlir:4:10: error: 'llvm.inline_asm' op expected '$' to name one of 2 operands of the assembly, got '$2'

// MODIFIER: modifier.mlir:4:10: error: 'llvm.inline_asm' op expected '$' to name one of 2 operands of the assembly, got '${1'

//--- no-kernel.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f() {
    llvm.return
  }
}

//--- other-dialect.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f() attributes {nvvm.kernel} {
  %c = arith.constant 1 : i32
    llvm.return
  }
}

//--- newer-chip.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f() attributes {nvvm.kernel} {
    nvvm.cluster.wait

    nvvm.tcgen05.relinquish_alloc_permit
    llvm.return
  }
}

//--- dependents.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f() attributes {nvvm.kernel} {
    nvvm.griddepcontrol launch_dependents
    llvm.return
  }
}

//--- unsupported.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f(%n: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %p = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
    %i = llvm.ptrtoint %p : !llvm.ptr to i64
    llvm.store %i, %out : i64, !llvm.ptr<1>
    llvm.return
  }
}

//--- operand.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f(%n: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // Two operands: a result and n.
    %i = llvm.inline_asm "{ .reg .b32 %x; mov.b32 $0, $1; mov.b32 %x, $2; } // $$3", "=r,r,~{memory}" %n : (i32) -> i32
    llvm.store %i, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

//--- modifier.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f(%n: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    // Two operands: a result and n.
    %i = llvm.inline_asm "mov.b32 $0, ${1", "=r,r,~{memory}" %n : (i32) -> i32
    llvm.store %i, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

//--- type.mlir
// TYPE: type.mlir:4:10: error: 'llvm.getelementptr' op expected "elem_type" to be a type of LLVM IR, got tf32
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  llvm.func @f(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.getelementptr %out[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, tf32
    llvm.store %x, %0 : f32, !llvm.ptr<1>
    llvm.return
  }
}
