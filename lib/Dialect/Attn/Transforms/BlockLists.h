//===- BlockLists.h - Lists of key tiles for each row tile ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where sizes are constant and closed expressions would visit tiles that hold
// no visible pair, a table of the visible tiles. Private to
// lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H
#define LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H

#include "attn/Analysis/KeyRanges.h"

#include <functional>
#include <optional>

namespace attn {

/// One table of integers: for each row tile a header, then the lists.
struct BlockLists {
  /// The header of row tile r, from entry r * kHeader on: where its list begins
  /// in the table, and at which count of keys its full tiles, its partial tiles
  /// and its ragged tile end. The list has the first key of each.
  enum Header { kBegin, kFullEnd, kPartialEnd, kRaggedEnd, kHeader };

  std::vector<int32_t> table;
};

/// What is known of the tiles of a mask when the kernel is compiled.
struct StaticTiles {
  /// The ranges of keys are as good as it gets.
  bool rangesSuffice = false;
  /// The tiles, where they leave out some that ranges would visit, or hold more
  /// full ones.
  std::optional<BlockLists> lists;
};

/// The tiles of all pairs of an attention.
struct TileGrid {
  mlir::OpFoldResult rows; ///< null if unknown
  mlir::OpFoldResult keys;
  int64_t tileM, tileN;
  /// Keys past the end, in the last tile, need no mask.
  bool isEndWhole = false;
};

/// What is known of the tiles of `maskMod`, compared with at most `mostRanges`
/// ranges of keys.
StaticTiles findStaticTiles(mlir::Region &maskMod, const MaskAnalysis &mask,
                            const TileGrid &grid, unsigned mostRanges);

/// Gives the body of a loop the first key of the tile at a count of keys.
using KeyFinder = std::function<mlir::OpFoldResult(IndexMath &math,
                                                   mlir::OpFoldResult count)>;

/// The list of a row tile: counts of keys at which its parts end.
struct ListedTiles {
  mlir::Value fullEnd, partialEnd, raggedEnd;
  KeyFinder find;
};

/// Reads the list of row tile `number`, in tiles of `tileN` keys. The table is
/// put before the scf.forall that is built.
ListedTiles readList(mlir::OpBuilder &builder, mlir::Location loc,
                     const BlockLists &lists, mlir::OpFoldResult number,
                     int64_t tileN);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H
