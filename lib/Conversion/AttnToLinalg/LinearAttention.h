//===- LinearAttention.h - attn.linear_attention by chunks ------ -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_LINEARATTENTION_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_LINEARATTENTION_H

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"

namespace attn {

/// Emits what replaces the results of the op: chunks of it in linalg.
llvm::SmallVector<mlir::Value> emitLinearAttention(mlir::OpBuilder &builder,
                                                   LinearAttentionOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_LINEARATTENTION_H
