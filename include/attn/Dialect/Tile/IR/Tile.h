//===- Tile.h - The attn_tile dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Includes everything of the attn_tile dialect: dialect, enums, types and ops.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILE_H
#define ATTN_DIALECT_TILE_IR_TILE_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attn/Dialect/Tile/IR/TileDialect.h.inc"
#include "attn/Dialect/Tile/IR/TileEnums.h.inc"

namespace attn::tile {
/// A row and a column.
using FragmentPlace = std::pair<int64_t, int64_t>;
} // namespace attn::tile

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Tile/IR/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Tile/IR/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/Tile/IR/TileOps.h.inc"

namespace attn::tile {

/// True if a product takes elements of both types: of one, or of two 8-bit
/// floats.
bool areFactors(mlir::Type a, mlir::Type b);

} // namespace attn::tile

#endif // ATTN_DIALECT_TILE_IR_TILE_H
