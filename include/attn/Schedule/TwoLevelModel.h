//===- TwoLevelModel.h - The idealised two-level memory model ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model of the papers: one fast memory of `cacheElements` elements, every
// tile in it, tiles chosen freely. It answers where the large-cache and the
// small-cache algorithm cross, and draws the curves of docs/CostModel.md. Real
// schedules are limited by instruction shapes and registers too: see
// CostModel.h.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_TWOLEVELMODEL_H
#define ATTN_SCHEDULE_TWOLEVELMODEL_H

#include "attn/Schedule/IoModel.h"

#include <optional>

namespace attn {

/// Elements of fast memory that query-outer tiles occupy, with one K/V tile of
/// `stages` in flight; P replaces S.
int64_t getQueryOuterFootprint(const HeadShape &head, int64_t tileM,
                               int64_t tileN, int64_t stages = 1);
/// The same for FlashAttention's order.
int64_t getKvOuterFootprint(const HeadShape &head, int64_t tileM,
                            int64_t tileN);
/// FlashAttention's backward pass (Algorithm 4).
int64_t getKvOuterBackwardFootprint(const HeadShape &head, int64_t tileM,
                                    int64_t tileN);
/// FlashAttention-2's backward pass, outer loop over keys.
int64_t getFusedBackwardFootprint(const HeadShape &head, int64_t tileM,
                                  int64_t tileN);

/// An algorithm with its best tiles for a cache.
struct BestLargeForward {
  int64_t tileM;        ///< rebalanced over the row tiles
  int64_t dvSlices = 1; ///< 1: query-outer; more: dv-split
  Traffic traffic;
};
struct BestSmallForward {
  SmallCacheTiles tiles;
  Traffic traffic;
};
struct BestLargeBackward {
  bool twoKernels;
  int64_t tileN;     ///< of the kernel for dK and dV
  int64_t tileM = 1; ///< of the kernel for dQ
  Traffic traffic;
};

/// The best large-cache forward: query-outer with tileN = 1 and the largest
/// tileM that fits, or dv-split where it moves less (no mask, K and V apart).
/// Empty if not even one row fits.
std::optional<BestLargeForward> getBestLargeForward(const HeadShape &head,
                                                    int64_t cacheElements);

/// The best small-cache forward that spills scores, slices of width 1. With a
/// mask: the largest square tile for both phases.
std::optional<BestSmallForward> getBestSmallForward(const HeadShape &head,
                                                    int64_t cacheElements);

/// The better of the fused backward (dQ read, changed and written) and the two
/// kernels. No mask.
std::optional<BestLargeBackward> getBestLargeBackward(const HeadShape &head,
                                                      int64_t cacheElements);

/// Elements moved by the fused-phase small-cache backward, each product with
/// its own best tiles. No mask.
std::optional<int64_t> getBestSmallBackward(const HeadShape &head,
                                            int64_t cacheElements);

} // namespace attn

#endif // ATTN_SCHEDULE_TWOLEVELMODEL_H
