//===- ProbModGrad.cpp - Gradients of an attention with a prob_mod --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"

#include "attn/Dialect/Attn/Utils/GenericBuilder.h"
#include "attn/Dialect/Attn/Utils/ProbMod.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

static SmallVector<Type> getTypes(ValueRange values) {
  return SmallVector<Type>(values.getTypes());
}

/// The shape of `value` with the elements of `op`'s scores, in which the parts
/// of a gradient are added up.
static Type getPartType(AttentionOp op, Value value) {
  return RankedTensorType::get(cast<ShapedType>(value.getType()).getShape(),
                               op.getScoreType());
}

/// The gradients through the weights of `op`, with those of `captures`, which
/// its scores and prob_mod read; the last of a capture is dLSE.
static AttentionBackwardOp
buildWeightBackward(OpBuilder &builder, AttentionOp op, Value lse,
                    Value dOutput, ValueRange captures, bool wantsBias) {
  SmallVector<Value> read(captures);
  read.push_back(lse);
  Value value = op.getValue(), bias = op.getBias();
  auto backward = AttentionBackwardOp::create(
      builder, op.getLoc(), getPartType(op, op.getQuery()),
      getPartType(op, op.getKey()), value.getType(),
      wantsBias ? getPartType(op, bias) : Type(), getTypes(read),
      /*dSink=*/Type(), /*amaxDs=*/Type(), op.getQuery(), op.getKey(), value,
      bias, /*output=*/Value(), /*lse=*/Value(), dOutput, /*dLse=*/Value(),
      /*descales=*/ValueRange(), /*scaleDs=*/Value(), /*sink=*/Value(), read,
      op.getDropoutSeed(), op.getDropoutOffset(), op.getDropoutRateAttr(),
      op.getScaleAttr(), NoneAttr::get(op.getContext()),
      /*schedule=*/ScheduleAttr(),
      /*key_schedule=*/ScheduleAttr(), /*value_schedule=*/ScheduleAttr());
  buildWeightMod(op, lse, backward.getScoreMod());
  IRMapping mapping;
  op.getMaskMod().cloneInto(&backward.getMaskMod(), mapping);
  return backward;
}

/// Zeros in the sizes of `rows` [B, Hq, M] and the columns of `value`.
static Value buildZeros(OpBuilder &builder, Location loc, Value rows,
                        Value value) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, rows);
  sizes.push_back(tensor::getMixedSizes(builder, loc, value).back());
  Type element = getElementTypeOrSelf(value);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

/// The gradients through the LSE of `op`, whose scores read `captures`.
static AttentionBackwardOp buildLseBackward(OpBuilder &builder, AttentionOp op,
                                            Value lse, Value dLse,
                                            ValueRange captures, bool wantsBias,
                                            bool wantsSink) {
  Location loc = op.getLoc();
  Value value = getValueOfLse(builder, op), bias = op.getBias();
  Value sink = wantsSink ? op.getSink() : Value();
  Value zeros = buildZeros(builder, loc, lse, value);
  auto backward = AttentionBackwardOp::create(
      builder, loc, getPartType(op, op.getQuery()),
      getPartType(op, op.getKey()), value.getType(),
      wantsBias ? getPartType(op, bias) : Type(), getTypes(captures),
      sink ? sink.getType() : Type(), /*amaxDs=*/Type(), op.getQuery(),
      op.getKey(), value, bias, zeros, lse, zeros, dLse,
      /*descales=*/ValueRange(), /*scaleDs=*/Value(), sink, captures,
      /*dropoutSeed=*/Value(),
      /*dropoutOffset=*/Value(), /*dropoutRate=*/FloatAttr(), op.getScaleAttr(),
      op.getNormalizationAttr(), /*schedule=*/ScheduleAttr(),
      /*key_schedule=*/ScheduleAttr(), /*value_schedule=*/ScheduleAttr());
  IRMapping mapping;
  op.getScoreMod().cloneInto(&backward.getScoreMod(), mapping);
  op.getMaskMod().cloneInto(&backward.getMaskMod(), mapping);
  return backward;
}

/// a + b in the type of `like`; null if they are.
static Value addGradients(OpBuilder &builder, Location loc, Value a, Value b,
                          Value like) {
  if (!a)
    return a;
  ImplicitLocOpBuilder inner(loc, builder);
  Type element = getElementTypeOrSelf(like);
  Value init = tensor::EmptyOp::create(
      inner, tensor::getMixedSizes(inner, loc, like), element);
  auto loops = llvm::to_vector<4>(
      llvm::seq<unsigned>(0, cast<ShapedType>(like.getType()).getRank()));
  return buildGeneric(
      inner, {a, b}, {loops, loops}, init, loops, [&](ValueRange parts) {
        Value sum = arith::AddFOp::create(inner, parts[0], parts[1]);
        return sum.getType() == element
                   ? sum
                   : arith::TruncFOp::create(inner, element, sum).getResult();
      });
}

SmallVector<std::pair<Value, Value>>
attn::buildProbModGrad(OpBuilder &builder, AttentionOp op, Value lse,
                       Value dOutput, Value dLse,
                       const ProbModGradients &wanted) {
  if (!lse)
    lse = buildLseAttention(builder, op, getValueOfLse(builder, op)).getLse();
  auto isOfScores = [&](Value capture) {
    return llvm::any_of(capture.getUsers(), [&](Operation *user) {
      return op.getScoreMod().isAncestor(user->getParentRegion());
    });
  };
  // What is subtracted from scores and added to their LSE has no gradient.
  SmallVector<Value> ofScores =
      llvm::filter_to_vector(wanted.captures, isOfScores);
  lse = buildWeightLse(builder, op, lse);
  AttentionBackwardOp weights = buildWeightBackward(
      builder, op, lse, dOutput, wanted.captures, wanted.bias);
  auto sum = [&](Value a, Value b, Value like) {
    return addGradients(builder, op.getLoc(), a, b, like);
  };
  Value ofLse = weights.getDCaptures().back();
  if (dLse)
    ofLse = sum(ofLse, dLse, lse);
  AttentionBackwardOp rows = buildLseBackward(builder, op, lse, ofLse, ofScores,
                                              wanted.bias, wanted.sink);
  SmallVector<std::pair<Value, Value>> gradients = {
      {weights.getQuery(),
       sum(weights.getDQuery(), rows.getDQuery(), weights.getQuery())},
      {weights.getKey(),
       sum(weights.getDKey(), rows.getDKey(), weights.getKey())},
      {weights.getValue(), weights.getDValue()},
      {weights.getBias(),
       sum(weights.getDBias(), rows.getDBias(), weights.getBias())},
      {rows.getSink(), rows.getDSink()}};
  for (AttentionBackwardOp part : {weights, rows})
    for (auto [capture, gradient] :
         llvm::zip_equal(part.getCaptures(), part.getDCaptures()))
      gradients.push_back({capture, gradient});
  return gradients;
}
