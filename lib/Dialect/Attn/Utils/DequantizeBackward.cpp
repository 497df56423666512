//===- DequantizeBackward.cpp - Gradients of 8 bits, wider ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/DequantizeBackward.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

FloatType attn::getDequantizedType(AttentionBackwardOp op) {
  Type output = getElementTypeOrSelf(op.getOutput().getType());
  return output.isF16() ? cast<FloatType>(output)
                        : FloatType(BFloat16Type::get(op.getContext()));
}

LogicalResult attn::verifyDequantized(BackwardStepOp op) {
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  if (!isFloat8(element))
    return success();
  return op.emitOpError() << "expected inputs of at least 16 bits but in the "
                             "kernels of a GPU, got "
                          << element;
}

/// A gradient in its own type, or in the score type where `wide` has another.
static Type getGradientType(Value gradient, FloatType wide) {
  auto type = cast<RankedTensorType>(gradient.getType());
  return type.getElementType() == wide
             ? type
             : type.clone(Float32Type::get(type.getContext()));
}

AttentionBackwardOp attn::dequantizeBackward(AttentionBackwardOp op,
                                             FloatType wide) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  unsigned number = 0;
  auto widen = [&](Value value) -> Value {
    auto type = cast<RankedTensorType>(value.getType()).clone(wide);
    return DequantizeOp::create(builder, loc, type, value,
                                op.getDescaleOf(number++));
  };
  Value query = widen(op.getQuery()), key = widen(op.getKey()),
        value = widen(op.getValue()), dOutput = widen(op.getDOutput());
  Value output = op.getOutput();
  auto outputType = cast<RankedTensorType>(output.getType());
  if (wide.isF32() && !outputType.getElementType().isF32())
    output =
        arith::ExtFOp::create(builder, loc, outputType.clone(wide), output);
  auto wider = AttentionBackwardOp::create(
      builder, loc, getGradientType(op.getDQuery(), wide),
      getGradientType(op.getDKey(), wide),
      getGradientType(op.getDValue(), wide), /*dBias=*/Type(),
      /*dCaptures=*/TypeRange(),
      /*dSink=*/Type(), op.getAmaxDs() ? op.getAmaxDs().getType() : Type(),
      query, key, value,
      /*bias=*/Value(), output, op.getLse(), dOutput, op.getDLse(),
      /*descales=*/ValueRange(), /*scaleDs=*/Value(), /*sink=*/Value(),
      /*captures=*/ValueRange(), /*dropoutSeed=*/Value(),
      /*dropoutOffset=*/Value(), /*dropoutRate=*/FloatAttr(), op.getScaleAttr(),
      op.getNormalizationAttr(), op.getScheduleAttr(), op.getKeyScheduleAttr(),
      op.getValueScheduleAttr());
  wider.getScoreMod().takeBody(op.getScoreMod());
  wider.getMaskMod().takeBody(op.getMaskMod());
  for (auto [result, gradient] :
       llvm::zip_equal(op->getResults(), wider->getResults())) {
    Value narrow = gradient;
    if (gradient.getType() != result.getType())
      narrow =
          arith::TruncFOp::create(builder, loc, result.getType(), gradient);
    result.replaceAllUsesWith(narrow);
  }
  op.erase();
  return wider;
}
