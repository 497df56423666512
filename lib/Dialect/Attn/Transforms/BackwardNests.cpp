//===- BackwardNests.cpp - Loop nests of a backward -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardSchedules.h"
#include "BackwardTiler.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Row tiles stay
//===----------------------------------------------------------------------===//

/// A CTA for each row tile of each query head.
scf::ForallOp BackwardTiler::createRowForall(ArrayRef<Value> outputs) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  return scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef<OpFoldResult>{batch, queryHeads, rows},
      ArrayRef<OpFoldResult>{one, one, builder.getIndexAttr(tiles.m)}, outputs,
      std::nullopt);
}

/// The nest over row tiles: dQ, and delta if there is an LSE.
void BackwardTiler::createQueryNest() {
  tiles = queryTiles;
  schedule = op.getScheduleAttr();
  Type element = getElementTypeOrSelf(op.getDQuery().getType());
  SmallVector<Value> outputs = {createOutput(op.getQuery(), element)};
  if (op.getLse())
    outputs.push_back(createOutput(op.getLse(), op.getScoreType()));
  if (op.getAmaxDs())
    outputs.push_back(createOutput(op.getLse(), op.getScoreType()));
  auto forall = createRowForall(outputs);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], ivs[2], Value()};
  auto tile = [&](Value from) {
    return from ? getTile(from, place, kLoopM, place.h) : from;
  };
  Value output = tile(op.getOutput()), dLse = tile(op.getDLse());
  RowTile rowTile = getRowTile(place);
  if (output)
    rowTile.delta = BackwardDeltaOp::create(builder, loc, rowTile.lse.getType(),
                                            output, rowTile.dOutput, dLse,
                                            getDOutputDescale(place));
  SmallVector<TileRange> ranges =
      visitedKeys->get(builder, loc, place.b, place.h,
                       getStayingOfCluster(place.m, tiles.m, rows),
                       {rows, keys, tiles.ctas * tiles.m, tiles.n});
  SmallVector<Value> state = {createZeroTile(op.getQuery(), tiles.m)};
  if (op.getAmaxDs())
    state.push_back(createZeroRows(tiles.m));
  Value tileStep = index(tiles.n);
  for (const TileRange &range : ranges) {
    auto loop = scf::ForOp::create(builder, loc, range.lower, range.upper,
                                   tileStep, state);
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    place.n = range.getPosition(builder, loc, loop.getInductionVar());
    auto carried = loop.getRegionIterArgs();
    StepGradients gradients;
    gradients.query = carried[0];
    gradients.amax = op.getAmaxDs() ? Value(carried[1]) : Value();
    BackwardStepOp step = createStep(rowTile, getKeyTile(place), place, range,
                                     op.getMaskMod(), gradients);
    scf::YieldOp::create(builder, loc, step->getResults());
    state.assign(loop.getResults().begin(), loop.getResults().end());
  }
  // In the order of the results, which passes that unroll a loop of one trip
  // take for granted (MLIR 22).
  auto outs = forall.getRegionIterArgs();
  insertTile(state[0], outs[0], place, kLoopM, place.h, forall);
  dQuery = forall.getResult(0);
  if (rowTile.delta) {
    insertTile(rowTile.delta, outs[1], place, kLoopM, place.h, forall);
    delta = forall.getResult(1);
  }
  if (op.getAmaxDs()) {
    insertTile(state[1], outs.back(), place, kLoopM, place.h, forall);
    amaxDs = forall.getResults().back();
  }
}

//===----------------------------------------------------------------------===//
// Key tiles stay
//===----------------------------------------------------------------------===//

