//===- Backward.h - Gradients of attention in linalg ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_BACKWARD_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_BACKWARD_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Each emits what replaces the results of the op, unfused: the scores and
/// their gradients are whole tensors.
llvm::SmallVector<mlir::Value> emitBackward(mlir::OpBuilder &builder,
                                            AttentionBackwardOp op);
llvm::SmallVector<mlir::Value> emitBackwardStep(mlir::OpBuilder &builder,
                                                BackwardStepOp op);
mlir::Value emitBackwardDelta(mlir::OpBuilder &builder, BackwardDeltaOp op);

/// The operands of an attn.backward_sum; `lse` may be null.
struct BackwardSum {
  mlir::Value source, like, lse;
  mlir::AffineMap map;
};
mlir::Value emitSum(mlir::OpBuilder &builder, mlir::Location loc,
                    const BackwardSum &sum, mlir::RankedTensorType result);
mlir::Value emitBackwardSum(mlir::OpBuilder &builder, BackwardSumOp op);

/// `tensor` with the element type and the static sizes of `type`.
mlir::Value castTensor(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value tensor, mlir::RankedTensorType type);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_BACKWARD_H
