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

#include "BlockLists.h"
#include "TiledForm.h"
#include "attn/Analysis/KeyTiles.h"
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
    Value value = clone(term);
    Type index = builder.getIndexType();
    if (value.getType().isInteger(1))
      value =
          arith::IndexCastUIOp::create(builder, term.getLoc(), index, value);
    else if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, term.getLoc(), index, value);
    return getAsOpFoldResult(value);
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
// The loops
//===----------------------------------------------------------------------===//

/// The key loops as --attn-tile makes them: one over whole tiles, one over the
/// ragged end; either may be absent.
struct UnsplitLoops {
  scf::ForOp whole;
  scf::ForOp ragged;

  scf::ForOp first() const { return whole ? whole : ragged; }
  scf::ForOp last() const { return ragged ? ragged : whole; }
};

/// The loops before `normalize`, if they have a mask and are not split yet.
static std::optional<UnsplitLoops> getUnsplitLoops(NormalizeOp normalize) {
  KeyLoops keys = getKeyLoops(getFinalState(normalize));
  UnsplitLoops result;
  for (scf::ForOp loop : keys.loops) {
    OnlineAttentionOp step = getStep(loop);
    if (!step || !step.hasMaskMod())
      return std::nullopt;
    scf::ForOp &slot = hasStaticKeyTile(loop) ? result.whole : result.ragged;
    if (slot || (result.ragged && hasStaticKeyTile(loop)))
      return std::nullopt;
    slot = loop;
  }
  bool startsAtZero =
      result.first() &&
      isConstantIntValue(getAsOpFoldResult(result.first().getLowerBound()), 0);
  return startsAtZero ? std::optional(result) : std::nullopt;
}

/// A copy of `loop` over [lower, upper) from state `init`.
static scf::ForOp cloneKeyLoop(OpBuilder &builder, scf::ForOp loop, Value lower,
                               Value upper, ValueRange init) {
  auto copy = cast<scf::ForOp>(builder.clone(*loop));
  copy.setLowerBound(lower);
  copy.setUpperBound(upper);
  copy.getInitArgsMutable().assign(init);
  return copy;
}

static void removeMask(scf::ForOp loop) {
  Region &mask = getStep(loop).getMaskMod();
  mask.dropAllReferences();
  mask.getBlocks().clear();
}

/// Replaces the loop over whole tiles by loops over its partial and full tiles.
/// Returns where they end and their state.
static std::pair<Value, SmallVector<Value>>
splitWholeTiles(OpBuilder &builder, scf::ForOp whole,
                const KeyTileBounds &bounds) {
  Location loc = whole.getLoc();
  struct Part {
    OpFoldResult end;
    bool isFull;
  };
  Part parts[] = {
      {bounds.fullBegin, false}, {bounds.fullEnd, true}, {bounds.end, false}};
  OpFoldResult begin = bounds.begin;
  Value lower = getValueOrCreateConstantIndexOp(builder, loc, begin);
  SmallVector<Value> state(whole.getInitArgs());
  for (const Part &part : parts) {
    if (part.end == begin)
      continue;
    Value upper = getValueOrCreateConstantIndexOp(builder, loc, part.end);
    scf::ForOp loop = cloneKeyLoop(builder, whole, lower, upper, state);
    if (part.isFull)
      removeMask(loop);
    state.assign(loop->result_begin(), loop->result_end());
    lower = upper;
    begin = part.end;
  }
  return {lower, state};
}

