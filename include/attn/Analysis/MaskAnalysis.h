//===- MaskAnalysis.h - What a mask leaves visible --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a mask_mod region as a formula over bounds on the key position j and
// the query position i, and that as a union of bands. KeyRanges.h evaluates the
// bands for a tile of rows. What is exact is said in docs/MaskAnalysis.md.
//
// What may wrap around is not taken for a number. Whatever is not understood
// becomes Unknown, which every use must treat as "may be visible, may be
// masked".
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_MASKANALYSIS_H
#define ATTN_ANALYSIS_MASKANALYSIS_H

#include "attn/Analysis/LinearForm.h"

#include "mlir/IR/Region.h"

#include <vector>

namespace attn {

/// A mask as a formula. Negations are pushed down to the comparisons.
struct MaskFormula {
  enum Kind {
    Always,    ///< true
    Never,     ///< false
    Unknown,   ///< either, depending on anything
    KeyFrom,   ///< j >= bound, a function of i
    KeyUpTo,   ///< j <= bound, a function of i
    RowFrom,   ///< i >= bound, which depends on no position
    RowUpTo,   ///< i <= bound, which depends on no position
    Condition, ///< bound <= 0, which does not depend on j
    And,       ///< every operand
    Or         ///< some operand
  };

  Kind kind = Unknown;
  LinearForm bound;
  std::vector<MaskFormula> operands; ///< And, Or

  static MaskFormula get(Kind kind);
  static MaskFormula get(bool isTrue) { return get(isTrue ? Always : Never); }
  /// And or Or of two formulas, without operands that decide nothing.
  static MaskFormula combine(Kind kind, MaskFormula a, MaskFormula b);
  /// `form <= 0`.
  static MaskFormula atMostZero(const LinearForm &form);
};

/// The pairs for which all bounds hold, and if it is not exact something else
/// too: max(keyFrom) <= j <= min(keyUpTo) in the rows max(rowFrom) <= i <=
/// min(rowUpTo), nowhere unless conditions <= 0.
struct MaskBand {
  std::vector<LinearForm> keyFrom, keyUpTo, rowFrom, rowUpTo, conditions;
  bool isExact = true;
};

/// A mask_mod region, read.
struct MaskAnalysis {
  MaskFormula formula;
  /// The symbols of the forms: values in the region or above it, of index or
  /// integer type, that depend on neither i nor j.
  std::vector<mlir::Value> symbols;
  /// The row values of the forms: values of index, integer or i1 type in the
  /// region that depend on i, not on j.
  std::vector<mlir::Value> rowValues;

  /// Bands whose union is the mask; one without bounds where there would be
  /// very many. Bounds are monotone functions of i, and conditions the same for
  /// all rows: what else there is, is left out, and the band is not exact.
  std::vector<MaskBand> getBands() const;
  /// The same with all bounds and conditions, which have to be evaluated row by
  /// row.
  std::vector<MaskBand> getRowBands() const;
};

/// The formula of a mask_mod region, whose arguments are (b, h, i, j).
MaskAnalysis analyzeMask(mlir::Region &maskMod);

} // namespace attn

#endif // ATTN_ANALYSIS_MASKANALYSIS_H
