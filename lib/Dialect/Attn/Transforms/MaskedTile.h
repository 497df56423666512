//===- MaskedTile.h - A tile of rows under a mask ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_MASKEDTILE_H
#define LIB_DIALECT_ATTN_TRANSFORMS_MASKEDTILE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>

namespace attn {

/// A tile of rows, and the tiles of keys that stream past it. In the nest of a
/// backward in which keys stay, they are the rows of the mask exchanged.
struct MaskedTile {
  mlir::Location loc;
  mlir::scf::ForallOp forall;                ///< over the tiles of rows
  std::array<mlir::OpFoldResult, 3> extents; ///< batches, heads, rows
  mlir::Region &maskMod;
  std::array<mlir::Value, 3> at; ///< batch, head, first row
  int64_t tileM, tileN;          ///< rows and keys of tiles
  mlir::OpFoldResult keys;       ///< how many there are

  /// Sizes of tensors with numbers for each batch, head and row: 1 for batches
  /// and heads on which the mask does not depend.
  llvm::SmallVector<mlir::OpFoldResult> getSizes() const;
  /// Where this tile's numbers are in such a tensor with `rows` rows to each.
  llvm::SmallVector<mlir::Value> getPlace(mlir::OpBuilder &builder,
                                          mlir::ShapedType tensor,
                                          int64_t rows) const;
};

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_MASKEDTILE_H
