//===- ConvertToOnline.cpp - Attention as one online step -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-convert-to-online.
//
//===----------------------------------------------------------------------===//

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"
#include "attn/Dialect/Attn/Utils/LengthBuilder.h"
#include "attn/Dialect/Attn/Utils/NormalForm.h"
#include "attn/Dialect/Attn/Utils/ProbMod.h"
#include "attn/Dialect/Attn/Utils/SegmentSides.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTTOONLINEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Replaces `op` by initial state, one step over all keys, and normalize.
static void convertToOnline(AttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  // Keys that do not exist are in no key loop; rows are one by one.
  resolveLengths(builder, op);
  if (Value lengths = op.getQueryLengths())
    hideBehind(builder, loc, op.getMaskMod(), Sequence::query, lengths);
  scaleScores(op);
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod(), &op.getProbMod()})
    replaceLengths(builder, *region, op.getQuery(), op.getKey());
  askSegmentsFrom(builder, op.getMaskMod(), kLoopM);

  SmallVector<OpFoldResult> rows;
  for (unsigned dim : {kBatch, kHead, kSequence})
    rows.push_back(getDim(builder, loc, op.getQuery(), dim));
  OpFoldResult valueDim = getDim(builder, loc, op.getValue(), kHeadDim);
  RunningState state = createInitialState(builder, loc, op.getNormalization(),
                                          rows, valueDim, op.getScoreType());

  std::optional<Dropout> dropout = Dropout::get(op);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto step = OnlineAttentionOp::create(
      builder, loc, state.getAcc().getType(), TypeRange(state.getRows()),
      op.getQuery(), op.getKey(), op.getValue(), op.getBias(),
      op.getKeyLengths(), /*firstKey=*/Value(),
      ValueRange{zero, zero, zero, zero}, dropout ? dropout->seed : Value(),
      dropout ? dropout->offset : Value(), state.getAcc(), state.getRows(),
      dropout ? op.getDropoutRateAttr() : FloatAttr(), op.getScaleAttr(),
      op.getNormalizationAttr(), op.getScheduleAttr());
  step.getScoreMod().takeBody(op.getScoreMod());
  step.getMaskMod().takeBody(op.getMaskMod());
  step.getProbMod().takeBody(op.getProbMod());
  FloatAttr scale =
      dropout ? builder.getF64FloatAttr(dropout->getScale()) : FloatAttr();
  auto normalize = NormalizeOp::create(
      builder, loc, op->getResultTypes(), step.getAccResult(),
      step.getRowResults(), op.getSink(), op.getDescaleOf(2), scale,
      op.getNormalizationAttr());
  op->replaceAllUsesWith(normalize);
  op.erase();
}

namespace {
struct ConvertToOnline
    : public attn::impl::ConvertToOnlinePassBase<ConvertToOnline> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      if (failed(verifyNoProbMod(op)))
        return signalPassFailure();
      convertToOnline(op);
    }
    clearNormalForm(getOperation());
    numConverted += ops.size();
  }
};
} // namespace
