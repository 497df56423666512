//===- LinearAttention.cpp - Linear attention by definition ---- -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/LinearAttention.h"

#include "AttentionDetail.h"

#include "attn/Reference/Element.h"
#include "attn/Support/Parallel.h"

#include <cmath>

namespace attn {
namespace reference {

namespace {
/// Computes the heads in `Real`.
template <typename Real>
class LinearHead {
public:
  LinearHead(const Tensor &query, const Tensor &key, const Tensor &value,
             const LinearAttentionOptions &options,
             const detail::AttentionDims &dims, LinearAttentionResult &result)
      : query(query), key(key), value(value), options(options), dims(dims),
        result(result),
        scale(static_cast<Real>(options.scale.value_or(
            1 / std::sqrt(static_cast<double>(dims.headDim))))) {}

  /// The recurrence.
  void recur(int64_t b, int64_t h) const {
    std::vector<Real> state = getFirstState(b, h);
    for (int64_t i = 0; i < dims.queryLength; ++i) {
      const double *k = keyRow(b, h, i), *v = valueRow(b, h, i);
      Real decay = getDecay(b, h, i);
      for (int64_t d = 0; d < dims.headDim; ++d)
        for (int64_t e = 0; e < dims.valueDim; ++e) {
          Real &s = state[d * dims.valueDim + e];
          s = decay * s + static_cast<Real>(k[d]) * static_cast<Real>(v[e]);
        }
      writeRow(b, h, i,
               multiply(query.getRow(query.offset(b, h, i, 0)), state));
    }
    writeState(b, h, state);
  }

  /// The last state as a product of the keys, which with their decays are
  /// rounded to their type, and the values.
  void multiplyKeys(int64_t b, int64_t h) const {
    std::vector<Real> state(static_cast<size_t>(dims.headDim * dims.valueDim));
    Real factor = 1;
    for (int64_t i = dims.queryLength - 1; i >= 0; --i) {
      const double *k = keyRow(b, h, i), *v = valueRow(b, h, i);
      for (int64_t d = 0; d < dims.headDim; ++d) {
        auto decayed = static_cast<Real>(
            roundToElement(static_cast<Real>(k[d]) * factor, key.getType()));
        for (int64_t e = 0; e < dims.valueDim; ++e)
          state[d * dims.valueDim + e] += decayed * static_cast<Real>(v[e]);
      }
      factor *= getDecay(b, h, i);
    }
    std::vector<Real> first = getFirstState(b, h);
    for (size_t i = 0; i < state.size(); ++i)
      state[i] += factor * first[i];
    writeState(b, h, state);
  }

  /// The quadratic form of the outputs, with weights rounded to the type of V.
  void multiplyQuadratic(int64_t b, int64_t h) const {
    std::vector<Real> first = getFirstState(b, h);
    for (int64_t i = 0; i < dims.queryLength; ++i) {
      const double *q = query.getRow(query.offset(b, h, i, 0));
      std::vector<Real> row(static_cast<size_t>(dims.valueDim));
      Real factor = 1;
      for (int64_t j = i; j >= 0; --j) {
        Real weight =
            factor * detail::dot<Real>(q, keyRow(b, h, j), dims.headDim);
        weight = static_cast<Real>(roundToElement(weight, value.getType()));
        const double *v = valueRow(b, h, j);
        for (int64_t e = 0; e < dims.valueDim; ++e)
          row[e] += weight * static_cast<Real>(v[e]);
        factor *= getDecay(b, h, j);
      }
      std::vector<Real> before = multiply(q, first);
      for (int64_t e = 0; e < dims.valueDim; ++e)
        row[e] += factor * before[e];
      writeRow(b, h, i, row);
    }
  }

private:
  const double *keyRow(int64_t b, int64_t h, int64_t i) const {
    return key.getRow(key.offset(b, dims.getKvHead(h), i, 0));
  }
  const double *valueRow(int64_t b, int64_t h, int64_t i) const {
    return value.getRow(value.offset(b, dims.getKvHead(h), i, 0));
  }
  Real getDecay(int64_t b, int64_t h, int64_t i) const {
    if (!options.decay)
      return 1;
    const Tensor &decay = *options.decay;
    return std::exp(
        static_cast<Real>(decay.getRank() == 1 ? decay[h] : decay.at(b, h, i)));
  }
  std::vector<Real> getFirstState(int64_t b, int64_t h) const {
    std::vector<Real> state(static_cast<size_t>(dims.headDim * dims.valueDim));
    if (options.state) {
      const double *given =
          options.state->getRow(options.state->offset(b, h, 0, 0));
      std::copy(given, given + state.size(), state.begin());
    }
    return state;
  }
  std::vector<Real> multiply(const double *q,
                             const std::vector<Real> &state) const {
    std::vector<Real> row(static_cast<size_t>(dims.valueDim));
    for (int64_t d = 0; d < dims.headDim; ++d)
      for (int64_t e = 0; e < dims.valueDim; ++e)
        row[e] += static_cast<Real>(q[d]) * state[d * dims.valueDim + e];
    return row;
  }
  void writeRow(int64_t b, int64_t h, int64_t i,
                const std::vector<Real> &row) const {
    for (int64_t e = 0; e < dims.valueDim; ++e)
      result.output.set(result.output.offset(b, h, i, e), scale * row[e]);
  }

