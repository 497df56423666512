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

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARDSTEP_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARDSTEP_H

#include "ModToMap.h"

namespace attn {

/// What a step reads, in the kernel: tiles in shared memory, and the vectors
/// lse and delta [B, Hq, M] in global memory.
struct BackwardTiles {
  mlir::Value query, key, value, dOutput, lse, delta;
};

/// Builds P and dS of a step as the operands of products; `keysAreRows` for the
/// transposed ones. dS has the factor scale already.
class BackwardStepBuilder {
public:
  BackwardStepBuilder(ModToMap &mods, BackwardStepOp step,
                      const BackwardTiles &tiles, bool keysAreRows)
      : mods(mods), builder(mods.getBuilder()), loc(step.getLoc()), step(step),
        tiles(tiles), keysAreRows(keysAreRows) {}

  struct Operands {
    mlir::Value probabilities, dScores;
  };
  mlir::FailureOr<Operands> build();

private:
  struct Element;

  mlir::Value createProduct(mlir::Value a, mlir::Value b);
  mlir::FailureOr<mlir::Value>
  createMap(mlir::ValueRange inputs,
            llvm::function_ref<mlir::FailureOr<mlir::Value>(const Element &,
                                                            mlir::ValueRange)>
                body);
  mlir::Value readRow(mlir::Value vector, const Element &element);
  mlir::Value addBias(mlir::Value score, const Element &element);
  mlir::FailureOr<mlir::Value> getInner(mlir::Value product,
                                        const Element &element);
  mlir::FailureOr<mlir::Value> getProbability(mlir::Value product,
                                              const Element &element);
  mlir::FailureOr<mlir::Value> getGradient(mlir::ValueRange inputs,
                                           const Element &element,
                                           mlir::Region &derivative);
  mlir::Value toOperand(mlir::Value fragment);
  mlir::Value constant(double value);

  ModToMap &mods;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  BackwardStepOp step;
  const BackwardTiles &tiles;
  bool keysAreRows;
};

/// Builds delta = rowsum(dO * O) - dLSE of a CTA's rows, reading both element
/// by element: each is read once.
class DeltaBuilder {
public:
  /// `at` is the batch, the head and the first row.
  DeltaBuilder(mlir::OpBuilder &builder, mlir::Location loc,
               mlir::ValueRange at);

  /// A row fragment of `rows` sums over `cols` columns; `dLse` may be null.
  mlir::Value build(int64_t rows, int64_t cols, mlir::Value output,
                    mlir::Value dOutput, mlir::Value dLse);

private:
  using Body = llvm::function_ref<mlir::Value(mlir::ValueRange)>;

  mlir::Value createMap(mlir::Type result, mlir::ValueRange inputs, Body body);
  mlir::Value read(mlir::Value tensor, mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> getRow(mlir::Value row, mlir::Value last);
  mlir::Value toI64(mlir::Value value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> first; ///< `at`, as i64
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARDSTEP_H
