//===- Attention.cpp - Attention by definition, in float64 ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One template over the arithmetic type serves both functions: float64
// throughout for the oracle; float32 with a rounded P for the yardstick.
//
//===----------------------------------------------------------------------===//

#include "AttentionDetail.h"

#include "attn/Reference/Element.h"
#include "attn/Support/MathExtras.h"
#include "attn/Support/Parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
namespace reference {

//===----------------------------------------------------------------------===//
// One (batch, head)
//===----------------------------------------------------------------------===//

namespace {
/// Computes in `Real`; P is rounded to `probabilityType` before it meets V.
template <typename Real>
class HeadAttention {
public:
  HeadAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                const AttentionOptions &options,
                const detail::AttentionDims &dims, ElementType probabilityType,
                AttentionResult &result)
      : query(query), key(key), value(value), options(options), dims(dims),
        probabilityType(probabilityType), result(result),
        scale(static_cast<Real>(options.scale.value_or(
            1 / std::sqrt(static_cast<double>(dims.headDim))))) {}

  /// Computes rows [begin, end) of one head.
  void run(int64_t b, int64_t h, int64_t begin, int64_t end) const {
    std::vector<Real> scores(static_cast<size_t>(dims.kvLength));
    std::vector<char> visible(scores.size());
    for (int64_t i = begin; i < end; ++i) {
      computeScores(b, h, i, scores, visible);
      Real lse = 0;
      if (options.normalization == Normalization::Softmax)
        lse = softmax(b, h, i, scores, visible);
      else
        weigh(b, h, i, scores, visible);
      result.lse.set((b * dims.queryHeads + h) * dims.queryLength + i, lse);
      computeOutput(b, h, i, scores, visible);
    }
  }

private:
  /// Of head h: 1 where there is none.
  Real getDescale(const Tensor *descale, int64_t b, int64_t h) const {
    if (!descale)
      return 1;
    bool isWhole = descale->getRank() == 1;
    int64_t position = isWhole ? 0 : b * dims.kvHeads + dims.getKvHead(h);
    return static_cast<Real>((*descale)[position]);
  }

  Real computeScore(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const double *q = &query.getValues()[query.offset(b, h, i, 0)];
    const double *k = &key.getValues()[key.offset(b, dims.getKvHead(h), j, 0)];
    Real factor = scale * getDescale(options.queryDescale, b, h) *
                  getDescale(options.keyDescale, b, h);
    Real product = options.shortSums ? detail::dotShort(q, k, dims.headDim)
                                     : detail::dot<Real>(q, k, dims.headDim);
    return detail::changeScore<Real>(factor * product, options, {b, h, i, j});
  }

  void computeScores(int64_t b, int64_t h, int64_t i, std::vector<Real> &scores,
                     std::vector<char> &visible) const {
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      visible[j] = detail::isVisible(options, {b, h, i, j});
      scores[j] = visible[j] ? computeScore(b, h, i, j)
                             : -std::numeric_limits<Real>::infinity();
    }
  }

  /// The score of a head's sink; -inf takes no part.
  Real getSink(int64_t h) const {
    return options.sink ? static_cast<Real>((*options.sink)[h])
                        : -std::numeric_limits<Real>::infinity();
  }

  Real changeProbability(Real probability, const detail::ScoreIndex &at) const {
    if (!options.probMod)
      return probability;
    return static_cast<Real>(
        options.probMod(probability, at.b, at.h, at.i, at.j));
  }

