//===- KeyTiles.cpp - Key tiles that a tile of rows visits ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KeyTiles.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;

using Number = IndexMath::Number;

//===----------------------------------------------------------------------===//
// One band
//===----------------------------------------------------------------------===//

KeyTileBounds attn::computeKeyTileBounds(OpBuilder &builder, Location loc,
                                         const KeyVisibility &visibility,
                                         int64_t tileN, OpFoldResult keys) {
  assert(visibility.isBand() && "expected one range of each kind");
  IndexMath math(builder, loc);
  AffineExpr s0 = math.symbol(0), s1 = math.symbol(1);
  auto roundDown = [&](Number key) {
    return math.apply(s0.floorDiv(tileN) * tileN, {key});
  };
  auto roundUp = [&](Number key) {
    return math.apply(s0.ceilDiv(tileN) * tileN, {key});
  };
  const KeyRange &some = visibility.some.front();
  Number zero = math.constant(0), staticEnd = roundDown(keys);
  Number lower = some.lower ? math.max({some.lower, zero}) : zero;
  Number upper = some.upper ? math.min({some.upper, keys}) : keys;

  KeyTileBounds bounds;
  bounds.begin = some.lower ? math.min({roundDown(lower), staticEnd}) : zero;
  bounds.end = staticEnd;
  bounds.raggedEnd = keys;
  if (some.lower) {
    // If no key is visible at all, `limit` is `begin`, and so are both ends;
    // else it does not bind, for n >= 1 keys touch at most n tiles.
    Number count = math.max({math.sub(upper, lower), zero});
    Number limit = math.apply(s0 + s1 * tileN, {bounds.begin, count});
    bounds.end =
        math.max({bounds.begin, math.min({roundUp(upper), limit, staticEnd})});
    bounds.raggedEnd = math.max({bounds.end, math.min({upper, limit})});
  } else if (some.upper) {
    bounds.end = math.max({zero, math.min({roundUp(upper), staticEnd})});
    bounds.raggedEnd = math.max({bounds.end, upper});
  }
  auto clamp = [&](Number key, Number low) {
    return math.max({low, math.min({key, bounds.end})});
  };
  bounds.fullBegin = bounds.fullEnd = bounds.begin;
  if (visibility.all.empty())
    return bounds;
  const KeyRange &all = visibility.all.front();
  if (all.lower)
    bounds.fullBegin = clamp(roundUp(all.lower), bounds.begin);
  bounds.fullEnd =
      all.upper ? clamp(roundDown(all.upper), bounds.fullBegin) : bounds.end;
  return bounds;
}

//===----------------------------------------------------------------------===//
// Ranges of numbers
//===----------------------------------------------------------------------===//

namespace {
/// [begin, end), in keys or tiles; begin <= end.
struct Range {
  Number begin, end;
};
using Ranges = SmallVector<Range>;

/// Builds the walk over the tiles of several ranges.
class WalkBuilder {
public:
  WalkBuilder(IndexMath math, int64_t tileN, Number keys)
      : math(math), tileN(tileN), keys(keys),
        staticEnd(math.mul(math.floorDiv(keys, tileN), tileN)) {}

  KeyTileWalk build(const KeyVisibility &visibility);

private:
  /// Within [0, keys).
  Ranges clip(ArrayRef<KeyRange> ranges);
  Ranges getVisited(Ranges keyRanges);
  Ranges getFull(Ranges keyRanges);
  Number getLength(const Ranges &ranges);
  KeyTileSequence makeSequence(Number first, Number length, const Ranges &gaps);
  KeyTileSequence getRagged(const Ranges &some);
  void sort(Ranges &ranges);

  IndexMath math;
  int64_t tileN;
  Number keys, staticEnd;
};
} // namespace

/// A sorting network of exchanges of neighbours: there are few ranges. No begin
/// is negative.
void WalkBuilder::sort(Ranges &ranges) {
  for (size_t end = ranges.size(); end > 1; --end)
    for (size_t i = 1; i < end; ++i) {
      Range a = ranges[i - 1], b = ranges[i];
      if (isConstantIntValue(a.begin, 0))
        continue;
      Number inOrder = math.atMost(a.begin, b.begin);
      ranges[i - 1] = {math.min({a.begin, b.begin}),
                       math.select(inOrder, a.end, b.end)};
      ranges[i] = {math.max({a.begin, b.begin}),
                   math.select(inOrder, b.end, a.end)};
    }
}

Ranges WalkBuilder::clip(ArrayRef<KeyRange> ranges) {
  Ranges result;
  Number zero = math.constant(0);
  for (const KeyRange &range : ranges) {
    Number begin =
        range.lower ? math.min({math.max({range.lower, zero}), keys}) : zero;
    Number end = range.upper ? math.min({range.upper, keys}) : keys;
    if (range.upper)
      end = math.max({begin, end});
    result.push_back({begin, end});
  }
  return result;
}

