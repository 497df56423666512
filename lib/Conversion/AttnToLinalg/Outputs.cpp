//===- Outputs.cpp - What follows an attention, in linalg -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outputs.h"

#include "ScoreEmitter.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

/// What the region yields for `element`, at the place of the loops.
static Value inlineMod(OpBuilder &b, Location l, OutputModOp op,
                       Value element) {
  Region &region = op.getMod();
  IRMapping mapping;
  mapping.map(region.getArgument(0), element);
  for (unsigned dim : {kBatch, kHead, kSequence, kHeadDim}) {
    Value at = linalg::IndexOp::create(b, l, dim);
    if (!op.getOffsets().empty())
      at = arith::AddIOp::create(b, l, op.getOffsets()[dim], at);
    mapping.map(region.getArgument(dim + 1), at);
  }
  for (Operation &inner : region.front().without_terminator())
    b.clone(inner, mapping);
  auto yield = cast<YieldOp>(region.front().getTerminator());
  return mapping.lookupOrDefault(yield.getValue());
}

Value attn::emitOutputMod(OpBuilder &builder, OutputModOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  FloatType score = getScoreType(op.getSource());
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getSource()),
      type.getElementType());
  AffineMap maps[] = {builder.getMultiDimIdentityMap(type.getRank()),
                      builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location l, ValueRange arguments) {
    Value element = convertFloat(b, l, arguments[0], score);
    element = inlineMod(b, l, op, element);
    auto to = cast<FloatType>(type.getElementType());
    linalg::YieldOp::create(b, l,
                            isFloat8(to) ? roundToFloat8(b, l, element, to)
                                         : convertFloat(b, l, element, to));
  };
  Value result = linalg::GenericOp::create(
                     builder, loc, TypeRange(init.getType()), op.getSource(),
                     ValueRange(init), maps, loops, body)
                     .getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(builder, loc, type, result);
  return result;
}
