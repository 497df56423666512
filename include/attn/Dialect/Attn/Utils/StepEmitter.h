//===- StepEmitter.h - The step of a row reduction --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The step that RowReductionInterface describes, written once, over what a
// backend can do with a tile of scores: maps, row reductions, rescaling and the
// product. A backend implements these and asks for no reduction.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_STEPEMITTER_H
#define ATTN_DIALECT_ATTN_UTILS_STEPEMITTER_H

#include "attn/Dialect/Attn/IR/RowReduction.h"

namespace attn {

/// A tile of scores S, which become weights w, in the values of a backend:
/// tensors, scalars of one row, fragments. A row value is one for each row.
class StepEmitter {
public:
  virtual ~StepEmitter() = default;

  /// The state after the tile. Before the `isFirst` tile of a row, its state is
  /// the neutral one, which need not be rescaled.
  RunningState emitStep(RunningState state, bool isFirst = false);

protected:
  /// max(before, rowmax S); a backend may stay at a `before` that is smaller,
  /// but not by so much that exponentials overflow.
  virtual mlir::Value emitMaximum(mlir::Value before) = 0;
  /// What exponentials are relative to: `max`, and 0 where it is -inf, since
  /// -inf - -inf would be NaN.
  virtual mlir::Value emitShift(mlir::Value max) = 0;
  /// exp(before - shift), a row value.
  virtual mlir::Value emitDecay(mlir::Value before, mlir::Value shift) = 0;
  /// w = exp(S - shift); without this call the weights are the scores.
  virtual void emitExponentials(mlir::Value shift) = 0;
  /// init + rowsum w
  virtual mlir::Value emitSum(mlir::Value init) = 0;
  /// decay * value, both row values.
  virtual mlir::Value emitRescaled(mlir::Value value, mlir::Value decay) = 0;
  /// decay * acc + w V, of the weights that dropout keeps; a null decay is 1.
  virtual mlir::Value emitProduct(mlir::Value acc, mlir::Value decay) = 0;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_STEPEMITTER_H
