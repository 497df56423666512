//===- Masks.cpp - Masks and score changes by name ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Masks.h"

#include <cmath>

namespace attn {
namespace reference {

MaskMod makeCausalMask(int64_t offset) {
  return
      [=](int64_t, int64_t, int64_t i, int64_t j) { return j <= i + offset; };
}

MaskMod makeLocalMask(int64_t left, int64_t right, int64_t offset) {
  return [=](int64_t, int64_t, int64_t i, int64_t j) {
    return j >= i + offset - left && j <= i + offset + right;
  };
}

MaskMod makeSlidingWindowMask(int64_t size, int64_t offset) {
  return makeLocalMask(size - 1, 0, offset);
}

MaskMod makePrefixMask(int64_t length, int64_t offset) {
  return [=](int64_t, int64_t, int64_t i, int64_t j) {
    return j < length || j <= i + offset;
  };
}

MaskMod makeDocumentMask(std::vector<int64_t> queryDocuments,
                         std::vector<int64_t> keyDocuments) {
  return [queryDocuments = std::move(queryDocuments),
          keyDocuments = std::move(keyDocuments)](int64_t, int64_t, int64_t i,
                                                  int64_t j) {
    return queryDocuments.at(static_cast<size_t>(i)) ==
           keyDocuments.at(static_cast<size_t>(j));
  };
}

MaskMod makeAnd(MaskMod a, MaskMod b) {
  return [a = std::move(a), b = std::move(b)](int64_t batch, int64_t h,
                                              int64_t i, int64_t j) {
    return a(batch, h, i, j) && b(batch, h, i, j);
  };
}

MaskMod makeOr(MaskMod a, MaskMod b) {
  return [a = std::move(a), b = std::move(b)](int64_t batch, int64_t h,
                                              int64_t i, int64_t j) {
    return a(batch, h, i, j) || b(batch, h, i, j);
  };
}

ScoreMod makeAlibi(std::vector<double> slopes, int64_t offset) {
  return [slopes = std::move(slopes), offset](double score, int64_t, int64_t h,
                                              int64_t i, int64_t j) {
    return score + slopes.at(static_cast<size_t>(h)) *
                       static_cast<double>(j - (i + offset));
  };
}

std::vector<double> getAlibiSlopes(int64_t heads) {
  std::vector<double> slopes;
  for (int64_t h = 1; h <= heads; ++h)
    slopes.push_back(
        std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(heads)));
  return slopes;
}

} // namespace reference
} // namespace attn
