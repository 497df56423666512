// RUN: split-file %s %t
// RUN: not attn-opt %t/none.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-opt %t/op.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not attn-opt %t/dim.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not attn-opt %t/type.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not attn-opt %t/rejected.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=REJECTED

// NONE: none.mlir:1:1: error: expected a module with an attn_launch.program, got none
// OP: op.mlir:6:10: error: 'arith.divsi' op expected an op that a manifest has an expression for: addi, subi, muli, floordivsi, ceildivsi, remui, minsi, maxsi
// DIM: dim.mlir:6:10: error: 'attn_tile.dim' op expected an attn_launch.operand
// TYPE: type.mlir:3:10: error: 'attn_launch.operand' op expected an element type that a manifest has a name for, got 'i7'
// REJECTED: rejected.mlir:2:3: error: 'attn_launch.program' op expected a valid manifest, got: {{.*}}kernels

//--- none.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
}

//--- op.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
    %q = attn_launch.operand input "query" : !attn_tile.global<?xf16>
    %c2 = arith.constant 2 : index
    %m = attn_tile.dim %q, 0 : !attn_tile.global<?xf16>
    %n = arith.divsi %m, %c2 : index
    attn_launch.launch @one grid(%n, %c2, %c2) {threads = 32 : i64}
  }
  llvm.func @one() attributes {nvvm.kernel} {
    llvm.return
  }
}

//--- dim.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
    %c2 = arith.constant 2 : index
    %w = attn_launch.workspace "w" bytes(%c2)
    %v = attn_launch.view %w[%c2] sizes(%c2) : !attn_launch.workspace to !attn_tile.global<?xf16>
    %n = attn_tile.dim %v, 0 : !attn_tile.global<?xf16>
    attn_launch.launch @one grid(%n, %c2, %c2) {threads = 32 : i64}
  }
  llvm.func @one() attributes {nvvm.kernel} {
    llvm.return
  }
}

//--- type.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
    %q = attn_launch.operand input "query" : !attn_tile.global<4xi7>
  }
}

//--- rejected.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "p" attributes {scale = 1.0 : f64, semantics = "attention"} {
  }
}
