//===- Values.h - What the interpreter computes with ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_VALUES_H
#define ATTN_LIB_INTERPRETER_VALUES_H

#include "attn/Interpreter/Interpreter.h"
#include "attn/Support/ElementType.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <variant>

namespace attn {

/// A float in `real`, or an integer or index in `integer`. An i1 is 0 or 1;
/// wider integers are sign-extended.
struct Scalar {
  double real = 0;
  int64_t integer = 0;

  static Scalar ofReal(double value) { return {value, 0}; }
  static Scalar ofInteger(int64_t value) { return {0, value}; }
  /// `value`, which `type` holds.
  static Scalar ofNumber(double value, ElementType type) {
    return isInteger(type) ? ofInteger(static_cast<int64_t>(value))
                           : ofReal(value);
  }
  /// Whichever of both it is: the other is 0.
  double toNumber() const { return real + static_cast<double>(integer); }
};

/// A row-major tensor of scalars.
struct TensorValue {
  std::vector<int64_t> shape;
  std::vector<Scalar> elements;

  explicit TensorValue(std::vector<int64_t> shape);
  /// Element at `index`, or nothing if that is out of range.
  const Scalar *find(llvm::ArrayRef<int64_t> index) const;
};

using SharedTensor = std::shared_ptr<const TensorValue>;
using InterpreterValue = std::variant<Scalar, SharedTensor>;

/// The values of a function so far.
struct Environment {
  llvm::DenseMap<mlir::Value, InterpreterValue> values;
  EvaluationPrecision precision = EvaluationPrecision::Float64;

  Scalar scalar(mlir::Value value) const {
    return std::get<Scalar>(values.at(value));
  }
  const SharedTensor &tensor(mlir::Value value) const {
    return std::get<SharedTensor>(values.find(value)->second);
  }
};

/// The element type as lib/Reference knows it; `type` is a float or i8.
ElementType toElementType(mlir::Type type);

/// A tensor of floats or i8 as the oracle takes it, with elements of `type`.
reference::Tensor toReference(const TensorValue &tensor, ElementType type);
SharedTensor fromReference(const reference::Tensor &tensor);

/// What results of the value's type are rounded to: that, or f64 for the
/// oracle.
ElementType getResultType(mlir::Value value, const Environment &environment);

/// The tensor `value`, rounded as results are.
reference::Tensor getOperand(mlir::Value value, const Environment &environment);

//===----------------------------------------------------------------------===//
// Ops by kind
//===----------------------------------------------------------------------===//

/// Evaluates one op of the kind and stores its results; fails after a
/// diagnostic.
using OpEvaluator = llvm::LogicalResult (*)(mlir::Operation *, Environment &);

/// The evaluator of ops that make or move tensors; null for any other op.
OpEvaluator findTensorEvaluator(mlir::Operation *op);

/// The evaluator of attn ops; null for any other op.
OpEvaluator findAttnEvaluator(mlir::Operation *op);

/// Evaluators of attn.attention_backward, attn.backward_delta.
llvm::LogicalResult evaluateBackward(mlir::Operation *op,
                                     Environment &environment);
llvm::LogicalResult evaluateDelta(mlir::Operation *op,
                                  Environment &environment);

/// The evaluator of attn.linear_attention.
llvm::LogicalResult evaluateLinearAttention(mlir::Operation *op,
                                            Environment &environment);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_VALUES_H
