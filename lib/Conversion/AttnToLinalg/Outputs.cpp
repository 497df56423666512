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

/// A linalg.generic over all elements of the source, whose body gets what the
/// region yields for one and what `init` holds there; the last dimension, of
/// which `init` has none, is reduced.
static Value
emitGeneric(OpBuilder &builder, OutputModOp op, Value init,
            RankedTensorType type,
            function_ref<Value(OpBuilder &, Value changed, Value before)> end) {
  unsigned loops = kHeadDim + 1;
  AffineMap identity = builder.getMultiDimIdentityMap(loops);
  AffineMap maps[] = {identity, identity.getMajorSubMap(type.getRank())};
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location l, ValueRange arguments) {
    Value element =
        convertFloat(b, l, arguments[0], getScoreType(op.getSource()));
    linalg::YieldOp::create(b, l,
                            end(b, inlineMod(b, l, op, element), arguments[1]));
  };
  Value result = linalg::GenericOp::create(
                     builder, op.getLoc(), TypeRange(init.getType()),
                     op.getSource(), ValueRange(init), maps, iterators, body)
                     .getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(builder, op.getLoc(), type, result);
  return result;
}

SmallVector<Value> attn::emitOutputMod(OpBuilder &builder, OutputModOp op) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getSource());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto to = cast<FloatType>(type.getElementType());
  SmallVector<Value> results = {
      emitGeneric(builder, op, tensor::EmptyOp::create(builder, loc, sizes, to),
                  type, [&](OpBuilder &b, Value changed, Value) {
                    return isFloat8(to) ? roundToFloat8(b, loc, changed, to)
                                        : convertFloat(b, loc, changed, to);
                  })};
  if (!op.getAmax())
    return results;
  FloatType score = getScoreType(op.getSource());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(score, 0.0));
  Value empty =
      tensor::EmptyOp::create(builder, loc, ArrayRef(sizes).drop_back(), score);
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  results.push_back(emitGeneric(
      builder, op, init, cast<RankedTensorType>(op.getAmax().getType()),
      [&](OpBuilder &b, Value changed, Value before) -> Value {
        Value magnitude = math::AbsFOp::create(b, loc, changed);
        return arith::MaximumFOp::create(b, loc, before, magnitude);
      }));
  return results;
}
