//===- TwoLevelModel.cpp - The idealised two-level memory model -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/TwoLevelModel.h"

namespace attn {

//===----------------------------------------------------------------------===//
// Footprints
//===----------------------------------------------------------------------===//

int64_t getQueryOuterFootprint(const HeadShape &head, int64_t tileM,
                               int64_t tileN, int64_t stages) {
  // Q and O; S; K and V; m and l.
  return tileM * (head.headDim + head.valueDim) + tileM * tileN +
         stages * tileN * head.getKvRowElements() + 2 * tileM;
}

int64_t getKvOuterFootprint(const HeadShape &head, int64_t tileM,
                            int64_t tileN) {
  return (tileM + tileN) * (head.headDim + head.valueDim) + tileM * tileN +
         2 * tileM;
}

int64_t getKvOuterBackwardFootprint(const HeadShape &head, int64_t tileM,
                                    int64_t tileN) {
  // Q, dQ, O, dO and K, V, dK, dV; P and dS; l, m, Delta.
  return 2 * (tileM + tileN) * (head.headDim + head.valueDim) +
         2 * tileM * tileN + 3 * tileM;
}

int64_t getFusedBackwardFootprint(const HeadShape &head, int64_t tileM,
                                  int64_t tileN) {
  // K, V, dK, dV; Q, dQ, dO; P and dS; LSE and Delta.
  return 2 * tileN * (head.headDim + head.valueDim) +
         tileM * (2 * head.headDim + head.valueDim) + 2 * tileM * tileN +
         2 * tileM;
}

/// The smallest tile that cuts `size` into as many tiles as `largest` does.
static int64_t rebalance(int64_t size, int64_t largest) {
  return ceilDiv(size, ceilDiv(size, std::min(largest, size)));
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The largest tileM of query-outer with tileN = 1 and `valueDim` columns of V,
/// rebalanced; 0 if none fits.
static int64_t getLargestRows(HeadShape head, int64_t valueDim,
                              int64_t cacheElements) {
  head.valueDim = valueDim;
  // The footprint is linear in tileM.
  int64_t fixed = getQueryOuterFootprint(head, 0, 1);
  int64_t perRow = getQueryOuterFootprint(head, 1, 1) - fixed;
  if (cacheElements < fixed + perRow)
    return 0;
  return rebalance(head.rows, (cacheElements - fixed) / perRow);
}

std::optional<BestLargeForward> getBestLargeForward(const HeadShape &head,
                                                    int64_t cacheElements) {
  std::optional<BestLargeForward> best;
  auto consider = [&](const BestLargeForward &candidate) {
    if (!best || candidate.traffic.getTotal() < best->traffic.getTotal())
      best = candidate;
  };
  if (int64_t rows = getLargestRows(head, head.valueDim, cacheElements))
    consider({rows, 1, countQueryOuterForward(head, rows, 1)});
  if (head.mask.isBand() || head.mask.density != 1 || head.sharedKV)
    return best;
  for (int64_t slices = 2; slices <= head.valueDim; ++slices)
    if (int64_t rows =
            getLargestRows(head, ceilDiv(head.valueDim, slices), cacheElements))
      consider({rows, slices, countDvSplitForward(head, rows, slices)});
  return best;
}

namespace {
/// Tiles of one product and what reading its operands costs.
struct ProductTiles {
  int64_t bm = 0, bn = 0, reads = 0;
};
} // namespace

/// The best tiles for an m x n product of depth k, cut into a whole number of
/// column tiles, when a tile occupies bm * bn + bn + columns * bm elements:
/// accumulator, a row of B, and of A one column and what else a row needs.
static std::optional<ProductTiles> getBestProduct(int64_t m, int64_t k,
                                                  int64_t n, int64_t columns,
                                                  int64_t cacheElements) {
  std::optional<ProductTiles> best;
  for (int64_t count = 1; count <= n; ++count) {
    int64_t bn = ceilDiv(n, count);
    int64_t bm = std::min((cacheElements - bn) / (bn + columns), m);
    if (bm < 1)
      continue;
    int64_t reads = m * k * ceilDiv(n, bn) + k * n * ceilDiv(m, bm);
    if (!best || reads < best->reads)
      best = {bm, bn, reads};
  }
  return best;
}

/// The same, cut into a whole number of row tiles.
static std::optional<ProductTiles> getBestRowProduct(int64_t m, int64_t k,
                                                     int64_t n, int64_t columns,
                                                     int64_t cacheElements) {
  std::optional<ProductTiles> best;
  for (int64_t count = 1; count <= m; ++count) {
    int64_t bm = ceilDiv(m, count);
    int64_t bn = std::min((cacheElements - columns * bm) / (bm + 1), n);
    if (bn < 1)
      continue;
    int64_t reads = m * k * ceilDiv(n, bn) + k * n * ceilDiv(m, bm);
    if (!best || reads <= best->reads)
      best = {bm, rebalance(n, bn), reads};
  }
  return best;
}

std::optional<BestSmallForward> getBestSmallForward(const HeadShape &head,
                                                    int64_t cacheElements) {
  // A row needs a column of Q (or P) and two statistics.
  constexpr int64_t columns = 3;
  if (head.mask.isBand() || head.mask.density != 1) {
    // side^2 + 4 side <= cacheElements
    int64_t side = integerSqrt(cacheElements + 4) - 2;
    if (side < 1)
      return std::nullopt;
    SmallCacheTiles tiles = {side, side, side, side};
    return BestSmallForward{tiles, countSmallCacheForward(head, tiles)};
  }
  std::optional<ProductTiles> scores = getBestRowProduct(
      head.rows, head.headDim, head.kvLength, columns, cacheElements);
  std::optional<ProductTiles> outputs = getBestProduct(
      head.rows, head.kvLength, head.valueDim, columns, cacheElements);
  if (!scores || !outputs)
    return std::nullopt;
  SmallCacheTiles tiles = {scores->bm, scores->bn, outputs->bm, outputs->bn};
  return BestSmallForward{tiles, countSmallCacheForward(head, tiles)};
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

std::optional<BestLargeBackward> getBestLargeBackward(const HeadShape &head,
                                                      int64_t cacheElements) {
  int64_t dims = head.headDim + head.valueDim;
  // tileM = 1 beside the largest tileN, and the other way round for dQ.
  int64_t fused =
      (cacheElements - 2 * head.headDim - head.valueDim - 2) / (2 * dims + 2);
  int64_t keys = (cacheElements - dims - 2) / (2 * dims + 2);
  int64_t rows =
      (cacheElements - dims) / (2 * head.headDim + head.valueDim + 4);
  if (fused < 1)
    return std::nullopt;
  fused = rebalance(head.kvLength, fused);
  keys = rebalance(head.kvLength, keys);
  rows = rebalance(head.rows, rows);
  BestLargeBackward one = {
      false, fused, 1,
      countFusedBackward(head, 1, fused, QueryGradientSum::ReadModifyWrite)};
  BestLargeBackward two = {true, keys, rows,
                           countTwoKernelBackward(head, keys, rows)};
  return two.traffic.getTotal() < one.traffic.getTotal() ? two : one;
}

std::optional<int64_t> getBestSmallBackward(const HeadShape &head,
                                            int64_t cacheElements) {
  int64_t rows = head.rows, keys = head.kvLength, scores = rows * keys;
  int64_t dk = head.headDim, dv = head.valueDim;
  // Rows of the first two products have an LSE, or a Delta.
  const std::optional<ProductTiles> products[] = {
      getBestProduct(rows, dk, keys, 2, cacheElements),
      getBestProduct(rows, dv, keys, 2, cacheElements),
      getBestProduct(keys, rows, dv, 1, cacheElements),
      getBestProduct(rows, keys, dk, 1, cacheElements),
      getBestProduct(keys, rows, dk, 1, cacheElements)};
  // Delta: dO and O in, Delta out. LSE and Delta in, P in again; P and dS out;
  // the gradients out.
  int64_t total = 2 * rows * dv + rows + 2 * rows + scores + 2 * scores +
                  keys * dv + rows * dk + keys * dk;
  for (const std::optional<ProductTiles> &product : products) {
    if (!product)
      return std::nullopt;
    total += product->reads;
  }
  return total;
}

} // namespace attn
