//===- BackwardMask.cpp - Tiles that a backward visits ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardMask.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

/// As for the forward: more ranges cost more to find the next tile than they
/// are likely to skip.
static constexpr unsigned kMostRanges = 4;

VisitedTiles::VisitedTiles(Region &maskMod, unsigned streamed)
    : region(std::make_unique<Region>()) {
  if (maskMod.empty())
    return;
  // The analysis bounds keys for given rows: exchanged, rows for given keys.
  Block &from = maskMod.front(), &to = region->emplaceBlock();
  for (BlockArgument argument : from.getArguments())
    to.addArgument(argument.getType(), argument.getLoc());
  IRMapping mapping;
  mapping.map(from.getArguments(), to.getArguments());
  if (streamed == kLoopM) {
    mapping.map(from.getArgument(kLoopM), to.getArgument(kLoopN));
    mapping.map(from.getArgument(kLoopN), to.getArgument(kLoopM));
  }
  OpBuilder builder(from.back().getContext());
  builder.setInsertionPointToEnd(&to);
  for (Operation &op : from)
    builder.clone(op, mapping);
  mask = analyzeMask(*region);
}

bool VisitedTiles::differsByHead() const {
  return !region->empty() && !region->getArgument(kLoopH).use_empty();
}

/// Computes `value` of a mask at the given place, outside of it.
static Value cloneOut(OpBuilder &builder, Value value, Region &region,
                      IRMapping &mapping) {
  if (mapping.contains(value) || value.getParentRegion() != &region)
    return mapping.lookupOrDefault(value);
  for (Value operand : value.getDefiningOp()->getOperands())
    cloneOut(builder, operand, region, mapping);
  builder.clone(*value.getDefiningOp(), mapping);
  return mapping.lookup(value);
}

Value TileRange::getPosition(OpBuilder &builder, Location loc,
                             Value count) const {
  if (!find)
    return count;
  IndexMath math(builder, loc);
  return getValueOrCreateConstantIndexOp(builder, loc,
                                         find(math, OpFoldResult(count)));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

KeyVisibility VisitedTiles::getVisibility(OpBuilder &builder, Location loc,
                                          Value batch, Value head,
                                          const RowRange &stay,
                                          OpFoldResult total) {
  if (!mask)
    return {{KeyRange()}, {KeyRange()}};
  IRMapping mapping;
  mapping.map(region->getArgument(kLoopB), batch);
  mapping.map(region->getArgument(kLoopH), head);
  auto materialize = [&](Value term) -> OpFoldResult {
    Value value = cloneOut(builder, term, *region, mapping);
    Type index = builder.getIndexType();
    if (value.getType().isInteger(1))
      value = arith::IndexCastUIOp::create(builder, loc, index, value);
    else if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, loc, index, value);
    return getAsOpFoldResult(value);
  };
  return computeVisibility(builder, loc, *mask, stay, total, materialize,
                           kMostRanges);
}

namespace {
/// Up to which count of positions there are tiles of one kind.
struct RangeEnd {
  OpFoldResult end;
  bool isMasked;
  KeyFinder find = nullptr;
};
} // namespace

/// Ranges that follow each other from `begin` on. Those that are known to be
/// empty are left out; one stays.
static SmallVector<TileRange> makeRanges(OpBuilder &builder, Location loc,
                                         OpFoldResult begin,
                                         ArrayRef<RangeEnd> ends) {
  SmallVector<TileRange> ranges;
  Value lower = getValueOrCreateConstantIndexOp(builder, loc, begin);
  for (const RangeEnd &range : ends) {
    bool isNeeded = &range == &ends.back() && ranges.empty();
    if (isEqualConstantIntOrValue(begin, range.end) && !isNeeded)
      continue;
    Value upper = getValueOrCreateConstantIndexOp(builder, loc, range.end);
    ranges.push_back({lower, upper, range.isMasked, range.find});
    begin = range.end;
    lower = upper;
  }
  return ranges;
}

static SmallVector<TileRange> walkBand(OpBuilder &builder, Location loc,
                                       const KeyVisibility &visibility,
                                       const TileGrid &grid) {
  KeyTileBounds bounds =
      computeKeyTileBounds(builder, loc, visibility, grid.tileN, grid.keys);
  OpFoldResult end = grid.isEndWhole ? bounds.end : bounds.raggedEnd;
  return makeRanges(builder, loc, bounds.begin,
                    {{bounds.fullBegin, /*isMasked=*/true},
                     {bounds.fullEnd, /*isMasked=*/false},
                     {end, /*isMasked=*/true}});
}

static SmallVector<TileRange> walkRanges(OpBuilder &builder, Location loc,
                                         const KeyVisibility &visibility,
                                         const TileGrid &grid) {
  KeyTileWalk walk =
      computeKeyTileWalk(builder, loc, visibility, grid.tileN, grid.keys);
  IndexMath math(builder, loc);
  OpFoldResult end = math.constant(0);
  SmallVector<RangeEnd> ends;
  SmallVector<KeyTileSequence *> sequences = {&walk.full, &walk.partial};
  if (!grid.isEndWhole)
    sequences.push_back(&walk.ragged);
  for (KeyTileSequence *sequence : sequences) {
    // The count goes on from loop to loop.
    sequence->first = math.sub(sequence->first, end);
    end = math.add(end, sequence->length);
    ends.push_back({end, sequence != &walk.full,
                    [tiles = *sequence](IndexMath &inside, OpFoldResult count) {
                      return tiles.getKey(inside, count);
                    }});
  }
  return makeRanges(builder, loc, math.constant(0), ends);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The ragged tile is padded: a masked one like others.
static SmallVector<TileRange> walkTable(OpBuilder &builder, Location loc,
                                        const BlockLists &lists,
                                        const RowRange &stay,
                                        const TileGrid &grid) {
  IndexMath math(builder, loc);
  ListedTiles list = readList(
      builder, loc, lists, math.floorDiv(stay.first, grid.tileM), grid.tileN);
  return makeRanges(
      builder, loc, math.constant(0),
      {{OpFoldResult(list.fullEnd), /*isMasked=*/false, list.find},
       {OpFoldResult(list.raggedEnd), /*isMasked=*/true, list.find}});
}

SmallVector<TileRange> VisitedTiles::get(OpBuilder &builder, Location loc,
                                         Value batch, Value head,
                                         const RowRange &stay, TileGrid grid) {
  if (mask) {
    StaticTiles tiles = findStaticTiles(*region, *mask, grid, kMostRanges);
    if (tiles.lists)
      return walkTable(builder, loc, *tiles.lists, stay, grid);
  }
  IndexMath math(builder, loc);
  OpFoldResult end = grid.keys;
  if (grid.isEndWhole)
    grid.keys = math.mul(math.ceilDiv(end, grid.tileN), grid.tileN);
  KeyVisibility visibility =
      getVisibility(builder, loc, batch, head, stay, grid.keys);
  // What is past the end is no reason to visit the last tile.
  if (grid.keys != end)
    for (KeyRange &range : visibility.some)
      if (range.lower)
        range.upper = range.upper ? math.min({range.upper, end}) : end;
  return visibility.isBand() ? walkBand(builder, loc, visibility, grid)
                             : walkRanges(builder, loc, visibility, grid);
}
