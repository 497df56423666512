//===- BackwardSum.cpp - attn.backward_sum as loops -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The map may take numbers to any elements, with gaps between them: loops over
// the numbers, which fill a tensor of zeros.
//
//===----------------------------------------------------------------------===//

#include "Backward.h"

#include "ScoreEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

/// number * -exp(sink - lse), 0 in rows without keys.
static Value weigh(OpBuilder &b, Location l, Value number, Value sink,
                   Value lse) {
  auto type = cast<FloatType>(number.getType());
  Value gap = arith::SubFOp::create(b, l, convertFloat(b, l, sink, type), lse);
  Value share = math::ExpOp::create(b, l, gap);
  Value product = arith::MulFOp::create(b, l, share, number);
  Value isEmpty = arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, lse,
                                        negativeInfinity(b, l, type));
  Value zero = constantFloat(b, l, type, 0);
  return arith::SelectOp::create(b, l, isEmpty, zero,
                                 arith::NegFOp::create(b, l, product));
}

Value attn::emitSum(OpBuilder &builder, Location loc, const BackwardSum &sum,
                    RankedTensorType result) {
  auto type = cast<FloatType>(
      cast<RankedTensorType>(sum.source.getType()).getElementType());
  Value init = filledLike(builder, loc, sum.like, type, 0);
  SmallVector<Value> lower, upper, step;
  for (OpFoldResult size : tensor::getMixedSizes(builder, loc, sum.source)) {
    lower.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    upper.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
    step.push_back(arith::ConstantIndexOp::create(builder, loc, 1));
  }
  auto body = [&](OpBuilder &b, Location l, ValueRange at,
                  ValueRange state) -> scf::ValueVector {
    SmallVector<OpFoldResult> position = getAsOpFoldResult(at);
    SmallVector<Value> place;
    for (AffineExpr index : sum.map.getResults())
      place.push_back(getValueOrCreateConstantIndexOp(
          b, l,
          affine::makeComposedFoldedAffineApply(
              b, l, AffineMap::get(3, 0, index), position)));
    Value number = tensor::ExtractOp::create(b, l, sum.source, at);
    if (sum.lse) {
      Value sink = tensor::ExtractOp::create(b, l, sum.like, place);
      Value lse = tensor::ExtractOp::create(b, l, sum.lse, at);
      number = weigh(b, l, number, sink, lse);
    }
    Value old = tensor::ExtractOp::create(b, l, state[0], place);
    Value next = arith::AddFOp::create(b, l, old, number);
    return {tensor::InsertOp::create(b, l, next, state[0], place).getResult()};
  };
  Value filledSum = scf::buildLoopNest(builder, loc, lower, upper, step,
                                       ValueRange(init), body)
                        .results[0];
  return castTensor(builder, loc, filledSum, result);
}

Value attn::emitBackwardSum(OpBuilder &builder, BackwardSumOp op) {
  return emitSum(builder, op.getLoc(),
                 {op.getSource(), op.getLike(), op.getLse(), op.getMap()},
                 cast<RankedTensorType>(op.getResult().getType()));
}
