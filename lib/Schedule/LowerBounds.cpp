//===- LowerBounds.cpp - What no algorithm can go below -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/LowerBounds.h"

#include <cmath>

namespace attn {

/// Inputs that some visible score needs, and all outputs: rows that see no key
/// are written, too.
static int64_t getCompulsory(const HeadShape &head, AttentionPass pass) {
  int64_t rows = sumVisibleTiles(head, 1, 1).rows;
  int64_t keys = getVisibleKeys(head, 0, head.rows, 1).getSize();
  if (head.mask.density < 1 && rows > 0 && keys > 0) {
    // At worst the visible scores share their rows, or their keys.
    int64_t scores = countVisibleScores(head);
    int64_t allRows = rows;
    rows = std::min(rows, ceilDiv(scores, keys));
    keys = std::min(keys, ceilDiv(scores, allRows));
  }
  if (pass == AttentionPass::Forward)
    return rows * head.headDim + keys * head.getKvRowElements() +
           head.rows * head.valueDim;
  int64_t dims = head.headDim + head.valueDim;
  return rows * dims + head.rows * head.headDim + (keys + head.kvLength) * dims;
}

/// Q >= M (ceil(Z / max(M^2 / d^2 + 2 M, 4 M)) - 1): a part of the computation
/// that moves M elements touches at most that many of the Z scores.
static int64_t getLargeCacheBound(double scores, double cache, double dim) {
  double perPart = std::max(cache * cache / (dim * dim) + 2 * cache, 4 * cache);
  return static_cast<int64_t>(cache * (std::ceil(scores / perPart) - 1));
}

/// Q >= 2 Z d / sqrt(M) - 2 M - Z: with the scores written out it is a matrix
/// product.
static int64_t getSmallCacheBound(double scores, double cache, double dim) {
  return static_cast<int64_t>(
      std::floor(2 * scores * dim / std::sqrt(cache) - 2 * cache - scores));
}

LowerBounds getLowerBounds(const HeadShape &head, int64_t cacheElements,
                           AttentionPass pass) {
  auto scores = static_cast<double>(countVisibleScores(head));
  auto cache = static_cast<double>(std::max<int64_t>(cacheElements, 1));
  auto headDim = static_cast<double>(head.headDim);
  // dO V^T has the shape of Q K^T with dv for dk.
  double largeDim =
      pass == AttentionPass::Forward
          ? headDim
          : static_cast<double>(std::max(head.headDim, head.valueDim));
  LowerBounds bounds;
  bounds.compulsory = getCompulsory(head, pass);
  bounds.largeCache =
      std::max<int64_t>(getLargeCacheBound(scores, cache, largeDim), 0);
  bounds.smallCache =
      std::max<int64_t>(getSmallCacheBound(scores, cache, headDim), 0);
  return bounds;
}

} // namespace attn
