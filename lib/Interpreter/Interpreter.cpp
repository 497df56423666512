//===- Interpreter.cpp - Attention modules by definition ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Interpreter/Interpreter.h"

#include "RegionProgram.h"
#include "ScalarOps.h"
#include "Values.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Reference/Element.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TensorValue::TensorValue(std::vector<int64_t> sizes) : shape(std::move(sizes)) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  elements.resize(count);
}

const Scalar *TensorValue::find(ArrayRef<int64_t> index) const {
  int64_t offset = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape)) {
    if (i < 0 || i >= size)
      return nullptr;
    offset = offset * size + i;
  }
  return &elements[offset];
}

ElementType attn::toElementType(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return ElementType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return ElementType::F8E5M2;
  if (type.isInteger(8))
    return ElementType::I8;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF64())
    return ElementType::F64;
  return ElementType::F32;
}

reference::Tensor attn::toReference(const TensorValue &tensor,
                                    ElementType type) {
  reference::Tensor result(tensor.shape, type);
  for (auto [position, element] : llvm::enumerate(tensor.elements))
    result.set(position, element.toNumber());
  return result;
}

SharedTensor attn::fromReference(const reference::Tensor &tensor) {
  TensorValue result(tensor.getShape());
  for (auto [element, value] :
       llvm::zip_equal(result.elements, tensor.getValues()))
    element = Scalar::ofReal(value);
  return std::make_shared<const TensorValue>(std::move(result));
}

ElementType attn::getResultType(Value value, const Environment &environment) {
  return environment.precision == EvaluationPrecision::Float64
             ? ElementType::F64
             : toElementType(
                   cast<ShapedType>(value.getType()).getElementType());
}

reference::Tensor attn::getOperand(Value value,
                                   const Environment &environment) {
  return toReference(*environment.tensor(value),
                     getResultType(value, environment));
}

/// Decodes the element at `data`; `type` is what `dtype` is, if that is more
/// than an integer.
static Scalar readElement(const char *data, runtime::DType dtype,
                          std::optional<ElementType> type) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, byteSize(dtype));
  if (type && !isInteger(*type))
    return Scalar::ofReal(reference::decodeElement(bits, *type));
  unsigned width = dtype == runtime::DType::I1 ? 1 : 8 * byteSize(dtype);
  return Scalar::ofInteger(wrapInteger(bits, width));
}

static InterpreterValue fromHost(const runtime::HostTensor &tensor, Type type) {
  std::optional<ElementType> element = parseElementType(name(tensor.dtype));
  if (!isa<ShapedType>(type))
    return readElement(tensor.data.data(), tensor.dtype, element);
  TensorValue result(tensor.shape);
  size_t size = byteSize(tensor.dtype);
  for (auto [position, value] : llvm::enumerate(result.elements))
    value = readElement(&tensor.data[position * size], tensor.dtype, element);
  return std::make_shared<const TensorValue>(std::move(result));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Evaluates a scalar op outside of regions.
static LogicalResult evaluateScalarOp(Operation *op, Environment &environment) {
  SmallVector<Scalar> operands;
  for (Value value : op->getOperands())
    operands.push_back(environment.scalar(value));
  environment.values[op->getResult(0)] = evaluateScalar(
      findScalarFunction(op), getScalarOpInfo(op, environment.precision),
      operands.data());
  return success();
}

static OpEvaluator findEvaluator(Operation *op) {
  if (OpEvaluator evaluator = findAttnEvaluator(op))
    return evaluator;
  if (OpEvaluator evaluator = findTensorEvaluator(op))
    return evaluator;
  return findScalarFunction(op) ? evaluateScalarOp : nullptr;
}

Operation *attn::findUninterpretableOp(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function;
  for (Operation &op : function.getBody().front().without_terminator())
    if (!findEvaluator(&op))
      return &op;
  Operation *terminator = function.getBody().front().getTerminator();
  auto isNumbers = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && (isa<FloatType>(tensor.getElementType()) ||
                      tensor.getElementType().isInteger(8));
  };
  return llvm::all_of(terminator->getOperandTypes(), isNumbers) ? nullptr
                                                                : terminator;
}

FailureOr<std::vector<reference::Tensor>>
attn::interpret(func::FuncOp function, ArrayRef<runtime::HostTensor> arguments,
                EvaluationPrecision precision) {
  Environment environment;
  environment.precision = precision;
  for (auto [argument, tensor] :
       llvm::zip_equal(function.getArguments(), arguments))
    environment.values[argument] = fromHost(tensor, argument.getType());
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator()) {
    OpEvaluator evaluate = findEvaluator(&op);
    if (!evaluate)
      return op.emitOpError() << "is none that the interpreter knows";
    if (failed(evaluate(&op, environment)))
      return failure();
  }
  std::vector<reference::Tensor> results;
  for (Value value : body.getTerminator()->getOperands()) {
    ElementType type =
        precision == EvaluationPrecision::Float64
            ? ElementType::F64
            : toElementType(cast<ShapedType>(value.getType()).getElementType());
    results.push_back(toReference(*environment.tensor(value), type));
  }
  return results;
}
