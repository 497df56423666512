//===- TensorMaps.h - Tensor maps as kernel parameters -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_TENSORMAPS_H
#define LIB_DIALECT_TILE_TRANSFORMS_TENSORMAPS_H

#include "attn/Dialect/Tile/IR/Tile.h"

namespace attn::tile {

/// The parameter of the kernel that has `tensor`, or the sequences of which
/// `tensor` is one; null if there is none.
mlir::Value getMappedTensor(mlir::Value tensor);

/// Where (b, h, row, ...) of `tensor` are in the map of its parameter.
llvm::SmallVector<mlir::Value> getMappedIndices(mlir::OpBuilder &builder,
                                                mlir::Value tensor,
                                                mlir::ValueRange indices);

/// Adds a parameter to the kernel: that of `tensor` as TMA reads or writes it
/// in boxes of `rows` rows of the panels of `tile`, the same of each of `heads`
/// heads.
mlir::Value addTensorMap(KernelOp kernel, mlir::Value tensor, SharedType tile,
                         int64_t rows, int64_t heads = 1);

/// Rows of a page of what `load` reads.
int64_t getPage(LoadOp load);

/// Rows of a tile that are brought together: those of a page, if it has fewer.
int64_t getBoxRows(LoadOp load);

/// Why TMA cannot bring the tile of `load`, which with `isWhole` is to have all
/// columns of its source; empty if it can.
std::string findTmaObstacle(LoadOp load, bool isWhole);

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_TENSORMAPS_H
