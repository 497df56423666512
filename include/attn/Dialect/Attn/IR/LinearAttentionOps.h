//===- LinearAttentionOps.h - Linear attention ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_H
#define ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Schedule/LinearAttention.h"

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h.inc"

namespace attn {

/// The problem that `op` states, for the cost model. Sizes that are not known
/// are taken to be typical (2 for B, 4096 for M).
LinearProblem getProblem(LinearAttentionOp op);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_LINEARATTENTIONOPS_H
