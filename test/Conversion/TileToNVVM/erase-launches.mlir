// What LLVM's own tools translate, for both families of matrix instructions.

// RUN: attn-opt %s --attn-to-scheduled=target=sm_80 --attn-to-tiled --attn-to-tile --attn-to-nvvm --attn-erase-launches -o %t.sm_80.mlir
// RUN: mlir-opt %t.sm_80.mlir | FileCheck %s --check-prefix=LEFT
// LEFT-NOT: {{attn_launch|attn_ptx|attn.normal_form}}
// LEFT: llvm.func @attention
// RUN: mlir-translate --mlir-to-llvmir %t.sm_80.mlir | llc -march=nvptx64 -mcpu=sm_80 -mattr=+ptx80 | FileCheck %s --check-prefix=SM80
// SM80: .entry attention(
// SM80: mma.sync.aligned.m16n8k16
// RUN: attn-opt %s --attn-to-scheduled="target=sm_90a schedule='tile_m=128 tile_n=128'" --attn-to-tiled --attn-to-tile --attn-to-nvvm --attn-erase-launches | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -march=nvptx64 -mcpu=sm_90a -mattr=+ptx80 | FileCheck %s --check-prefix=SM90
// SM90: .entry attention(
// SM90: wgmma.mma_async

func.func @attention(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16> {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16> -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}
