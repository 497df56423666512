//===- MaskAnalysis.h - What a mask leaves visible --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a mask_mod region as a formula over bounds on the key position j, each
// a linear function of the query position i and of values that depend on
// neither. KeyRanges.h evaluates the formula for a tile of rows.
//
// Index arithmetic is taken to be free of overflow; unsigned comparisons and
// whatever else is not understood become Unknown, which every use must treat
// as "may be visible, may be masked".
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_MASKANALYSIS_H
#define ATTN_ANALYSIS_MASKANALYSIS_H

#include "mlir/IR/Region.h"
#include "llvm/ADT/MapVector.h"

#include <vector>

namespace attn {

/// row * i + key * j + constant + sum(coefficient * value), where no value
/// depends on i or j. The values are in the region or above it, of index or
/// integer type.
struct LinearForm {
  int64_t row = 0;
  int64_t key = 0;
  int64_t constant = 0;
  llvm::SmallMapVector<mlir::Value, int64_t, 4> terms;

  bool isConstant() const { return row == 0 && key == 0 && terms.empty(); }
};

/// A mask as a formula. Negations are pushed down to the comparisons.
struct MaskFormula {
  enum Kind {
    Always,  ///< true
    Never,   ///< false
    Unknown, ///< either, depending on anything
    From,    ///< j >= ceil(bound / divisor)
    UpTo,    ///< j <= floor(bound / divisor)
    And,     ///< every operand
    Or       ///< some operand
  };

  Kind kind = Unknown;
  LinearForm bound;                  ///< From, UpTo; its coefficient of j is 0
  int64_t divisor = 1;               ///< From, UpTo; positive
  std::vector<MaskFormula> operands; ///< And, Or
};

/// The formula of a mask_mod region, whose arguments are (b, h, i, j).
MaskFormula analyzeMask(mlir::Region &maskMod);

} // namespace attn

#endif // ATTN_ANALYSIS_MASKANALYSIS_H
