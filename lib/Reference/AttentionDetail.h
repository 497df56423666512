//===- AttentionDetail.h - What forward and backward share -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_ATTENTIONDETAIL_H
#define ATTN_LIB_REFERENCE_ATTENTIONDETAIL_H

#include "attn/Reference/Attention.h"

#include <cmath>
#include <type_traits>

namespace attn {
namespace reference {
namespace detail {

/// The sum of products of two rows. In float one after the other, as unfused
/// code may; in double in eight parts, which need not wait for each other.
template <typename Real>
Real dot(const double *x, const double *y, int64_t count) {
  constexpr int64_t numParts = std::is_same_v<Real, double> ? 8 : 1;
  Real parts[numParts] = {};
  int64_t whole = count / numParts * numParts;
  for (int64_t d = 0; d < whole; d += numParts)
    for (int64_t k = 0; k < numParts; ++k)
      parts[k] += static_cast<Real>(x[d + k]) * static_cast<Real>(y[d + k]);
  Real sum = 0;
  for (Real part : parts)
    sum += part;
  for (int64_t d = whole; d < count; ++d)
    sum += static_cast<Real>(x[d]) * static_cast<Real>(y[d]);
  return sum;
}

struct AttentionDims {
  int64_t batch, queryHeads, kvHeads, queryLength, kvLength, headDim, valueDim;

  int64_t getKvHead(int64_t queryHead) const {
    return queryHead / (queryHeads / kvHeads);
  }
};

/// The sizes of the inputs, or why they do not fit.
Result<AttentionDims> getDims(const Tensor &query, const Tensor &key,
                              const Tensor &value,
                              const AttentionOptions &options);

/// Element of a bias whose sizes of 1 are broadcast.
double getBias(const Tensor &bias, int64_t b, int64_t h, int64_t i, int64_t j);

/// The tensor with its values rounded to tf32.
Tensor roundToTf32(const Tensor &tensor);

/// Batch, query head, query, key.
struct ScoreIndex {
  int64_t b, h, i, j;
};

inline bool isVisible(const AttentionOptions &options, const ScoreIndex &at) {
  return !options.maskMod || options.maskMod(at.b, at.h, at.i, at.j);
}

/// The factor that dropout gives to a probability.
inline double getDropoutFactor(const AttentionOptions &options,
                               const ScoreIndex &at) {
  if (!options.dropout)
    return 1;
  return options.dropout->keeps(at.b, at.h, at.i, at.j)
             ? 1 / (1 - options.dropout->rate)
             : 0;
}

/// The score after the scaled product, before the mask.
template <typename Real>
Real changeScore(Real score, const AttentionOptions &options,
                 const ScoreIndex &at) {
  if (options.softCap) {
    Real cap = static_cast<Real>(*options.softCap);
    score = cap * std::tanh(score / cap);
  }
  if (options.bias)
    score += static_cast<Real>(getBias(*options.bias, at.b, at.h, at.i, at.j));
  if (options.scoreMod)
    score = static_cast<Real>(options.scoreMod(score, at.b, at.h, at.i, at.j));
  return score;
}

} // namespace detail
} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_ATTENTIONDETAIL_H
