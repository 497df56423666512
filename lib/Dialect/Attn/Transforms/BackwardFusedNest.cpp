//===- BackwardFusedNest.cpp - All gradients in one loop nest ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FlashAttention-2's order: a key tile stays, and each row tile that passes
// adds to dK and dV, which stay with it, and to dQ, which is in memory. On a
// GPU the CTAs of the key tiles add to dQ at once.
//
//===----------------------------------------------------------------------===//

#include "BackwardTiler.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// delta, and zeros where dQ is summed up.
void BackwardTiler::createDeltaNest() {
  tiles = queryTiles;
  FloatType type = op.getScoreType();
  auto forall = createRowForall(
      {createOutput(op.getLse(), type), createOutput(op.getQuery(), type)});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], ivs[2], Value()};
  auto tile = [&](Value from) {
    return from ? getTile(from, place, kLoopM, place.h) : from;
  };
  Value output = tile(op.getOutput()), dOutput = tile(op.getDOutput());
  Value dLse = tile(op.getDLse()), lse = tile(op.getLse());
  Value deltaTile =
      BackwardDeltaOp::create(builder, loc, lse.getType(), output, dOutput,
                              dLse, getDOutputDescale(place));
  auto outs = forall.getRegionIterArgs();
  insertTile(deltaTile, outs[0], place, kLoopM, place.h, forall);
  insertTile(createZeroTile(op.getQuery(), tiles.m), outs[1], place, kLoopM,
             place.h, forall);
  delta = forall.getResult(0);
  sums = forall.getResult(1);
}

//===----------------------------------------------------------------------===//
// All gradients
//===----------------------------------------------------------------------===//

/// The sums at hand are those of a group of heads.
Place BackwardTiler::getPlaceInSums(const Place &place) {
  Value head = builder.createOrFold<arith::SubIOp>(loc, place.h, firstHead);
  return {index(0), head, place.m, place.n};
}

Value BackwardTiler::getSumTile(Value sumsOfGroup, const Place &place) {
  Place at = getPlaceInSums(place);
  return getTile(sumsOfGroup, at, kLoopM, at.h);
}

Value BackwardTiler::addToSums(Value tile, Value sumsOfGroup,
                               const Place &place) {
  Place at = getPlaceInSums(place);
  Slice slice = cutTile(tile, sumsOfGroup, at, kLoopM, at.h);
  return tensor::InsertSliceOp::create(builder, loc, slice.tile, sumsOfGroup,
                                       slice.offsets, slice.sizes,
                                       slice.strides);
}

/// Where the matrices of `heads` heads from `first` on are in `whole`.
BackwardTiler::Slice BackwardTiler::getHeads(Value whole, Value b, Value first,
                                             OpFoldResult heads) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Sizes sizes = tensor::getMixedSizes(builder, loc, whole);
  sizes[kBatch] = one;
  sizes[kHead] = heads;
  return {whole, {b, first, zero, zero}, sizes, Sizes(4, one)};
}

/// The loop over the key tiles of key head `h`; carries dK and dV of the head
/// and the sums of its group.
scf::ForOp BackwardTiler::createKeyLoop(Value b, Value h, ValueRange init) {
  Value lower = index(0), upper = asValue(keys);
  auto loop =
      scf::ForOp::create(builder, loc, lower, upper, index(tiles.n), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Place place{b, h, Value(), loop.getInductionVar()};
  KeyTile keyTile = {getTile(op.getKey(), place, kLoopN, h),
                     getTile(op.getValue(), place, kLoopN, h)};
  auto state = loop.getRegionIterArgs();
  Value tilesInit[] = {createZeroTile(op.getKey(), tiles.n),
                       createZeroTile(op.getValue(), tiles.n), state[2]};
  SmallVector<Value> results =
      createRowLoops(keyTile, place, tilesInit,
                     {/*key=*/true, /*value=*/true, /*query=*/true, schedule});
  Place inHead{index(0), index(0), Value(), place.n};
  for (unsigned i : {0, 1}) {
    Slice slice = cutTile(results[i], state[i], inHead, kLoopN, inHead.h);
    results[i] = tensor::InsertSliceOp::create(builder, loc, slice.tile,
                                               state[i], slice.offsets,
                                               slice.sizes, slice.strides);
  }
  scf::YieldOp::create(builder, loc, results);
  return loop;
}

/// A nest over key heads, and in it a loop over key tiles.
void BackwardTiler::createFusedNest(ScheduleAttr keySchedule) {
  tiles = keyTiles;
  schedule = keySchedule;
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value outputs[] = {
      createOutput(op.getKey(), getElementTypeOrSelf(op.getDKey().getType())),
      createOutput(op.getValue(),
                   getElementTypeOrSelf(op.getDValue().getType())),
      sums};
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{batch, keyHeads}, ArrayRef<OpFoldResult>{one, one},
      outputs, std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Value b = forall.getInductionVar(0), h = forall.getInductionVar(1);
  firstHead = builder.createOrFold<arith::MulIOp>(loc, h, group);
  auto outs = forall.getRegionIterArgs();
  Slice parts[] = {getHeads(outs[0], b, h, one), getHeads(outs[1], b, h, one),
                   getHeads(outs[2], b, firstHead, getAsOpFoldResult(group))};
  SmallVector<Value> init;
  for (const Slice &part : parts)
    init.push_back(tensor::ExtractSliceOp::create(
        builder, loc, part.tile, part.offsets, part.sizes, part.strides));
  scf::ForOp loop = createKeyLoop(b, h, init);
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [result, part] : llvm::zip_equal(loop.getResults(), parts))
    tensor::ParallelInsertSliceOp::create(builder, loc, result, part.tile,
                                          part.offsets, part.sizes,
                                          part.strides);
  dKey = forall.getResult(0);
  dValue = forall.getResult(1);
  sums = forall.getResult(2);
}

/// dQ in the type of the result.
void BackwardTiler::createRoundingNest() {
  tiles = queryTiles;
  auto forall = createRowForall(createOutput(
      op.getQuery(), getElementTypeOrSelf(op.getDQuery().getType())));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], ivs[2], Value()};
  insertTile(getTile(sums, place, kLoopM, place.h),
             forall.getRegionIterArgs().front(), place, kLoopM, place.h,
             forall);
  dQuery = forall.getResult(0);
}
