//===- BackwardMask.cpp - Tiles that a backward visits ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardMask.h"

#include "RowBounds.h"
#include "TiledForm.h"
#include "attn/Analysis/IndexRanges.h"
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

/// Makes the row of a mask its key and the other way round.
static void exchangePositions(Block &mask) {
  BlockArgument row = mask.getArgument(kLoopM), key = mask.getArgument(kLoopN);
  SmallVector<OpOperand *> ofRow(llvm::make_pointer_range(row.getUses()));
  key.replaceAllUsesWith(row);
  for (OpOperand *use : ofRow)
    use->set(key);
}

VisitedTiles::VisitedTiles(Region &maskMod, unsigned streamed, bool asBand,
                           OpFoldResult batches, OpFoldResult heads)
    : asBand(asBand), batches(batches), heads(heads),
      region(std::make_unique<Region>()) {
  if (maskMod.empty())
    return;
  auto copyInto = [&](Region &copy) {
    IRMapping mapping;
    maskMod.cloneInto(&copy, mapping);
  };
  copyInto(*region);
  if (streamed == kLoopM) {
    // The analysis bounds keys for given rows: exchanged, rows for given keys.
    original = std::make_unique<Region>();
    copyInto(*original);
    exchangePositions(region->front());
  }
  mask = analyzeMask(*region);
}

bool VisitedTiles::differsByHead() const {
  return !region->empty() && dependsOnArgument(*region, kLoopH);
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

KeyVisibility VisitedTiles::getVisibility(OpBuilder &builder,
                                          const MaskedTile &tile,
                                          const RowRange &stay,
                                          OpFoldResult total) {
  Location loc = tile.loc;
  if (!mask)
    return {{KeyRange()}, {KeyRange()}};
  IRMapping mapping;
  for (unsigned dim : {kLoopB, kLoopH})
    mapping.map(region->getArgument(dim), tile.at[dim]);
  auto materialize = [&](Value term) -> OpFoldResult {
    Value value = cloneOut(builder, term, *region, mapping);
    return getAsOpFoldResult(castToTerm(builder, loc, value));
  };
  return computeVisibility(builder, loc, *mask, stay, total, materialize,
                           asBand ? 1 : kMostRanges);
}

namespace {
/// Up to which count of positions there are tiles of one kind.
struct RangeEnd {
  OpFoldResult end;
  bool isMasked;
  KeyFinder find = nullptr;
  std::optional<unsigned> listed = std::nullopt;
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
    ranges.push_back({lower, upper, range.isMasked, range.find, range.listed});
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

/// The tiles of lists that are made on the device, or given.
static SmallVector<TileRange> walkLists(OpBuilder &builder,
                                        const MaskedTile &tile,
                                        const ListedBlocks &blocks,
                                        bool isEndWhole) {
  IndexMath math(builder, tile.loc);
  bool isEndCut = !isEndWhole && !divides(tile.tileN, tile.keys);
  OpFoldResult begin = math.constant(0);
  SmallVector<RangeEnd> ends;
  for (const ListedBlocks::List &list : blocks.lists) {
    ListReader reader(builder, tile, blocks, list);
    auto find = [reader, begin](IndexMath &inside, OpFoldResult count) {
      return reader.getKey(inside.getBuilder(), inside.sub(count, begin));
    };
    if (list.isFull && isEndCut) {
      // The last tile needs the mask where it is padded.
      OpFoldResult tiles = math.floorDiv(reader.getLength(builder), tile.tileN);
      ends.push_back({math.add(begin, math.mul(tiles, tile.tileN)),
                      /*isMasked=*/false, find});
    }
    begin = math.add(begin, reader.getPaddedLength(builder));
    ends.push_back({begin, !list.isFull || isEndCut, find, list.number});
  }
  return makeRanges(builder, tile.loc, math.constant(0), ends);
}

/// The lists of the mask, or if it is worth it lists made of bounds from data,
/// or of all pairs.
std::optional<ListedBlocks> VisitedTiles::getLists(const MaskedTile &tile) {
  if (std::optional<ListedBlocks> lists = findListedBlocks(tile))
    return lists;
  if (original)
    if (std::optional<ListedBlocks> lists = createListsOfBounds(
            tile, *original, analyzeMask(*original), kMostRanges))
      return lists;
  return isWorthListing(tile) ? std::optional(createBlockLists(tile))
                              : std::nullopt;
}

SmallVector<TileRange> VisitedTiles::get(OpBuilder &builder, Location loc,
                                         Value batch, Value head,
                                         const RowRange &stay, TileGrid grid) {
  auto forall = builder.getInsertionBlock()
                    ->getParent()
                    ->getParentOfType<scf::ForallOp>();
  MaskedTile tile{
      loc,
      forall,
      {batches, heads, grid.rows},
      *region,
      {batch, head, getValueOrCreateConstantIndexOp(builder, loc, stay.first)},
      grid.tileM,
      grid.tileN,
      grid.keys};
  std::optional<KeyVisibility> visibility;
  if (mask && !asBand) {
    StaticTiles tiles = findStaticTiles(*region, *mask, grid, kMostRanges);
    if (tiles.lists)
      return walkTable(builder, loc, *tiles.lists, stay, grid);
    if (!tiles.rangesSuffice && !areExact(mask->getBands())) {
      visibility = computeRowVisibility(builder, tile, *mask, kMostRanges);
      if (!visibility)
        if (std::optional<ListedBlocks> lists = getLists(tile))
          return walkLists(builder, tile, *lists, grid.isEndWhole);
    }
  }
  IndexMath math(builder, loc);
  OpFoldResult end = grid.keys;
  if (grid.isEndWhole)
    grid.keys = math.mul(math.ceilDiv(end, grid.tileN), grid.tileN);
  if (!visibility)
    visibility = getVisibility(builder, tile, stay, grid.keys);
  // What is past the end is no reason to visit the last tile.
  if (grid.keys != end)
    for (KeyRange &range : visibility->some)
      if (range.lower)
        range.upper = range.upper ? math.min({range.upper, end}) : end;
  return visibility->isBand() ? walkBand(builder, loc, *visibility, grid)
                              : walkRanges(builder, loc, *visibility, grid);
}
