//===- BackwardTiler.cpp - Tiles of a backward ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardTiler.h"

#include "BackwardSchedules.h"
#include "ListedBlocks.h"
#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"
#include "attn/Dialect/Attn/Utils/SegmentSides.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

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
  Value divisor = asValue(keyHeads);
  divisor = builder.createOrFold<arith::MaxUIOp>(loc, divisor, index(1));
  group =
      builder.createOrFold<arith::DivUIOp>(loc, asValue(queryHeads), divisor);
}

bool attn::hasTensorCores(AttentionBackwardOp op) {
  std::optional<ScheduleAttr> schedule = op.getSchedule();
  return schedule && schedule->getFields().has("mma") &&
         schedule->getValues().mma != MmaFamily::None;
}

/// Reads the mask, then makes the regions fit for padded tiles.
void BackwardTiler::prepareRegions() {
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
    replaceLengths(builder, *region, op.getQuery(), op.getKey());
  IRMapping mapping;
  op.getMaskMod().cloneInto(maskByKey.get(), mapping);
  // A thread of a GPU has more rows of a tile that streams than keys that stay:
  // one search for each is worth it. The CPU's vectors are along keys.
  askSegmentsFrom(builder, op.getMaskMod(), kLoopM);
  askSegmentsFrom(builder, *maskByKey, hasTensorCores(op) ? kLoopN : kLoopM);
  visitedKeys.emplace(op.getMaskMod(), kLoopN, isSmallCache(op), batch,
                      queryHeads);
  visitedRows.emplace(*maskByKey, kLoopM, isSmallCache(op), batch, queryHeads);
  bool padsRows = false, padsKeys = false;
  for (const TileSizes &sizes :
       {queryTiles, keyTiles, valueTiles, scoreTiles}) {
    padsRows |= !divides(sizes.m, rows);
    padsKeys |= !divides(sizes.n, keys);
  }
  // There are whole clusters of what stays.
  padsRows |= !divides(queryTiles.ctas * queryTiles.m, rows);
  for (const TileSizes &sizes : {keyTiles, valueTiles})
    padsKeys |= !divides(sizes.ctas * sizes.n, keys);
  hidesRows = padsRows && op.hasScoreMod() && !op.getLse();
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
    if (!region->empty() && padsRows)
      clampPosition(*region, kLoopM, asValue(rows));
  if (hidesRows)
    maskPadded(*maskByKey, kLoopM, asValue(rows));
  else if (!maskByKey->empty() && padsRows)
    clampPosition(*maskByKey, kLoopM, asValue(rows));
  if (!padsKeys)
    return;
  if (op.hasScoreMod())
    clampPosition(op.getScoreMod(), kLoopN, asValue(keys));
  for (Region *mask : {&op.getMaskMod(), maskByKey.get()})
    maskPadded(*mask, kLoopN, asValue(keys));
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

/// Padded rows have an LSE of -inf: they take no part. Without an LSE their dO
/// is 0, and what they add. Without delta.
RowTile BackwardTiler::getRowTile(const Place &place) {
  auto tile = [&](Value from, double padding = 0) {
    return getTile(from, place, kLoopM, place.h, padding);
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {tile(op.getQuery()), tile(op.getDOutput()),
          op.getLse() ? tile(op.getLse(), -infinity) : Value(), Value()};
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

/// What is valid of `tile`, in the element type of `into`, and where it
/// belongs.
BackwardTiler::Slice BackwardTiler::cutTile(Value tile, Value into,
                                            const Place &place, unsigned loop,
                                            Value head) {
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
  return {tile, offsets, sizes, strides};
}

/// Puts what is valid of `tile` into `into`, at the end of `forall`.
void BackwardTiler::insertTile(Value tile, Value into, const Place &place,
                               unsigned loop, Value head,
                               scf::ForallOp forall) {
  Slice slice = cutTile(tile, into, place, loop, head);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, slice.tile, into,
                                        slice.offsets, slice.sizes,
                                        slice.strides);
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

/// [1, 1, count] zeros.
Value BackwardTiler::createZeroRows(int64_t count) {
  OpFoldResult one = builder.getIndexAttr(1);
  FloatType type = op.getScoreType();
  return createFilled(builder, loc, {one, one, builder.getIndexAttr(count)},
                      type, APFloat::getZero(type.getFloatSemantics()));
}

/// The factor of d_output in a tile of rows; null if there is none.
Value BackwardTiler::getDOutputDescale(const Place &place) {
  Value descale = op.getDescaleOf(3);
  if (!descale)
    return descale;
  return sliceDescale(builder, loc, descale, place.b, place.h,
                      getGroupSize(builder, loc, descale, queryHeads));
}

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

/// Those of all CTAs of the cluster in which a tile begins at `first`: they
/// share what they stream, so that each visits what one of them has to.
RowRange BackwardTiler::getStayingOfCluster(Value first, int64_t tile,
                                            OpFoldResult total) {
  if (tiles.ctas == 1)
    return getStaying(first, tile, total);
  int64_t size = tiles.ctas * tile;
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  Value ofCluster = asValue(affine::makeComposedFoldedAffineApply(
      builder, loc, s0.floorDiv(size) * size, {OpFoldResult(first)}));
  return getStaying(ofCluster, size, total);
}

BackwardStepOp
BackwardTiler::createStep(const RowTile &rowTile, const KeyTile &keyTile,
                          const Place &place, const TileRange &range,
                          Region &maskMod, const StepGradients &gradients) {
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  std::optional<Dropout> dropout = Dropout::get(op);
  auto step = BackwardStepOp::create(
      builder, loc, typeOf(gradients.query), typeOf(gradients.key),
      typeOf(gradients.value), typeOf(gradients.scores), typeOf(gradients.amax),
      rowTile.query, keyTile.key, keyTile.value, getBiasTile(place),
      rowTile.dOutput, rowTile.lse, rowTile.delta, op.getDescales(),
      op.getScaleDs(), ValueRange{place.b, place.h, place.m, place.n},
      gradients.query, gradients.key, gradients.value, gradients.scores,
      gradients.amax, /*capture=*/Value(), dropout ? dropout->seed : Value(),
      dropout ? dropout->offset : Value(),
      dropout ? op.getDropoutRateAttr() : FloatAttr(), op.getScaleAttr(),
      op.getNormalizationAttr(), /*read=*/IntegerAttr(), schedule);
  IRMapping mapping;
  op.getScoreMod().cloneInto(&step.getScoreMod(), mapping);
  if (!range.isMasked)
    return step;
  maskMod.cloneInto(&step.getMaskMod(), mapping);
  if (range.listed)
    specializeMask(step.getMaskMod(), *range.listed);
  return step;
}
