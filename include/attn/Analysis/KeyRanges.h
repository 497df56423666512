//===- KeyRanges.h - Keys a tile of rows sees -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the bands of a mask for a tile of rows: which keys some row sees,
// and which keys every row sees. All are closed expressions (affine ops and
// selections, folded to constants where they are). KeyTiles.h makes loops of
// them.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_KEYRANGES_H
#define ATTN_ANALYSIS_KEYRANGES_H

#include "attn/Analysis/IndexMath.h"
#include "attn/Analysis/MaskAnalysis.h"

namespace attn {

/// Keys [lower, upper); a null bound means no limit on that side. Empty if
/// lower >= upper.
struct KeyRange {
  mlir::OpFoldResult lower;
  mlir::OpFoldResult upper;

  bool isUnlimited() const { return !lower && !upper; }
};

/// What a tile of rows sees, as ranges that may overlap, in no order.
struct KeyVisibility {
  /// Every key that some row sees is in one of these.
  llvm::SmallVector<KeyRange> some;
  /// Every row sees all keys in each of these.
  llvm::SmallVector<KeyRange> all;

  /// True if nothing is known.
  bool isTrivial() const {
    return all.empty() && some.size() == 1 && some[0].isUnlimited();
  }
  /// True if one band of keys is around the full ones.
  bool isBand() const { return some.size() == 1 && all.size() <= 1; }
  /// Where the keys begin that some row sees, at least 0; null where that may
  /// be the first key.
  mlir::OpFoldResult getFirstKey(IndexMath &math) const;
};

/// The first and the last query position of a tile.
struct RowRange {
  mlir::OpFoldResult first;
  mlir::OpFoldResult last;
};

/// Gives a symbol of a linear form as an index where the bounds are wanted.
using TermMaterializer =
    llvm::function_ref<mlir::OpFoldResult(mlir::Value term)>;

/// Evaluates `mask` for the rows of a tile; `keys` is N. At most `mostRanges`
/// of a kind come out: others are taken into one around them, or left out of
/// those that all rows see.
KeyVisibility computeVisibility(mlir::OpBuilder &builder, mlir::Location loc,
                                const MaskAnalysis &mask, RowRange rows,
                                mlir::OpFoldResult keys,
                                TermMaterializer materialize,
                                unsigned mostRanges);

} // namespace attn

#endif // ATTN_ANALYSIS_KEYRANGES_H
