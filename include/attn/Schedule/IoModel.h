//===- IoModel.h - Exact counts of elements moved ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many elements each algorithm moves between slow and fast memory, in exact
// closed forms: no divisibility is assumed, the last tile of each dimension
// moves only the elements that exist. Everything is per K/V head, with the g =
// Hq / Hkv query heads that share it packed into R = g * M rows (row = position
// * g + head); a problem moves batch * Hkv times as much.
//
// docs/CostModel.md derives the formulas. Sources: FlashAttention (2205.14135),
// FlashAttention-2 (2307.08691), Saha and Ye (2402.07443), Li et al.
// (2410.09397).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_IOMODEL_H
#define ATTN_SCHEDULE_IOMODEL_H

#include "attn/Schedule/AttentionProblem.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace attn {

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// What is moved. Statistics are row maxima and sums that travel with an
/// unfinished row, or maxima spilled with a tile of scores; Partials are the
/// outputs and LSEs of split-KV before the merge; QueryRows is the query as a
/// kernel in front has changed it, Captures what an output_mod reads for each
/// element; Delta is rowsum(dO * O).
enum class Operand {
  Query,
  Key,
  Value,
  Bias,
  Output,
  Lse,
  Scores,
  Statistics,
  Partials,
  Delta,
  OutputGradient,
  QueryGradient,
  KeyGradient,
  ValueGradient,
  QuerySums, ///< dQ, as it is added up
  QueryRows,
  Captures,
  Worklist, ///< splits in the order in which CTAs take them, and what is
            ///< planned
  Amax,     ///< the largest magnitudes of rows of the output
};
constexpr size_t kNumOperands = 19;

/// "query", "key", ..., "value_gradient"
std::string_view getName(Operand operand);

/// Elements read into and written from fast memory, by operand.
struct Traffic {
  std::array<int64_t, kNumOperands> reads = {};
  std::array<int64_t, kNumOperands> writes = {};

  Traffic &read(Operand operand, int64_t elements) {
    reads[static_cast<size_t>(operand)] += elements;
    return *this;
  }
  Traffic &write(Operand operand, int64_t elements) {
    writes[static_cast<size_t>(operand)] += elements;
    return *this;
  }
  int64_t getReads(Operand operand) const {
    return reads[static_cast<size_t>(operand)];
  }
  int64_t getWrites(Operand operand) const {
    return writes[static_cast<size_t>(operand)];
  }
  int64_t getReads() const;
  int64_t getWrites() const;
  int64_t getTotal() const { return getReads() + getWrites(); }

  Traffic &operator+=(const Traffic &other);
  Traffic operator*(int64_t factor) const;
};

//===----------------------------------------------------------------------===//
// One K/V head
//===----------------------------------------------------------------------===//

/// The sizes of one K/V head and the query rows that read it.
struct HeadShape {
  int64_t rows = 0;      ///< R = groupSize * positions
  int64_t groupSize = 1; ///< g: rows of one query position
  int64_t kvLength = 0;  ///< N
  int64_t headDim = 0;   ///< dk
  int64_t valueDim = 0;  ///< dv
  MaskPattern mask;
  bool sharedKV = false;

  /// The group packed into one head (pack) or one head of the group alone.
  static HeadShape get(const AttentionProblem &problem, bool pack = true);

  int64_t getPositions() const { return rows / groupSize; }
  int64_t getKvRowElements() const {
    return sharedKV ? std::max(headDim, valueDim) : headDim + valueDim;
  }
  /// Position of the diagonal: key p + offset is the last that a causal mask
  /// shows to position p.
  int64_t getDiagonalOffset() const {
    return mask.alignment == MaskPattern::Alignment::TopLeft
               ? 0
               : kvLength - getPositions();
  }
};

/// Visible (row, key) pairs: Z. A density scales it, rounded down.
int64_t countVisibleScores(const HeadShape &head);

/// A range of keys.
struct VisibleKeys {
  int64_t begin = 0, end = 0;
  int64_t getSize() const { return end - begin; }
};

/// The keys that some row of [rowBegin, rowEnd) sees, widened to tiles of
/// `tileN` (the last one cut at N); empty if no row sees a key.
VisibleKeys getVisibleKeys(const HeadShape &head, int64_t rowBegin,
                           int64_t rowEnd, int64_t tileN);

/// Sums over the visible tiles of a grid of tileM x tileN tiles.
struct TileSums {
  int64_t tiles = 0;      ///< visible tiles
  int64_t rowTiles = 0;   ///< row tiles with a visible tile
  int64_t rows = 0;       ///< rows of those
  int64_t keyRows = 0;    ///< sum over visible tiles of their keys
  int64_t queryRows = 0;  ///< sum over visible tiles of their rows
  int64_t scores = 0;     ///< sum over visible tiles of rows * keys
  int64_t maxKeyRows = 0; ///< most keys that one row tile visits
};
TileSums sumVisibleTiles(const HeadShape &head, int64_t tileM, int64_t tileN);

