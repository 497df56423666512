//===- DequantizeBackward.h - Gradients of 8 bits, wider --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_DEQUANTIZEBACKWARD_H
#define ATTN_DIALECT_ATTN_UTILS_DEQUANTIZEBACKWARD_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The type in which kernels without 8-bit products compute a backward of 8-bit
/// inputs: that of its output, or bf16 beside one of f32.
mlir::FloatType getDequantizedType(AttentionBackwardOp op);

/// Replaces a backward of 8-bit inputs by one of what they stand for, in
/// `wide`, which is f32 or as getDequantizedType has it. Nothing is rounded to
/// 8 bits then, and scale_ds has no meaning. Returns the new op.
AttentionBackwardOp dequantizeBackward(AttentionBackwardOp op,
                                       mlir::FloatType wide);

/// Fails at a backward_step of 8-bit inputs, as tiles of a GPU are: what
/// computes in vectors and loops takes a backward that was dequantised.
mlir::LogicalResult verifyDequantized(BackwardStepOp op);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_DEQUANTIZEBACKWARD_H
