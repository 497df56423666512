//===- Prologue.h - Kernels before those of an attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.create_block_mask and attn.key_bounds read data that only the device
// has: kernels of their own write their results to workspaces, from which the
// kernels of the attention read them. attn.device_assert only looks at it, and
// attn.append writes to a cache that the attention reads.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_PROLOGUE_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_PROLOGUE_H

#include "Kernel/KernelOperands.h"

namespace attn {

/// The name of prologue op `number`'s own kernel or workspace: that of the
/// first op has no number.
inline std::string getPrologueName(const llvm::Twine &name, unsigned number) {
  return (name + (number ? llvm::Twine(number) : llvm::Twine())).str();
}

/// True for an op whose results a prologue computes; `op` may be null.
bool isPrologueOp(mlir::Operation *op);

/// Row tiles in order, those with the most keys first: the tiles of one batch,
/// or where batches see different keys those of all of them, one batch after
/// the other. Read by CTAs that take a tile each, of the same number for all
/// heads.
struct TileOrder {
  unsigned prologue; ///< number of the op that has the keys of each tile
  bool isOfBatches;
};

/// The order that an attention's grid follows, if a prologue makes one.
std::optional<TileOrder> getTileOrder(const TiledAttention &attention);

/// Finds what the loops of an attention, in one or several nests, read of such
/// ops.
void findPrologue(TiledAttention &attention,
                  llvm::ArrayRef<mlir::scf::ForallOp> nests);

/// Sets the workspace of a plan, if the schedule has one. Fails with a
/// diagnostic if it is not of splits of a length, by lengths.
mlir::LogicalResult addWorklist(TiledAttention &attention);
/// Whether each entry of the worklist names a row tile, as of sequences behind
/// each other, which have rows of their own; of others it is a split of all row
/// tiles.
bool plansRowTiles(const TiledAttention &attention);

/// Whether the plan chooses how long the ranges of keys are. States are behind
/// each other then: those of a sequence's ranges, then those of the next.
bool plansRanges(const TiledAttention &attention);

/// What stands in front of a worklist's entries: how many there are, and, of a
/// plan that chooses ranges, their keys and for each batch the number of its
/// first state.
enum WorklistWord : int64_t { kEntryCount, kRangeKeys, kFirstStates };

/// What an entry of a worklist is. Only one that names a row tile has the last.
enum EntryWord : int64_t { kEntryBatch, kEntrySplit, kEntryTile };

/// How many numbers an entry of the worklist is.
inline int64_t getEntryWords(const TiledAttention &attention) {
  return plansRowTiles(attention) ? kEntryTile + 1 : kEntryTile;
}

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_PROLOGUE_H
