//===- TileBackward.cpp - Loops over tiles of the backward ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-backward.
//
//===----------------------------------------------------------------------===//

#include "BackwardSchedules.h"
#include "BackwardTiler.h"
#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/DequantizeBackward.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attn {
#define GEN_PASS_DEF_TILEBACKWARDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

void BackwardTiler::run() {
  readSizes();
  findScoreNests();
  prepareRegions();
  ScheduleAttr keySchedule =
      op.getKeyScheduleAttr() ? op.getKeyScheduleAttr() : op.getScheduleAttr();
  bool isFused = keySchedule && keySchedule.getValues().fused &&
                 scoreGradients.empty() && !op.getDSink() && op.getLse() &&
                 !op.getAmaxDs() && !isFloat8(op.getQuery().getType());
  if (isFused) {
    createDeltaNest();
    createFusedNest(keySchedule);
    createRoundingNest();
  } else {
    createQueryNest();
    ScheduleAttr valueSchedule = op.getValueScheduleAttr();
    createKeyNest(keyTiles, {/*key=*/true, /*value=*/!valueSchedule,
                             /*query=*/false, keySchedule});
    if (valueSchedule)
      createKeyNest(valueTiles, {/*key=*/false, /*value=*/true,
                                 /*query=*/false, valueSchedule});
  }
  SmallVector<Value> gradients = {dQuery, dKey, dValue};
  createScoreNests(gradients);
  if (amaxDs)
    gradients.push_back(amaxDs);
  for (auto [result, gradient] : llvm::zip_equal(op->getResults(), gradients)) {
    if (gradient.getType() != result.getType())
      gradient =
          tensor::CastOp::create(builder, loc, result.getType(), gradient);
    result.replaceAllUsesWith(gradient);
  }
  op.erase();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct TileBackward : public attn::impl::TileBackwardPassBase<TileBackward> {
  using Base::Base;

  void runOnOperation() override {
    if (tileM < 0 || tileN <= 0) {
      getOperation().emitError()
          << "options tile-m and tile-n: expected positive sizes, got "
          << tileM.getValue() << " and " << tileN.getValue();
      return signalPassFailure();
    }
    SmallVector<AttentionBackwardOp> ops;
    getOperation().walk([&](AttentionBackwardOp op) { ops.push_back(op); });
    for (AttentionBackwardOp op : ops) {
      if (isFloat8(op.getQuery().getType()) && !hasTensorCores(op))
        op = dequantizeBackward(op, Float32Type::get(op.getContext()));
      if (!findScoreGradients(op).areKnown()) {
        leave(op);
        continue;
      }
      TileSizes queryTiles = getTiles(op, op.getScheduleAttr());
      TileSizes keyTiles = queryTiles;
      if (ScheduleAttr schedule = op.getKeyScheduleAttr())
        keyTiles = getTiles(op, schedule);
      TileSizes valueTiles = keyTiles;
      if (ScheduleAttr schedule = op.getValueScheduleAttr())
        valueTiles = getTiles(op, schedule);
      BackwardTiler(op, queryTiles, keyTiles, valueTiles).run();
      ++numTiled;
    }
    foldSelectedHeads(getOperation());
  }

private:
  TileSizes getTiles(AttentionBackwardOp op, ScheduleAttr schedule) {
    TileSizes tiles{tileM ? tileM : getDefaultRows(op), tileN};
    if (schedule && schedule.getFields().has("tile_m"))
      tiles.m = schedule.getValues().tileM;
    if (schedule && schedule.getFields().has("tile_n"))
      tiles.n = schedule.getValues().tileN;
    if (schedule)
      tiles.ctas = schedule.getValues().clusterN;
    return tiles;
  }

  /// A CTA of a GPU holds dK and dV of its keys in registers; larger head
  /// dimensions leave less room for scores.
  static int64_t getDefaultRows(AttentionBackwardOp op) {
    AttentionDims dims = AttentionDims::get(op);
    return std::max(dims.headDim, dims.valueDim) > 64 ? 32 : 64;
  }

  /// What follows expects no attn.length outside of attn.attention.
  void leave(AttentionBackwardOp op) {
    OpBuilder builder(op);
    for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
      replaceLengths(builder, *region, op.getQuery(), op.getKey());
    op.emitRemark() << "gradients of captured tensors are computed unfused, "
                       "from whole score tensors";
    ++numLeft;
  }
};
} // namespace
