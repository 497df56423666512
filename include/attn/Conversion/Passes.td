//===- Passes.td - Conversions between dialects -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// AttnToTile
//===----------------------------------------------------------------------===//

def ConvertAttnToTile : Pass<"convert-attn-to-tile", "::mlir::ModuleOp"> {
  let summary = "Tiled attention to the program of one CTA";
  let description = [{
    Each function that holds one tiled attention (docs/Forms.md) becomes one
    `attn_tile.kernel`: the `scf.forall` becomes the grid, the slices of query,
    key and value become loads of tiles, `attn.online_attention` becomes two
    matrix products around an online softmax in registers, and the regions
    become elementwise maps. The softmax is in base 2 with the scale folded in:
    P = exp2(c * S - c * max), c = scale * log2(e).

    The kernel's parameters, its grid and what a launcher must check are
    recorded in its `manifest` attribute (docs/Manifest.md). Everything else of
    the function is dropped: the launcher is given query, key and value.

    Requires: normal form `tiled`. Ensures: one `attn_tile.kernel` per function,
    with `attn_tile.load` for every tile (`--attn-tile-pipeline` stages them).
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels made">
  ];
  let dependentDialects = ["::attn::tile::AttnTileDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// TileToNVVM
//===----------------------------------------------------------------------===//

def ConvertAttnTileToNVVM
    : Pass<"convert-attn-tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Tile level to NVVM for sm_80";
  let description = [{
    Lowers each `attn_tile.kernel` to an `llvm.func` with cp.async, ldmatrix and
    mma.sync. Tile ops disappear; scalar code stays in arith and scf.

    Requires: shared memory allocated (`--attn-tile-allocate-shared-memory`).
    Ensures: no attn_tile op is left; the module carries the kernel's manifest as
    `attn.manifest`.
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels lowered">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // ATTN_CONVERSION_PASSES_TD
