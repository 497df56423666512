//===- LowerBounds.h - What no algorithm can go below -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lower bounds on the elements that any algorithm moves between a fast memory
// of `cacheElements` elements and slow memory, for one K/V head.
// docs/CostModel.md gives the arguments. Sources: Hong and Kung (1981), Saha
// and Ye (2402.07443) with the constants worked out, Smith et al. (1702.02017)
// for the matrix product.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_LOWERBOUNDS_H
#define ATTN_SCHEDULE_LOWERBOUNDS_H

#include "attn/Schedule/IoModel.h"

namespace attn {

struct LowerBounds {
  /// Inputs that the mask shows, and outputs, once each.
  int64_t compulsory = 0;
  /// Algorithms that keep no score in slow memory need this much once the cache
  /// exceeds D^2; negative values are clamped to 0.
  int64_t largeCache = 0;
  /// The bound of matrix products, for smaller caches; clamped likewise.
  int64_t smallCache = 0;

  int64_t get() const { return std::max({compulsory, largeCache, smallCache}); }
};

LowerBounds getLowerBounds(const HeadShape &head, int64_t cacheElements,
                           AttentionPass pass = AttentionPass::Forward);

} // namespace attn

#endif // ATTN_SCHEDULE_LOWERBOUNDS_H
