//===- InsertBlockSkipping.cpp - Only visible key tiles ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-insert-block-skipping: the key loops that --attn-tile made
// get the bounds that follow from the mask.
//
//===----------------------------------------------------------------------===//

#include "KeyWalk.h"
#include "RowBounds.h"
#include "TiledForm.h"
#include "attn/Analysis/IndexRanges.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_INSERTBLOCKSKIPPINGPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The mask at a tile
//===----------------------------------------------------------------------===//

/// The query positions of a step's rows.
static RowRange getRows(OpBuilder &builder, OnlineAttentionOp step) {
  Location loc = step.getLoc();
  OpFoldResult first = getAsOpFoldResult(step.getOffsets()[kLoopM]);
  // The size of the tile is an operand of the slice; tensor.dim is not, but
  // means the same where the tile was not made by a slice.
  OpFoldResult count = getDim(builder, loc, step.getQuery(), kSequence);
  if (auto slice = step.getQuery().getDefiningOp<tensor::ExtractSliceOp>())
    if (slice.getMixedSizes().size() == 4)
      count = slice.getMixedSizes()[kSequence];
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  AffineExpr s1 = builder.getAffineSymbolExpr(1);
  OpFoldResult last = affine::makeComposedFoldedAffineApply(
      builder, loc, s0 + s1 - 1, {first, count});
  return {first, last};
}

namespace {
/// Recomputes values of a mask region, or of a key loop's body, before the
/// loop. They depend on (b, h) and on values from outside only.
class TermCloner {
public:
  TermCloner(OpBuilder &builder, OnlineAttentionOp step, scf::ForOp loop)
      : builder(builder), loop(loop) {
    Block &mask = step.getMaskMod().front();
    for (unsigned position : {kLoopB, kLoopH})
      mapping.map(mask.getArgument(position), step.getOffsets()[position]);
  }

  /// The term as an index before the loop.
  OpFoldResult materialize(Value term) {
    return getAsOpFoldResult(castToTerm(builder, term.getLoc(), clone(term)));
  }

private:
  Value clone(Value value) {
    if (mapping.contains(value))
      return mapping.lookup(value);
    if (!loop->isAncestor(value.getParentRegion()->getParentOp()))
      return value;
    for (Value operand : value.getDefiningOp()->getOperands())
      clone(operand);
    builder.clone(*value.getDefiningOp(), mapping);
    return mapping.lookup(value);
  }

  OpBuilder &builder;
  scf::ForOp loop;
  IRMapping mapping;
};
} // namespace

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Ranges that the kernels of a schedule can walk: more cost more to find the
/// next tile than they are likely to skip. Of several the full tiles are walked
/// first, and splits are parts of what is walked, not of the keys.
static unsigned getMostRanges(ScheduleAttr schedule) {
  bool isBand = schedule.getValues().kind == ScheduleKind::SmallCache ||
                walksInOrder(schedule);
  return isBand ? 1 : 4;
}

/// Query heads of a tile: 1, or those of a group.
static int64_t getTileHeads(OnlineAttentionOp step) {
  return AttentionDims::get(step).queryHeads;
}

/// M of the whole attention.
static OpFoldResult getQueryLength(OnlineAttentionOp step) {
  auto forall = step->getParentOfType<scf::ForallOp>();
  return forall && forall.getRank() == 3 ? forall.getMixedUpperBound()[kLoopM]
                                         : OpFoldResult();
}

/// True if the heads of a packed tile may see different keys.
static bool differsByHead(OnlineAttentionOp step) {
  return getTileHeads(step) != 1 &&
         dependsOnArgument(step.getMaskMod(), kLoopH);
}

/// What a cache holds left of a window may be no number, and its page gone.
static void leaveOutKeys(OpBuilder &builder, UnsplitLoops loops,
                         const KeyVisibility &visibility) {
  OnlineAttentionOp step = getStep(loops.first());
  if (!step.getKeyLengths())
    return;
  IndexMath math(builder, step.getLoc());
  OpFoldResult first = visibility.getFirstKey(math);
  if (!first)
    return;
  Value key = getValueOrCreateConstantIndexOp(builder, step.getLoc(), first);
  for (scf::ForOp loop : {loops.whole, loops.ragged})
    if (loop)
      getStep(loop).getFirstKeyMutable().assign(key);
}

