//===- IoBruteForceTest.cpp - Counts against counters ---------------------===//
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

#include "attn/Schedule/IoModel.h"

#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace attn;

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

/// Does packed row `row` see key `key`?
static bool isVisible(const HeadShape &head, int64_t row, int64_t key) {
  int64_t position = row / head.groupSize;
  int64_t diagonal = position;
  if (head.mask.alignment == MaskPattern::Alignment::BottomRight)
    diagonal += head.kvLength - head.rows / head.groupSize;
  if (head.mask.right && key > diagonal + *head.mask.right)
    return false;
  return !head.mask.left || key >= diagonal - *head.mask.left;
}

/// The rows (keys) of a tile that exist.
static std::vector<int64_t> getTile(int64_t index, int64_t tile, int64_t size) {
  std::vector<int64_t> members;
  for (int64_t i = index * tile; i < (index + 1) * tile && i < size; ++i)
    members.push_back(i);
  return members;
}

/// The non-empty tiles.
static std::vector<std::vector<int64_t>> getTiles(int64_t tile, int64_t size) {
  std::vector<std::vector<int64_t>> tiles;
  for (int64_t i = 0; !getTile(i, tile, size).empty(); ++i)
    tiles.push_back(getTile(i, tile, size));
  return tiles;
}

using Tile = std::vector<int64_t>;

