// RUN: attn-opt %s --convert-attn-tile-to-nvvm --convert-nvvm-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @checked
// CHECK: llvm.inline_asm {{.*}}"@$0 exit;"
attn_tile.kernel @checked(%done: i1) warps(4) {
  attn_tile.exit if %done
  attn_tile.return
}
