//===- Heads.cpp - Heads by a map, in linalg ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Heads.h"

#include "Ragged.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

Value attn::emitSelectHeads(OpBuilder &builder, SelectHeadsOp op) {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(builder, shapes);
  return emitElements(
      builder, op.getLoc(), cast<RankedTensorType>(op.getResult().getType()),
      shapes.front(), [&](OpBuilder &b, Location l, ValueRange loops) {
        SmallVector<Value> at(loops);
        at[kHead] = readHead(b, l, op.getMap(), op.getSource(), loops[kHead]);
        Value element = tensor::ExtractOp::create(b, l, op.getSource(), at);
        linalg::YieldOp::create(b, l, element);
      });
}

Value attn::emitSumHeads(OpBuilder &builder, SumHeadsOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Type sumType = getScoreType(op.getSource());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(sumType, 0));
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getInit()), sumType);
  init = linalg::FillOp::create(builder, loc, zero, init).getResult(0);
  Value heads = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, op.getInit(), kHead));
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, heads, one);
  // Loops (b, k, n, d), then those heads h with map[h] == k.
  enum : unsigned { kSummed = 4 };
  auto loop = [&](unsigned number) { return builder.getAffineDimExpr(number); };
  auto mapOf = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(5, 0, results, builder.getContext());
  };
  AffineMap maps[] = {
      mapOf({loop(kBatch), loop(kSummed), loop(kSequence), loop(kHeadDim)}),
      mapOf({loop(kSummed)}),
      mapOf({loop(kBatch), loop(kHead), loop(kSequence), loop(kHeadDim)})};
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  auto body = [&](OpBuilder &b, Location l, ValueRange arguments) {
    Value element = arguments[0];
    if (element.getType() != sumType)
      element = arith::ExtFOp::create(b, l, sumType, element);
    Value head =
        arith::IndexCastOp::create(b, l, b.getIndexType(), arguments[1]);
    head = arith::MinUIOp::create(b, l, head, last);
    Value isSummed =
        arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq, head,
                              linalg::IndexOp::create(b, l, kHead));
    Value sum = arith::AddFOp::create(b, l, arguments[2], element);
    linalg::YieldOp::create(
        b, l,
        arith::SelectOp::create(b, l, isSummed, sum, arguments[2]).getResult());
  };
  Value sum = linalg::GenericOp::create(builder, loc, TypeRange(init.getType()),
                                        ValueRange{op.getSource(), op.getMap()},
                                        ValueRange(init), maps, loops, body)
                  .getResult(0);
  auto sumTensor = cast<RankedTensorType>(sum.getType());
  if (sumType != type.getElementType())
    sum = arith::TruncFOp::create(builder, loc,
                                  sumTensor.clone(type.getElementType()), sum);
  if (sum.getType() != type)
    sum = tensor::CastOp::create(builder, loc, type, sum);
  return sum;
}
