//===- SinkBuilder.cpp - A sink enters the state of a row -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/SinkBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

RowState attn::buildSink(OpBuilder &builder, Location loc, Value max, Value sum,
                         Value sink) {
  Value one = arith::ConstantOp::create(builder, loc,
                                        builder.getOneAttr(sum.getType()));
  auto reduction = SoftmaxAttr::get(builder.getContext());
  CombinedRows both =
      reduction.buildCombination(builder, loc, {max, sum}, {sink, one});
  return {both.rows[0], both.rows[1], both.first};
}

Value attn::readSink(OpBuilder &builder, NormalizeOp normalize) {
  Location loc = normalize.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value sink =
      tensor::ExtractOp::create(builder, loc, normalize.getSink(), zero);
  Type type = getElementTypeOrSelf(normalize.getAcc().getType());
  return sink.getType() == type
             ? sink
             : arith::ExtFOp::create(builder, loc, type, sink).getResult();
}
