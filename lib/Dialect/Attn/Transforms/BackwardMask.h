//===- BackwardMask.h - Tiles that a backward visits ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask seen from both sides: the key tiles that a tile of rows visits, and
// the row tiles that a tile of keys visits. The latter are the former of the
// mask with its positions exchanged. Private to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDMASK_H
#define LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDMASK_H

#include "BlockLists.h"
#include "ListedBlocks.h"
#include "attn/Analysis/KeyTiles.h"

#include <memory>

namespace attn {

/// The tiles at the counts [lower, upper) of positions, in steps of a tile. All
/// of them need the mask, or none.
struct TileRange {
  mlir::Value lower, upper;
  bool isMasked;
  /// Gives the position of the tile at a count; the count itself if not set.
  KeyFinder find = nullptr;
  /// Which attn.block_listed of the mask has the tiles, if one does.
  std::optional<unsigned> listed = std::nullopt;

  mlir::Value getPosition(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value count) const;
};

/// One direction: positions that stay, and positions that stream past in tiles.
class VisitedTiles {
public:
  /// Reads `maskMod`, in which `streamed` (kLoopM or kLoopN) are the positions
  /// that stream. Keeps what it needs of the region. With `asBand` the tiles
  /// are those of one range, and positions are their own counts. `heads` are
  /// the query heads.
  VisitedTiles(mlir::Region &maskMod, unsigned streamed, bool asBand,
               mlir::OpFoldResult batches, mlir::OpFoldResult heads);

  /// True if the mask is not the same for all heads.
  bool differsByHead() const;

  /// The tiles that some position of `stay` visits, where rows are what stays
  /// and keys what streams; each range begins where the one before ends. There
  /// is at least one, which may be empty. The builder is in the loop over the
  /// tiles that stay.
  llvm::SmallVector<TileRange> get(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Value batch, mlir::Value head,
                                   const RowRange &stay, TileGrid grid);

private:
  KeyVisibility getVisibility(mlir::OpBuilder &builder, const MaskedTile &tile,
                              const RowRange &stay, mlir::OpFoldResult total);

  std::optional<ListedBlocks> getLists(const MaskedTile &tile);

  bool asBand;
  mlir::OpFoldResult batches, heads;
  /// A copy of the mask, whose keys are what streams; empty without a mask.
  std::unique_ptr<mlir::Region> region;
  /// The mask as it was, if rows stream; else null.
  std::unique_ptr<mlir::Region> original;
  /// Nothing without a mask.
  std::optional<MaskAnalysis> mask;
};

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_BACKWARDMASK_H
