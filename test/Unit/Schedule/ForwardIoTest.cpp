//===- ForwardIoTest.cpp - Forward counts against counters ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IoWalk.h"

#include "attn/Schedule/LowerBounds.h"
#include "attn/Schedule/TwoLevelModel.h"

using namespace attn;

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

TEST_F(IoBruteForce, lowerBoundHoldsForTheAlgorithms) {
  for (int i = 0; i < kCases; ++i) {
    Case c = drawCase(true);
    // Any fast memory that holds the tiles.
    int64_t cache = getQueryOuterFootprint(c.head, c.tileM, c.tileN);
    int64_t bound = getLowerBounds(c.head, cache).get();
    EXPECT_LE(
        bound,
        countQueryOuterForward(c.head, c.tileM, c.tileN, false).getTotal())
        << c.head.mask.print();
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
