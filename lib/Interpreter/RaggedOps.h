//===- RaggedOps.h - Sequences behind each other ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_RAGGEDOPS_H
#define ATTN_LIB_INTERPRETER_RAGGEDOPS_H

#include "Values.h"

namespace attn {

/// What evaluates attn.ragged, attn.pack and attn.sequence_lengths; null for
/// other ops.
OpEvaluator findRaggedEvaluator(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_RAGGEDOPS_H
