//===- RowReduction.h - The state of a row reduction ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What RowReductionInterface (AttnInterfaces.td) speaks of, and the running
// state that passes carry from step to step.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ROWREDUCTION_H
#define ATTN_DIALECT_ATTN_IR_ROWREDUCTION_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace attn {

/// What a row value is to a step over a tile of scores.
enum class RowRole {
  Maximum, ///< of the scores; weights are exponentials relative to it
  Sum,     ///< of the weights
};

/// One number of the state for each row.
struct RowValue {
  llvm::StringRef name;
  RowRole role;
  double neutral; ///< before the first key
};

/// The row values over two sets of keys, and what the accumulators are
/// multiplied by before they are added; null for 1.
struct CombinedRows {
  llvm::SmallVector<mlir::Value> rows;
  mlir::Value first, second;
};

class RowReductionInterface;

/// The accumulator and the row values of a step, as tensors, buffers, fragments
/// or scalars.
class RunningState {
public:
  RunningState() = default;
  /// `values` are those of the state, the accumulator first.
  RunningState(RowReductionInterface reduction, mlir::ValueRange values);

  /// The row value with a role, null if the reduction has none.
  mlir::Value get(RowRole role) const;
  void set(RowRole role, mlir::Value value);
  mlir::ValueRange getRows() const {
    return mlir::ValueRange(llvm::ArrayRef(values).drop_front());
  }
  mlir::Value getAcc() const { return values.front(); }
  void setAcc(mlir::Value acc) { values.front() = acc; }
  /// The accumulator, then the row values.
  llvm::ArrayRef<mlir::Value> getValues() const { return values; }

private:
  llvm::ArrayRef<RowValue> kinds;
  llvm::SmallVector<mlir::Value> values;
};

} // namespace attn

#include "attn/Dialect/Attn/IR/AttnInterfaces.h.inc"

#endif // ATTN_DIALECT_ATTN_IR_ROWREDUCTION_H
