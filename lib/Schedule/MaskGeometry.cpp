//===- MaskGeometry.cpp - What a band mask leaves of a tile grid ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/IoModel.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace attn {

HeadShape HeadShape::get(const AttentionProblem &problem, bool pack) {
  HeadShape head;
  head.groupSize = pack ? problem.getGroupSize() : 1;
  head.rows = head.groupSize * problem.queryLength;
  head.kvLength = problem.kvLength;
  head.headDim = problem.headDim;
  head.valueDim = problem.valueDim;
  head.mask = problem.mask;
  head.sharedKV = problem.sharedKV;
  return head;
}

static int64_t clamp(int64_t value, int64_t high) {
  return std::min(std::max<int64_t>(value, 0), high);
}

/// sum over 0 <= p < count of clamp(p + shift, 0, high).
static int64_t sumClamped(int64_t count, int64_t shift, int64_t high) {
  // Positions below `first` give 0, those from `last` on give `high`.
  int64_t first = clamp(-shift, count);
  int64_t last = std::max(clamp(high - shift, count), first);
  int64_t ramp = last - first;
  return ramp * (first + shift) + ramp * (ramp - 1) / 2 + (count - last) * high;
}

static int64_t scaleByDensity(int64_t count, double density) {
  if (density == 1)
    return count;
  return static_cast<int64_t>(std::floor(static_cast<double>(count) * density));
}

int64_t countVisibleScores(const HeadShape &head) {
  int64_t positions = head.getPositions(), offset = head.getDiagonalOffset();
  int64_t below = positions * head.kvLength, hidden = 0;
  if (head.mask.right)
    below = sumClamped(positions, offset + *head.mask.right + 1, head.kvLength);
  if (head.mask.left)
    hidden = sumClamped(positions, offset - *head.mask.left, head.kvLength);
  return scaleByDensity(head.groupSize * (below - hidden), head.mask.density);
}

VisibleKeys getVisibleKeys(const HeadShape &head, int64_t rowBegin,
                           int64_t rowEnd, int64_t tileN) {
  int64_t offset = head.getDiagonalOffset();
  int64_t firstPosition = rowBegin / head.groupSize;
  int64_t lastPosition = (rowEnd - 1) / head.groupSize;
  VisibleKeys range = {0, head.kvLength};
  if (head.mask.right)
    range.end =
        clamp(lastPosition + offset + *head.mask.right + 1, head.kvLength);
  if (head.mask.left)
    range.begin =
        std::max<int64_t>(0, firstPosition + offset - *head.mask.left);
  if (range.begin >= range.end)
    return {};
  return {alignDown(range.begin, tileN),
          std::min(head.kvLength, alignUp(range.end, tileN))};
}

//===----------------------------------------------------------------------===//
// Sums over row tiles
//===----------------------------------------------------------------------===//

/// sum over 0 <= i < count of floor((slope * i + offset) / divisor), for
/// non-negative arguments, in logarithmic time: Euclid's algorithm on the
/// lattice points below the line.
static int64_t floorSum(int64_t count, int64_t divisor, int64_t slope,
                        int64_t offset) {
  int64_t sum = 0;
  while (count > 0) {
    sum += (count - 1) * count / 2 * (slope / divisor) +
           count * (offset / divisor);
    slope %= divisor;
    offset %= divisor;
    int64_t last = slope * count + offset;
    if (last < divisor)
      break;
    count = last / divisor;
    offset = last % divisor;
    std::swap(divisor, slope);
  }
  return sum;
}

/// The first index in [0, count) for which the monotone predicate holds, or
/// `count`.
template <typename Predicate>
static int64_t findFirst(int64_t count, Predicate holds) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

namespace {
/// The full row tiles of a band mask. Both ends of the keys that a row tile
/// sees grow with its index, so the sums are those of two clamped staircases.
class Band {
public:
  Band(const HeadShape &head, int64_t tileM, int64_t tileN)
      : head(head), tileM(tileM), tileN(tileN), fullTiles(head.rows / tileM),
        keyTiles(ceilDiv(head.kvLength, tileN)) {
    int64_t offset = head.getDiagonalOffset();
    if (head.mask.right)
      endShift = offset + *head.mask.right + 1;
    if (head.mask.left)
      beginShift = offset - *head.mask.left;
    // Tiles that see a key: those before `first` end before key 0, those from
    // `last` on begin after the last key.
    first = findFirst(fullTiles, [&](int64_t i) { return getEnd(i) > 0; });
    last = findFirst(fullTiles,
                     [&](int64_t i) { return getBegin(i) >= head.kvLength; });
    last = std::max(first, last);
  }

  TileSums sum() const;

private:
  /// One past the last key that row tile `i` sees, not clamped.
  int64_t getEnd(int64_t i) const {
    if (!endShift)
      return head.kvLength;
    return (i * tileM + tileM - 1) / head.groupSize + *endShift;
  }
  /// The first key that row tile `i` sees, not clamped.
  int64_t getBegin(int64_t i) const {
    return beginShift ? i * tileM / head.groupSize + *beginShift : 0;
  }
  /// The first row tile that sees the last key tile, at least `first`.
  int64_t getFirstAtEnd() const {
    int64_t at = findFirst(fullTiles, [&](int64_t i) {
      return getEnd(i) > (keyTiles - 1) * tileN;
    });
    return std::max(at, first);
  }
  int64_t sumEndTiles(int64_t firstAtEnd) const;
  int64_t sumBeginTiles() const;
  int64_t getMaxKeyRows() const;

