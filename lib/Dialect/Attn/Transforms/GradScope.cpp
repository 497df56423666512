//===- GradScope.cpp - A backward function in the making --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

bool attn::isFloatTensor(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

//===----------------------------------------------------------------------===//
// What can be differentiated
//===----------------------------------------------------------------------===//

bool GradScope::isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &forward.getBody().front();
}

Type GradScope::getGradientType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return isFloat8(type) ? type.clone(wide) : type;
}

LogicalResult GradScope::checkArgument(Value value, StringRef role) {
  if (isArgument(value))
    return success();
  return attention->emitOpError()
         << "expected " << role << " to be an argument of @"
         << forward.getName();
}

Value GradScope::skipViews(Value value) {
  while (true) {
    Value source = skipRowOps(value);
    if (auto view = source.getDefiningOp<SelectHeadsOp>())
      source = view.getSource();
    if (source == value)
      return value;
    value = source;
  }
}

LogicalResult GradScope::checkSource(Value value, StringRef role) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0)
    return checkArgument(value, role);
  if (auto rotary = dyn_cast<RotaryOp>(op);
      rotary && (isArgument(rotary.getCos()) || isArgument(rotary.getSin())))
    op->emitRemark() << "takes its tables for constants, whose gradient is 0";
  if (auto dequantized = dyn_cast<DequantizeOp>(op);
      dequantized && dequantized.getDescale() &&
      isArgument(dequantized.getDescale()))
    op->emitRemark() << "takes its descale for a constant, whose gradient is 0";
  for (Value operand : op->getOperands()) {
    if (isa<tensor::DimOp>(op))
      continue;
    // The gradient of a view is summed into that of what it is of.
    bool isDerived = skipViews(value) != value;
    if (isDerived && isArgument(operand))
      continue;
    if (isFloatTensor(operand) && !isDerived)
      return op->emitOpError()
             << "cannot be differentiated: expected " << role
             << " to be an argument of @" << forward.getName();
    if (failed(checkSource(operand, role)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The backward function
//===----------------------------------------------------------------------===//

ValueRange GradScope::createFunction(TypeRange more) {
  SmallVector<Type> inputs(forward.getArgumentTypes()), results;
  llvm::append_range(inputs, more);
  for (BlockArgument argument : forward.getArguments())
    if (isFloatTensor(argument))
      results.push_back(getGradientType(argument));
  builder.setInsertionPointAfter(forward);
  auto backward = func::FuncOp::create(
      builder, forward.getLoc(), (forward.getName() + "_grad").str(),
      builder.getFunctionType(inputs, results));
  Block *body = backward.addEntryBlock();
  builder.setInsertionPointToStart(body);
  ValueRange arguments = body->getArguments();
  mapping.map(forward.getArguments(),
              arguments.take_front(forward.getNumArguments()));
  return arguments.drop_front(forward.getNumArguments());
}

Value GradScope::cloneValue(Value value) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneValue(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The gradient of what `view` is of, by that of the view.
static Value sumHeads(OpBuilder &builder, SelectHeadsOp view, Value gradient) {
  Value source = view.getSource();
  Value init = tensor::EmptyOp::create(
      builder, view.getLoc(),
      tensor::getMixedSizes(builder, view.getLoc(), source),
      getElementTypeOrSelf(source.getType()));
  if (init.getType() != source.getType())
    init =
        tensor::CastOp::create(builder, view.getLoc(), source.getType(), init);
  return SumHeadsOp::create(builder, view.getLoc(), init.getType(), gradient,
                            view.getMap(), init);
}

/// Makes `use` what it is computed of by a view or a row op, and `gradient`
/// that of it; false if it is none. Weights with their gradients are added.
bool GradScope::passOn(Value &use, Value &gradient,
                       SmallVectorImpl<std::pair<Value, Value>> &weights) {
  if (auto view = use.getDefiningOp<SelectHeadsOp>()) {
    gradient = sumHeads(builder, view, gradient);
    use = view.getSource();
    return true;
  }
  if (auto rotary = use.getDefiningOp<RotaryOp>()) {
    gradient = differentiateRotary(builder, rotary, gradient);
    use = rotary.getSource();
    return true;
  }
  // The gradient is of what the numbers stand for.
  if (auto dequantized = use.getDefiningOp<DequantizeOp>()) {
    use = dequantized.getSource();
    return true;
  }
  auto norm = use.getDefiningOp<QkNormOp>();
  if (!norm)
    return false;
  NormGradients gradients = differentiateNorm(builder, norm, gradient);
  gradient = gradients.source;
  weights.push_back({norm.getWeight(), gradients.weight});
  use = norm.getSource();
  return true;
}

void GradScope::returnGradients(ArrayRef<std::pair<Value, Value>> usesOfViews) {
  Location loc = attention->getLoc();
  SmallVector<std::pair<Value, Value>> uses(usesOfViews);
  SmallVector<std::pair<Value, Value>> weights;
  for (auto &[use, gradient] : uses)
    while (gradient && passOn(use, gradient, weights))
      ;
  uses.append(weights);
  SmallVector<Value> gradients;
  for (BlockArgument argument : forward.getArguments()) {
    if (!isFloatTensor(argument))
      continue;
    Value self = mapping.lookup(argument), sum;
    Type element = getElementTypeOrSelf(getGradientType(self));
    auto init = [&]() -> Value {
      return tensor::EmptyOp::create(
          builder, loc, tensor::getMixedSizes(builder, loc, self), element);
    };
    for (auto [use, gradient] : uses) {
      if (use != self || !gradient)
        continue;
      sum = sum ? linalg::AddOp::create(builder, loc, ValueRange{sum, gradient},
                                        ValueRange(init()))
                      .getResult(0)
                : gradient;
    }
    if (!sum) {
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
      sum = linalg::FillOp::create(builder, loc, zero, init()).getResult(0);
    }
    gradients.push_back(sum);
  }
  func::ReturnOp::create(builder, forward.getLoc(), gradients);
}