/// The key tiles between the first and the last that some row of the tile sees:
/// a band has no hole that a loop would skip.
static std::vector<Tile> getVisibleKeyTiles(const HeadShape &head,
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

namespace {
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
} // namespace

static int64_t getSize(const Tile &tile) {
  return static_cast<int64_t>(tile.size());
}

static Counter walkQueryOuter(const Case &c) {
  Counter counter;
  for (const Tile &rows : getTiles(c.tileM, c.head.rows)) {
    std::vector<Tile> keyTiles = getVisibleKeyTiles(c.head, rows, c.tileN);
    if (!keyTiles.empty())
      counter.read(getSize(rows), c.head.headDim);
    for (const Tile &keys : keyTiles)
      counter.read(getSize(keys), c.head.getKvRowElements());
    counter.write(getSize(rows), c.head.valueDim + 1);
  }
  return counter;
}

static Counter walkKvOuter(const Case &c, bool initialFill) {
  Counter counter;
  int64_t state = c.head.valueDim + 2; // O, l, m
  if (initialFill)
    counter.write(c.head.rows, state);
  std::set<int64_t> filled;
  for (const Tile &keys : getTiles(c.tileN, c.head.kvLength)) {
    counter.read(getSize(keys), c.head.getKvRowElements());
    for (const Tile &rows : getTiles(c.tileM, c.head.rows))
      for (int64_t row : rows) {
        counter.read(1, c.head.headDim);
        bool isFirst = filled.insert(row).second;
        if (initialFill || !isFirst)
          counter.read(1, state);
        counter.write(1, state);
      }
  }
  return counter;
}

static Counter walkDvSplit(const Case &c) {
  Counter counter;
  for (const Tile &columns : getTiles(c.tileDv, c.head.valueDim))
    for (const Tile &rows : getTiles(c.tileM, c.head.rows)) {
      counter.read(getSize(rows), c.head.headDim);
      for (const Tile &keys : getTiles(c.tileN, c.head.kvLength))
        counter.read(getSize(keys), c.head.headDim + getSize(columns));
      counter.write(getSize(rows), getSize(columns));
    }
  counter.write(c.head.rows, 1);
  return counter;
}

static Counter walkSplitKv(const Case &c, int64_t splits) {
  Counter counter;
  std::vector<Tile> keyTiles = getTiles(c.tileN, c.head.kvLength);
  int64_t tilesPerSplit =
      (static_cast<int64_t>(keyTiles.size()) + splits - 1) / splits;
  for (int64_t split = 0; split < splits; ++split)
    for (const Tile &rows : getTiles(c.tileM, c.head.rows)) {
      bool isLoaded = false;
      for (const Tile &keys : getVisibleKeyTiles(c.head, rows, c.tileN)) {
        if (keys.front() / c.tileN / tilesPerSplit != split)
          continue;
        if (!isLoaded)
          counter.read(getSize(rows), c.head.headDim);
        isLoaded = true;
        counter.read(getSize(keys), c.head.getKvRowElements());
      }
      // The partial output and its LSE; the merge reads them.
      counter.write(getSize(rows), c.head.valueDim + 1);
      counter.read(getSize(rows), c.head.valueDim + 1);
    }
  counter.write(c.head.rows, c.head.valueDim + 1);
  return counter;
}

static Counter walkSmallCache(const Case &c, bool spillsProbabilities) {
  Counter counter;
  const HeadShape &head = c.head;
  for (const Tile &rows : getTiles(c.tileM, head.rows)) {
    for (const Tile &keys : getVisibleKeyTiles(head, rows, c.tileN)) {
      for (int64_t column = 0; column < head.headDim; ++column)
        counter.read(getSize(rows) + getSize(keys), 1);
      counter.write(getSize(rows), getSize(keys));
      if (spillsProbabilities)
        counter.write(getSize(rows), 1);
    }
    counter.write(getSize(rows), 1); // LSE
  }
  bool isFirstSlice = true;
  for (const Tile &columns : getTiles(c.tileDv, head.valueDim)) {
    for (const Tile &rows : getTiles(c.tileM2, head.rows)) {
      for (const Tile &keys : getVisibleKeyTiles(head, rows, c.tileN)) {
        counter.read(getSize(rows), getSize(keys));
        counter.read(getSize(keys), getSize(columns));
        if (spillsProbabilities)
          counter.read(getSize(rows), 1);
      }
      // The LSE of a row block stays for all slices.
      if (isFirstSlice)
        counter.read(getSize(rows), 1);
      counter.write(getSize(rows), getSize(columns));
    }
    isFirstSlice = false;
  }
  return counter;
}

/// Delta: dO and O in, one number a row out.
static void walkDelta(Counter &counter, const HeadShape &head) {
  counter.read(head.rows, 2 * head.valueDim);
  counter.write(head.rows, 1);
}

static Counter walkFusedBackward(const Case &c, bool isAtomic) {
  Counter counter;
  const HeadShape &head = c.head;
  int64_t dims = head.headDim + head.valueDim;
  walkDelta(counter, head);
  if (isAtomic)
    counter.write(head.rows, head.headDim);
  std::set<int64_t> filled;
  for (const Tile &keys : getTiles(c.tileN, head.kvLength)) {
    counter.read(getSize(keys), dims);
    for (const Tile &rows : getTiles(c.tileM, head.rows)) {
      bool isVisited = false;
      for (const Tile &tile : getVisibleKeyTiles(head, rows, c.tileN))
        isVisited |= tile == keys;
      for (int64_t row : rows) {
        if (!isVisited)
          continue;
        counter.read(1, dims + 2); // Q, dO, LSE, Delta
        if (!filled.insert(row).second && !isAtomic)
          counter.read(1, head.headDim);
        counter.write(1, head.headDim);
      }
    }
    counter.write(getSize(keys), dims);
  }
  return counter;
}

static Counter walkTwoKernelBackward(const Case &c) {
  Counter counter;
  const HeadShape &head = c.head;
  int64_t dims = head.headDim + head.valueDim;
  walkDelta(counter, head);
  for (const Tile &keys : getTiles(c.tileN, head.kvLength)) {
    counter.read(getSize(keys), dims);
    counter.read(head.rows, dims + 2);
    counter.write(getSize(keys), dims);
  }
  for (const Tile &rows : getTiles(c.tileM, head.rows)) {
    counter.read(getSize(rows), dims + 2);
    counter.read(head.kvLength, dims);
    counter.write(getSize(rows), head.headDim);
  }
  return counter;
}

/// An output-stationary product with square tiles.
static void walkProduct(Counter &counter, int64_t m, int64_t k, int64_t n,
                        int64_t tile) {
  for (const Tile &rows : getTiles(tile, m))
    for (const Tile &columns : getTiles(tile, n)) {
      counter.read(k, getSize(rows) + getSize(columns));
      counter.write(getSize(rows), getSize(columns));
    }
}

static Counter walkSmallCacheBackward(const Case &c, bool fused) {
  Counter counter;
  const HeadShape &head = c.head;
  int64_t rows = head.rows, keys = head.kvLength, tile = c.tileM;
  if (fused)
    walkDelta(counter, head);
  walkProduct(counter, rows, head.headDim, keys, tile);  // P
  counter.read(rows, 1);                                 // LSE
  walkProduct(counter, rows, head.valueDim, keys, tile); // dP or dS
  if (fused) {
    counter.read(rows, keys + 1); // P and Delta
  } else {
    counter.read(rows, 2 * keys); // Delta
    counter.read(rows, 2 * keys); // dS
    counter.write(rows, keys);
  }
  walkProduct(counter, keys, rows, head.valueDim, tile); // dV
  walkProduct(counter, rows, keys, head.headDim, tile);  // dQ
  walkProduct(counter, keys, rows, head.headDim, tile);  // dK
  return counter;
}

//===----------------------------------------------------------------------===//
// Random problems
//===----------------------------------------------------------------------===//

namespace {
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
} // namespace

TEST_F(IoBruteForce, visibleScores) {
  for (int i = 0; i < kCases; ++i) {
    HeadShape head = drawCase(true).head;
    int64_t count = 0;
    for (int64_t row = 0; row < head.rows; ++row)
      for (int64_t key = 0; key < head.kvLength; ++key)
        count += isVisible(head, row, key);
    EXPECT_EQ(countVisibleScores(head), count) << head.mask.print();
  }
}

TEST_F(IoBruteForce, tileSums) {
  for (int i = 0; i < 5 * kCases; ++i) {
    Case c = drawCase(true);
    TileSums walked;
    for (const Tile &rows : getTiles(c.tileM, c.head.rows)) {
      int64_t keyRows = 0;
      for (const Tile &keys : getVisibleKeyTiles(c.head, rows, c.tileN)) {
        ++walked.tiles;
        walked.queryRows += getSize(rows);
        walked.scores += getSize(rows) * getSize(keys);
        keyRows += getSize(keys);
      }
      walked.rowTiles += keyRows > 0;
      walked.rows += keyRows > 0 ? getSize(rows) : 0;
      walked.keyRows += keyRows;
      walked.maxKeyRows = std::max(walked.maxKeyRows, keyRows);
    }
    TileSums sums = sumVisibleTiles(c.head, c.tileM, c.tileN);
    SCOPED_TRACE("R=" + std::to_string(c.head.rows) +
                 " g=" + std::to_string(c.head.groupSize) +
                 " N=" + std::to_string(c.head.kvLength) + " tileM=" +
                 std::to_string(c.tileM) + " tileN=" + std::to_string(c.tileN) +
                 " mask=" + c.head.mask.print());
    EXPECT_EQ(sums.tiles, walked.tiles);
    EXPECT_EQ(sums.rowTiles, walked.rowTiles);
    EXPECT_EQ(sums.rows, walked.rows);
    EXPECT_EQ(sums.keyRows, walked.keyRows);
    EXPECT_EQ(sums.queryRows, walked.queryRows);
    EXPECT_EQ(sums.scores, walked.scores);
    EXPECT_EQ(sums.maxKeyRows, walked.maxKeyRows);
  }
}

TEST_F(IoBruteForce, queryOuter) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(true);
    c.head.sharedKV = draw(0, 1);
    expectEqual(countQueryOuterForward(c.head, c.tileM, c.tileN),
                walkQueryOuter(c), c);
  }
}

