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

#include "attn/Reference/Attention.h"

#include "attn/Reference/Element.h"
#include "attn/Support/MathExtras.h"
#include "attn/Support/Parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
namespace reference {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
struct AttentionDims {
  int64_t batch, queryHeads, kvHeads, queryLength, kvLength, headDim, valueDim;
};
} // namespace

static Error makeShapeError(const char *expected, const char *name,
                            const Tensor &tensor) {
  return Error{std::string("expected ") + name + " of shape " + expected +
               ", got " + formatShape(tensor.getShape())};
}

static Status checkBias(const Tensor &bias, const AttentionDims &dims) {
  const int64_t sizes[] = {dims.batch, dims.queryHeads, dims.queryLength,
                           dims.kvLength};
  bool fits = bias.getRank() == 4;
  for (int64_t i = 0; fits && i < 4; ++i)
    fits = bias.getDim(i) == 1 || bias.getDim(i) == sizes[i];
  if (!fits)
    return makeShapeError("[B or 1, Hq or 1, M or 1, N or 1]", "bias", bias);
  return {};
}

static Result<AttentionDims> getDims(const Tensor &query, const Tensor &key,
                                     const Tensor &value,
                                     const AttentionOptions &options) {
  if (query.getRank() != 4)
    return makeShapeError("[B, Hq, M, D]", "query", query);
  if (key.getRank() != 4 || key.getDim(0) != query.getDim(0) ||
      key.getDim(3) != query.getDim(3))
    return makeShapeError("[B, Hkv, N, D] with the query's B and D", "key",
                          key);
  if (value.getRank() != 4 || value.getDim(0) != key.getDim(0) ||
      value.getDim(1) != key.getDim(1) || value.getDim(2) != key.getDim(2))
    return makeShapeError("[B, Hkv, N, Dv] with the key's B, Hkv and N",
                          "value", value);
  AttentionDims dims = {query.getDim(0), query.getDim(1), key.getDim(1),
                        query.getDim(2), key.getDim(2),   query.getDim(3),
                        value.getDim(3)};
  if (dims.kvHeads == 0 || dims.queryHeads % dims.kvHeads != 0)
    return Error{
        "expected Hkv that divides Hq = " + std::to_string(dims.queryHeads) +
        ", got " + std::to_string(dims.kvHeads)};
  if (options.softCap && !(*options.softCap > 0))
    return Error{"expected a positive soft cap, got " +
                 std::to_string(*options.softCap)};
  if (options.bias)
    if (Status status = checkBias(*options.bias, dims); !status)
      return Error{status.error()};
  return dims;
}

/// Element of a bias whose sizes of 1 are broadcast.
static double getBias(const Tensor &bias, int64_t b, int64_t h, int64_t i,
                      int64_t j) {
  auto clamp = [&](int64_t dim, int64_t index) {
    return bias.getDim(dim) == 1 ? 0 : index;
  };
  return bias.at(clamp(0, b), clamp(1, h), clamp(2, i), clamp(3, j));
}

//===----------------------------------------------------------------------===//
// One (batch, head)
//===----------------------------------------------------------------------===//

namespace {
/// Computes in `Real`; P is rounded to `probabilityType` before it meets V.
template <typename Real>
class HeadAttention {
public:
  HeadAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                const AttentionOptions &options, const AttentionDims &dims,
                ElementType probabilityType, AttentionResult &result)
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
      Real lse = softmax(scores, visible);
      result.lse.set((b * dims.queryHeads + h) * dims.queryLength + i, lse);
      computeOutput(b, h, i, scores, visible);
    }
  }

private:
  int64_t getKvHead(int64_t h) const {
    return h / (dims.queryHeads / dims.kvHeads);
  }

  Real computeScore(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const double *q = &query.getValues()[query.offset(b, h, i, 0)];
    const double *k = &key.getValues()[key.offset(b, getKvHead(h), j, 0)];
    Real dot = 0;
    for (int64_t d = 0; d < dims.headDim; ++d)
      dot += static_cast<Real>(q[d]) * static_cast<Real>(k[d]);
    Real score = scale * dot;
    if (options.softCap) {
      Real cap = static_cast<Real>(*options.softCap);
      score = cap * std::tanh(score / cap);
    }
    if (options.bias)
      score += static_cast<Real>(getBias(*options.bias, b, h, i, j));
    if (options.scoreMod)
      score = static_cast<Real>(options.scoreMod(score, b, h, i, j));
    return score;
  }

  void computeScores(int64_t b, int64_t h, int64_t i, std::vector<Real> &scores,
                     std::vector<char> &visible) const {
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      bool isVisible = !options.maskMod || options.maskMod(b, h, i, j);
      visible[j] = isVisible;
      scores[j] = isVisible ? computeScore(b, h, i, j)
                            : -std::numeric_limits<Real>::infinity();
    }
  }

  /// Turns scores into probabilities in place and returns the row's LSE.
  Real softmax(std::vector<Real> &scores,
               const std::vector<char> &visible) const {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    Real maximum = -infinity;
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
    Real sum = 0;
    for (Real &score : scores) {
      score = std::exp(score - maximum);
      sum += score;
    }
    for (size_t j = 0; j < scores.size(); ++j)
      scores[j] = static_cast<Real>(
          visible[j] ? roundToElement(scores[j] / sum, probabilityType) : 0);
    return maximum + std::log(sum);
  }

  void computeOutput(int64_t b, int64_t h, int64_t i,
                     const std::vector<Real> &probabilities,
                     const std::vector<char> &visible) const {
    std::vector<Real> row(static_cast<size_t>(dims.valueDim));
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      if (!visible[j])
        continue;
      const double *v = &value.getValues()[value.offset(b, getKvHead(h), j, 0)];
      for (int64_t d = 0; d < dims.valueDim; ++d)
        row[d] += probabilities[j] * static_cast<Real>(v[d]);
    }
    for (int64_t d = 0; d < dims.valueDim; ++d)
      result.output.set(result.output.offset(b, h, i, d), row[d]);
  }

  const Tensor &query, &key, &value;
  const AttentionOptions &options;
  const AttentionDims &dims;
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
  Result<AttentionDims> dims = getDims(query, key, value, options);
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
  ElementType probabilityType =
      getSizeBytes(value.getType()) <= 2 ? value.getType() : ElementType::F32;
  return computeAttention<float>(query, key, value, options,
                                 {probabilityType,
                                  options.outputType.value_or(query.getType()),
                                  ElementType::F32});
}

} // namespace reference
} // namespace attn
