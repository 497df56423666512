//===- OutputOps.h - What follows an attention ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_OUTPUTOPS_H
#define ATTN_DIALECT_ATTN_IR_OUTPUTOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/OutputOps.h.inc"

namespace attn {

/// The attn.output_mod of an attention's output, where that alone uses it; null
/// if there is none. A kernel applies it before it stores.
OutputModOp getOutputMod(mlir::Value output);

/// The gradients of query, key and value, behind which an attn.output_mod may
/// be as it is behind an output.
llvm::SmallVector<mlir::Value> getGradients(AttentionBackwardOp op);

/// True if one of those that follow each other behind `output` has an `amax`.
bool hasAmax(mlir::Value output);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_OUTPUTOPS_H
