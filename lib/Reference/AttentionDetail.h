//===- AttentionDetail.h - What forward and backward share -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_ATTENTIONDETAIL_H
#define ATTN_LIB_REFERENCE_ATTENTIONDETAIL_H

#include "attn/Reference/Attention.h"

#include <algorithm>
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

/// The same as tensor cores of sm_89 and sm_90a add 8-bit products, 32 at a
/// time: of each term, the sum so far among them, what is below 13 fraction
/// bits of the largest one is cut off (DeepSeek-V3, section 3.3.2).
inline float dotShort(const double *x, const double *y, int64_t count) {
  constexpr int64_t step = 32;
  constexpr int bits = 13;
  double sum = 0;
  for (int64_t begin = 0; begin < count; begin += step) {
    int64_t end = std::min(begin + step, count);
    double largest = std::fabs(sum), cut = 0;
    for (int64_t d = begin; d < end; ++d)
      largest = std::max(largest, std::fabs(x[d] * y[d]));
    if (largest == 0 || !std::isfinite(largest)) {
      for (int64_t d = begin; d < end; ++d)
        sum += x[d] * y[d];
      continue;
    }
    double unit = std::ldexp(1.0, std::ilogb(largest) - bits);
    auto add = [&](double term) { cut += std::trunc(term / unit) * unit; };
    add(sum);
    for (int64_t d = begin; d < end; ++d)
      add(x[d] * y[d]);
    sum = cut;
  }
  return static_cast<float>(sum);
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
