//===- RowOps.h - Rotary embedding and norm of rows -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_ROWOPS_H
#define ATTN_LIB_INTERPRETER_ROWOPS_H

#include "Values.h"

namespace attn {

/// What evaluates attn.rotary, attn.qk_norm and attn.dequantize; null for other
/// ops.
OpEvaluator findRowEvaluator(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_ROWOPS_H
