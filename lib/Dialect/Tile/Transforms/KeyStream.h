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
#include "attn/Schedule/Schedule.h"

#include "mlir/IR/IRMapping.h"

namespace attn::tile {

/// The loop of a persistent kernel over the tiles of a CTA, whose step is the
/// grid's size, in the first block of a kernel or a role; null without one.
mlir::scf::ForOp getTileLoop(mlir::Region &region);

/// What a CTA does for a tile: the body of that loop, or the region's block.
mlir::Block &getTileBlock(mlir::Region &region);

/// True if a kernel has no tiles to stage: it computes, or checks, single
/// numbers (attn_tile.insert, cf.assert), or stores what it computes of such.
bool streamsNothing(KernelOp kernel);

/// The stages of the rings of tiles: `given`, or with 0 the schedule's. Emits
/// an error if no ring has so many (see MbarrierType).
mlir::FailureOr<int64_t> getStages(KernelOp kernel, int64_t given);

/// Gives each product of a softmax's loop a load of its own right operand.
/// Where keys and values are one tensor they share one, but its product with
/// the query is done long before that with P.
void separateLoads(KernelOp kernel);

struct KeyStream {
  llvm::SmallVector<mlir::scf::ForOp> loops; ///< first to last
  /// The loads of the first loop, one tile for each step, which stand for those
  /// of every loop.
  llvm::SmallVector<LoadOp> loads;

  mlir::Value lowerBound() { return loops.front().getLowerBound(); }
  mlir::Value upperBound() { return loops.back().getUpperBound(); }
  mlir::Value step() { return loops.front().getStep(); }

  /// The indices of each load at `count`, a value of the induction variable of
  /// any loop, and behind them its `rows` if it has any. `outside` maps scalars
  /// from outside the loops.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  buildIndices(mlir::OpBuilder &builder, mlir::Value count,
               const mlir::IRMapping &outside = {});

  /// Fails with a diagnostic if the kernel's loops are no such stream.
  static mlir::FailureOr<KeyStream> find(KernelOp kernel);

private:
  mlir::LogicalResult findLoops(KernelOp kernel);
  mlir::LogicalResult findLoads();

  llvm::SmallVector<llvm::SmallVector<LoadOp>> loadsOfLoops;
};

/// The number, among the loop's values, of the one that each step increases by
/// one: it counts the steps of all loops.
std::optional<unsigned> findStepCounter(mlir::scf::ForOp loop);

/// Clones `ops` of the body of `loop`, and what they are computed from there,
/// as they are where its value number `counter` is `step`.
void cloneForStep(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                  llvm::ArrayRef<mlir::Operation *> ops, unsigned counter,
                  mlir::Value step);

/// An mbarrier beside the others of `kernel`, whose warps have roles.
mlir::Value addMbarrier(KernelOp kernel, int64_t stages, int64_t arrivals);

/// Registers of an SM of all chips whose warps have roles.
inline constexpr int64_t kRegistersPerSm = 65536;

/// The kernel's schedule, with defaults for what is not chosen.
Schedule getScheduleOf(KernelOp kernel);

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_KEYSTREAM_H
