//===- TileEmitter.h - Vector code on tiles of attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the emitters of both schedules share: register-blocked products, and the
// changes that a step makes to its scores. Private to
// lib/Conversion/AttnToVector.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOVECTOR_TILEEMITTER_H
#define LIB_CONVERSION_ATTNTOVECTOR_TILEEMITTER_H

#include "TileBuffers.h"
#include "VectorMath.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attn {

/// Rows and columns of a register block: 8 x 32 f32 accumulators are 16 of 32
/// AVX-512 registers, which leaves room for the operands and hides the latency
/// of FMA.
inline constexpr int64_t kBlockRows = 8;
inline constexpr int64_t kBlockColumns = 32;

/// Columns [begin, begin + width) of a row, as one vector.
struct Columns {
  mlir::Value begin;
  int64_t width;
};

/// Takes the loop's values in these columns and gives the next ones.
using ColumnsBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    Columns, mlir::ValueRange)>;

/// Calls `body` for a block of the `total` columns at a time and gives its last
/// values. What it emits stands once for all whole blocks, in a loop, and once
/// for the rest: unrolled, it would take most of the time to compile.
llvm::SmallVector<mlir::Value> forColumns(mlir::ImplicitLocOpBuilder &b,
                                          int64_t total, mlir::ValueRange init,
                                          ColumnsBody body);

/// What `combine` makes of `neutral` and all lanes of the vectors of type
/// `element` that `body` gives.
mlir::Value reduceColumns(mlir::ImplicitLocOpBuilder &b, mlir::Type element,
                          int64_t total, double neutral, Combine combine,
                          llvm::function_ref<mlir::Value(Columns)> body);

/// Rows [first, first + count) of a tile.
struct RowBlock {
  mlir::Value first;
  int64_t count;
};

/// Emits vector code for one step, forward or backward, on static tiles.
class TileEmitter {
protected:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  /// Emits before `place`.
  template <typename OpTy>
  TileEmitter(OpTy step, TileBuffers &buffers, mlir::Operation *place)
      : bias(step.getBias()), offsets(step.getOffsets()),
        scoreMod(step.getScoreMod()), maskMod(step.getMaskMod()),
        dropout(Dropout::get(step)),
        hiddenScore(step.getNormalization().getHiddenScore()), buffers(buffers),
        dims(AttentionDims::get(step)), scoreType(step.getScoreType()),
        b(step.getLoc(), place) {}

  /// Bias, score_mod and mask_mod of one row; `position` is the row in the
  /// tile.
  Value emitScoreMods(Value scores, Value position, Columns keys);

  /// The parts of it: the score with its bias; the global coordinates (b, h, i,
  /// j) of a row, j a vector; and a score_mod or mask_mod at these.
  Value emitBias(Value score, Value position, Columns keys);
  Values emitCoordinates(Value position, Columns keys);
  Value emitScoreMod(mlir::Region &mod, Value score, mlir::ValueRange at,
                     Columns keys);
  Value emitMaskMod(mlir::ValueRange at, Columns keys);

  /// `p` times `factor` where dropout keeps it, else 0; `p` without dropout.
  Value emitDropout(Value p, Value position, Columns keys, double factor);

  /// Multiply-adds `count` products, one row of `load(k)` times `scalar(i, k)`
  /// at a time, onto `init`, one vector per row.
  Values emitMultiplyAdds(int64_t count, mlir::ValueRange init,
                          llvm::function_ref<Value(Value)> load,
                          llvm::function_ref<Value(int64_t, Value)> scalar);

  /// The same for a body without values.
  void forColumns(int64_t total, llvm::function_ref<void(Columns)> body);
  mlir::VectorType vectorOf(int64_t width) {
    return mlir::VectorType::get({width}, scoreType);
  }
  Value index(int64_t number) {
    return mlir::arith::ConstantIndexOp::create(b, number);
  }
  Value add(Value x, int64_t y) {
    return y ? mlir::arith::AddIOp::create(b, x, index(y)).getResult() : x;
  }
  Value add(Value x, Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(x, y);
  }
  Value broadcast(Value scalar, int64_t width) {
    return mlir::vector::BroadcastOp::create(b, vectorOf(width), scalar);
  }

  Value bias;
  mlir::ValueRange offsets;
  mlir::Region &scoreMod, &maskMod;
  std::optional<Dropout> dropout;
  double hiddenScore; ///< of a key that the mask hides
  TileBuffers &buffers;
  AttentionDims dims;
  mlir::FloatType scoreType;
  mlir::ImplicitLocOpBuilder b;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOVECTOR_TILEEMITTER_H