TEST_F(IoBruteForce, blockSparse) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(false);
    BlockMask mask = {c.tileM, c.tileN, {}};
    std::vector<Tile> rowTiles = getTiles(c.tileM, c.head.rows);
    std::vector<Tile> keyTiles = getTiles(c.tileN, c.head.kvLength);
    Counter queryOuter, kvOuter;
    std::set<int64_t> seenKeys;
    int64_t state = c.head.valueDim + 2;
    for (const Tile &rows : rowTiles) {
      bool isEmpty = true;
      for (const Tile &keys : keyTiles) {
        mask.visible.push_back(draw(0, 2) == 0);
        if (!mask.visible.back())
          continue;
        isEmpty = false;
        queryOuter.read(getSize(keys), c.head.headDim + c.head.valueDim);
        seenKeys.insert(keys.begin(), keys.end());
        kvOuter.read(getSize(rows), c.head.headDim + state);
        kvOuter.write(getSize(rows), state);
      }
      queryOuter.read(isEmpty ? 0 : getSize(rows), c.head.headDim);
      queryOuter.write(getSize(rows), c.head.valueDim + 1);
      kvOuter.write(getSize(rows), state);
    }
    kvOuter.read(static_cast<int64_t>(seenKeys.size()),
                 c.head.headDim + c.head.valueDim);
    expectEqual(countQueryOuterForward(c.head, sumVisibleTiles(c.head, mask)),
                queryOuter, c);
    expectEqual(countBlockSparseKvOuter(c.head, mask), kvOuter, c);
  }
}

