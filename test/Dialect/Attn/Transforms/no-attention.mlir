// RUN: attn-opt %s --attn-select-schedule --attn-convert-to-online --attn-tile \
// RUN:   --attn-insert-block-skipping --attn-pad-tiles --attn-decompose-online | FileCheck %s

// A module without attention goes through: the passes load the dialect
// themselves.
// CHECK-LABEL: @nothing
// CHECK-NEXT: return
func.func @nothing() {
  return
}
