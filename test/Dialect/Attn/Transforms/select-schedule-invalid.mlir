// RUN: not attn-opt %s --attn-select-schedule=target=sm_81 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not attn-opt %s --attn-select-schedule=tile-n=-4 2>&1 | FileCheck %s --check-prefix=TILE

// TARGET: select-schedule-invalid.mlir:6:1: error: {{.*}}sm_81
// TILE: select-schedule-invalid.mlir:6:1: error: expected option tile-n to be positive, or 0 to choose, got -4
module {
}
