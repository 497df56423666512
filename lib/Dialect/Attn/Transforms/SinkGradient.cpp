//===- SinkGradient.cpp - The gradient of a sink ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SinkGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace attn;

namespace {
/// Builds reductions over (b, i) and (b, i, d) to a vector of heads.
class SinkGradientBuilder {
public:
  SinkGradientBuilder(OpBuilder &builder, AttentionBackwardOp backward,
                      Value sink)
      : builder(builder), loc(backward.getLoc()), backward(backward),
        sink(sink), type(backward.getScoreType()) {}

  Value build();

private:
  Value addTerms(Value sum, ValueRange inputs,
                 function_ref<Value(ValueRange)> term);
  Value getShare(Value sinkOfHead, Value lse);
  Value convert(Value vector, Type element);
  Value widen(Value value) {
    return value.getType() == type
               ? value
               : arith::ExtFOp::create(builder, loc, type, value).getResult();
  }
  Value constant(double number) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, number));
  }
  Value createEmpty(Type element) {
    return tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, sink), element);
  }

  OpBuilder &builder;
  Location loc;
  AttentionBackwardOp backward;
  Value sink;
  FloatType type; ///< of the sums
};
} // namespace

/// The probability of the sink; 0 in rows that have none.
Value SinkGradientBuilder::getShare(Value sinkOfHead, Value lse) {
  Value gap = arith::SubFOp::create(builder, loc, widen(sinkOfHead), lse);
  Value isNone =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, lse,
                            constant(-std::numeric_limits<double>::infinity()));
  return arith::SelectOp::create(builder, loc, isNone, constant(0),
                                 math::ExpOp::create(builder, loc, gap));
}

/// Adds `term` of the elements of sink, LSE and `inputs`, [B, Hq, M(, Dv)], to
/// the sum of their head.
Value SinkGradientBuilder::addTerms(Value sum, ValueRange inputs,
                                    function_ref<Value(ValueRange)> term) {
  MLIRContext *context = builder.getContext();
  unsigned rank = cast<ShapedType>(inputs.front().getType()).getRank();
  AffineMap all = AffineMap::getMultiDimIdentityMap(rank, context);
  AffineMap head = AffineMap::get(rank, 0, builder.getAffineDimExpr(1));
  SmallVector<AffineMap> maps = {head, all.getMajorSubMap(3)};
  maps.append(inputs.size(), all);
  maps.push_back(head);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  loops[1] = utils::IteratorType::parallel;
  SmallVector<Value> operands = {sink, backward.getLse()};
  llvm::append_range(operands, inputs);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(sum.getType()), operands, ValueRange(sum),
             maps, loops,
             [&](OpBuilder &inner, Location, ValueRange arguments) {
               OpBuilder::InsertionGuard guard(builder);
               builder.setInsertionPointToEnd(inner.getInsertionBlock());
               Value share = getShare(arguments[0], arguments[1]);
               Value product = arith::MulFOp::create(
                   builder, loc, share,
                   term(arguments.drop_front(2).drop_back()));
               linalg::YieldOp::create(builder, loc,
                                       arith::AddFOp::create(builder, loc,
                                                             arguments.back(),
                                                             product)
                                           .getResult());
             })
      .getResult(0);
}

/// The sums rounded to `element`.
Value SinkGradientBuilder::convert(Value vector, Type element) {
  if (element == type)
    return vector;
  AffineMap map = AffineMap::getMultiDimIdentityMap(1, builder.getContext());
  Value empty = createEmpty(element);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(empty.getType()), ValueRange(vector),
             ValueRange(empty), ArrayRef<AffineMap>{map, map},
             utils::IteratorType::parallel,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               Value rounded =
                   arith::TruncFOp::create(inner, at, element, arguments[0]);
               linalg::YieldOp::create(inner, at, rounded);
             })
      .getResult(0);
}

Value SinkGradientBuilder::build() {
  Value sum =
      linalg::FillOp::create(builder, loc, constant(0), createEmpty(type))
          .getResult(0);
  sum = addTerms(sum, {backward.getOutput(), backward.getDOutput()},
                 [&](ValueRange of) -> Value {
                   Value product = arith::MulFOp::create(
                       builder, loc, widen(of[0]), widen(of[1]));
                   return arith::NegFOp::create(builder, loc, product);
                 });
  if (Value dLse = backward.getDLse())
    sum = addTerms(sum, dLse, [](ValueRange of) { return of[0]; });
  return convert(sum, getElementTypeOrSelf(sink.getType()));
}

Value attn::createSinkGradient(OpBuilder &builder, AttentionBackwardOp backward,
                               Value sink) {
  return SinkGradientBuilder(builder, backward, sink).build();
}
