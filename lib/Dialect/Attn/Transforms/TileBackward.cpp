//===- TileBackward.cpp - Loops over tiles of the backward ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-backward.
//
//===----------------------------------------------------------------------===//

#include "BackwardMask.h"
#include "BackwardSchedules.h"
#include "ListedBlocks.h"
#include "Padding.h"
#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/DropoutBuilder.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_TILEBACKWARDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;

namespace {
/// Where a tile is: (b, h), the first row, and the first key.
struct Place {
  Value b, h, m, n;
};

/// The operands of a step that have rows, or keys; all of static size.
struct RowTile {
  Value query, dOutput, lse, delta;
};
struct KeyTile {
  Value key, value;
};

/// Rows and keys of the tiles of a nest.
struct TileSizes {
  int64_t m, n;
};

/// The gradients that a nest over keys gives.
struct KeyGradients {
  bool key, value;
  ScheduleAttr schedule;
};

/// Builds the loop nests of one op.
class BackwardTiler {
public:
  BackwardTiler(AttentionBackwardOp op, TileSizes queryTiles,
                TileSizes keyTiles, TileSizes valueTiles)
      : op(op), queryTiles(queryTiles), keyTiles(keyTiles),
        valueTiles(valueTiles), tiles(queryTiles), builder(op),
        loc(op.getLoc()) {}

  void run();

private:
  void readSizes();
  void prepareRegions();

  // Tiles.
  OpFoldResult countInTile(int64_t tile, Value first, OpFoldResult total);
  Value getTile(Value from, const Place &place, unsigned loop, Value head,
                double padding = 0);
  RowTile getRowTile(const Place &place);
  KeyTile getKeyTile(const Place &place);
  Value getBiasTile(const Place &place);
  void insertTile(Value tile, Value into, const Place &place, unsigned loop,
                  Value head, scf::ForallOp forall);
  Value createOutput(Value like, Type element);
  Value createZeroTile(Value like, int64_t rows);

  // Loops.
  RowRange getStaying(Value first, int64_t tile, OpFoldResult total);
  BackwardStepOp createStep(const RowTile &rows, const KeyTile &keys,
                            const Place &place, const TileRange &range,
                            Value dQuery, Value dKey, Value dValue);
  void createQueryNest();
  void createKeyNest(TileSizes sizes, const KeyGradients &wanted);
  SmallVector<Value> createRowStep(const KeyTile &keys, const Place &place,
                                   const TileRange &range, ValueRange state,
                                   const KeyGradients &wanted);
  SmallVector<Value> createRowLoops(const KeyTile &keys, Place place,
                                    ValueRange init,
                                    const KeyGradients &wanted);
  SmallVector<Value> createRowLoop(const TileRange &range, const KeyTile &keys,
                                   Place place, ValueRange init,
                                   const KeyGradients &wanted);
  SmallVector<Value> createGroupLoop(const TileRange &range,
                                     const TileRange &counts,
                                     const KeyTile &keys, Place place,
                                     ValueRange init,
                                     const KeyGradients &wanted);
  Value countTiles(const TileRange &range);

  Value asValue(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }
  Value index(int64_t n) { return asValue(builder.getIndexAttr(n)); }

  AttentionBackwardOp op;
  TileSizes queryTiles, keyTiles, valueTiles;
  TileSizes tiles; ///< of the nest that is built
  ScheduleAttr schedule;
  OpBuilder builder;
  Location loc;

