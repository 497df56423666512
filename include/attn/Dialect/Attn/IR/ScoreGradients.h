//===- ScoreGradients.h - Gradients that add up those of scores -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each score adds to one element of the gradient of a bias, or of a tensor that
// score_mod reads. Where that element is known from (b, h, i, j), loops over
// tiles of scores can own elements of the gradient.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_SCOREGRADIENTS_H
#define ATTN_DIALECT_ATTN_IR_SCOREGRADIENTS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

struct ScoreGradient {
  /// The bias, or a tensor of captures.
  mlir::Value of;
  mlir::OpResult result; ///< of the backward
  bool isBias;
  /// From (b, h, i, j) to the element: each index is one of them, which no
  /// other index is, or a constant.
  mlir::AffineMap map;

  /// The dimension that is indexed by `loop` (Loop), if one is.
  std::optional<unsigned> getDim(unsigned loop) const;
  /// A tile of scores adds to a tile of the gradient: the last two dimensions
  /// are i and j. All others have only one of i and j, or none.
  bool isOfTiles() const;
};

struct ScoreGradients {
  llvm::SmallVector<ScoreGradient> gradients; ///< in the order of the results
  /// The first read of a capture at another element, in which case there are no
  /// gradients; else null.
  mlir::tensor::ExtractOp unknown;
};

ScoreGradients findScoreGradients(AttentionBackwardOp op);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_SCOREGRADIENTS_H
