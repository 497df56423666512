//===- KeyTiles.h - Key tiles that a tile of rows visits --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes loops over key tiles of what a tile of rows sees: bounds of
// consecutive loops where that is one band, else a walk over the partial and a
// walk over the full tiles of several ranges.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_KEYTILES_H
#define ATTN_ANALYSIS_KEYTILES_H

#include "attn/Analysis/KeyRanges.h"

namespace attn {

/// Positions at which the loops over key tiles begin and end, in this order:
///
///   begin <= fullBegin <= fullEnd <= end <= raggedEnd
///
/// Tiles of `tileN` keys in [begin, fullBegin) and [fullEnd, end) are partial,
/// those in [fullBegin, fullEnd) full. [end, raggedEnd) is empty, or the
/// partial tile at the ragged end of the keys. All others are empty.
struct KeyTileBounds {
  mlir::OpFoldResult begin, fullBegin, fullEnd, end, raggedEnd;
};

/// The bounds for tiles of `tileN` among `keys` keys of a visibility that is a
/// band.
KeyTileBounds computeKeyTileBounds(mlir::OpBuilder &builder, mlir::Location loc,
                                   const KeyVisibility &visibility,
                                   int64_t tileN, mlir::OpFoldResult keys);

/// Tiles in ascending order: all from `first` on that are in none of the gaps,
/// which ascend too and do not overlap. In keys: multiples of the tile.
struct KeyTileSequence {
  struct Gap {
    mlir::OpFoldResult begin, size;
  };
  mlir::OpFoldResult first;
  mlir::OpFoldResult length; ///< of all tiles together
  llvm::SmallVector<Gap> gaps;

  /// The first key of the tile at `offset` keys into the sequence.
  mlir::OpFoldResult getKey(IndexMath &math, mlir::OpFoldResult offset) const;
};

/// The tiles that a tile of rows visits.
struct KeyTileWalk {
  KeyTileSequence full, partial; ///< whole tiles
  /// The partial tile at the ragged end of the keys, if it is visited: its
  /// length is less than a tile.
  KeyTileSequence ragged;
};

KeyTileWalk computeKeyTileWalk(mlir::OpBuilder &builder, mlir::Location loc,
                               const KeyVisibility &visibility, int64_t tileN,
                               mlir::OpFoldResult keys);

} // namespace attn

#endif // ATTN_ANALYSIS_KEYTILES_H
