//===- HeadOps.h - Which key head serves a query head -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_HEADOPS_H
#define ATTN_LIB_INTERPRETER_HEADOPS_H

#include "Values.h"

namespace attn {

/// What evaluates attn.select_heads and attn.sum_heads; null for other ops.
OpEvaluator findHeadEvaluator(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_HEADOPS_H
