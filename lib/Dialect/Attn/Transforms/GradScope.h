//===- GradScope.h - A backward function in the making ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_GRADSCOPE_H
#define LIB_DIALECT_ATTN_TRANSFORMS_GRADSCOPE_H

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace attn {

bool isFloatTensor(mlir::Value value);

/// The base of what builds the backward function of a forward function with
/// one attention.
class GradScope {
protected:
  GradScope(mlir::func::FuncOp forward, mlir::Operation *attention)
      : forward(forward), attention(attention), builder(forward.getContext()) {}

  bool isArgument(mlir::Value value);
  /// Fails if `value` is no argument.
  mlir::LogicalResult checkArgument(mlir::Value value, llvm::StringRef role);
  /// Fails if `value`, which is no argument, depends on a float tensor that is
  /// one: its gradient would be lost.
  mlir::LogicalResult checkSource(mlir::Value value, llvm::StringRef role);

  /// Makes @f_grad, whose arguments are those of @f and `more` of these types,
  /// and sets the builder to its body. Returns the arguments that are more.
  mlir::ValueRange createFunction(mlir::TypeRange more);
  /// `value` of the forward function in the backward function.
  mlir::Value cloneValue(mlir::Value value);
  /// Returns, for each float tensor among the arguments of @f, the sum of the
  /// gradients of all uses of it; `uses` are values of the backward function
  /// and their gradients, either of which may be null.
  void
  returnGradients(llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> uses);

  mlir::func::FuncOp forward;
  mlir::Operation *attention;
  mlir::OpBuilder builder;
  /// From the forward function to the backward function.
  mlir::IRMapping mapping;
};

/// Adds the backward function of `forward` with this attention, or says why
/// there is none.
mlir::LogicalResult buildLinearGrad(mlir::func::FuncOp forward,
                                    LinearAttentionOp attention);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_GRADSCOPE_H
