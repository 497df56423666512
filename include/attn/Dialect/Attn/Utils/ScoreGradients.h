//===- ScoreGradients.h - Gradients that add up those of scores -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each score adds to one element of the gradient of a bias, or for each read to
// one of a tensor that score_mod reads. Where its indices are positions, loops
// over tiles of scores can own elements of the gradient; else they scatter.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_SCOREGRADIENTS_H
#define ATTN_DIALECT_ATTN_UTILS_SCOREGRADIENTS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

struct ScoreGradient {
  /// The bias, or a tensor of captures.
  mlir::Value of;
  mlir::OpResult result; ///< of the backward
  bool isBias;
  /// From (b, h, i, j) to the element: each index is one of them, which no
  /// other index is, or a constant. Null where the reads are of other elements.
  mlir::AffineMap map;
  llvm::SmallVector<mlir::tensor::ExtractOp> reads; ///< of a capture

  bool isScattered() const { return !map; }
  /// The dimension that is indexed by `loop` (Loop), if one is.
  std::optional<unsigned> getDim(unsigned loop) const;
  /// A tile of scores adds to a tile of the gradient: the last two dimensions
  /// are i and j. All others have only one of i and j, or none.
  bool isOfTiles() const;
};

struct ScoreGradients {
  llvm::SmallVector<ScoreGradient> gradients; ///< in the order of the results
  /// The first read of a capture at an element that depends on the score, in
  /// which case there are no gradients; else null.
  mlir::tensor::ExtractOp unknown;
  /// A capture of which nothing is used, so that simplification has taken its
  /// reads away: its gradient is 0, and there are no gradients here, either.
  mlir::Value unused;

  bool areKnown() const { return !unknown && !unused; }
};

/// True if the element that is read stays the same from (i, j) to
/// (i + step_i, j + step_j); false where that is not known.
bool isInvariant(mlir::tensor::ExtractOp read, int64_t stepI, int64_t stepJ);

/// Makes `region` yield index `number` of the element that is read, from
/// (b, h, i, j).
void buildIndex(mlir::tensor::ExtractOp read, unsigned number,
                mlir::Region &region);

ScoreGradients findScoreGradients(AttentionBackwardOp op);

/// True if gradients in f32 that have `scale` as a factor can be divided by it:
/// 1e-30 to 1e30, or -1e30 to -1e-30.
bool isDivisor(double scale);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_SCOREGRADIENTS_H
