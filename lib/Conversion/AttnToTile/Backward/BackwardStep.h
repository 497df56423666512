//===- BackwardStep.h - One tile of the backward in fragments ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of dQ has S in registers with queries as rows; that of dK and dV
// has S^T = K Q^T, with keys as rows, so that P^T and dS^T are operands of the
// next product as they are. Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSTEP_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSTEP_H

#include "Backward/Float8Factors.h"
#include "Kernel/ModToMap.h"

namespace attn {

/// What a step reads, in the kernel: tiles in shared memory, and of each query
/// lse and delta as RowValues has them, in fragments of rows or in tiles of one
/// row, null without softmax. Null what no gradient needs.
struct BackwardTiles {
  mlir::Value query, key, value, dOutput, lse, delta;
  /// A tensor with as many rows as the keys.
  mlir::Value keys;
  /// dP - delta is summed up from -delta on, which `delta` then has, a tile of
  /// one row. Nothing has the scale yet, which costs an instruction for each
  /// score here, but only one for each element of the gradients.
  bool startsFromDelta = false;
};

/// What the kernels want to know of a query: the LSE, or inf where there is no
/// key or no query, so that exp(S - lse) is P; and delta.
struct RowValues {
  mlir::Value lse, delta;
};

/// What RowValues are multiplied by.
struct RowUnits {
  double lse;
  double delta;
  /// The binary logarithm of what P is multiplied by, which comes off an LSE
  /// with log2(e).
  double weightBits = 0;

  /// delta has the scale. The LSE has log2(e), so that exp2(log2(e) S - lse) is
  /// one fma for each score; but not where a bias or a score_mod may make
  /// scores of which the product rounds to more than an exponential forgives,
  /// or overflows: there the difference is taken first.
  static RowUnits get(BackwardStepOp step);
};

/// Builds P and dS of a step; `keysAreRows` for the transposed ones. dS has the
/// factor scale already, unless dP starts from delta.
class BackwardStepBuilder {
public:
  BackwardStepBuilder(ModToMap &mods, BackwardStepOp step,
                      const BackwardTiles &tiles, bool keysAreRows,
                      const Float8Factors &factors = {})
      : mods(mods), builder(mods.getBuilder()), loc(step.getLoc()), step(step),
        tiles(tiles), keysAreRows(keysAreRows), factors(factors),
        dropout(Dropout::get(step)) {}

  /// P, after dropout, if dV is wanted, and dS, null if only that is; in f32.
  struct Scores {
    mlir::Value probabilities, gradient;
  };
  mlir::FailureOr<Scores> build();

  // What it is built of, from the products S = Q K^T, without the scale, and
  // dP = dO V^T.
  /// P before dropout.
  mlir::FailureOr<mlir::Value> buildProbabilities(mlir::Value product);
  /// P, with minus signs where dropout drops it: what has to be known for dP,
  /// too.
  mlir::Value buildDropout(mlir::Value probabilities);
  /// P / (1 - rate) where it is kept, else 0; P without dropout.
  /// `signs` has the minus signs where it is given.
  mlir::Value buildKept(mlir::Value probabilities,
                        mlir::Value signs = mlir::Value());
  /// scale * dS of what buildDropout gives; without softmax, of 1.
  mlir::FailureOr<mlir::Value> buildGradient(mlir::Value product,
                                             mlir::Value probabilities,
                                             mlir::Value dProbabilities);

  /// P or dS as the left operand of the next product, rounded to `element`.
  mlir::Value toOperand(mlir::Value fragment, mlir::Type element);

private:
  struct Element;

  mlir::Value createProduct(mlir::Value a, mlir::Value b,
                            mlir::Value init = mlir::Value());
  mlir::Value loadDelta();
  mlir::FailureOr<mlir::Value>
  createMap(mlir::ValueRange inputs, llvm::ArrayRef<mlir::Region *> regions,
            llvm::function_ref<mlir::FailureOr<mlir::Value>(const Element &,
                                                            mlir::ValueRange)>
                body);
  mlir::Value toI32(mlir::Value index);
  mlir::Value getVector(mlir::Value vector);
  mlir::Value addBias(mlir::Value score, const Element &element);
  mlir::FailureOr<mlir::Value> getInner(mlir::Value product,
                                        const Element &element);
  mlir::FailureOr<mlir::Value> getProbability(mlir::ValueRange inputs,
                                              const Element &element);
  mlir::FailureOr<mlir::Value> getScore(mlir::Value product,
                                        const Element &element);
  mlir::FailureOr<mlir::Value> getSlope(mlir::Value product,
                                        const Element &element,
                                        mlir::Region &derivative);
  mlir::FailureOr<mlir::Value> zeroIfHidden(mlir::Value value,
                                            const Element &element);
  mlir::FailureOr<mlir::Value> getGradient(mlir::ValueRange inputs,
                                           const Element &element,
                                           mlir::Region &derivative);
  mlir::FailureOr<mlir::Value> getWeightGradient(mlir::ValueRange inputs,
                                                 const Element &element,
                                                 mlir::Region &derivative);
  /// P, and 0 of keys past the end where dQ sums over the keys that stay and no
  /// mask hides them.
  mlir::Value hidePaddedKeys(mlir::Value probabilities);
  mlir::Value constant(double value);

  ModToMap &mods;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  BackwardStepOp step;
  const BackwardTiles &tiles;
  bool keysAreRows;
  Float8Factors factors;
  std::optional<Dropout> dropout;
};

/// Builds the RowValues of a CTA's rows. delta = rowsum(dO * O) - dLSE reads
/// both element by element: each is read once.
class RowValuesBuilder {
public:
  /// `at` is the batch, the head and the first row. With `slice` columns are
  /// read so many at a time, in a loop.
  RowValuesBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::ValueRange at, RowUnits units, int64_t slice = 0,
                   const Float8Factors &factors = {});

  /// Row fragments of `rows` sums over `cols` columns; `dLse` may be null.
  RowValues build(int64_t rows, int64_t cols, mlir::Value lse,
                  mlir::Value output, mlir::Value dOutput, mlir::Value dLse);

private:
  using Body = llvm::function_ref<mlir::Value(mlir::ValueRange)>;

  mlir::Value createMap(mlir::Type result, mlir::ValueRange inputs, Body body);
  mlir::Value buildLse(int64_t rows, mlir::Value lse);
  mlir::Value buildProducts(mlir::Type type, mlir::Value first, int64_t cols,
                            mlir::Value output, mlir::Value dOutput);
  mlir::Value buildSums(int64_t rows, int64_t cols, mlir::Value output,
                        mlir::Value dOutput);
  mlir::Value getLastRow(mlir::Value tensor);
  mlir::Value buildDelta(int64_t rows, int64_t cols, mlir::Value output,
                         mlir::Value dOutput, mlir::Value dLse);
  mlir::Value read(mlir::Value tensor, mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> getRow(mlir::Value row, mlir::Value last);
  mlir::Value toI64(mlir::Value value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> at, first; ///< as index, and as i64
  RowUnits units;
  int64_t slice;
  Float8Factors factors;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSTEP_H
