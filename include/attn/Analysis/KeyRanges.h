//===- KeyRanges.h - Keys a tile of rows sees -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a mask formula for a tile of rows: which keys some row sees, which
// keys every row sees, and the loop bounds over key tiles that follow. All are
// closed expressions (affine ops, folded to constants where they are).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_KEYRANGES_H
#define ATTN_ANALYSIS_KEYRANGES_H

#include "attn/Analysis/MaskAnalysis.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <functional>
#include <optional>

namespace attn {

/// Keys [lower, upper); a null bound means no limit on that side.
struct KeyRange {
  mlir::OpFoldResult lower;
  mlir::OpFoldResult upper;

  bool isUnlimited() const { return !lower && !upper; }
};

/// What a tile of rows sees. One range each is enough for masks that are a
/// band around a diagonal; a mask of several bands gets the range around them.
struct KeyVisibility {
  /// Every key that some row sees is in here.
  KeyRange some;
  /// Every row sees all keys in here; nothing is known if it is absent.
  std::optional<KeyRange> all;
};

/// The first and the last query position of a tile.
struct RowRange {
  mlir::OpFoldResult first;
  mlir::OpFoldResult last;
};

/// Gives a term of a linear form as an index where the bounds are wanted.
using TermMaterializer =
    llvm::function_ref<mlir::OpFoldResult(mlir::Value term)>;

/// Evaluates `formula` for the rows of a tile. `some` is exact where the
/// formula is a conjunction of bounds whose row coefficients have one sign, and
/// consecutive rows see overlapping or adjacent keys.
KeyVisibility computeVisibility(mlir::OpBuilder &builder, mlir::Location loc,
                                const MaskFormula &formula, RowRange rows,
                                TermMaterializer materialize);

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

/// The bounds for tiles of `tileN` among `keys` keys.
KeyTileBounds computeKeyTileBounds(mlir::OpBuilder &builder, mlir::Location loc,
                                   const KeyVisibility &visibility,
                                   int64_t tileN, mlir::OpFoldResult keys);

} // namespace attn

#endif // ATTN_ANALYSIS_KEYRANGES_H