  OpFoldResult batch, queryHeads, keyHeads, rows, keys;
  /// Query heads of a key head.
  Value group;
  /// Of the mask as it was written.
  std::optional<VisitedTiles> visitedKeys, visitedRows;
  /// delta [B, Hq, M], and the gradients.
  Value delta, dQuery, dKey, dValue;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes and regions
//===----------------------------------------------------------------------===//

void BackwardTiler::readSizes() {
  batch = getDim(builder, loc, op.getQuery(), kBatch);
  queryHeads = getDim(builder, loc, op.getQuery(), kHead);
  keyHeads = getDim(builder, loc, op.getKey(), kHead);
  rows = getDim(builder, loc, op.getQuery(), kSequence);
  keys = getDim(builder, loc, op.getKey(), kSequence);
  // Without key heads there are no query heads; 0 / 0 would trap.
  Value divisor =
      builder.createOrFold<arith::MaxUIOp>(loc, asValue(keyHeads), index(1));
  group =
      builder.createOrFold<arith::DivUIOp>(loc, asValue(queryHeads), divisor);
}

/// Reads the mask, then makes both regions fit for padded tiles.
void BackwardTiler::prepareRegions() {
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
    replaceLengths(builder, *region, op.getQuery(), op.getKey());
  visitedKeys.emplace(op.getMaskMod(), kLoopN);
  visitedRows.emplace(op.getMaskMod(), kLoopM);
  bool padsRows = false, padsKeys = false;
  for (const TileSizes &sizes : {queryTiles, keyTiles, valueTiles}) {
    padsRows |= !divides(sizes.m, rows);
    padsKeys |= !divides(sizes.n, keys);
  }
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
    if (!region->empty() && padsRows)
      clampPosition(*region, kLoopM, asValue(rows));
  if (!padsKeys)
    return;
  if (op.hasScoreMod())
    clampPosition(op.getScoreMod(), kLoopN, asValue(keys));
  maskPaddedKeys(op.getMaskMod(), asValue(keys));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// How many of `tile` positions from `first` on are in [0, total): a value if
/// the tile may be cut, even where its size is known, since it is padded then.
OpFoldResult BackwardTiler::countInTile(int64_t tile, Value first,
                                        OpFoldResult total) {
  if (divides(tile, total))
    return builder.getIndexAttr(tile);
  return getValueOrCreateConstantIndexOp(
      builder, loc, boundedTile(builder, loc, tile, first, total));
}

/// The tile of `from` with rows from place.m on (kLoopM) or keys from place.n
/// on (kLoopN).
Value BackwardTiler::getTile(Value from, const Place &place, unsigned loop,
                             Value head, double padding) {
  bool isRows = loop == kLoopM;
  int64_t tile = isRows ? tiles.m : tiles.n;
  Value first = isRows ? place.m : place.n;
  OpFoldResult one = builder.getIndexAttr(1);
  OpFoldResult count = countInTile(tile, first, isRows ? rows : keys);
  Sizes offsets = {place.b, head, first}, sizes = {one, one, count};
  SmallVector<int64_t> padded = {1, 1, tile};
  if (cast<ShapedType>(from.getType()).getRank() == 4) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(getDim(builder, loc, from, kHeadDim));
    padded.push_back(0);
  }
  Sizes strides(sizes.size(), one);
  Value slice = tensor::ExtractSliceOp::create(builder, loc, from, offsets,
                                               sizes, strides);
  return pad(builder, slice, padded, padding);
}

/// Padded rows have an LSE of -inf: they take no part. Without delta.
RowTile BackwardTiler::getRowTile(const Place &place) {
  auto tile = [&](Value from, double padding = 0) {
    return getTile(from, place, kLoopM, place.h, padding);
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {tile(op.getQuery()), tile(op.getDOutput()),
          tile(op.getLse(), -infinity), Value()};
}

KeyTile BackwardTiler::getKeyTile(const Place &place) {
  Value head = builder.createOrFold<arith::DivUIOp>(loc, place.h, group);
  return {getTile(op.getKey(), place, kLoopN, head),
          getTile(op.getValue(), place, kLoopN, head)};
}

/// A size of 1 stays: it is broadcast.
Value BackwardTiler::getBiasTile(const Place &place) {
  Value bias = op.getBias();
  if (!bias)
    return bias;
  auto type = cast<ShapedType>(bias.getType());
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value positions[] = {place.b, place.h, place.m, place.n};
  int64_t sizesOfTile[] = {1, 1, tiles.m, tiles.n};
  OpFoldResult totals[] = {batch, queryHeads, rows, keys};
  Sizes offsets, sizes;
  for (unsigned dim = 0; dim < 4; ++dim) {
    bool isBroadcast = type.getDimSize(dim) == 1;
    offsets.push_back(isBroadcast ? zero : OpFoldResult(positions[dim]));
    sizes.push_back(
        isBroadcast || sizesOfTile[dim] == 1
            ? one
            : countInTile(sizesOfTile[dim], positions[dim], totals[dim]));
  }
  Value slice = tensor::ExtractSliceOp::create(builder, loc, bias, offsets,
                                               sizes, Sizes(4, one));
  return pad(builder, slice, sizesOfTile);
}

/// Puts what is valid of `tile` into `into`, at the end of `forall`.
void BackwardTiler::insertTile(Value tile, Value into, const Place &place,
                               unsigned loop, Value head,
                               scf::ForallOp forall) {
  bool isRows = loop == kLoopM;
  Value first = isRows ? place.m : place.n;
  int64_t size = isRows ? tiles.m : tiles.n;
  OpFoldResult total = isRows ? rows : keys;
  auto type = cast<RankedTensorType>(into.getType());
  auto tileType = cast<RankedTensorType>(tile.getType());
  if (tileType.getElementType() != type.getElementType())
    tile = arith::TruncFOp::create(builder, loc,
                                   tileType.clone(type.getElementType()), tile);
  Sizes offsets(type.getRank(), builder.getIndexAttr(0));
  Sizes strides(type.getRank(), builder.getIndexAttr(1));
  Sizes sizes = tensor::getMixedSizes(builder, loc, tile);
  if (!divides(size, total)) {
    sizes[kSequence] = countInTile(size, first, total);
    tile = tensor::ExtractSliceOp::create(builder, loc, tile, offsets, sizes,
                                          strides);
  }
  offsets[kBatch] = place.b;
  offsets[kHead] = head;
  offsets[kSequence] = first;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, tile, into, offsets,
                                        sizes, strides);
}

/// An uninitialized tensor with the sizes of `like`.
Value BackwardTiler::createOutput(Value like, Type element) {
  auto type = cast<RankedTensorType>(like.getType()).clone(element);
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), element);
  if (empty.getType() != type)
    empty = tensor::CastOp::create(builder, loc, type, empty);
  return empty;
}

