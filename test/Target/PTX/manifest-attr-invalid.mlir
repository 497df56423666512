// RUN: split-file %s %t
// RUN: not attn-opt %t/none.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-opt %t/kind.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not attn-opt %t/rejected.mlir --target=sm_80 --emit=manifest -o - 2>&1 | FileCheck %s --check-prefix=REJECTED

// NONE: none.mlir:1:1: error: expected a module with the dictionary 'attn.manifest', got none

// KIND: kind.mlir:1:1: error: expected strings, numbers, booleans, arrays and dictionaries in 'attn.manifest', got unit

// REJECTED: rejected.mlir:1:1: error: expected a valid 'attn.manifest', got: {{.*}}speed

//--- none.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
}

//--- kind.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>,
                   attn.manifest = {target = "sm_80", operands = [unit], kernels = []}} {
}

//--- rejected.mlir
module attributes {attn.normal_form = #attn.normal_form<nvvm>,
                   attn.manifest = {target = "sm_80", operands = [], kernels = [], speed = 1}} {
}
