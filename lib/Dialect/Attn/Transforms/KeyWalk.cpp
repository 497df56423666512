//===- KeyWalk.cpp - Loops over the key tiles of a mask ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyWalk.h"
#include "TiledForm.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

std::optional<UnsplitLoops> attn::getUnsplitLoops(NormalizeOp normalize) {
  KeyLoops keys = getKeyLoops(normalize);
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

void attn::removeMask(scf::ForOp loop) {
  Region &mask = getStep(loop).getMaskMod();
  mask.dropAllReferences();
  mask.getBlocks().clear();
}

/// True if the loop over the ragged end can walk the partial tiles before it,
/// too: it costs a kernel no more for each score to compare with the end of the
/// keys, and one body less is compiled. A CPU gains by sizes that are known,
/// and reads of captured tensors must be kept from the end.
static bool takesPartialTiles(scf::ForOp ragged) {
  if (!ragged)
    return false;
  OnlineAttentionOp step = getStep(ragged);
  ScheduleAttr schedule = *step.getSchedule();
  bool isOfGpu = schedule.getFields().has("mma") &&
                 schedule.getValues().mma != MmaFamily::None;
  auto reads = [](Region &mod) {
    return mod.walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  return isOfGpu && !step.getBias() && !reads(step.getMaskMod()) &&
         !reads(step.getScoreMod()) && !reads(step.getProbMod());
}

/// Where a mask hides all keys, and that is known, makes a loop that does not
/// run: what a nest computes its step says.
static void keepStep(OpBuilder &builder, scf::ForOp loop, Value end,
                     SmallVector<Value> &state) {
  if (!llvm::equal(state, loop.getInitArgs()))
    return;
  scf::ForOp none = cloneKeyLoop(builder, loop, end, end, state);
  state.assign(none->result_begin(), none->result_end());
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Makes the body of a key loop compute its key from the induction variable.
static void replacePosition(scf::ForOp loop, const KeyFinder &getKey) {
  Value position = loop.getInductionVar();
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(position.getUses()));
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath math(builder, loop.getLoc());
  Value key = getValueOrCreateConstantIndexOp(
      builder, loop.getLoc(), getKey(math, OpFoldResult(position)));
  for (OpOperand *use : uses)
    use->set(key);
}

void attn::walkParts(OpBuilder &builder, UnsplitLoops loops, OpFoldResult begin,
                     ArrayRef<WalkPart> parts) {
  Value lower =
      getValueOrCreateConstantIndexOp(builder, loops.first().getLoc(), begin);
  SmallVector<Value> state(loops.first().getInitArgs());
  for (const WalkPart &part : parts) {
    if (!part.loop || isEqualConstantIntOrValue(lower, part.end))
      continue;
    // What is invariant in a loop has been moved to its front.
    builder.setInsertionPoint(part.loop);
    scf::ForOp copy = cloneKeyLoop(builder, part.loop, lower, part.end, state);
    if (part.isFull)
      removeMask(copy);
    if (part.prepare)
      part.prepare(copy);
    if (part.find)
      replacePosition(copy, part.find);
    state.assign(copy->result_begin(), copy->result_end());
    lower = part.end;
  }
  scf::ForOp last = loops.last();
  builder.setInsertionPoint(last);
  keepStep(builder, loops.first(), lower, state);
  last->replaceAllUsesWith(state);
  last.erase();
  if (loops.whole && loops.whole != last)
    loops.whole.erase();
}

bool attn::walksInOrder(ScheduleAttr schedule) {
  return schedule.getValues().invariance == Invariance::Prefix;
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

namespace {
/// How a band is walked: in a circle from its first full tile on, so that the
/// partial tiles after the full ones and those before them are one loop.
///
///   begin       fullBegin       fullEnd           end    raggedEnd
///     | partial 2 |     full      |   partial 1   | ragged |
///
/// Until it wraps around, the induction variable is the key.
struct BandWalk {
  OpFoldResult begin, end, raggedEnd;
  KeyFinder find, findRagged;
};
} // namespace

/// Bends the walk over `bounds` to a circle, which turns at `turn`.
static BandWalk bendToCircle(IndexMath math, const KeyTileBounds &bounds,
                             OpFoldResult turn) {
  OpFoldResult before = math.sub(bounds.fullBegin, bounds.begin);
  OpFoldResult circle = math.sub(turn, bounds.begin);
  auto find = [=](IndexMath &inside, OpFoldResult count) {
    OpFoldResult isBefore = inside.below(count, turn);
    return inside.select(isBefore, count, inside.sub(count, circle));
  };
  auto findRagged = [=](IndexMath &inside, OpFoldResult count) {
    return inside.sub(count, before);
  };
  return {bounds.fullBegin, math.add(turn, before),
          math.add(bounds.raggedEnd, before), find, findRagged};
}

void attn::walkBand(OpBuilder &builder, UnsplitLoops loops,
                    const KeyVisibility &visibility, int64_t tileN) {
  Location loc = loops.first().getLoc();
  OpFoldResult keys = getAsOpFoldResult(loops.last().getUpperBound());
  KeyTileBounds bounds =
      computeKeyTileBounds(builder, loc, visibility, tileN, keys);
  bool isMasked =
      visibility.all.empty() || !visibility.all.front().isUnlimited();
  bool sharesRagged = isMasked && takesPartialTiles(loops.ragged);
  // A small_cache schedule keeps scores side by side, as their keys are; and
  // splits of split_keys are ranges of keys.
  ScheduleAttr schedule = *getStep(loops.first()).getSchedule();
  bool isInOrder = schedule.getValues().kind == ScheduleKind::SmallCache ||
                   schedule.getValues().splitKeys > 0 || walksInOrder(schedule);
  bool isCircle = loops.whole && bounds.fullBegin != bounds.begin && !isInOrder;
  IndexMath math(builder, loc);
  OpFoldResult end = sharesRagged ? bounds.raggedEnd : bounds.end;
  BandWalk walk{bounds.begin, end, bounds.raggedEnd, nullptr, nullptr};
  if (isCircle)
    walk =
        bendToCircle(math, bounds, math.mul(math.ceilDiv(end, tileN), tileN));
  auto toValue = [&](OpFoldResult key) {
    return getValueOrCreateConstantIndexOp(builder, loc, key);
  };
  SmallVector<WalkPart> parts;
  if (!isCircle)
    parts.push_back({loops.whole, toValue(bounds.fullBegin), false, nullptr});
  parts.push_back({loops.whole, toValue(bounds.fullEnd), true, nullptr});
  parts.push_back({sharesRagged ? loops.ragged : loops.whole, toValue(walk.end),
                   false, walk.find});
  if (!sharesRagged)
    parts.push_back(
        {loops.ragged, toValue(walk.raggedEnd), !isMasked, walk.findRagged});
  walkParts(builder, loops, walk.begin, parts);
}

void attn::walkRanges(OpBuilder &builder, UnsplitLoops loops,
                      const KeyVisibility &visibility, int64_t tileN) {
  Location loc = loops.first().getLoc();
  OpFoldResult keys = getAsOpFoldResult(loops.last().getUpperBound());
  KeyTileWalk walk = computeKeyTileWalk(builder, loc, visibility, tileN, keys);
  IndexMath math(builder, loc);
  OpFoldResult end = math.constant(0);
  SmallVector<WalkPart> parts;
  for (KeyTileSequence *sequence : {&walk.full, &walk.partial, &walk.ragged}) {
    // The count goes on from loop to loop.
    sequence->first = math.sub(sequence->first, end);
    end = math.add(end, sequence->length);
    parts.push_back({sequence == &walk.ragged ? loops.ragged : loops.whole,
                     getValueOrCreateConstantIndexOp(builder, loc, end),
                     sequence == &walk.full,
                     [sequence](IndexMath &inside, OpFoldResult count) {
                       return sequence->getKey(inside, count);
                     }});
  }
  walkParts(builder, loops, builder.getIndexAttr(0), parts);
}

void attn::walkTable(OpBuilder &builder, UnsplitLoops loops,
                     const BlockLists &lists, OpFoldResult rowTile,
                     int64_t tileN) {
  ListedTiles list =
      readList(builder, loops.first().getLoc(), lists, rowTile, tileN);
  walkParts(builder, loops, builder.getIndexAttr(0),
            {{loops.whole, list.fullEnd, true, list.find},
             {loops.whole, list.partialEnd, false, list.find},
             {loops.ragged, list.raggedEnd, false, list.find}});
}

void attn::walkListedBlocks(OpBuilder &builder, UnsplitLoops loops,
                            const MaskedTile &place, const ListedBlocks &mask) {
  Location loc = place.loc;
  int64_t tile = place.tileN;
  IndexMath math(builder, loc);
  OpFoldResult raggedKey = math.mul(math.floorDiv(place.keys, tile), tile);
  OpFoldResult end = math.constant(0);
  SmallVector<WalkPart> whole, ragged;
  SmallVector<OpFoldResult> rests;
  for (const ListedBlocks::List &list : mask.lists) {
    ListReader reader(builder, place, mask, list);
    OpFoldResult length = reader.getLength(builder);
    OpFoldResult tiles = math.mul(math.floorDiv(length, tile), tile);
    rests.push_back(math.sub(length, tiles));
    auto prepare = [&list](scf::ForOp copy) {
      if (list.number && !list.isFull)
        specializeMask(getStep(copy).getMaskMod(), *list.number);
    };
    OpFoldResult begin = end;
    end = math.add(end, tiles);
    auto find = [reader, begin](IndexMath &inside, OpFoldResult count) {
      return reader.getKey(inside.getBuilder(), inside.sub(count, begin));
    };
    whole.push_back({loops.whole,
                     getValueOrCreateConstantIndexOp(builder, loc, end),
                     list.isFull, find, prepare});
    ragged.push_back({loops.ragged, Value(), list.isFull, nullptr, prepare});
  }
  for (auto [part, rest] : llvm::zip_equal(ragged, rests)) {
    OpFoldResult begin = end;
    part.find = [raggedKey, begin](IndexMath &inside, OpFoldResult count) {
      return inside.add(raggedKey, inside.sub(count, begin));
    };
    end = math.add(end, rest);
    part.end = getValueOrCreateConstantIndexOp(builder, loc, end);
  }
  whole.append(ragged);
  walkParts(builder, loops, builder.getIndexAttr(0), whole);
}
