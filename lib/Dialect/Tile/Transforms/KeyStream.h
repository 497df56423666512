//===- KeyStream.h - The key loops of a kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The key loops of a kernel, each of which starts where the one before ends
// (docs/Forms.md), walk one stream of key and value tiles. Where the tiles are
// not side by side, the body of each loop computes their position from its
// induction variable.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_KEYSTREAM_H
#define LIB_DIALECT_TILE_TRANSFORMS_KEYSTREAM_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/IRMapping.h"

namespace attn::tile {

/// The loop of a persistent kernel over the tiles of a CTA, whose step is the
/// grid's size, in the first block of a kernel or a role; null without one.
mlir::scf::ForOp getTileLoop(mlir::Region &region);

/// What a CTA does for a tile: the body of that loop, or the region's block.
mlir::Block &getTileBlock(mlir::Region &region);

/// True if a kernel computes single numbers, by attn_tile.insert: it has no
/// tiles to stage.
bool isScalarKernel(KernelOp kernel);

/// Gives each product of a key loop a load of its own right operand. Where
/// keys and values are one tensor they share one, and its stage would be given
/// back twice.
void separateLoads(KernelOp kernel);

/// A load of a key loop, one tile for each step.
struct StreamedLoad {
  LoadOp load;
  /// Which of its indices, the row or the column, is the position.
  unsigned streamIndex;
};

struct KeyStream {
  llvm::SmallVector<mlir::scf::ForOp> loops; ///< first to last
  /// The loads of the first loop, which stand for those of every loop.
  llvm::SmallVector<StreamedLoad> loads;

  mlir::Value lowerBound() { return loops.front().getLowerBound(); }
  mlir::Value upperBound() { return loops.back().getUpperBound(); }
  mlir::Value step() { return loops.front().getStep(); }

  /// The row or column of the tiles at `count`, a value of the induction
  /// variable of any loop. `outside` maps scalars from outside the loops.
  mlir::Value buildPosition(mlir::OpBuilder &builder, mlir::Value count,
                            const mlir::IRMapping &outside = {});

  /// Fails with a diagnostic if the kernel's loops are no such stream.
  static mlir::FailureOr<KeyStream> find(KernelOp kernel);

private:
  mlir::LogicalResult findLoops(KernelOp kernel);
  mlir::LogicalResult findLoads();
  /// The position in a loop, as its loads have it.
  mlir::Value getPosition(mlir::scf::ForOp loop);
};

/// The integer `name` of the schedule in the kernel's manifest, or `otherwise`.
int64_t getScheduleField(KernelOp kernel, llvm::StringRef name,
                         int64_t otherwise);

/// The text `name` of the schedule in the kernel's manifest, or `otherwise`.
llvm::StringRef getScheduleText(KernelOp kernel, llvm::StringRef name,
                                llvm::StringRef otherwise);

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_KEYSTREAM_H
