//===- SinkBuilder.h - A sink enters the state of a row ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sink of attn.attention is one more score of a row, of a key without a
// value: a state with the sink as its maximum, sum 1 and accumulator 0. It is
// combined with that of a row after the last key.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_SINKBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_SINKBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {

/// Scalars of one float type.
struct RowState {
  mlir::Value max; ///< natural units; -inf before the first key
  mlir::Value sum; ///< of exp(S - max)
  /// By which the accumulator shrinks.
  mlir::Value decay;
};

/// The state of a row with maximum `max` and sum `sum` after `sink`. All are
/// finite or -inf, and so are the results; there is never a NaN.
RowState buildSink(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value max, mlir::Value sum, mlir::Value sink);

/// The sink of an attn.normalize whose rows are of one head, in the type of its
/// statistics.
mlir::Value readSink(mlir::OpBuilder &builder, NormalizeOp normalize);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_SINKBUILDER_H
