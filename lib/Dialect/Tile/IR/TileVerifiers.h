//===- TileVerifiers.h - What verifiers of attn_tile share ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Dialect/Tile/IR.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_IR_TILEVERIFIERS_H
#define LIB_DIALECT_TILE_IR_TILEVERIFIERS_H

#include "attn/Dialect/Tile/IR/Tile.h"

namespace attn {
namespace tile {

/// Fails unless `actual == expected`.
llvm::LogicalResult verifyEqual(mlir::Operation *op, const llvm::Twine &what,
                                int64_t expected, int64_t actual);

/// Fails for 8-bit elements, which are copied and multiplied as they are.
llvm::LogicalResult verifyNoBytes(mlir::Operation *op, mlir::Type element);

/// A tile of a matrix is addressed by its first row, or by its first row and
/// column: without a column it has all of them.
llvm::LogicalResult verifyMatrixIndices(mlir::Operation *op, GlobalType global,
                                        int64_t cols, unsigned indices);

/// Rows of several heads: as many of each, and an index that says which.
llvm::LogicalResult verifyHeads(mlir::Operation *op, int64_t heads,
                                int64_t rows, size_t numIndices);

/// An index for each dimension of the tensor that has the element.
llvm::LogicalResult verifyElement(mlir::Operation *op, GlobalType global,
                                  mlir::ValueRange indices);

} // namespace tile
} // namespace attn

#endif // LIB_DIALECT_TILE_IR_TILEVERIFIERS_H