/// Gives the loops the bounds of a band.
static void walkBand(OpBuilder &builder, UnsplitLoops loops,
                     const KeyVisibility &visibility, int64_t tileN) {
  Location loc = loops.first().getLoc();
  OpFoldResult keys = getAsOpFoldResult(loops.last().getUpperBound());
  KeyTileBounds bounds =
      computeKeyTileBounds(builder, loc, visibility, tileN, keys);
  Value end = getValueOrCreateConstantIndexOp(builder, loc, bounds.end);
  SmallVector<Value> state(loops.first().getInitArgs());
  if (loops.whole)
    std::tie(end, state) = splitWholeTiles(builder, loops.whole, bounds);
  if (loops.ragged) {
    loops.ragged.setLowerBound(end);
    loops.ragged.setUpperBound(
        getValueOrCreateConstantIndexOp(builder, loc, bounds.raggedEnd));
    loops.ragged.getInitArgsMutable().assign(state);
    if (!visibility.all.empty() && visibility.all.front().isUnlimited())
      removeMask(loops.ragged);
  }
  if (loops.whole) {
    loops.whole->replaceAllUsesWith(state);
    loops.whole.erase();
  }
}

//===----------------------------------------------------------------------===//
// Several ranges
//===----------------------------------------------------------------------===//

/// Gives a loop the key of the tile at a count of keys.
using KeyFinder =
    llvm::function_ref<OpFoldResult(IndexMath &math, OpFoldResult count)>;

/// Makes the body of a key loop compute its key from the induction variable.
static void replacePosition(scf::ForOp loop, KeyFinder getKey) {
  Value position = loop.getInductionVar();
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(position.getUses()));
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath math(builder, loop.getLoc());
  Value key = getValueOrCreateConstantIndexOp(
      builder, loop.getLoc(), getKey(math, OpFoldResult(position)));
  for (OpOperand *use : uses)
    use->set(key);
}

/// Where the loops of a walk begin and end: full tiles in [0], [1], partial
/// ones in [1], [2], the ragged one in [2], [3]. All are there before the first
/// loop.
using WalkBounds = std::array<Value, 4>;

/// Replaces the loops by one over the full tiles, one over the partial tiles
/// and the ragged end. Their induction variables count keys; the body finds the
/// tile that the count means.
static void walkTiles(OpBuilder &builder, UnsplitLoops loops,
                      const WalkBounds &bounds, KeyFinder findFull,
                      KeyFinder findPartial, KeyFinder findRagged) {
  SmallVector<Value> state(loops.first().getInitArgs());
  if (loops.whole) {
    for (bool isFull : {true, false}) {
      Value lower = bounds[!isFull], upper = bounds[!isFull + 1];
      if (isEqualConstantIntOrValue(lower, upper))
        continue;
      scf::ForOp copy = cloneKeyLoop(builder, loops.whole, lower, upper, state);
      if (isFull)
        removeMask(copy);
      replacePosition(copy, isFull ? findFull : findPartial);
      state.assign(copy->result_begin(), copy->result_end());
    }
    loops.whole->replaceAllUsesWith(state);
    loops.whole.erase();
  }
  if (loops.ragged) {
    loops.ragged.setLowerBound(bounds[2]);
    loops.ragged.setUpperBound(bounds[3]);
    replacePosition(loops.ragged, findRagged);
  }
}

/// Walks the tiles of several ranges of keys.
static void walkRanges(OpBuilder &builder, UnsplitLoops loops,
                       const KeyVisibility &visibility, int64_t tileN) {
  Location loc = loops.first().getLoc();
  OpFoldResult keys = getAsOpFoldResult(loops.last().getUpperBound());
  KeyTileWalk walk = computeKeyTileWalk(builder, loc, visibility, tileN, keys);
  IndexMath math(builder, loc);
  OpFoldResult end = math.constant(0);
  WalkBounds bounds;
  bounds[0] = getValueOrCreateConstantIndexOp(builder, loc, end);
  KeyTileSequence *sequences[] = {&walk.full, &walk.partial, &walk.ragged};
  for (auto [sequence, bound] :
       llvm::zip_equal(sequences, llvm::drop_begin(bounds))) {
    // The count goes on from loop to loop.
    sequence->first = math.sub(sequence->first, end);
    end = math.add(end, sequence->length);
    bound = getValueOrCreateConstantIndexOp(builder, loc, end);
  }
  auto find = [](const KeyTileSequence &sequence) {
    return [&](IndexMath &inside, OpFoldResult count) {
      return sequence.getKey(inside, count);
    };
  };
  walkTiles(builder, loops, bounds, find(walk.full), find(walk.partial),
            find(walk.ragged));
}