  /// Turns scores into the factors of V, which are probabilities after dropout,
  /// in place and returns the row's LSE.
  Real softmax(int64_t b, int64_t h, int64_t i, std::vector<Real> &scores,
               const std::vector<char> &visible) const {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    Real sink = getSink(h), maximum = sink;
    for (Real score : scores) {
      // std::max would drop a NaN, depending on its side.
      if (std::isnan(score) || score > maximum)
        maximum = score;
      if (std::isnan(maximum))
        break;
    }
    if (maximum == -infinity) {
      std::fill(scores.begin(), scores.end(), Real(0));
      return -infinity;
    }
    Real sum = std::exp(sink - maximum);
    for (Real &score : scores) {
      score = std::exp(score - maximum);
      sum += score;
    }
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      if (!visible[j]) {
        scores[j] = 0;
        continue;
      }
      Real factor =
          static_cast<Real>(detail::getDropoutFactor(options, {b, h, i, j}));
      Real probability = changeProbability(scores[j] / sum, {b, h, i, j});
      scores[j] = roundProbability(probability, factor);
    }
    return maximum + std::log(sum);
  }

  /// Turns scores into the factors of V without softmax, in place.
  void weigh(int64_t b, int64_t h, int64_t i, std::vector<Real> &scores,
             const std::vector<char> &visible) const {
    Real divisor = 1;
    if (options.normalization == Normalization::Sum) {
      divisor = static_cast<Real>(options.epsilon);
      for (int64_t j = 0; j < dims.kvLength; ++j)
        divisor += visible[j] ? scores[j] : 0;
    }
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      Real factor =
          static_cast<Real>(detail::getDropoutFactor(options, {b, h, i, j}));
      bool hasWeight = visible[j] && divisor != 0;
      scores[j] = hasWeight ? roundProbability(scores[j] / divisor, factor) : 0;
    }
  }

  /// p times the factor of dropout. 8-bit types are small: 2^8 P is in their
  /// range, and keeps what is above 2^-17 of the largest, but not times a
  /// factor, which is one of the output.
  Real roundProbability(Real p, Real factor) const {
    auto dropped = static_cast<double>(p * factor);
    if (options.tf32Products)
      return static_cast<Real>(roundToTf32(dropped));
    if (getSizeBytes(probabilityType) > 1)
      return static_cast<Real>(roundToElement(dropped, probabilityType));
    constexpr double unit = 256;
    double rounded =
        roundToElement(unit * static_cast<double>(p), probabilityType) / unit;
    return factor * static_cast<Real>(rounded);
  }

  void computeOutput(int64_t b, int64_t h, int64_t i,
                     const std::vector<Real> &probabilities,
                     const std::vector<char> &visible) const {
    std::vector<Real> row(static_cast<size_t>(dims.valueDim));
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      if (!visible[j])
        continue;
      const double *v =
          &value.getValues()[value.offset(b, dims.getKvHead(h), j, 0)];
      Real p = probabilities[j];
      for (int64_t d = 0; d < dims.valueDim; ++d)
        row[d] += p * static_cast<Real>(v[d]);
    }
    Real factor = getDescale(options.valueDescale, b, h);
    for (int64_t d = 0; d < dims.valueDim; ++d)
      result.output.set(result.output.offset(b, h, i, d), factor * row[d]);
  }

  const Tensor &query, &key, &value;
  const AttentionOptions &options;
  const detail::AttentionDims &dims;
  ElementType probabilityType;
  AttentionResult &result;
  Real scale;
};
} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

namespace {
struct Precision {
  ElementType probabilityType, outputType, lseType;
};
} // namespace

template <typename Real>
static Result<AttentionResult>
computeAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                 const AttentionOptions &options, Precision precision) {
  Result<detail::AttentionDims> dims =
      detail::getDims(query, key, value, options);
  if (!dims)
    return Error{dims.error()};
  int64_t heads = dims->batch * dims->queryHeads;
  AttentionResult result = {
      Tensor({dims->batch, dims->queryHeads, dims->queryLength, dims->valueDim},
             precision.outputType),
      Tensor({dims->batch, dims->queryHeads, dims->queryLength},
             precision.lseType)};
  HeadAttention<Real> head(query, key, value, options, *dims,
                           precision.probabilityType, result);
  // Chunks of rows, so that a single long head uses every thread too.
  constexpr int64_t chunkRows = 32;
  int64_t chunks = ceilDiv(dims->queryLength, chunkRows);
  parallelFor(heads * chunks, [&](int64_t i) {
    int64_t b = i / chunks / dims->queryHeads;
    int64_t h = i / chunks % dims->queryHeads;
    int64_t begin = i % chunks * chunkRows;
    head.run(b, h, begin, std::min(begin + chunkRows, dims->queryLength));
  });
  return result;
}

Result<AttentionResult> attention(const Tensor &query, const Tensor &key,
                                  const Tensor &value,
                                  const AttentionOptions &options) {
  return computeAttention<double>(
      query, key, value, options,
      {ElementType::F64, options.outputType.value_or(ElementType::F64),
       ElementType::F64});
}

Result<AttentionResult> unfusedAttention(const Tensor &query, const Tensor &key,
                                         const Tensor &value,
                                         const AttentionOptions &options) {
  // Not that of the values, of which those of a cache may have fewer bits; but
  // an integer is no weight, and bytes are multiplied by those of their type.
  ElementType own =
      getSizeBytes(query.getType()) == 1 ? value.getType() : query.getType();
  ElementType probabilityType = getSizeBytes(own) <= 2 ? own : ElementType::F32;
  Precision precision = {probabilityType, options.outputType.value_or(own),
                         ElementType::F32};
  if (options.tf32Products)
    return computeAttention<float>(
        detail::roundToTf32(query), detail::roundToTf32(key),
        detail::roundToTf32(value), options, precision);
  return computeAttention<float>(query, key, value, options, precision);
}

} // namespace reference
} // namespace attn
