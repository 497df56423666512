//===- CorrectedOutput.h - What stores the output ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of --attn-tile-specialize-correction: the ops that change and store a sum in
// tensor memory behind the key loops, and what they need of others. Private to
// lib/Dialect/Tile/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_CORRECTEDOUTPUT_H
#define LIB_DIALECT_TILE_TRANSFORMS_CORRECTEDOUTPUT_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/IRMapping.h"

namespace attn::tile {

class CorrectedOutput {
public:
  explicit CorrectedOutput(RolesOp roles) : roles(roles) {}

  /// Why the ops on `sum` cannot be done elsewhere, or empty if they can.
  llvm::StringRef collect(mlir::Value sum);
  /// The row fragments that they take of others.
  llvm::ArrayRef<mlir::Value> getRows() const { return rows.getArrayRef(); }
  /// The last of the ops.
  mlir::Operation *getEnd() const { return ops.back(); }
  /// Does them, and what they are computed of, where `builder` is; `mapping`
  /// has rows, the warpgroup and the tile.
  void clone(mlir::OpBuilder &builder, mlir::IRMapping &mapping) const;
  void erase();

private:
  bool take(mlir::Operation *op);
  bool takeUsers(mlir::Operation *op);
  bool needs(mlir::Value value);
  bool hasOwnTiles() const;
  bool isForPlace(mlir::Operation *op) const;

  RolesOp roles;
  mlir::Block *block = nullptr; ///< of a tile
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::Operation *> copies; ///< of scalars, from first to last
  llvm::SetVector<mlir::Value> rows;
};

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_CORRECTEDOUTPUT_H
