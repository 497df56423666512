//===- WholeAttention.h - One attention, whole and by calls -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_DISTRIBUTED_WHOLEATTENTION_H
#define TEST_UNIT_DISTRIBUTED_WHOLEATTENTION_H

#include "ThreadRanks.h"

#include <cmath>
#include <limits>
#include <random>

namespace attn {

/// Those of [outer, tokens, dim], in their order.
template <typename T>
std::vector<T> takeTokens(const std::vector<T> &all, const TokenRanges &tokens,
                          int64_t count, int64_t dim) {
  std::vector<T> result;
  for (size_t outer = 0; outer < all.size() / (count * dim); ++outer)
    for (const TokenRange &range : tokens) {
      auto first = all.begin() + outer * count * dim;
      result.insert(result.end(), first + range.begin * dim,
                    first + range.end * dim);
    }
  return result;
}

struct WholeResults {
  std::vector<double> output, lse, dQuery, dKey, dValue, dBias, dSink;
};

/// A plain attention: scores scaled by 1 / sqrt(D), a predicate of positions,
/// and where they are not empty a sink, lengths and a bias.
class WholeAttention {
public:
  using Predicate = std::function<bool(int64_t row, int64_t key)>;

  WholeAttention(int64_t tokens, PlanSizes sizes, Predicate sees, unsigned seed)
      : tokens(tokens), sizes(sizes), sees(std::move(sees)) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    auto fill = [&](std::vector<float> &array, int64_t heads, int64_t dim) {
      array.resize(sizes.batch * heads * tokens * dim);
      for (float &value : array)
        value = normal(engine);
    };
    fill(query, sizes.heads, sizes.headDim);
    fill(key, sizes.keyHeads, sizes.headDim);
    fill(value, sizes.keyHeads, sizes.valueDim);
    fill(dOutput, sizes.heads, sizes.valueDim);
  }

  /// In f64, of all rows and keys.
  WholeResults compute() const;

  /// Loops over the rows and keys of a call, in f64.
  PlanKernels makeKernels() const;

  int64_t tokens;
  PlanSizes sizes;
  Predicate sees;
  std::vector<float> query, key, value, dOutput;
  std::vector<float> sink;      ///< [heads]
  std::vector<int64_t> lengths; ///< [batch]
  std::vector<float> bias;      ///< [batch, heads, tokens, tokens]

private:
  static std::vector<int64_t> getPositions(const TokenRanges &ranges) {
    std::vector<int64_t> positions;
    for (const TokenRange &range : ranges)
      for (int64_t token = range.begin; token < range.end; ++token)
        positions.push_back(token);
    return positions;
  }

  /// Calls visit(query row, key row, probability's logarithm + LSE, place in
  /// [batch, heads, rows, keys]), rows being numbers among [batch, heads,
  /// tokens], for each visible pair.
  template <typename Visit>
  void forEachPair(const CallInputs &inputs, Visit visit) const {
    std::vector<int64_t> rows = getPositions(inputs.call.rows);
    std::vector<int64_t> keys = getPositions(inputs.call.keys);
    const float *q = reveal(static_cast<const float *>(inputs.query));
    const float *k = reveal(static_cast<const float *>(inputs.key));
    int64_t group = sizes.heads / sizes.keyHeads, dim = sizes.headDim;
    for (int64_t b = 0; b < sizes.batch; ++b)
      for (int64_t h = inputs.heads.begin; h < inputs.heads.end; ++h)
        for (size_t i = 0; i < rows.size(); ++i)
          for (size_t j = 0; j < keys.size(); ++j) {
            if (!sees(rows[i], keys[j]) ||
                (inputs.lengths &&
                 std::max(rows[i], keys[j]) >= inputs.lengths[b]))
              continue;
            int64_t head = b * inputs.heads.size() + h - inputs.heads.begin;
            int64_t keyHead =
                b * inputs.keyHeads.size() + h / group - inputs.keyHeads.begin;
            int64_t x = head * rows.size() + i, y = keyHead * keys.size() + j;
            double score = 0;
            for (int64_t d = 0; d < dim; ++d)
              score += double(q[x * dim + d]) * k[y * dim + d];
            size_t pair = x * keys.size() + j;
            double offset = inputs.bias ? reveal(inputs.bias)[pair] : 0;
            visit(x, y, score / std::sqrt(double(dim)) + offset, pair);
          }
  }

  void addSink(WholeResults &all) const;
  /// Of these pairs alone, where gradients take output and LSE of `all`.
  WholeResults computeForward(const CallInputs &inputs) const;
  void computeBackward(const CallInputs &inputs, const float *dOut,
                       WholeResults &all) const;
};

