//===- PadTiles.cpp - Static shapes for ragged tiles ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-pad-tiles.
//
//===----------------------------------------------------------------------===//

#include "Padding.h"
#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_PADTILESPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// True if dimension `dim` of `value` is dynamic.
static bool isDynamicDim(Value value, unsigned dim) {
  return cast<ShapedType>(value.getType()).isDynamicDim(dim);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The end of the valid positions along a loop: offset + size of `tile`.
static Value getEnd(OpBuilder &builder, OnlineAttentionOp step, unsigned loop,
                    Value tile) {
  Value size = getValueOrCreateConstantIndexOp(
      builder, step.getLoc(), getDim(builder, step.getLoc(), tile, kSequence));
  return arith::AddIOp::create(builder, step.getLoc(), step.getOffsets()[loop],
                               size);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Makes `step` read no key before its first one, nor value: the tile is 0
/// there, which times a weight of 0 is 0. A step without a mask has none.
static void leaveOutKeys(OnlineAttentionOp step) {
  Value first = step.getFirstKey();
  step.getFirstKeyMutable().clear();
  if (!first || !step.hasMaskMod())
    return;
  OpBuilder builder(step);
  Location loc = step.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count =
      arith::SubIOp::create(builder, loc, first, step.getOffsets()[kLoopN]);
  count = arith::MaxSIOp::create(builder, loc, count, zero);
  maskBefore(step.getMaskMod(), kLoopN, first);
  for (Region *region : {&step.getScoreMod(), &step.getProbMod()})
    if (readsByTable(*region))
      clampFirstPosition(*region, kLoopN, first);
  for (OpOperand *tile : {&step.getKeyMutable(), &step.getValueMutable()})
    tile->set(replaceFirstRows(builder, tile->get(), count));
}

/// Replaces the tiles of `step` by padded ones, in place.
static void padStep(OnlineAttentionOp step, ValueRange state) {
  ScheduleAttr schedule = *step.getSchedule();
  int64_t rows = schedule.getValues().tileM, keys = schedule.getValues().tileN;
  OpBuilder builder(step);
  Value query = step.getQuery(), key = step.getKey();
  bool hasPaddedRows = isDynamicDim(query, kSequence);
  bool hasPaddedKeys = isDynamicDim(key, kSequence);
  if (hasPaddedKeys) {
    Value end = getEnd(builder, step, kLoopN, key);
    maskPadded(step.getMaskMod(), kLoopN, end);
    for (Region *region : {&step.getScoreMod(), &step.getProbMod()})
      if (!region->empty())
        clampPosition(*region, kLoopN, end);
  }
  if (hasPaddedRows) {
    Value end = getEnd(builder, step, kLoopM, query);
    for (Region *region :
         {&step.getScoreMod(), &step.getMaskMod(), &step.getProbMod()})
      if (!region->empty())
        clampPosition(*region, kLoopM, end);
  }
  // No tile has a key that does not exist.
  step.getKeyLengthsMutable().clear();
  if (Value bias = step.getBias())
    step.getBiasMutable().assign(pad(builder, bias, {1, 1, rows, keys}));
  step.getKeyMutable().assign(pad(builder, key, {1, 1, keys, /*static=*/0}));
  step.getValueMutable().assign(
      pad(builder, step.getValue(), {1, 1, keys, /*static=*/0}));
  // The rows are padded once, not in each iteration.
  if (Operation *slice = query.getDefiningOp())
    builder.setInsertionPointAfter(slice);
  step.getQueryMutable().assign(
      pad(builder, query, {1, 1, rows, /*static=*/0}));
  step.getStateMutable().assign(state);
  for (auto [result, value] : llvm::zip_equal(step->getResults(), state))
    result.setType(value.getType());
}

/// A copy of `loop` on padded tiles, from `state`; returns the state after it.
static SmallVector<Value> padLoop(OpBuilder &builder, scf::ForOp loop,
                                  ValueRange state) {
  auto copy = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), state);
  IRMapping mapping;
  mapping.map(loop.getBody()->getArguments(), copy.getBody()->getArguments());
  OpBuilder body = OpBuilder::atBlockBegin(copy.getBody());
  for (Operation &op : loop.getBody()->without_terminator())
    body.clone(op, mapping);
  OnlineAttentionOp step = getStep(copy);
  padStep(step, copy.getRegionIterArgs());
  scf::YieldOp::create(body, loop.getLoc(), step->getResults());
  return SmallVector<Value>(copy.getResults());
}

/// Pads the tiles of the attention that `normalize` ends, if any is ragged.
static bool padAttention(NormalizeOp normalize) {
  KeyLoops keys = getKeyLoops(normalize);
  bool hasPaddedRows = isDynamicDim(normalize.getAcc(), kSequence);
  for (scf::ForOp loop : keys.loops)
    leaveOutKeys(getStep(loop));
  if (keys.loops.empty() ||
      (!hasPaddedRows && llvm::all_of(keys.loops, hasStaticKeyTile)))
    return false;
  OpBuilder builder(keys.loops.front());
  Location loc = normalize.getLoc();
  OnlineAttentionOp step = getStep(keys.loops.front());
  OpFoldResult one = builder.getIndexAttr(1);
  OpFoldResult rows =
      builder.getIndexAttr(step.getSchedule()->getValues().tileM);
  SmallVector<Value> state(
      createInitialState(
          builder, loc, step.getNormalization(), {one, one, rows},
          getDim(builder, loc, step.getValue(), kHeadDim), step.getScoreType())
          .getValues());
  for (scf::ForOp loop : keys.loops) {
    builder.setInsertionPoint(loop);
    state = padLoop(builder, loop, state);
  }
  builder.setInsertionPoint(normalize);
  SmallVector<Type> types;
  for (Type type : normalize->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[kSequence] = step.getSchedule()->getValues().tileM;
    types.push_back(tensor.clone(shape));
  }
  auto padded = NormalizeOp::create(
      builder, loc, types, state.front(), ArrayRef(state).drop_front(),
      normalize.getSink(), normalize.getDescale(), normalize.getScaleAttr(),
      normalize.getNormalizationAttr());
  for (auto [result, whole] :
       llvm::zip_equal(normalize->getResults(), padded->getResults())) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, whole);
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), one);
    if (hasPaddedRows)
      sizes[kSequence] = getDim(builder, loc, step.getQuery(), kSequence);
    Value valid = tensor::ExtractSliceOp::create(builder, loc, whole, offsets,
                                                 sizes, strides);
    result.replaceAllUsesWith(valid);
  }
  normalize.erase();
  for (scf::ForOp loop : llvm::reverse(keys.loops))
    loop.erase();
  return true;
}

namespace {
struct PadTiles : public attn::impl::PadTilesPassBase<PadTiles> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<NormalizeOp> ends;
    getOperation().walk([&](NormalizeOp op) { ends.push_back(op); });
    for (NormalizeOp normalize : ends)
      numPadded += padAttention(normalize);
  }
};
} // namespace
