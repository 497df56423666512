//===- IoWalk.h - Walking an algorithm with a counter ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each closed form is compared with a program that walks the algorithm row by
// row and counts what it moves. The walks ask a predicate for each (row, key)
// and know nothing of ranges, ceilings or closed forms.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SCHEDULE_IOWALK_H
#define ATTN_TEST_UNIT_SCHEDULE_IOWALK_H

#include "attn/Schedule/IoModel.h"

#include "gtest/gtest.h"

#include <random>
#include <set>
#include <vector>

namespace attn {

/// Does packed row `row` see key `key`?
inline bool isVisible(const HeadShape &head, int64_t row, int64_t key) {
  int64_t position = row / head.groupSize;
  int64_t diagonal = position;
  if (head.mask.alignment == MaskPattern::Alignment::BottomRight)
    diagonal += head.kvLength - head.rows / head.groupSize;
  if (head.mask.right && key > diagonal + *head.mask.right)
    return false;
  return !head.mask.left || key >= diagonal - *head.mask.left;
}

/// The rows (keys) of a tile that exist.
inline std::vector<int64_t> getTile(int64_t index, int64_t tile, int64_t size) {
  std::vector<int64_t> members;
  for (int64_t i = index * tile; i < (index + 1) * tile && i < size; ++i)
    members.push_back(i);
  return members;
}

/// The non-empty tiles.
inline std::vector<std::vector<int64_t>> getTiles(int64_t tile, int64_t size) {
  std::vector<std::vector<int64_t>> tiles;
  for (int64_t i = 0; !getTile(i, tile, size).empty(); ++i)
    tiles.push_back(getTile(i, tile, size));
  return tiles;
}

using Tile = std::vector<int64_t>;

/// The key tiles between the first and the last that some row of the tile sees:
/// a band has no hole that a loop would skip.
inline std::vector<Tile> getVisibleKeyTiles(const HeadShape &head,
                                            const Tile &rows, int64_t tileN) {
  std::vector<Tile> tiles = getTiles(tileN, head.kvLength);
  int64_t first = -1, last = -1;
  for (size_t j = 0; j < tiles.size(); ++j)
    for (int64_t row : rows)
      for (int64_t key : tiles[j])
        if (isVisible(head, row, key)) {
          if (first < 0)
            first = static_cast<int64_t>(j);
          last = static_cast<int64_t>(j);
        }
  if (first < 0)
    return {};
  return {tiles.begin() + first, tiles.begin() + last + 1};
}

/// Counts element by element.
struct Counter {
  int64_t reads = 0, writes = 0;
  void read(int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; ++i)
      reads += columns;
  }
  void write(int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; ++i)
      writes += columns;
  }
};

/// A random problem of one head with its tiles.
struct Case {
  HeadShape head;
  int64_t tileM, tileN, tileM2, tileDv;
};

inline int64_t getSize(const Tile &tile) {
  return static_cast<int64_t>(tile.size());
}

/// Draws random problems, the same in every run.
class IoBruteForce : public testing::Test {
protected:
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }

  MaskPattern drawMask() {
    MaskPattern mask;
    switch (draw(0, 3)) {
    case 0:
      return mask;
    case 1:
      mask = MaskPattern::causal();
      break;
    case 2:
      mask = MaskPattern::slidingWindow(draw(1, 9));
      break;
    default:
      mask = MaskPattern::local(draw(0, 6), draw(0, 6));
    }
    if (draw(0, 1))
      mask.alignment = MaskPattern::Alignment::TopLeft;
    return mask;
  }

  Case drawCase(bool withMask) {
    Case c;
    c.head.groupSize = draw(1, 3);
    c.head.rows = c.head.groupSize * draw(1, 13);
    c.head.kvLength = draw(1, 15);
    c.head.headDim = draw(1, 6);
    c.head.valueDim = draw(1, 6);
    if (withMask)
      c.head.mask = drawMask();
    c.tileM = draw(1, 8);
    c.tileN = draw(1, 8);
    c.tileM2 = withMask ? c.tileM : draw(1, 8);
    c.tileDv = draw(1, 6);
    return c;
  }

  void expectEqual(const Traffic &traffic, const Counter &counter,
                   const Case &c) {
    SCOPED_TRACE("R=" + std::to_string(c.head.rows) +
                 " g=" + std::to_string(c.head.groupSize) +
                 " N=" + std::to_string(c.head.kvLength) + " tileM=" +
                 std::to_string(c.tileM) + " tileN=" + std::to_string(c.tileN) +
                 " mask=" + c.head.mask.print());
    EXPECT_EQ(traffic.getReads(), counter.reads);
    EXPECT_EQ(traffic.getWrites(), counter.writes);
  }

  static constexpr int kCases = 400;
  std::mt19937_64 engine{20240207};
};

} // namespace attn

#endif // ATTN_TEST_UNIT_SCHEDULE_IOWALK_H