inline WholeResults
WholeAttention::computeForward(const CallInputs &inputs) const {
  int64_t rows = sizes.batch * inputs.heads.size() * inputs.call.rows.count();
  const float *v = reveal(static_cast<const float *>(inputs.value));
  WholeResults result;
  std::vector<double> sums(rows);
  result.output.resize(rows * sizes.valueDim);
  forEachPair(inputs, [&](int64_t x, int64_t y, double score, size_t) {
    double p = std::exp(score);
    sums[x] += p;
    for (int64_t d = 0; d < sizes.valueDim; ++d)
      result.output[x * sizes.valueDim + d] += p * v[y * sizes.valueDim + d];
  });
  for (int64_t x = 0; x < rows; ++x) {
    result.lse.push_back(std::log(sums[x])); // -inf where nothing is seen
    for (int64_t d = 0; d < sizes.valueDim && sums[x] > 0; ++d)
      result.output[x * sizes.valueDim + d] /= sums[x];
  }
  return result;
}

inline void WholeAttention::computeBackward(const CallInputs &inputs,
                                            const float *dOut,
                                            WholeResults &all) const {
  const float *q = reveal(static_cast<const float *>(inputs.query));
  const float *k = reveal(static_cast<const float *>(inputs.key));
  const float *v = reveal(static_cast<const float *>(inputs.value));
  int64_t dim = sizes.headDim, valueDim = sizes.valueDim;
  int64_t keys =
      sizes.batch * inputs.keyHeads.size() * inputs.call.keys.count();
  all.dQuery.assign(all.lse.size() * dim, 0);
  all.dKey.assign(keys * dim, 0);
  all.dValue.assign(keys * valueDim, 0);
  all.dBias.assign(all.lse.size() * inputs.call.keys.count(), 0);
  double scale = 1 / std::sqrt(double(dim));
  forEachPair(inputs, [&](int64_t x, int64_t y, double score, size_t pair) {
    double p = std::exp(score - all.lse[x]), dp = 0;
    for (int64_t d = 0; d < valueDim; ++d) {
      double g = dOut[x * valueDim + d];
      all.dValue[y * valueDim + d] += p * g;
      dp += g * (v[y * valueDim + d] - all.output[x * valueDim + d]);
    }
    all.dBias[pair] += p * dp;
    for (int64_t d = 0; d < dim; ++d) {
      all.dQuery[x * dim + d] += p * dp * scale * k[y * dim + d];
      all.dKey[y * dim + d] += p * dp * scale * q[x * dim + d];
    }
  });
}

/// One more score in each row, and its gradient.
inline void WholeAttention::addSink(WholeResults &all) const {
  all.dSink.assign(sink.size(), 0);
  for (size_t x = 0; !sink.empty() && x < all.lse.size(); ++x) {
    size_t head = x / tokens % sink.size();
    double whole = std::log(std::exp(all.lse[x]) + std::exp(sink[head]));
    double delta = 0;
    for (int64_t d = 0; d < sizes.valueDim; ++d) {
      double &output = all.output[x * sizes.valueDim + d];
      output *= std::exp(all.lse[x] - whole);
      delta += output * dOutput[x * sizes.valueDim + d];
    }
    all.lse[x] = whole;
    all.dSink[head] -= std::exp(sink[head] - whole) * delta;
  }
}

inline WholeResults WholeAttention::compute() const {
  TokenRanges everything = {{0, tokens}};
  Call call{everything, everything, 0};
  CallInputs inputs{call,         {0, sizes.heads}, {0, sizes.keyHeads},
                    query.data(), key.data(),       value.data()};
  inputs.bias = bias.empty() ? nullptr : bias.data();
  inputs.lengths = lengths.empty() ? nullptr : lengths.data();
  WholeResults result = computeForward(inputs);
  addSink(result);
  computeBackward(inputs, dOutput.data(), result);
  return result;
}

inline PlanKernels WholeAttention::makeKernels() const {
  PlanKernels kernels;
  kernels.forward = [this](const CallInputs &inputs, const CallResults &out) {
    WholeResults result = computeForward(inputs);
    std::copy(result.output.begin(), result.output.end(), reveal(out.output));
    std::copy(result.lse.begin(), result.lse.end(), reveal(out.lse));
    return Status();
  };
  kernels.backward = [this](const CallInputs &inputs, const CallResults &out,
                            const void *dOut, const CallGradients &gradients) {
    WholeResults all;
    int64_t rows = sizes.batch * inputs.heads.size() * inputs.call.rows.count();
    const float *output = reveal(out.output), *lse = reveal(out.lse);
    all.output.assign(output, output + rows * sizes.valueDim);
    all.lse.assign(lse, lse + rows);
    computeBackward(inputs, reveal(static_cast<const float *>(dOut)), all);
    std::copy(all.dQuery.begin(), all.dQuery.end(), reveal(gradients.query));
    std::copy(all.dKey.begin(), all.dKey.end(), reveal(gradients.key));
    std::copy(all.dValue.begin(), all.dValue.end(), reveal(gradients.value));
    if (gradients.bias)
      std::copy(all.dBias.begin(), all.dBias.end(), reveal(gradients.bias));
    return Status();
  };
  return kernels;
}

} // namespace attn

#endif // TEST_UNIT_DISTRIBUTED_WHOLEATTENTION_H