/// The row tiles [range.lower, range.upper) of query head place.h.
SmallVector<Value> BackwardTiler::createRowLoop(const TileRange &range,
                                                const KeyTile &keyTile,
                                                Place place, ValueRange init,
                                                const KeyGradients &wanted) {
  auto loop = scf::ForOp::create(builder, loc, range.lower, range.upper,
                                 index(tiles.m), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  place.m = range.getPosition(builder, loc, loop.getInductionVar());
  scf::YieldOp::create(
      builder, loc,
      createRowStep(keyTile, place, range, loop.getRegionIterArgs(), wanted));
  return SmallVector<Value>(loop.getResults());
}

/// The same of all query heads of the group, as one loop, which counts tiles
/// from `walk.lower` on: a chain of such loops walks one stream of tiles.
SmallVector<Value> BackwardTiler::createGroupLoop(const GroupWalk &walk,
                                                  const KeyTile &keyTile,
                                                  Place place, ValueRange init,
                                                  const KeyGradients &wanted) {
  const TileRange &range = walk.rows;
  auto loop =
      scf::ForOp::create(builder, loc, walk.lower, walk.upper, index(1), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = builder.createOrFold<arith::SubIOp>(
      loc, loop.getInductionVar(), walk.lower);
  Value head = builder.createOrFold<arith::DivUIOp>(loc, number, walk.perHead);
  Value tile = builder.createOrFold<arith::RemUIOp>(loc, number, walk.perHead);
  Value row = builder.createOrFold<arith::MulIOp>(loc, tile, index(tiles.m));
  place.h = builder.createOrFold<arith::AddIOp>(loc, place.h, head);
  Value count = builder.createOrFold<arith::AddIOp>(loc, range.lower, row);
  place.m = range.getPosition(builder, loc, count);
  scf::YieldOp::create(
      builder, loc,
      createRowStep(keyTile, place, range, loop.getRegionIterArgs(), wanted));
  return SmallVector<Value>(loop.getResults());
}

/// What the loops over `ranges` of all heads of the group count, computed
/// before the first of them, so that they follow each other.
SmallVector<GroupWalk>
BackwardTiler::countGroupTiles(ArrayRef<TileRange> ranges) {
  SmallVector<GroupWalk> walks;
  Value lower = index(0);
  for (const TileRange &range : ranges) {
    Value perHead = countTiles(range);
    Value count = builder.createOrFold<arith::MulIOp>(loc, perHead, group);
    Value upper = builder.createOrFold<arith::AddIOp>(loc, lower, count);
    // A pipeline's prologue asks for the place of the first tile whether or
    // not there is one; a division by no tiles at all would have no value.
    perHead = builder.createOrFold<arith::MaxSIOp>(loc, perHead, index(1));
    walks.push_back({range, lower, upper, perHead});
    lower = upper;
  }
  return walks;
}

/// The row tiles of a head in `range`.
Value BackwardTiler::countTiles(const TileRange &range) {
  Value length =
      builder.createOrFold<arith::SubIOp>(loc, range.upper, range.lower);
  return builder.createOrFold<arith::CeilDivSIOp>(loc, length, index(tiles.m));
}

/// The gradients of the key tile after the row tile at `place`.
SmallVector<Value> BackwardTiler::createRowStep(const KeyTile &keyTile,
                                                const Place &place,
                                                const TileRange &range,
                                                ValueRange state,
                                                const KeyGradients &wanted) {
  RowTile rowTile = getWholeRowTile(place);
  Value dKeyTile = wanted.key ? state.front() : Value();
  Value dValueTile = wanted.value ? state[wanted.key] : Value();
  Value dQueryTile;
  if (wanted.query)
    dQueryTile = getSumTile(state.back(), place);
  StepGradients gradients;
  gradients.query = dQueryTile;
  gradients.key = dKeyTile;
  gradients.value = dValueTile;
  BackwardStepOp step =
      createStep(rowTile, keyTile, place, range, *maskByKey, gradients);
  SmallVector<Value> results;
  if (wanted.key)
    results.push_back(step.getDKeyResult());
  if (wanted.value)
    results.push_back(step.getDValueResult());
  if (wanted.query)
    results.push_back(addToSums(step.getDQueryResult(), state.back(), place));
  return results;
}

/// The same as a loop over the heads from place.h on, around those over rows,
/// whose bounds are rows.
SmallVector<Value> BackwardTiler::createHeadLoop(ArrayRef<TileRange> ranges,
                                                 const KeyTile &keyTile,
                                                 Place place, ValueRange init,
                                                 const KeyGradients &wanted) {
  Value lower = index(0);
  auto loop = scf::ForOp::create(builder, loc, lower, group, index(1), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  place.h =
      builder.createOrFold<arith::AddIOp>(loc, place.h, loop.getInductionVar());
  SmallVector<Value> state(loop.getRegionIterArgs());
  for (const TileRange &range : ranges)
    state = createRowLoop(range, keyTile, place, state, wanted);
  scf::YieldOp::create(builder, loc, state);
  return SmallVector<Value>(loop.getResults());
}

/// The row tiles of all query heads of key head place.h.
SmallVector<Value> BackwardTiler::createRowLoops(const KeyTile &keyTile,
                                                 Place place, ValueRange init,
                                                 const KeyGradients &wanted) {
  bool isOneHead = isConstantIntValue(getAsOpFoldResult(group), 1);
  RowRange stay = getStayingOfCluster(place.n, tiles.n, keys);
  SmallVector<TileRange> ranges;
  if (isOneHead || !visitedRows->differsByHead()) {
    ranges = visitedRows->get(builder, loc, place.b, place.h, stay,
                              {keys, rows, tiles.ctas * tiles.n, tiles.m,
                               /*isEndWhole=*/!hidesRows});
  } else {
    op.emitRemark() << "no row tile is skipped for dK and dV: the heads of a "
                       "group see different keys";
    ranges = {{index(0), asValue(rows), /*isMasked=*/true}};
  }
  if (!isOneHead)
    place.h = builder.createOrFold<arith::MulIOp>(loc, place.h, group);
  if (isSmallCache(op))
    return createHeadLoop(ranges, keyTile, place, init, wanted);
  SmallVector<Value> state(init);
  if (isOneHead)
    for (const TileRange &range : ranges)
      state = createRowLoop(range, keyTile, place, state, wanted);
  else
    for (const GroupWalk &walk : countGroupTiles(ranges))
      state = createGroupLoop(walk, keyTile, place, state, wanted);
  return state;
}

/// A nest over key tiles: dK and dV, or one of them, summed over the group.
void BackwardTiler::createKeyNest(TileSizes sizes, const KeyGradients &wanted) {
  tiles = sizes;
  schedule = wanted.schedule;
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<Value> outputs;
  if (wanted.key)
    outputs.push_back(createOutput(
        op.getKey(), getElementTypeOrSelf(op.getDKey().getType())));
  if (wanted.value)
    outputs.push_back(createOutput(
        op.getValue(), getElementTypeOrSelf(op.getDValue().getType())));
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef<OpFoldResult>{batch, keyHeads, keys},
      ArrayRef<OpFoldResult>{one, one, builder.getIndexAttr(tiles.n)}, outputs,
      std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], Value(), ivs[2]};
  KeyTile keyTile = {getTile(op.getKey(), place, kLoopN, place.h),
                     getTile(op.getValue(), place, kLoopN, place.h)};
  SmallVector<Value> init;
  if (wanted.key)
    init.push_back(createZeroTile(op.getKey(), tiles.n));
  if (wanted.value)
    init.push_back(createZeroTile(op.getValue(), tiles.n));
  SmallVector<Value> gradients = createRowLoops(keyTile, place, init, wanted);
  for (auto [gradient, out] :
       llvm::zip_equal(gradients, forall.getRegionIterArgs()))
    insertTile(gradient, out, place, kLoopN, place.h, forall);
  if (wanted.key)
    dKey = forall.getResult(0);
  if (wanted.value)
    dValue = forall.getResults().back();
}
