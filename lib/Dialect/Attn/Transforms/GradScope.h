//===- GradScope.h - A backward function in the making ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_GRADSCOPE_H
#define LIB_DIALECT_ATTN_TRANSFORMS_GRADSCOPE_H

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace attn {

bool isFloatTensor(mlir::Value value);

/// The base of what builds the backward function of a forward function with
/// one attention.
class GradScope {
protected:
  GradScope(mlir::func::FuncOp forward, mlir::Operation *attention)
      : forward(forward), attention(attention), builder(forward.getContext()) {}

  bool isArgument(mlir::Value value);
  /// That of the gradient of `value`: of 8 bits that of `wide`.
  mlir::Type getGradientType(mlir::Value value);
  /// Fails if `value` is no argument.
  mlir::LogicalResult checkArgument(mlir::Value value, llvm::StringRef role);
  /// What `value` is before views and row ops: their gradients are derived.
  static mlir::Value skipViews(mlir::Value value);
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

  bool
  passOn(mlir::Value &use, mlir::Value &gradient,
         llvm::SmallVectorImpl<std::pair<mlir::Value, mlir::Value>> &weights);

  mlir::func::FuncOp forward;
  mlir::Operation *attention;
  mlir::OpBuilder builder;
  /// What elements of 8 bits are made for a backward.
  mlir::Type wide = builder.getBF16Type();
  /// From the forward function to the backward function.
  mlir::IRMapping mapping;
};

/// Weights that are divided by their sum give a quotient of two attentions
/// without normalization, of values [V, 1] (Dv + 8 columns, of which the last
/// are 0):
///
///   O = acc / l,   l = (weights 1) + epsilon
///   d[acc, l] = [dO, -rowsum(dO * O)] / l, 0 where l is 0
///
/// The weights are multiplied by 1 / l, and not dO: of a row whose weights are
/// small, or none, dO / l has no number in 16 bits.

/// [V, 1, 0].
mlir::Value appendOne(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value);
/// [B, Hq, M]: 1 / (`sums`[.., column] + epsilon), 0 where that is none.
mlir::Value invertSums(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value sums, int64_t column, double epsilon);
/// [dO, -rowsum(dO * O), 0] in the type `element` of the inputs, O = `sums` *
/// `inverses`.
mlir::Value differentiateQuotient(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Value sums, mlir::Value inverses,
                                  mlir::Value dOutput, mlir::Type element);
/// Multiplies the weights of row (b, h, i) by `factors`[b, h, i], in the score
/// type.
void scaleWeights(mlir::OpBuilder &builder, AttentionBackwardOp backward,
                  mlir::Value factors);
/// The columns of `tensor` that `like` has.
mlir::Value takeColumns(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value tensor, mlir::Value like);

/// The gradient of the source of `op`, by that of its result: turned back.
mlir::Value differentiateRotary(mlir::OpBuilder &builder, RotaryOp op,
                                mlir::Value gradient);
struct NormGradients {
  mlir::Value source;
  mlir::Value weight; ///< null without a weight
};
NormGradients differentiateNorm(mlir::OpBuilder &builder, QkNormOp op,
                                mlir::Value gradient);

/// An attention with a prob_mod has the gradients of the two that it is
/// (--attn-decompose-prob-mod): with w(s, LSE) = prob_mod(exp(s - LSE)),
///
///   dS = dw/ds (dO V^T) + P dLSE,   dLSE = sum_j dw/dLSE (dO V^T)
///
/// The parts of dQ, dK and dBias are in the score type.
struct ProbModGradients {
  llvm::SmallVector<mlir::Value> captures; ///< of scores and prob_mod
  bool bias = false, sink = false;
};

/// The gradients that are wanted of `op`, each beside what it is of. `lse` is
/// that of the scores; null: it is computed again. `dLse` may be null.
llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>
buildProbModGrad(mlir::OpBuilder &builder, AttentionOp op, mlir::Value lse,
                 mlir::Value dOutput, mlir::Value dLse,
                 const ProbModGradients &wanted);

/// What follows an attention is elementwise, and so are its gradients.
struct OutputGradients {
  mlir::Value dOutput; ///< of the attention's own output
  /// A captured tensor, and a part of its gradient.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> ofCaptures;
};

/// Fails at what of `op` has no derivative by the output or by what it reads of
/// `captures`.
mlir::LogicalResult
verifyOutputGrad(OutputModOp op, const llvm::SetVector<mlir::Value> &captures);

/// The gradients through `mods`, each of the result of the one before, by that
/// of the last; dOutput has elements of `element`.
OutputGradients buildOutputGrad(mlir::OpBuilder &builder,
                                llvm::ArrayRef<OutputModOp> mods,
                                const llvm::SetVector<mlir::Value> &captures,
                                mlir::Value dResult, mlir::Type element);

/// Adds the backward function of `forward` with this attention, or says why
/// there is none. `recompute` and `lseGradient` are options of the pass.
mlir::LogicalResult buildAttentionGrad(mlir::func::FuncOp forward,
                                       AttentionOp attention, bool recompute,
                                       bool lseGradient);
mlir::LogicalResult buildLinearGrad(mlir::func::FuncOp forward,
                                    LinearAttentionOp attention);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_GRADSCOPE_H
