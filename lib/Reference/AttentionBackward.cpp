//===- AttentionBackward.cpp - Gradients by definition, in float64 --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionDetail.h"

#include "attn/Support/Parallel.h"

#include <limits>

namespace attn {
namespace reference {

namespace {
/// Gradients of one K/V head and the query heads that share it.
class HeadBackward {
public:
  HeadBackward(const Tensor &query, const Tensor &key, const Tensor &value,
               const Tensor &outputGradient, const AttentionOptions &options,
               const detail::AttentionDims &dims)
      : query(query), key(key), value(value), outputGradient(outputGradient),
        options(options), dims(dims),
        scale(options.scale.value_or(
            1 / std::sqrt(static_cast<double>(dims.headDim)))) {}

  /// Rows are taken one after the other: the sums of dK and dV have one order.
  void run(int64_t b, int64_t kvHead, AttentionGradients &gradients) const {
    int64_t group = dims.queryHeads / dims.kvHeads;
    for (int64_t h = kvHead * group; h < (kvHead + 1) * group; ++h)
      for (int64_t i = 0; i < dims.queryLength; ++i)
        addRow(b, h, i, gradients);
  }

private:
  using Row = std::vector<double>;

  static double dot(const Tensor &a, int64_t aOffset, const Tensor &b,
                    int64_t bOffset, int64_t count) {
    double sum = 0;
    for (int64_t d = 0; d < count; ++d)
      sum += a[aOffset + d] * b[bOffset + d];
    return sum;
  }

  /// sum += factor * row of `source`.
  static void accumulate(Tensor &sum, int64_t sumOffset, double factor,
                         const Tensor &source, int64_t sourceOffset,
                         int64_t count) {
    for (int64_t d = 0; d < count; ++d)
      sum.set(sumOffset + d,
              sum[sumOffset + d] + factor * source[sourceOffset + d]);
  }

  /// Probabilities of a row; `raw` receives the scaled products. All 0 where
  /// every key is masked.
  Row getProbabilities(int64_t b, int64_t h, int64_t i, Row &raw) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Row row(raw.size(), -infinity);
    double maximum = -infinity;
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      if (!detail::isVisible(options, {b, h, i, j}))
        continue;
      raw[j] =
          scale * dot(query, query.offset(b, h, i, 0), key,
                      key.offset(b, dims.getKvHead(h), j, 0), dims.headDim);
      row[j] = detail::changeScore<double>(raw[j], options, {b, h, i, j});
      maximum = std::max(maximum, row[j]);
    }
    double sum = 0;
    for (double &score : row) {
      score = maximum == -infinity ? 0 : std::exp(score - maximum);
      sum += score;
    }
    for (double &probability : row)
      probability = sum > 0 ? probability / sum : 0;
    return row;
  }

  /// The gradient before soft cap, bias and scoreMod, given that after them.
  /// Adds to the gradient of the bias on the way.
  double goBack(double gradient, double raw, const detail::ScoreIndex &at,
                Tensor &biasGradient) const {
    double capped = raw, capDerivative = 1;
    if (options.softCap) {
      double tanh = std::tanh(raw / *options.softCap);
      capped = *options.softCap * tanh;
      capDerivative = 1 - tanh * tanh;
    }
    double biased = capped;
    if (options.bias)
      biased += detail::getBias(*options.bias, at.b, at.h, at.i, at.j);
    if (options.scoreMod)
      gradient *= options.scoreModDerivative(biased, at.b, at.h, at.i, at.j);
    if (options.bias) {
      auto clamp = [&](int64_t dim, int64_t index) {
        return biasGradient.getDim(dim) == 1 ? 0 : index;
      };
      int64_t offset = biasGradient.offset(clamp(0, at.b), clamp(1, at.h),
                                           clamp(2, at.i), clamp(3, at.j));
      biasGradient.set(offset, biasGradient[offset] + gradient);
    }
    return gradient * capDerivative;
  }

  void addRow(int64_t b, int64_t h, int64_t i,
              AttentionGradients &gradients) const {
    Row raw(static_cast<size_t>(dims.kvLength));
    Row probabilities = getProbabilities(b, h, i, raw);
    int64_t kvHead = dims.getKvHead(h);
    int64_t queryRow = query.offset(b, h, i, 0);
    int64_t outputRow = outputGradient.offset(b, h, i, 0);
    Row dP(raw.size());
    double delta = 0;
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      if (probabilities[j] == 0)
        continue;
      dP[j] = dot(outputGradient, outputRow, value,
                  value.offset(b, kvHead, j, 0), dims.valueDim);
      delta += probabilities[j] * dP[j];
    }
    for (int64_t j = 0; j < dims.kvLength; ++j) {
      if (probabilities[j] == 0)
        continue;
      accumulate(gradients.value, value.offset(b, kvHead, j, 0),
                 probabilities[j], outputGradient, outputRow, dims.valueDim);
      double dS = goBack(probabilities[j] * (dP[j] - delta), raw[j],
                         {b, h, i, j}, gradients.bias);
      int64_t keyRow = key.offset(b, kvHead, j, 0);
      accumulate(gradients.query, queryRow, scale * dS, key, keyRow,
                 dims.headDim);
      accumulate(gradients.key, keyRow, scale * dS, query, queryRow,
                 dims.headDim);
    }
  }

  const Tensor &query, &key, &value, &outputGradient;
  const AttentionOptions &options;
  const detail::AttentionDims &dims;
  double scale;
};
} // namespace

Result<AttentionGradients> attentionBackward(const Tensor &query,
                                             const Tensor &key,
                                             const Tensor &value,
                                             const Tensor &outputGradient,
                                             const AttentionOptions &options) {
  Result<detail::AttentionDims> dims =
      detail::getDims(query, key, value, options);
  if (!dims)
    return Error{dims.error()};
  std::vector<int64_t> outputShape = {dims->batch, dims->queryHeads,
                                      dims->queryLength, dims->valueDim};
  if (outputGradient.getShape() != outputShape)
    return Error{"expected output gradient of shape " +
                 formatShape(outputShape) + ", got " +
                 formatShape(outputGradient.getShape())};
  if (options.scoreMod && !options.scoreModDerivative)
    return Error{"expected the derivative of the score_mod"};

  AttentionGradients gradients = {
      Tensor(query.getShape(), ElementType::F64),
      Tensor(key.getShape(), ElementType::F64),
      Tensor(value.getShape(), ElementType::F64),
      options.bias ? Tensor(options.bias->getShape(), ElementType::F64)
                   : Tensor()};
  HeadBackward head(query, key, value, outputGradient, options, *dims);
  // A broadcast bias sums over all heads, in one order on one thread.
  parallelFor(
      dims->batch * dims->kvHeads,
      [&](int64_t i) {
        head.run(i / dims->kvHeads, i % dims->kvHeads, gradients);
      },
      options.bias ? 1 : 0);
  return gradients;
}

} // namespace reference
} // namespace attn