/// Gives `loops` ranges of keys; false if nothing is known of them.
static bool boundByRanges(OpBuilder &builder, UnsplitLoops loops,
                          const KeyVisibility &visibility) {
  int64_t tileN = getStep(loops.first()).getSchedule()->getValues().tileN;
  if (visibility.isTrivial())
    return false;
  leaveOutKeys(builder, loops, visibility);
  if (visibility.isBand())
    walkBand(builder, loops, visibility, tileN);
  else
    walkRanges(builder, loops, visibility, tileN);
  return true;
}

/// Makes `loops` walk lists of blocks, those of the mask or of its tiles; false
/// if that is not worth it.
static bool boundByLists(OpBuilder &builder, UnsplitLoops loops,
                         const MaskedTile &tile) {
  std::optional<ListedBlocks> lists = findListedBlocks(tile);
  if (!lists && isWorthListing(tile))
    lists = createBlockLists(tile);
  if (!lists)
    return false;
  walkListedBlocks(builder, loops, tile, *lists);
  return true;
}

/// Where the rows of a step are.
static MaskedTile getMaskedTile(OnlineAttentionOp step, OpFoldResult keys) {
  ScheduleAttr schedule = *step.getSchedule();
  OperandRange offsets = step.getOffsets();
  auto forall = step->getParentOfType<scf::ForallOp>();
  SmallVector<OpFoldResult> extents = forall.getMixedUpperBound();
  return {step.getLoc(),
          forall,
          {extents[kLoopB], extents[kLoopH], extents[kLoopM]},
          step.getMaskMod(),
          {offsets[kLoopB], offsets[kLoopH], offsets[kLoopM]},
          schedule.getValues().tileM / getTileHeads(step),
          schedule.getValues().tileN,
          keys};
}

/// Gives `loops` the bounds of their mask; false if it has none.
static bool boundLoops(UnsplitLoops loops) {
  OnlineAttentionOp step = getStep(loops.first());
  if (differsByHead(step))
    return false;
  OpBuilder builder(loops.first());
  TermCloner terms(builder, step, loops.first());
  OpFoldResult keys = getAsOpFoldResult(loops.last().getUpperBound());
  MaskAnalysis mask = analyzeMask(step.getMaskMod());
  RowRange rows = getRows(builder, step);
  unsigned mostRanges = getMostRanges(*step.getSchedule());
  StaticTiles tiles;
  ScheduleAttr schedule = *step.getSchedule();
  TileGrid grid{getQueryLength(step), keys,
                schedule.getValues().tileM / getTileHeads(step),
                schedule.getValues().tileN};
  if (mostRanges > 1)
    tiles = findStaticTiles(step.getMaskMod(), mask, grid, mostRanges);
  if (tiles.lists) {
    IndexMath math(builder, step.getLoc());
    walkTable(builder, loops, *tiles.lists,
              math.floorDiv(rows.first, grid.tileM), grid.tileN);
    return true;
  }
  // What is computed before the nest knows of no batch's length.
  bool isListed = !step.getKeyLengths() && !tiles.rangesSuffice;
  if (isListed && !areExact(mask.getBands())) {
    MaskedTile tile = getMaskedTile(step, keys);
    if (std::optional<KeyVisibility> visibility =
            computeRowVisibility(builder, tile, mask, mostRanges))
      return boundByRanges(builder, loops, *visibility);
    if (mostRanges > 1 && boundByLists(builder, loops, tile))
      return true;
  }
  return boundByRanges(builder, loops,
                       computeVisibility(
                           builder, step.getLoc(), mask, rows, keys,
                           [&](Value term) { return terms.materialize(term); },
                           mostRanges));
}

namespace {
struct InsertBlockSkipping
    : public attn::impl::InsertBlockSkippingPassBase<InsertBlockSkipping> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<UnsplitLoops> found;
    getOperation().walk([&](NormalizeOp normalize) {
      if (std::optional<UnsplitLoops> loops = getUnsplitLoops(normalize))
        found.push_back(*loops);
    });
    numMasks += found.size();
    for (const UnsplitLoops &loops : found)
      ++(boundLoops(loops) ? numBounded : numMissed);
  }
};
} // namespace