TEST_F(IoBruteForce, kvOuter) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(false);
    bool initialFill = draw(0, 1);
    expectEqual(countKvOuterForward(c.head, c.tileN, initialFill),
                walkKvOuter(c, initialFill), c);
  }
}

TEST_F(IoBruteForce, dvSplit) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(false);
    int64_t slices =
        static_cast<int64_t>(getTiles(c.tileDv, c.head.valueDim).size());
    expectEqual(countDvSplitForward(c.head, c.tileM, slices), walkDvSplit(c),
                c);
  }
}

TEST_F(IoBruteForce, splitKv) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(true);
    int64_t splits = draw(1, 4);
    expectEqual(countSplitKvForward(c.head, c.tileM, c.tileN, splits),
                walkSplitKv(c, splits), c);
  }
}

TEST_F(IoBruteForce, smallCache) {
  for (int i = 0; i < kCases; ++i) {
    bool withMask = draw(0, 1), spillsProbabilities = draw(0, 1);
    Case c = drawCase(withMask);
    // Maxima belong to the rows of one grid.
    if (spillsProbabilities)
      c.tileM2 = c.tileM;
    expectEqual(countSmallCacheForward(c.head,
                                       {c.tileM, c.tileN, c.tileM2, c.tileDv},
                                       spillsProbabilities),
                walkSmallCache(c, spillsProbabilities), c);
  }
}

TEST_F(IoBruteForce, fusedBackward) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(true);
    bool isAtomic = draw(0, 1);
    expectEqual(countFusedBackward(c.head, c.tileM, c.tileN,
                                   isAtomic
                                       ? QueryGradientSum::Atomic
                                       : QueryGradientSum::ReadModifyWrite),
                walkFusedBackward(c, isAtomic), c);
  }
}

TEST_F(IoBruteForce, twoKernelBackward) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(false);
    expectEqual(countTwoKernelBackward(c.head, c.tileN, c.tileM),
                walkTwoKernelBackward(c), c);
  }
}

TEST_F(IoBruteForce, smallCacheBackward) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(false);
    bool fused = draw(0, 1);
    expectEqual(countSmallCacheBackward(c.head, c.tileM, fused),
                walkSmallCacheBackward(c, fused), c);
  }
}
