//===- GradientBuilder.h - The gradient of a score --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backward of one score, on floats or vectors of them. A gradient is 0
// where a key takes no part, whatever is stored there.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_GRADIENTBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_GRADIENTBUILDER_H

#include "mlir/IR/Builders.h"

namespace attn {

/// `value`, and 0 where `visible` is false; a null `visible` is true.
mlir::Value hideElement(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value visible, mlir::Value value);

/// dS, from the weight w of a score and dw = dO V^T behind dropout: w (dw -
/// delta) of exponentials, 0 where w is, and dw where the weights are the
/// scores, which have no `delta`.
mlir::Value buildScoreGradient(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value weight, mlir::Value dWeight,
                               mlir::Value delta, mlir::Value visible);

/// dS times the derivative of score_mod, and 0 where dS is.
mlir::Value buildInnerGradient(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value gradient, mlir::Value slope);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_GRADIENTBUILDER_H