/// Query heads of a tile: 1, or those of a group.
static int64_t getTileHeads(OnlineAttentionOp step) {
  return AttentionDims::get(step).queryHeads;
}

/// Walks the tiles of lists.
static void walkLists(OpBuilder &builder, UnsplitLoops loops,
                      const BlockLists &lists, const RowRange &rows) {
  OnlineAttentionOp step = getStep(loops.first());
  ScheduleAttr schedule = *step.getSchedule();
  Location loc = step.getLoc();
  auto type = RankedTensorType::get(lists.table.size(), builder.getI32Type());
  auto forall = loops.first()->getParentOfType<scf::ForallOp>();
  OpBuilder outside(forall);
  Value table = arith::ConstantOp::create(
      outside, loc, DenseIntElementsAttr::get(type, lists.table));
  auto read = [&](OpBuilder &inside, OpFoldResult position) -> Value {
    Value entry = tensor::ExtractOp::create(
        inside, loc, table,
        getValueOrCreateConstantIndexOp(inside, loc, position));
    return arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                      entry);
  };
  IndexMath math(builder, loc);
  int64_t tileM = schedule.getTileM() / getTileHeads(step);
  OpFoldResult header =
      math.mul(math.floorDiv(rows.first, tileM), BlockLists::kHeader);
  auto readHeader = [&](BlockLists::Header field) {
    return read(builder, math.add(header, math.constant(field)));
  };
  Value begin = readHeader(BlockLists::kBegin);
  Value tileN =
      arith::ConstantIndexOp::create(builder, loc, schedule.getTileN());
  WalkBounds bounds = {arith::ConstantIndexOp::create(builder, loc, 0),
                       readHeader(BlockLists::kFullEnd),
                       readHeader(BlockLists::kPartialEnd),
                       readHeader(BlockLists::kRaggedEnd)};
  auto find = [&](IndexMath &inside, OpFoldResult count) -> OpFoldResult {
    OpBuilder &body = inside.getBuilder();
    Value number = arith::DivUIOp::create(
        body, loc, getValueOrCreateConstantIndexOp(body, loc, count), tileN);
    Value position = arith::AddIOp::create(body, loc, begin, number);
    return read(body, position);
  };
  walkTiles(builder, loops, bounds, find, find, find);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Ranges that the kernels of a schedule can walk: more cost more to find the
/// next tile than they are likely to skip.
static unsigned getMostRanges(ScheduleAttr schedule) {
  return schedule.getKind() == "small_cache" ? 1 : 4;
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
         !step.getMaskMod().getArgument(kLoopH).use_empty();
}

/// Gives `loops` the bounds of their mask; false if it has none.
static bool boundLoops(UnsplitLoops loops) {
  OnlineAttentionOp step = getStep(loops.first());
  if (differsByHead(step))
    return false;
  ScheduleAttr schedule = *step.getSchedule();
  OpBuilder builder(loops.first());
  TermCloner terms(builder, step, loops.first());
  OpFoldResult keys = getAsOpFoldResult(loops.last().getUpperBound());
  MaskAnalysis mask = analyzeMask(step.getMaskMod());
  RowRange rows = getRows(builder, step);
  unsigned mostRanges = getMostRanges(schedule);
  if (mostRanges > 1)
    if (std::optional<BlockLists> lists = findBlockLists(
            step, mask, getQueryLength(step), keys, mostRanges)) {
      walkLists(builder, loops, *lists, rows);
      return true;
    }
  KeyVisibility visibility = computeVisibility(
      builder, step.getLoc(), mask, rows, keys,
      [&](Value term) { return terms.materialize(term); }, mostRanges);
  if (visibility.isTrivial())
    return false;
  if (visibility.isBand())
    walkBand(builder, loops, visibility, schedule.getTileN());
  else
    walkRanges(builder, loops, visibility, schedule.getTileN());
  return true;
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
