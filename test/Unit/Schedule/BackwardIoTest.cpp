//===- BackwardIoTest.cpp - Backward counts against counters -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IoWalk.h"

using namespace attn;

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
