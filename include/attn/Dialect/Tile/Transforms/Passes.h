//===- Passes.h - Passes on the attn_tile dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_TRANSFORMS_PASSES_H
#define ATTN_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Pass/Pass.h"

namespace attn::tile {
#define GEN_PASS_DECL
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

#endif // ATTN_DIALECT_TILE_TRANSFORMS_PASSES_H
