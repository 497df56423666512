//===- LinearAttentionOps.h - Linear attention ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_H
#define ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h.inc"

namespace attn {

/// Fails at the first linear attention below `root`: GPUs have no kernel of it.
mlir::LogicalResult rejectLinearAttention(mlir::Operation *root);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_H
