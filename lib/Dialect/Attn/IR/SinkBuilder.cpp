//===- SinkBuilder.cpp - A sink enters the state of a row -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/SinkBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace attn;

RowState attn::buildSink(OpBuilder &builder, Location loc, Value max, Value sum,
                         Value sink) {
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(max.getType(), number));
  };
  Value larger = arith::MaxNumFOp::create(builder, loc, max, sink);
  Value isNone =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, larger,
                            constant(-std::numeric_limits<double>::infinity()));
  // exp(-inf - 0) is 0; exp(-inf - -inf) would be NaN.
  Value safe =
      arith::SelectOp::create(builder, loc, isNone, constant(0), larger);
  auto weight = [&](Value score) -> Value {
    return math::ExpOp::create(
        builder, loc, arith::SubFOp::create(builder, loc, score, safe));
  };
  Value decay = weight(max);
  Value rest = arith::MulFOp::create(builder, loc, sum, decay);
  return {larger, arith::AddFOp::create(builder, loc, rest, weight(sink)),
          decay};
}

Value attn::readSink(OpBuilder &builder, NormalizeOp normalize) {
  Location loc = normalize.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value sink =
      tensor::ExtractOp::create(builder, loc, normalize.getSink(), zero);
  Type type = getElementTypeOrSelf(normalize.getMax().getType());
  return sink.getType() == type
             ? sink
             : arith::ExtFOp::create(builder, loc, type, sink).getResult();
}