/// A block-sparse mask: which tiles of the grid are visible.
struct BlockMask {
  int64_t tileM, tileN;
  /// Row-major, ceil(rows / tileM) x ceil(kvLength / tileN).
  std::vector<bool> visible;
};
/// The sums over the listed tiles; the head's own mask plays no role.
TileSums sumVisibleTiles(const HeadShape &head, const BlockMask &mask);

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Scores and probabilities written to slow memory, each operand of each step
/// moved once.
Traffic countUnfusedForward(const HeadShape &head);

/// The same with tiled matrix products: bm x bn tiles of S, bm x bn2 of O.
/// `rowsFit`: a row of S fits in fast memory, and the softmax reads it once.
Traffic countUnfusedTiledForward(const HeadShape &head, int64_t bm, int64_t bn,
                                 int64_t bn2, bool rowsFit);

/// FlashAttention: outer loop over K/V tiles; output and row statistics travel.
/// `initialFill`: they are zeroed in slow memory first and read back.
Traffic countKvOuterForward(const HeadShape &head, int64_t tileN,
                            bool initialFill = true);

/// FlashAttention-2: outer loop over query tiles, which keep their output. Rows
/// that see no key read nothing and still write.
Traffic countQueryOuterForward(const HeadShape &head, int64_t tileM,
                               int64_t tileN, bool writesLse = true);
/// The same over the visible tiles of any mask.
Traffic countQueryOuterForward(const HeadShape &head, const TileSums &sums,
                               bool writesLse = true);

/// Query-outer with V and O in `slices` column slices; the scores are computed
/// once for each. The LSE is written once. No mask.
Traffic countDvSplitForward(const HeadShape &head, int64_t tileM,
                            int64_t slices, bool writesLse = true);

/// Query-outer over `splits` equal key ranges (the last one shorter), partial
/// outputs and LSEs written, and a merge that reads them. A split whose keys a
/// row tile does not see still writes its partial result.
Traffic countSplitKvForward(const HeadShape &head, int64_t tileM, int64_t tileN,
                            int64_t splits, bool writesLse = true);

/// FlashAttention's loop order over the tiles of a block mask; key tiles that
/// no row sees are not read.
Traffic countBlockSparseKvOuter(const HeadShape &head, const BlockMask &mask);

/// Tiles of the two phases: tileM x tileN scores, then tileM2 x tileDv outputs.
struct SmallCacheTiles {
  int64_t tileM, tileN, tileM2, tileDv;
};

/// Two-phase small-cache forward (Saha and Ye, Algorithm 1, in its stable
/// forms). Spilling scores moves what the paper counts; spilling probabilities
/// adds the maxima of each tile's rows. With a mask, only visible tiles of the
/// first grid are computed, spilled and read back, and tileM2 must be tileM.
Traffic countSmallCacheForward(const HeadShape &head,
                               const SmallCacheTiles &tiles,
                               bool spillsProbabilities = false);

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// P kept from the forward pass, each operand of each step moved once.
Traffic countUnfusedBackward(const HeadShape &head);

/// FlashAttention, Algorithm 4: outer loop over K/V tiles, dQ read, changed and
/// written, O read again. No mask.
Traffic countKvOuterBackward(const HeadShape &head, int64_t tileN);

/// How FlashAttention-2's backward pass sums dQ over K/V tiles.
enum class QueryGradientSum { ReadModifyWrite, Atomic };

/// FlashAttention-2: Delta computed first; outer loop over K/V tiles, which
/// keep dK and dV. An atomic addition counts as one write.
Traffic countFusedBackward(const HeadShape &head, int64_t tileM, int64_t tileN,
                           QueryGradientSum sum);

/// Two kernels: dK and dV with an outer loop over tileN keys, then dQ with an
/// outer loop over tileM query rows. Deterministic, 7 products for 5. No mask.
Traffic countTwoKernelBackward(const HeadShape &head, int64_t tileN,
                               int64_t tileM);

/// Four phases with square tiles, the LSE saved by the forward pass. `fused`:
/// Delta is computed first and dS is formed where dP is. No mask.
Traffic countSmallCacheBackward(const HeadShape &head, int64_t tile,
                                bool fused);

/// Li et al.: the gradient with respect to X in softmax(A1 X A2^T) A3 Y, with
/// square tiles; X and Y are dk x dk. Reconstructed from the paper's statement.
Traffic countLiBackward(const HeadShape &head, int64_t tile);

} // namespace attn

#endif // ATTN_SCHEDULE_IOMODEL_H
