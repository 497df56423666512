//===- KeyWalk.h - Loops over the key tiles of a mask -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces the key loops that --attn-tile made by loops over what a mask leaves
// visible. Private to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_KEYWALK_H
#define LIB_DIALECT_ATTN_TRANSFORMS_KEYWALK_H

#include "BlockLists.h"
#include "ListedBlocks.h"
#include "attn/Analysis/KeyTiles.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// The key loops as --attn-tile makes them: one over whole tiles, one over the
/// ragged end; either may be absent.
struct UnsplitLoops {
  mlir::scf::ForOp whole;
  mlir::scf::ForOp ragged;

  mlir::scf::ForOp first() const { return whole ? whole : ragged; }
  mlir::scf::ForOp last() const { return ragged ? ragged : whole; }
};

/// The loops before `normalize`, if they have a mask and are not split yet.
std::optional<UnsplitLoops> getUnsplitLoops(NormalizeOp normalize);

/// True if the tiles of a row are to be visited in ascending order, whichever
/// of them are full for the rows beside it: with invariance = "prefix".
bool walksInOrder(ScheduleAttr schedule);

/// Leaves a key loop without mask_mod.
void removeMask(mlir::scf::ForOp loop);

/// Gives the loops the bounds of a band.
void walkBand(mlir::OpBuilder &builder, UnsplitLoops loops,
              const KeyVisibility &visibility, int64_t tileN);

/// Walks the tiles of several ranges of keys.
void walkRanges(mlir::OpBuilder &builder, UnsplitLoops loops,
                const KeyVisibility &visibility, int64_t tileN);

/// Walks the tiles that a table has for row tile `rowTile`.
void walkTable(mlir::OpBuilder &builder, UnsplitLoops loops,
               const BlockLists &lists, mlir::OpFoldResult rowTile,
               int64_t tileN);

/// Walks the tiles of listed blocks.
void walkListedBlocks(mlir::OpBuilder &builder, UnsplitLoops loops,
                      const MaskedTile &place, const ListedBlocks &blocks);

/// One loop of a walk: a copy of `loop`, if that is there, from where the part
/// before ends up to `end`. Its induction variable counts keys, or is the key.
struct WalkPart {
  mlir::scf::ForOp loop;
  mlir::Value end;
  bool isFull;    ///< without mask_mod
  KeyFinder find; ///< if the induction variable is not the key
  /// Prepares the copy, if set.
  std::function<void(mlir::scf::ForOp copy)> prepare = nullptr;
};

/// Replaces the loops by the parts, in order, the first from `begin` on.
void walkParts(mlir::OpBuilder &builder, UnsplitLoops loops,
               mlir::OpFoldResult begin, llvm::ArrayRef<WalkPart> parts);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_KEYWALK_H
