//===- LinearAttention.h - Linear attention by chunks -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_LINEARATTENTION_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_LINEARATTENTION_H

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"

namespace attn {

/// Emits what replaces the results of the op: chunks of it in linalg. With
/// `roundFactors` what an operand is multiplied by, Q K^T with its decays, S
/// and K with its decays, is rounded to the operand's type.
llvm::SmallVector<mlir::Value> emitLinearAttention(mlir::OpBuilder &builder,
                                                   LinearAttentionOp op,
                                                   bool roundFactors);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_LINEARATTENTION_H
