//===- DescaleBuilder.cpp - What stored numbers stand for -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

static bool isOfHeads(Value descale) {
  return cast<ShapedType>(descale.getType()).getRank() == 2;
}

Value attn::getGroupSize(OpBuilder &builder, Location loc, Value descale,
                         OpFoldResult queryHeads) {
  if (!isOfHeads(descale))
    return Value();
  OpFoldResult keyHeads = tensor::getMixedSize(builder, loc, descale, kHead);
  std::optional<int64_t> all = getConstantIntValue(queryHeads),
                         keys = getConstantIntValue(keyHeads);
  if (all && keys && *keys > 0)
    return arith::ConstantIndexOp::create(builder, loc, *all / *keys);
  // A tensor without key heads has no query heads either; 0 / 0 would trap.
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value divisor = arith::MaxUIOp::create(
      builder, loc, getValueOrCreateConstantIndexOp(builder, loc, keyHeads),
      one);
  return arith::DivUIOp::create(
      builder, loc, getValueOrCreateConstantIndexOp(builder, loc, queryHeads),
      divisor);
}

Value attn::readDescale(OpBuilder &builder, Location loc, Value descale,
                        Value batch, Value queryHead, Value group) {
  if (!group) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return tensor::ExtractOp::create(builder, loc, descale, zero);
  }
  Value keyHead = arith::DivUIOp::create(builder, loc, queryHead, group);
  return tensor::ExtractOp::create(builder, loc, descale,
                                   ValueRange{batch, keyHead});
}

Value attn::readDescale(OpBuilder &builder, NormalizeOp normalize) {
  Location loc = normalize.getLoc();
  Value descale = normalize.getDescale();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(isOfHeads(descale) ? 2 : 1, zero);
  Value factor = tensor::ExtractOp::create(builder, loc, descale, indices);
  Type sums = getElementTypeOrSelf(normalize.getAcc().getType());
  return factor.getType() == sums
             ? factor
             : arith::ExtFOp::create(builder, loc, sums, factor).getResult();
}

Value attn::sliceDescale(OpBuilder &builder, Location loc, Value descale,
                         OpFoldResult batch, OpFoldResult queryHead,
                         Value group) {
  if (!group)
    return descale;
  OpFoldResult one = builder.getIndexAttr(1);
  Value keyHead = arith::DivUIOp::create(
      builder, loc, getValueOrCreateConstantIndexOp(builder, loc, queryHead),
      group);
  return tensor::ExtractSliceOp::create(
      builder, loc, descale, ArrayRef<OpFoldResult>{batch, keyHead},
      ArrayRef<OpFoldResult>{one, one}, ArrayRef<OpFoldResult>{one, one});
}

/// The integer nearest to `number`, an f32 from -128 to 127 or NaN, which gives
/// 0; ties go to the even one.
static Value roundToByte(OpBuilder &builder, Location loc, Value number) {
  Value isNumber = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ORD, number, number);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(number.getType(), 0));
  number = arith::SelectOp::create(builder, loc, isNumber, number, zero);
  number = math::RoundEvenOp::create(builder, loc, number);
  Value integer =
      arith::FPToSIOp::create(builder, loc, builder.getI32Type(), number);
  return arith::TruncIOp::create(builder, loc, builder.getI8Type(), integer);
}

/// `number`, f32 or a vector of it, within `least` and `most`; NaN stays NaN.
static Value clamp(OpBuilder &builder, Location loc, Value number, double least,
                   double most) {
  auto limit = [&](double value) -> Value {
    Type type = number.getType();
    TypedAttr attr = builder.getF32FloatAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, attr);
    return arith::ConstantOp::create(builder, loc, attr);
  };
  number = arith::MinimumFOp::create(builder, loc, number, limit(most));
  return arith::MaximumFOp::create(builder, loc, number, limit(least));
}

Value attn::roundToFloat8(OpBuilder &builder, Location loc, Value number,
                          FloatType to) {
  double most = APFloat::getLargest(to.getFloatSemantics()).convertToDouble();
  Type type = to;
  if (auto shaped = dyn_cast<ShapedType>(number.getType()))
    type = shaped.clone(to);
  return arith::TruncFOp::create(builder, loc, type,
                                 clamp(builder, loc, number, -most, most));
}

Value attn::quantize(OpBuilder &builder, Location loc, Value number,
                     Value descale, Type to) {
  Type f32 = builder.getF32Type();
  if (number.getType() != f32)
    number = arith::ExtFOp::create(builder, loc, f32, number);
  Value result = arith::DivFOp::create(builder, loc, number, descale);
  if (auto floatType = dyn_cast<FloatType>(to))
    return roundToFloat8(builder, loc, result, floatType);
  return roundToByte(builder, loc, clamp(builder, loc, result, -128, 127));
}

Value attn::buildTokenScale(OpBuilder &builder, Location loc, Value largest,
                            Type to) {
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  };
  double most = 127;
  if (auto type = dyn_cast<FloatType>(to))
    most = APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  Value scale = arith::DivFOp::create(builder, loc, largest, number(most));
  return arith::MaximumFOp::create(builder, loc, scale,
                                   number(std::numeric_limits<float>::min()));
}

void attn::scaleScores(AttentionOp op) {
  SmallVector<Value> descales;
  for (unsigned operand : {0, 1})
    if (Value descale = op.getDescaleOf(operand))
      descales.push_back(descale);
  if (descales.empty())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  // Regions compute scalars of what is known outside.
  OpFoldResult queryHeads = getDim(builder, loc, op.getQuery(), kHead);
  SmallVector<Value> groups;
  for (Value descale : descales)
    groups.push_back(getGroupSize(builder, loc, descale, queryHeads));
  Region &mod = op.getScoreMod();
  if (mod.empty()) {
    addScoreModBlock(builder, loc, mod, op.getScoreType());
    YieldOp::create(builder, loc, mod.getArgument(0));
  }
  builder.setInsertionPointToStart(&mod.front());
  BlockArgument score = mod.getArgument(0);
  SmallVector<Value> factors;
  for (auto [descale, group] : llvm::zip_equal(descales, groups)) {
    Value factor =
        readDescale(builder, loc, descale, mod.getArgument(1 + kLoopB),
                    mod.getArgument(1 + kLoopH), group);
    if (factor.getType() != op.getScoreType())
      factor = arith::ExtFOp::create(builder, loc, op.getScoreType(), factor);
    factors.push_back(factor);
  }
  // The scale is part of the factor, so that scores are multiplied once.
  factors.push_back(arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(op.getScoreType(), op.getScaleValue())));
  Value factor = factors.front();
  for (Value next : ArrayRef(factors).drop_front())
    factor = arith::MulFOp::create(builder, loc, factor, next);
  op.setScaleAttr(builder.getF64FloatAttr(1.0));
  auto scaled = arith::MulFOp::create(builder, loc, score, factor);
  score.replaceAllUsesExcept(scaled, scaled);
}
