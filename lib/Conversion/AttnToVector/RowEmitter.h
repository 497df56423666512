//===- RowEmitter.h - The step of a row in vector code ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What both schedules do with a row of scores in a buffer. Private to
// lib/Conversion/AttnToVector.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOVECTOR_ROWEMITTER_H
#define LIB_CONVERSION_ATTNTOVECTOR_ROWEMITTER_H

#include "TileEmitter.h"
#include "attn/Dialect/Attn/Utils/StepEmitter.h"

#include <limits>

namespace attn {

inline constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

/// The scores of a row of the tile.
struct ScoreRow {
  mlir::Value scores;   ///< memref
  mlir::Value inBuffer; ///< its row
  mlir::Value column;   ///< that of the tile's first key; null for 0
  mlir::Value position; ///< of the row in the tile
};

/// Emits the step of a row; row values are scalars.
class RowEmitter : protected TileEmitter, protected StepEmitter {
protected:
  using TileEmitter::Value;

  template <typename OpTy>
  RowEmitter(OpTy step, TileBuffers &buffers, mlir::Operation *place)
      : TileEmitter(step, buffers, place), reduction(step.getNormalization()) {}

  /// The row values after the tile, from those before it.
  Values emitRowStep(const ScoreRow &scores, mlir::ValueRange before);

  /// Makes the weights of these columns of the row and gives them: exponentials
  /// relative to `shift`, or without one what the mods make of the scores.
  virtual Value emitWeights(Columns keys);
  /// exp(score - shift)
  Value emitExponential(Value scores, Columns keys);
  Value loadScores(Columns keys);
  void storeScores(Value part, Columns keys);

  Value emitMaximum(Value before) override;
  Value emitShift(Value max) override;
  Value emitDecay(Value before, Value shift) override;
  void emitExponentials(Value shift) override { this->shift = shift; }
  Value emitSum(Value init) override;
  Value emitRescaled(Value value, Value decay) override;
  /// Products are of many rows: the tile's come later.
  Value emitProduct(Value acc, Value decay) override;

  RowReductionInterface reduction;
  ScoreRow row;
  Value shift; ///< null where the weights are the scores

private:
  llvm::SmallVector<Value> getPlace(Columns keys);
};

/// scale / divisor, and 0 where that is 0; null without a divisor.
mlir::Value createInverse(mlir::ImplicitLocOpBuilder &b, mlir::Value divisor,
                          double scale);

/// max + log(sum) of a row of a softmax, -inf where no key is visible.
mlir::Value createLse(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange rows);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOVECTOR_ROWEMITTER_H
