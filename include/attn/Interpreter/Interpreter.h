//===- Interpreter.h - Attention modules by definition ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a function of attn ops without compiling it: attention through
// lib/Reference, its regions scalar by scalar in float64. No pass and no
// lowering takes part, so it can judge them all.
//
// Understood are attn.attention, attn.attention_backward, attn.normalize,
// attn.merge and attn.backward_delta, with scalar arith, math and affine.apply
// ops in regions and outside, and the ops that move data:
// tensor.{cast,collapse_shape,dim,empty,expand_shape,extract,extract_slice},
// linalg.{fill,transpose}, constants.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_INTERPRETER_INTERPRETER_H
#define ATTN_INTERPRETER_INTERPRETER_H

#include "attn/Reference/Tensor.h"
#include "attn/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// How attention is evaluated.
enum class EvaluationPrecision {
  /// Everything in float64: the oracle. Conversions to narrower floats inside
  /// the function do not round.
  Float64,
  /// Attention as an unfused implementation computes it in the precision of its
  /// operands (reference::unfusedAttention); every result, those of scalar ops
  /// in regions included, is rounded to its type: the yardstick.
  Unfused,
  /// The same, with the products of f32 attention in tf32.
  UnfusedTf32,
  /// The same, on tensor cores whose sums of 8-bit products drop bits, as those
  /// of a score do there.
  UnfusedShortSums,
  /// As Unfused for a CPU, whose code rounds no factor of a linear attention.
  UnfusedOnCpu,
};

/// The first op of `function` that interpret() does not understand; null if it
/// understands all of them.
mlir::Operation *findUninterpretableOp(mlir::func::FuncOp function);

/// Evaluates a function that findUninterpretableOp accepts. The arguments have
/// the ranks and element types of the function's; results of integer type are
/// not supported. Elements of results that nothing writes are
/// reference::isUnwritten. Where the sizes do not fit together, emits a
/// diagnostic on the op that needs them and fails.
mlir::FailureOr<std::vector<reference::Tensor>>
interpret(mlir::func::FuncOp function,
          llvm::ArrayRef<runtime::HostTensor> arguments,
          EvaluationPrecision precision);

} // namespace attn

#endif // ATTN_INTERPRETER_INTERPRETER_H
