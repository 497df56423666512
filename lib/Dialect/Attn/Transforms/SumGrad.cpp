//===- SumGrad.cpp - Gradients of weights divided by their sum --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/GenericBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

/// Kernels copy rows in 16 bytes.
static constexpr int64_t kMoreColumns = 8;

static Value makeNumber(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

static Value widen(ImplicitLocOpBuilder &b, Value value, Type type) {
  return value.getType() == type
             ? value
             : arith::ExtFOp::create(b, type, value).getResult();
}

/// Of an element of a tensor of rank 4.
static SmallVector<Value> getIndices(ImplicitLocOpBuilder &b) {
  return llvm::map_to_vector(
      llvm::seq<int64_t>(0, 4),
      [&](int64_t dim) -> Value { return linalg::IndexOp::create(b, dim); });
}

/// The tensor [.., Dv + 8] of elements body(indices, the column's place among
/// those of `like`, "is in them", "is the first behind them").
static Value
fillColumns(ImplicitLocOpBuilder &b, Value like, Type element,
            llvm::function_ref<Value(SmallVector<Value>, Value, Value)> body) {
  auto type = cast<RankedTensorType>(like.getType());
  int64_t columns = type.getDimSize(kHeadDim);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), like);
  sizes[kHeadDim] = b.getIndexAttr(columns + kMoreColumns);
  Value init = tensor::EmptyOp::create(b, sizes, element);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  return buildGeneric(b, {}, {}, init, {0, 1, 2, 3}, [&](ValueRange) {
    SmallVector<Value> at = getIndices(b);
    Value column = at[kHeadDim];
    Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column,
                                        index(columns));
    Value isNext = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column,
                                         index(columns));
    at[kHeadDim] = arith::MinUIOp::create(b, column, index(columns - 1));
    return body(at, isOwn, isNext);
  });
}

Value attn::appendOne(OpBuilder &builder, Location loc, Value value) {
  ImplicitLocOpBuilder b(loc, builder);
  Type element = getElementTypeOrSelf(value);
  Value one = makeNumber(b, element, 1), zero = makeNumber(b, element, 0);
  return fillColumns(
      b, value, element,
      [&](const SmallVector<Value> &at, Value isOwn, Value isNext) -> Value {
        Value own = tensor::ExtractOp::create(b, value, at);
        Value more = arith::SelectOp::create(b, isNext, one, zero);
        return arith::SelectOp::create(b, isOwn, own, more);
      });
}

/// [B, Hq, M]: the dot products of the rows of dO and acc.
static Value multiplyRows(ImplicitLocOpBuilder &b, Value dOutput, Value sums) {
  Type type = getElementTypeOrSelf(sums);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), dOutput);
  sizes.pop_back();
  Value zero = makeNumber(b, type, 0);
  Value init = linalg::FillOp::create(
                   b, zero, tensor::EmptyOp::create(b, sizes, type).getResult())
                   .getResult(0);
  return buildGeneric(
      b, dOutput, {{0, 1, 2, 3}}, init, {0, 1, 2}, [&](ValueRange args) {
        Value acc = tensor::ExtractOp::create(b, sums, getIndices(b));
        Value product = arith::MulFOp::create(b, widen(b, args[0], type), acc);
        return arith::AddFOp::create(b, args[1], product).getResult();
      });
}

Value attn::invertSums(OpBuilder &builder, Location loc, Value sums,
                       int64_t column, double epsilon) {
  ImplicitLocOpBuilder b(loc, builder);
  Type type = getElementTypeOrSelf(sums);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, sums);
  sizes.pop_back();
  Value init = tensor::EmptyOp::create(b, sizes, type);
  Value zero = makeNumber(b, type, 0), one = makeNumber(b, type, 1),
        least = makeNumber(b, type, epsilon);
  Value last = arith::ConstantIndexOp::create(b, column);
  return buildGeneric(b, {}, {}, init, {0, 1, 2}, [&](ValueRange) {
    SmallVector<Value> at;
    for (int64_t dim = 0; dim < 3; ++dim)
      at.push_back(linalg::IndexOp::create(b, dim));
    at.push_back(last);
    Value sum =
        arith::AddFOp::create(b, tensor::ExtractOp::create(b, sums, at), least);
    Value isZero =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
    return arith::SelectOp::create(b, isZero, zero,
                                   arith::DivFOp::create(b, one, sum))
        .getResult();
  });
}

Value attn::differentiateQuotient(OpBuilder &builder, Location loc, Value sums,
                                  Value inverses, Value dOutput, Type element) {
  ImplicitLocOpBuilder b(loc, builder);
  Type type = getElementTypeOrSelf(sums);
  Value dots = multiplyRows(b, dOutput, sums);
  Value zero = makeNumber(b, type, 0);
  return fillColumns(
      b, dOutput, element,
      [&](const SmallVector<Value> &at, Value isOwn, Value isNext) -> Value {
        Value own = widen(b, tensor::ExtractOp::create(b, dOutput, at), type);
        ValueRange row = ValueRange(at).drop_back();
        Value delta = tensor::ExtractOp::create(b, dots, row);
        delta = arith::MulFOp::create(
            b, delta, tensor::ExtractOp::create(b, inverses, row));
        Value more = arith::SelectOp::create(
            b, isNext, arith::NegFOp::create(b, delta), zero);
        Value made = arith::SelectOp::create(b, isOwn, own, more);
        return element == type
                   ? made
                   : arith::TruncFOp::create(b, element, made).getResult();
      });
}

void attn::scaleWeights(OpBuilder &builder, AttentionBackwardOp backward,
                        Value factors) {
  OpBuilder::InsertionGuard guard(builder);
  Region &mod = backward.getScoreMod();
  Location loc = backward.getLoc();
  if (mod.empty()) {
    Type index = builder.getIndexType();
    Block *block = builder.createBlock(
        &mod, {}, {getElementTypeOrSelf(factors), index, index, index, index},
        SmallVector<Location>(5, loc));
    YieldOp::create(builder, loc, block->getArgument(0));
  }
  Operation *yield = mod.front().getTerminator();
  builder.setInsertionPoint(yield);
  Value factor = tensor::ExtractOp::create(
      builder, loc, factors, mod.front().getArguments().slice(1, 3));
  yield->setOperand(
      0, arith::MulFOp::create(builder, loc, yield->getOperand(0), factor));
}

Value attn::takeColumns(OpBuilder &builder, Location loc, Value tensor,
                        Value like) {
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0)),
      strides(4, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      builder, loc, cast<RankedTensorType>(like.getType()), tensor, offsets,
      tensor::getMixedSizes(builder, loc, like), strides);
}