  void writeState(int64_t b, int64_t h, const std::vector<Real> &state) const {
    std::copy(state.begin(), state.end(),
              result.state.getRow(result.state.offset(b, h, 0, 0)));
  }

  const Tensor &query, &key, &value;
  const LinearAttentionOptions &options;
  const detail::AttentionDims &dims;
  LinearAttentionResult &result;
  Real scale;
};
} // namespace

/// Shapes and signs of what linear attention has of its own.
static Status check(const detail::AttentionDims &dims,
                    const LinearAttentionOptions &options) {
  if (dims.queryLength != dims.kvLength)
    return Error{"expected as many keys as queries, got " +
                 std::to_string(dims.kvLength) + " and " +
                 std::to_string(dims.queryLength)};
  std::vector<int64_t> rows = {dims.batch, dims.queryHeads, dims.queryLength};
  std::vector<int64_t> states = {dims.batch, dims.queryHeads, dims.headDim,
                                 dims.valueDim};
  if (options.state && options.state->getShape() != states)
    return Error{"expected a state of shape " + formatShape(states) + ", got " +
                 formatShape(options.state->getShape())};
  if (!options.decay)
    return {};
  if (options.decay->getRank() == 1)
    rows = {dims.queryHeads};
  if (options.decay->getShape() != rows)
    return Error{"expected log decays of shape " + formatShape(rows) +
                 ", got " + formatShape(options.decay->getShape())};
  for (double decay : options.decay->getValues())
    if (!(decay <= 0))
      return Error{"expected log decays of at most 0, got " +
                   std::to_string(decay)};
  return {};
}

template <typename Real>
static Result<LinearAttentionResult>
compute(const Tensor &query, const Tensor &key, const Tensor &value,
        const LinearAttentionOptions &options, ElementType outputType) {
  auto dims = detail::getDims(query, key, value, {});
  if (!dims)
    return Error{dims.error()};
  if (Status status = check(*dims, options); !status)
    return Error{status.error()};
  constexpr bool isOracle = std::is_same_v<Real, double>;
  LinearAttentionResult result = {
      Tensor({dims->batch, dims->queryHeads, dims->queryLength, dims->valueDim},
             outputType),
      Tensor({dims->batch, dims->queryHeads, dims->headDim, dims->valueDim},
             isOracle ? ElementType::F64 : ElementType::F32)};
  LinearHead<Real> heads(query, key, value, options, *dims, result);
  parallelFor(dims->batch * dims->queryHeads, [&](int64_t head) {
    int64_t b = head / dims->queryHeads, h = head % dims->queryHeads;
    if (isOracle) {
      heads.recur(b, h);
    } else {
      heads.multiplyQuadratic(b, h);
      heads.multiplyKeys(b, h);
    }
  });
  return result;
}

Result<LinearAttentionResult>
linearAttention(const Tensor &query, const Tensor &key, const Tensor &value,
                const LinearAttentionOptions &options) {
  return compute<double>(query, key, value, options, ElementType::F64);
}

Result<LinearAttentionResult>
unfusedLinearAttention(const Tensor &query, const Tensor &key,
                       const Tensor &value,
                       const LinearAttentionOptions &options) {
  return compute<float>(query, key, value, options,
                        options.outputType.value_or(query.getType()));
}

} // namespace reference
} // namespace attn
