//===- RaggedOps.h - Sequences behind each other ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_RAGGEDOPS_H
#define ATTN_LIB_INTERPRETER_RAGGEDOPS_H

#include "Values.h"

namespace attn {

/// Checks that the offsets are those of sequences of `rows` rows, each of which
/// has `room` at most.
mlir::LogicalResult checkSequences(mlir::Operation *op,
                                   const TensorValue &offsets, int64_t rows,
                                   int64_t room);

/// What evaluates attn.ragged, attn.pack and attn.sequence_lengths; null for
/// other ops.
OpEvaluator findRaggedEvaluator(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_RAGGEDOPS_H