/// The whole tiles that the ranges touch, in order and without overlap.
Ranges WalkBuilder::getVisited(Ranges ranges) {
  for (Range &range : ranges) {
    Number begin = math.mul(math.floorDiv(range.begin, tileN), tileN);
    Number end = math.mul(math.ceilDiv(range.end, tileN), tileN);
    Number isThere = math.below(range.begin, range.end);
    bool isAtZero = isConstantIntValue(begin, 0);
    range.begin = isAtZero ? begin : math.min({begin, staticEnd});
    range.end = math.select(isThere, math.min({end, staticEnd}), range.begin);
  }
  sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i) {
    ranges[i].begin = math.max({ranges[i].begin, ranges[i - 1].end});
    ranges[i].end = math.max({ranges[i].begin, ranges[i].end});
  }
  return ranges;
}

/// The whole tiles inside the union of the ranges, in order.
Ranges WalkBuilder::getFull(Ranges ranges) {
  sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i) {
    Range &before = ranges[i - 1], &range = ranges[i];
    Number touches = math.atMost(range.begin, before.end);
    range.begin = math.select(touches, before.begin, range.begin);
    range.end =
        math.select(touches, math.max({before.end, range.end}), range.end);
    before.end = math.select(touches, before.begin, before.end);
  }
  for (Range &range : ranges) {
    Number begin = math.mul(math.ceilDiv(range.begin, tileN), tileN);
    Number end = math.mul(math.floorDiv(range.end, tileN), tileN);
    bool isAtZero = isConstantIntValue(begin, 0);
    range.begin = isAtZero ? begin : math.min({begin, staticEnd});
    range.end = math.max({range.begin, end});
  }
  return ranges;
}

Number WalkBuilder::getLength(const Ranges &ranges) {
  Number length = math.constant(0);
  for (const Range &range : ranges)
    length = math.add(length, math.sub(range.end, range.begin));
  return length;
}

/// What is between the ranges.
static Ranges getGaps(const Ranges &ranges) {
  Ranges gaps;
  for (size_t i = 1; i < ranges.size(); ++i)
    gaps.push_back({ranges[i - 1].end, ranges[i].begin});
  return gaps;
}

KeyTileSequence WalkBuilder::makeSequence(Number first, Number length,
                                          const Ranges &gaps) {
  KeyTileSequence sequence{first, length, {}};
  for (const Range &gap : gaps)
    if (gap.begin != gap.end)
      sequence.gaps.push_back({gap.begin, math.sub(gap.end, gap.begin)});
  return sequence;
}

/// The keys behind the whole tiles, if some row sees one of them.
KeyTileSequence WalkBuilder::getRagged(const Ranges &some) {
  Number isVisited = math.truth(false);
  for (const Range &range : some) {
    Number endsBehind = math.below(staticEnd, range.end);
    Number hasKeys = math.below(range.begin, range.end);
    isVisited = math.either(isVisited, math.both(endsBehind, hasKeys));
  }
  Number length =
      math.select(isVisited, math.sub(keys, staticEnd), math.constant(0));
  return {staticEnd, length, {}};
}

KeyTileWalk WalkBuilder::build(const KeyVisibility &visibility) {
  Ranges some = clip(visibility.some);
  Ranges visited = getVisited(some);
  Ranges full = getFull(clip(visibility.all));
  // The partial tiles leave out what is between the visited ones, and the full
  // ones.
  Ranges gaps = getGaps(visited);
  gaps.append(full);
  sort(gaps);
  KeyTileWalk walk;
  Number fullLength = getLength(full);
  Number first = full.empty() ? math.constant(0) : full.front().begin;
  walk.full = makeSequence(first, fullLength, getGaps(full));
  walk.partial = makeSequence(visited.front().begin,
                              math.sub(getLength(visited), fullLength), gaps);
  walk.ragged = getRagged(some);
  return walk;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

OpFoldResult KeyTileSequence::getKey(IndexMath &math,
                                     OpFoldResult offset) const {
  Number key = math.add(first, offset);
  for (const Gap &gap : gaps) {
    Number isBehind = math.atMost(gap.begin, key);
    key = math.select(isBehind, math.add(key, gap.size), key);
  }
  return key;
}

KeyTileWalk attn::computeKeyTileWalk(OpBuilder &builder, Location loc,
                                     const KeyVisibility &visibility,
                                     int64_t tileN, OpFoldResult keys) {
  return WalkBuilder(IndexMath(builder, loc), tileN, keys).build(visibility);
}
