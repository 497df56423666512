//===- ForwardIo.cpp - Elements moved by forward algorithms ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Notation of the comments: R rows, N keys, dk, dv head dims, Tr = ceil(R /
// tileM) row tiles, Tc = ceil(N / tileN) key tiles, S = R * N scores.
//
//===----------------------------------------------------------------------===//

#include "IoModelDetail.h"

#include <numeric>

namespace attn {

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

std::string_view getName(Operand operand) {
  static constexpr std::array<std::string_view, kNumOperands> names = {
      "query",
      "key",
      "value",
      "bias",
      "output",
      "lse",
      "scores",
      "statistics",
      "partials",
      "delta",
      "output_gradient",
      "query_gradient",
      "key_gradient",
      "value_gradient",
      "query_sums",
      "query_rows",
      "captures",
      "worklist",
      "amax"};
  return names[static_cast<size_t>(operand)];
}

int64_t Traffic::getReads() const {
  return std::accumulate(reads.begin(), reads.end(), int64_t(0));
}

int64_t Traffic::getWrites() const {
  return std::accumulate(writes.begin(), writes.end(), int64_t(0));
}

Traffic &Traffic::operator+=(const Traffic &other) {
  for (size_t i = 0; i < kNumOperands; ++i) {
    reads[i] += other.reads[i];
    writes[i] += other.writes[i];
  }
  return *this;
}

Traffic Traffic::operator*(int64_t factor) const {
  Traffic result = *this;
  for (size_t i = 0; i < kNumOperands; ++i) {
    result.reads[i] *= factor;
    result.writes[i] *= factor;
  }
  return result;
}

void detail::readKeyValueRows(Traffic &traffic, const HeadShape &head,
                              int64_t keyRows) {
  // K and V that are one tensor are read once; the count goes to the key.
  if (head.sharedKV) {
    traffic.read(Operand::Key, keyRows * head.getKvRowElements());
    return;
  }
  traffic.read(Operand::Key, keyRows * head.headDim);
  traffic.read(Operand::Value, keyRows * head.valueDim);
}

void detail::addProduct(Traffic &traffic, const Product &product, int64_t bm,
                        int64_t bn) {
  traffic.read(product.a, product.m * product.k * ceilDiv(product.n, bn));
  traffic.read(product.b, product.k * product.n * ceilDiv(product.m, bm));
  traffic.write(product.result, product.m * product.n);
}

//===----------------------------------------------------------------------===//
// Unfused
//===----------------------------------------------------------------------===//

Traffic countUnfusedForward(const HeadShape &head) {
  int64_t scores = head.rows * head.kvLength;
  Traffic traffic;
  detail::readKeyValueRows(traffic, head, head.kvLength);
  return traffic.read(Operand::Query, head.rows * head.headDim)
      .read(Operand::Scores, 2 * scores)
      .write(Operand::Scores, 2 * scores)
      .write(Operand::Output, head.rows * head.valueDim);
}

Traffic countUnfusedTiledForward(const HeadShape &head, int64_t bm, int64_t bn,
                                 int64_t bn2, bool rowsFit) {
  int64_t scores = head.rows * head.kvLength;
  Traffic traffic;
  detail::addProduct(traffic,
                     {Operand::Query, Operand::Key, Operand::Scores, head.rows,
                      head.headDim, head.kvLength},
                     bm, bn);
  // A row that does not fit is read for its sum and again for its quotients.
  traffic.read(Operand::Scores, rowsFit ? scores : 2 * scores);
  traffic.write(Operand::Scores, scores);
  detail::addProduct(traffic,
                     {Operand::Scores, Operand::Value, Operand::Output,
                      head.rows, head.kvLength, head.valueDim},
                     bm, bn2);
  return traffic;
}

//===----------------------------------------------------------------------===//
// Large cache
//===----------------------------------------------------------------------===//

Traffic countKvOuterForward(const HeadShape &head, int64_t tileN,
                            bool initialFill) {
  int64_t keyTiles = ceilDiv(head.kvLength, tileN);
  // The first key tile finds O, m and l in slow memory only if they were put
  // there.
  int64_t readRows = (initialFill ? keyTiles : keyTiles - 1) * head.rows;
  int64_t writtenRows = (initialFill ? keyTiles + 1 : keyTiles) * head.rows;
  Traffic traffic;
  detail::readKeyValueRows(traffic, head, head.kvLength);
  return traffic.read(Operand::Query, keyTiles * head.rows * head.headDim)
      .read(Operand::Output, readRows * head.valueDim)
      .read(Operand::Statistics, readRows * 2)
      .write(Operand::Output, writtenRows * head.valueDim)
      .write(Operand::Statistics, writtenRows * 2);
}

Traffic countQueryOuterForward(const HeadShape &head, const TileSums &sums,
                               bool writesLse) {
  Traffic traffic;
  detail::readKeyValueRows(traffic, head, sums.keyRows);
  return traffic.read(Operand::Query, sums.rows * head.headDim)
      .write(Operand::Output, head.rows * head.valueDim)
      .write(Operand::Lse, writesLse ? head.rows : 0);
}

Traffic countQueryOuterForward(const HeadShape &head, int64_t tileM,
                               int64_t tileN, bool writesLse) {
  return countQueryOuterForward(head, sumVisibleTiles(head, tileM, tileN),
                                writesLse);
}

Traffic countDvSplitForward(const HeadShape &head, int64_t tileM,
                            int64_t slices, bool writesLse) {
  int64_t keyRows = ceilDiv(head.rows, tileM) * head.kvLength;
  return Traffic()
      .read(Operand::Query, slices * head.rows * head.headDim)
      .read(Operand::Key, slices * keyRows * head.headDim)
      .read(Operand::Value, head.sharedKV ? 0 : keyRows * head.valueDim)
      .write(Operand::Output, head.rows * head.valueDim)
      .write(Operand::Lse, writesLse ? head.rows : 0);
}

Traffic countSplitKvForward(const HeadShape &head, int64_t tileM, int64_t tileN,
                            int64_t splits, bool writesLse) {
  // Whole tiles in each split, so that no tile is computed twice: splits read
  // the keys of the unsplit algorithm, and Q once for each split it sees.
  int64_t keysPerSplit = alignUp(ceilDiv(head.kvLength, splits), tileN);
  Traffic traffic;
  detail::readKeyValueRows(traffic, head,
                           sumVisibleTiles(head, tileM, tileN).keyRows);
  int64_t queryRows = sumVisibleTiles(head, tileM, keysPerSplit).queryRows;
  int64_t partials = splits * head.rows * (head.valueDim + 1);
  return traffic.read(Operand::Query, queryRows * head.headDim)
      .write(Operand::Partials, partials)
      .read(Operand::Partials, partials)
      .write(Operand::Output, head.rows * head.valueDim)
      .write(Operand::Lse, writesLse ? head.rows : 0);
}

Traffic countBlockSparseKvOuter(const HeadShape &head, const BlockMask &mask) {
  int64_t visits = sumVisibleTiles(head, mask).queryRows;
  // Key tiles are the rows of the transposed mask.
  int64_t keyRows = 0;
  int64_t keyTiles = ceilDiv(head.kvLength, mask.tileN);
  for (int64_t j = 0; j < keyTiles; ++j)
    for (size_t at = static_cast<size_t>(j); at < mask.visible.size();
         at += static_cast<size_t>(keyTiles))
      if (mask.visible[at]) {
        keyRows += std::min(mask.tileN, head.kvLength - j * mask.tileN);
        break;
      }
  Traffic traffic;
  detail::readKeyValueRows(traffic, head, keyRows);
  return traffic.read(Operand::Query, visits * head.headDim)
      .read(Operand::Output, visits * head.valueDim)
      .read(Operand::Statistics, visits * 2)
      .write(Operand::Output, (visits + head.rows) * head.valueDim)
      .write(Operand::Statistics, (visits + head.rows) * 2);
}

//===----------------------------------------------------------------------===//
// Small cache
//===----------------------------------------------------------------------===//

/// With a band mask the visible tiles of the first grid are walked in both
/// phases.
static Traffic countMaskedSmallCache(const HeadShape &head,
                                     const SmallCacheTiles &tiles) {
  TileSums sums = sumVisibleTiles(head, tiles.tileM, tiles.tileN);
  int64_t slices = ceilDiv(head.valueDim, tiles.tileDv);
  return Traffic()
      .read(Operand::Query, sums.queryRows * head.headDim)
      .read(Operand::Key, sums.keyRows * head.headDim)
      .read(Operand::Value, sums.keyRows * head.valueDim)
      .read(Operand::Scores, sums.scores * slices)
      .read(Operand::Lse, head.rows)
      .write(Operand::Scores, sums.scores)
      .write(Operand::Lse, head.rows)
      .write(Operand::Output, head.rows * head.valueDim);
}

static Traffic countDenseSmallCache(const HeadShape &head,
                                    const SmallCacheTiles &tiles) {
  Traffic traffic;
  detail::addProduct(traffic,
                     {Operand::Query, Operand::Key, Operand::Scores, head.rows,
                      head.headDim, head.kvLength},
                     tiles.tileM, tiles.tileN);
  detail::addProduct(traffic,
                     {Operand::Scores, Operand::Value, Operand::Output,
                      head.rows, head.kvLength, head.valueDim},
                     tiles.tileM2, tiles.tileDv);
  return traffic.read(Operand::Lse, head.rows).write(Operand::Lse, head.rows);
}

Traffic countSmallCacheForward(const HeadShape &head,
                               const SmallCacheTiles &tiles,
                               bool spillsProbabilities) {
  bool isMasked = head.mask.isBand() || head.mask.density != 1;
  assert((!isMasked || tiles.tileM == tiles.tileM2) &&
         "a mask needs one grid of score tiles");
  Traffic traffic = isMasked ? countMaskedSmallCache(head, tiles)
                             : countDenseSmallCache(head, tiles);
  if (spillsProbabilities) {
    // One maximum for each row of each score tile.
    TileSums sums = sumVisibleTiles(head, tiles.tileM, tiles.tileN);
    traffic.write(Operand::Statistics, sums.queryRows)
        .read(Operand::Statistics,
              sums.queryRows * ceilDiv(head.valueDim, tiles.tileDv));
  }
  return traffic;
}

} // namespace attn
