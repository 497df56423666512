//===- MaskGeometry.cpp - What a band mask leaves of a tile grid ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/IoModel.h"

#include <cmath>

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

KeyRange getVisibleKeys(const HeadShape &head, int64_t rowBegin, int64_t rowEnd,
                        int64_t tileN) {
  int64_t offset = head.getDiagonalOffset();
  int64_t firstPosition = rowBegin / head.groupSize;
  int64_t lastPosition = (rowEnd - 1) / head.groupSize;
  KeyRange range = {0, head.kvLength};
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

TileSums sumVisibleTiles(const HeadShape &head, int64_t tileM, int64_t tileN) {
  TileSums sums;
  auto addRowTiles = [&](int64_t rows, const KeyRange &keys, int64_t count) {
    int64_t tiles = ceilDiv(keys.getSize(), tileN);
    if (tiles == 0)
      return;
    sums.tiles += count * tiles;
    sums.rowTiles += count;
    sums.rows += count * rows;
    sums.keyRows += count * keys.getSize();
    sums.queryRows += count * tiles * rows;
    sums.scores += count * rows * keys.getSize();
    sums.maxKeyRows = std::max(sums.maxKeyRows, keys.getSize());
  };
  if (!head.mask.isBand()) {
    addRowTiles(tileM, {0, head.kvLength}, head.rows / tileM);
    if (head.rows % tileM)
      addRowTiles(head.rows % tileM, {0, head.kvLength}, 1);
  } else {
    for (int64_t row = 0; row < head.rows; row += tileM) {
      int64_t end = std::min(row + tileM, head.rows);
      addRowTiles(end - row, getVisibleKeys(head, row, end, tileN), 1);
    }
  }
  for (int64_t *count : {&sums.tiles, &sums.keyRows, &sums.queryRows,
                         &sums.scores, &sums.maxKeyRows})
    *count = scaleByDensity(*count, head.mask.density);
  return sums;
}

} // namespace attn