  const HeadShape &head;
  int64_t tileM, tileN, fullTiles, keyTiles;
  std::optional<int64_t> endShift, beginShift;
  int64_t first = 0, last = 0;
};
} // namespace

/// Sum over the tiles of ceil(end / tileN). With p = floor(x / g) of a row x,
/// ceil((p + shift) / n) = floor((x + g (shift + n - 1)) / (g n)).
int64_t Band::sumEndTiles(int64_t firstAtEnd) const {
  int64_t staircase = std::min(firstAtEnd, last) - first;
  int64_t sum = std::max<int64_t>(last - firstAtEnd, 0) * keyTiles;
  if (!endShift || staircase <= 0)
    return sum;
  int64_t g = head.groupSize;
  return sum +
         floorSum(staircase, g * tileN, tileM,
                  first * tileM + tileM - 1 + g * (*endShift + tileN - 1));
}

/// Sum over the tiles of floor(max(begin, 0) / tileN).
int64_t Band::sumBeginTiles() const {
  if (!beginShift)
    return 0;
  int64_t start = std::max(
      first, findFirst(fullTiles, [&](int64_t i) { return getBegin(i) >= 0; }));
  if (start >= last)
    return 0;
  int64_t g = head.groupSize;
  return floorSum(last - start, g * tileN, tileM,
                  start * tileM + g * *beginShift);
}

/// Key rows of the longest row tile. Where neither end is clamped the length
/// repeats with the alignment of rows to keys; a clamped end makes it change
/// one way only, so the tiles on both sides of each clamp are enough besides.
int64_t Band::getMaxKeyRows() const {
  int64_t most = 0;
  auto consider = [&](int64_t i) {
    if (i < first || i >= last)
      return;
    most = std::max(
        most,
        getVisibleKeys(head, i * tileM, (i + 1) * tileM, tileN).getSize());
  };
  int64_t inside =
      findFirst(fullTiles, [&](int64_t i) { return getBegin(i) >= 0; });
  int64_t atEnd = getFirstAtEnd();
  int64_t unit = head.groupSize * tileN;
  int64_t period = unit / std::gcd(tileM, unit);
  for (int64_t edge : {first, inside, atEnd, last})
    for (int64_t i = edge - period; i <= edge + period; ++i)
      consider(i);
  return most;
}

TileSums Band::sum() const {
  TileSums sums;
  int64_t firstAtEnd = getFirstAtEnd();
  // The last key tile may be cut.
  int64_t cut = keyTiles * tileN - head.kvLength;
  sums.rowTiles = last - first;
  sums.rows = sums.rowTiles * tileM;
  sums.tiles = sumEndTiles(firstAtEnd) - sumBeginTiles();
  sums.keyRows =
      sums.tiles * tileN - std::max<int64_t>(last - firstAtEnd, 0) * cut;
  sums.queryRows = sums.tiles * tileM;
  sums.scores = sums.keyRows * tileM;
  sums.maxKeyRows = getMaxKeyRows();
  return sums;
}

/// Adds `count` row tiles of `rows` rows that see `keys`.
static void addRowTiles(TileSums &sums, int64_t count, int64_t rows,
                        const VisibleKeys &keys, int64_t tileN) {
  int64_t tiles = ceilDiv(keys.getSize(), tileN);
  if (tiles == 0 || count == 0)
    return;
  sums.tiles += count * tiles;
  sums.rowTiles += count;
  sums.rows += count * rows;
  sums.keyRows += count * keys.getSize();
  sums.queryRows += count * tiles * rows;
  sums.scores += count * rows * keys.getSize();
  sums.maxKeyRows = std::max(sums.maxKeyRows, keys.getSize());
}

TileSums sumVisibleTiles(const HeadShape &head, int64_t tileM, int64_t tileN) {
  TileSums sums;
  int64_t fullTiles = head.rows / tileM, lastRows = head.rows % tileM;
  if (head.mask.isBand())
    sums = Band(head, tileM, tileN).sum();
  else
    addRowTiles(sums, fullTiles, tileM, {0, head.kvLength}, tileN);
  if (lastRows) {
    int64_t row = fullTiles * tileM;
    addRowTiles(sums, 1, lastRows, getVisibleKeys(head, row, head.rows, tileN),
                tileN);
  }
  for (int64_t *count : {&sums.tiles, &sums.keyRows, &sums.queryRows,
                         &sums.scores, &sums.maxKeyRows})
    *count = scaleByDensity(*count, head.mask.density);
  return sums;
}

TileSums sumVisibleTiles(const HeadShape &head, const BlockMask &mask) {
  int64_t keyTiles = ceilDiv(head.kvLength, mask.tileN);
  assert(static_cast<int64_t>(mask.visible.size()) ==
         ceilDiv(head.rows, mask.tileM) * keyTiles);
  TileSums sums;
  for (int64_t row = 0; row < head.rows; row += mask.tileM) {
    int64_t rows = std::min(mask.tileM, head.rows - row);
    int64_t keyRows = 0, tiles = 0;
    for (int64_t j = 0; j < keyTiles; ++j) {
      if (!mask.visible[static_cast<size_t>(row / mask.tileM * keyTiles + j)])
        continue;
      keyRows += std::min(mask.tileN, head.kvLength - j * mask.tileN);
      ++tiles;
    }
    sums.tiles += tiles;
    sums.rowTiles += tiles > 0;
    sums.rows += tiles > 0 ? rows : 0;
    sums.keyRows += keyRows;
    sums.queryRows += tiles * rows;
    sums.scores += rows * keyRows;
    sums.maxKeyRows = std::max(sums.maxKeyRows, keyRows);
  }
  return sums;
}

} // namespace attn
