//===- GradientBuilder.cpp - The gradient of a score ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/GradientBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

static Value createZero(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value attn::hideElement(OpBuilder &builder, Location loc, Value visible,
                        Value value) {
  if (!visible)
    return value;
  Value zero = createZero(builder, loc, value.getType());
  return arith::SelectOp::create(builder, loc, visible, value, zero);
}

/// 0 where `condition` is 0, else `value`.
static Value zeroIfZero(OpBuilder &builder, Location loc, Value condition,
                        Value value) {
  Value zero = createZero(builder, loc, value.getType());
  Value isZero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       condition, zero);
  return arith::SelectOp::create(builder, loc, isZero, zero, value);
}

Value attn::buildScoreGradient(OpBuilder &builder, Location loc, Value weight,
                               Value dWeight, Value delta, Value visible) {
  if (!delta)
    return hideElement(builder, loc, visible, dWeight);
  Value shifted = arith::SubFOp::create(builder, loc, dWeight, delta);
  Value product = arith::MulFOp::create(builder, loc, weight, shifted);
  return zeroIfZero(builder, loc, weight, product);
}

Value attn::buildInnerGradient(OpBuilder &builder, Location loc, Value gradient,
                               Value slope) {
  Value product = arith::MulFOp::create(builder, loc, gradient, slope);
  return zeroIfZero(builder, loc, gradient, product);
}