Value BackwardTiler::createZeroTile(Value like, int64_t count) {
  OpFoldResult one = builder.getIndexAttr(1);
  FloatType type = op.getScoreType();
  return createFilled(builder, loc,
                      {one, one, builder.getIndexAttr(count),
                       getDim(builder, loc, like, kHeadDim)},
                      type, APFloat::getZero(type.getFloatSemantics()));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The positions of the tile that stays and begins at `first`.
RowRange BackwardTiler::getStaying(Value first, int64_t tile,
                                   OpFoldResult total) {
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  AffineExpr s1 = builder.getAffineSymbolExpr(1);
  OpFoldResult last = affine::makeComposedFoldedAffineApply(
      builder, loc, s0 + s1 - 1,
      {OpFoldResult(first), countInTile(tile, first, total)});
  return {OpFoldResult(first), last};
}

BackwardStepOp
BackwardTiler::createStep(const RowTile &rowTile, const KeyTile &keyTile,
                          const Place &place, const TileRange &range,
                          Value dQueryTile, Value dKeyTile, Value dValueTile) {
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  std::optional<Dropout> dropout = Dropout::get(op);
  auto step = BackwardStepOp::create(
      builder, loc, typeOf(dQueryTile), typeOf(dKeyTile), typeOf(dValueTile),
      rowTile.query, keyTile.key, keyTile.value, getBiasTile(place),
      rowTile.dOutput, rowTile.lse, rowTile.delta,
      ValueRange{place.b, place.h, place.m, place.n}, dQueryTile, dKeyTile,
      dValueTile, dropout ? dropout->seed : Value(),
      dropout ? dropout->offset : Value(),
      dropout ? op.getDropoutRateAttr() : FloatAttr(), op.getScaleAttr(),
      schedule);
  IRMapping mapping;
  op.getScoreMod().cloneInto(&step.getScoreMod(), mapping);
  if (!range.isMasked)
    return step;
  op.getMaskMod().cloneInto(&step.getMaskMod(), mapping);
  if (range.listed)
    specializeMask(step.getMaskMod(), *range.listed);
  return step;
}

/// The nest over row tiles: delta and dQ.
void BackwardTiler::createQueryNest() {
  tiles = queryTiles;
  schedule = op.getScheduleAttr();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Type element = getElementTypeOrSelf(op.getDQuery().getType());
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef<OpFoldResult>{batch, queryHeads, rows},
      ArrayRef<OpFoldResult>{one, one, builder.getIndexAttr(tiles.m)},
      ValueRange{createOutput(op.getQuery(), element),
                 createOutput(op.getLse(), op.getScoreType())},
      std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], ivs[2], Value()};
  auto tile = [&](Value from) {
    return from ? getTile(from, place, kLoopM, place.h) : from;
  };
  Value output = tile(op.getOutput()), dLse = tile(op.getDLse());
  RowTile rowTile = getRowTile(place);
  rowTile.delta = BackwardDeltaOp::create(builder, loc, rowTile.lse.getType(),
                                          output, rowTile.dOutput, dLse);
  SmallVector<TileRange> ranges = visitedKeys->get(
      builder, loc, place.b, place.h, getStaying(place.m, tiles.m, rows),
      {rows, keys, tiles.m, tiles.n});
  Value gradient = createZeroTile(op.getQuery(), tiles.m);
  Value tileStep = index(tiles.n);
  for (const TileRange &range : ranges) {
    auto loop = scf::ForOp::create(builder, loc, range.lower, range.upper,
                                   tileStep, ValueRange(gradient));
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    place.n = range.getPosition(builder, loc, loop.getInductionVar());
    BackwardStepOp step =
        createStep(rowTile, getKeyTile(place), place, range,
                   loop.getRegionIterArgs()[0], Value(), Value());
    scf::YieldOp::create(builder, loc, step->getResults());
    gradient = loop.getResult(0);
  }
  auto outs = forall.getRegionIterArgs();
  insertTile(gradient, outs[0], place, kLoopM, place.h, forall);
  insertTile(rowTile.delta, outs[1], place, kLoopM, place.h, forall);
  dQuery = forall.getResult(0);
  delta = forall.getResult(1);
}

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
/// from `counts.lower` on: a chain of such loops walks one stream of tiles.
SmallVector<Value> BackwardTiler::createGroupLoop(const TileRange &range,
                                                  const TileRange &counts,
                                                  const KeyTile &keyTile,
                                                  Place place, ValueRange init,
                                                  const KeyGradients &wanted) {
  auto loop = scf::ForOp::create(builder, loc, counts.lower, counts.upper,
                                 index(1), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value perHead = countTiles(range);
  Value number = builder.createOrFold<arith::SubIOp>(
      loc, loop.getInductionVar(), counts.lower);
  Value head = builder.createOrFold<arith::DivUIOp>(loc, number, perHead);
  Value tile = builder.createOrFold<arith::RemUIOp>(loc, number, perHead);
  Value row = builder.createOrFold<arith::MulIOp>(loc, tile, index(tiles.m));
  place.h = builder.createOrFold<arith::AddIOp>(loc, place.h, head);
  Value count = builder.createOrFold<arith::AddIOp>(loc, range.lower, row);
  place.m = range.getPosition(builder, loc, count);
  scf::YieldOp::create(
      builder, loc,
      createRowStep(keyTile, place, range, loop.getRegionIterArgs(), wanted));
  return SmallVector<Value>(loop.getResults());
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
  RowTile rowTile = getRowTile(place);
  rowTile.delta = getTile(delta, place, kLoopM, place.h);
  Value dKeyTile = wanted.key ? state.front() : Value();
  Value dValueTile = wanted.value ? state.back() : Value();
  return SmallVector<Value>(
      createStep(rowTile, keyTile, place, range, Value(), dKeyTile, dValueTile)
          ->getResults());
}

/// The row tiles of all query heads of key head place.h.
SmallVector<Value> BackwardTiler::createRowLoops(const KeyTile &keyTile,
                                                 Place place, ValueRange init,
                                                 const KeyGradients &wanted) {
  bool isOneHead = isConstantIntValue(getAsOpFoldResult(group), 1);
  RowRange stay = getStaying(place.n, tiles.n, keys);
  SmallVector<TileRange> ranges;
  if (isOneHead || !visitedRows->differsByHead()) {
    ranges =
        visitedRows->get(builder, loc, place.b, place.h, stay,
                         {keys, rows, tiles.n, tiles.m, /*isEndWhole=*/true});
  } else {
    op.emitRemark() << "no row tile is skipped for dK and dV: the heads of a "
                       "group see different keys";
    ranges = {{index(0), asValue(rows), /*isMasked=*/true}};
  }
  if (!isOneHead)
    place.h = builder.createOrFold<arith::MulIOp>(loc, place.h, group);
  // Bounds before loops, so that the loops follow each other.
  SmallVector<TileRange> counts;
  Value first = index(0);
  if (!isOneHead)
    for (const TileRange &range : ranges) {
      Value count =
          builder.createOrFold<arith::MulIOp>(loc, countTiles(range), group);
      Value last = builder.createOrFold<arith::AddIOp>(loc, first, count);
      counts.push_back({first, last, range.isMasked});
      first = last;
    }
  SmallVector<Value> state(init);
  for (auto [i, range] : llvm::enumerate(ranges))
    state = isOneHead ? createRowLoop(range, keyTile, place, state, wanted)
                      : createGroupLoop(range, counts[i], keyTile, place, state,
                                        wanted);
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

void BackwardTiler::run() {
  readSizes();
  prepareRegions();
  createQueryNest();
  ScheduleAttr keySchedule =
      getKeySchedule(op) ? getKeySchedule(op) : op.getScheduleAttr();
  ScheduleAttr valueSchedule = getValueSchedule(op);
  createKeyNest(keyTiles,
                {/*key=*/true, /*value=*/!valueSchedule, keySchedule});
  if (valueSchedule)
    createKeyNest(valueTiles, {/*key=*/false, /*value=*/true, valueSchedule});
  Value gradients[] = {dQuery, dKey, dValue};
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
      if (op.getDBias() || !op.getCaptures().empty()) {
        leave(op);
        continue;
      }
      TileSizes queryTiles = getTiles(op, op.getScheduleAttr());
      TileSizes keyTiles = queryTiles;
      if (ScheduleAttr schedule = getKeySchedule(op))
        keyTiles = getTiles(op, schedule);
      TileSizes valueTiles = keyTiles;
      if (ScheduleAttr schedule = getValueSchedule(op))
        valueTiles = getTiles(op, schedule);
      BackwardTiler(op, queryTiles, keyTiles, valueTiles).run();
      ++numTiled;
    }
  }

private:
  TileSizes getTiles(AttentionBackwardOp op, ScheduleAttr schedule) {
    TileSizes tiles{schedule ? schedule.getTileM() : 0,
                    schedule ? schedule.getTileN() : 0};
    if (!tiles.m)
      tiles.m = tileM ? tileM : getDefaultRows(op);
    if (!tiles.n)
      tiles.n = tileN;
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
    op.emitRemark() << "gradients of "
                    << (op.getDBias() ? "a bias" : "captured tensors")
                    << " are computed unfused, from whole score tensors";
    ++numLeft;
  }
};
} // namespace
