//===- LinearAttention.cpp - Linear attention by definition ---- -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/LinearAttention.h"

#include "AttentionDetail.h"

#include "attn/Reference/Element.h"
#include "attn/Support/MathExtras.h"
#include "attn/Support/Parallel.h"

#include <algorithm>
#include <cmath>

namespace attn {
namespace reference {

/// Positions of a chunk, and of an entry of the states.
static constexpr int64_t kChunk = 64;

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
    State state = getFirstState(b, h);
    if (options.full) {
      for (int64_t j = 0; j < dims.kvLength; ++j)
        addKey(b, h, j, state);
      for (int64_t i = 0; i < dims.queryLength; ++i)
        writeRow(b, h, i, multiply(queryRow(b, h, i), state));
      return writeState(b, h, state);
    }
    for (int64_t step = 0; step < dims.queryLength; ++step) {
      int64_t i = getPosition(step);
      if (isFirstOfChunk(step) && !options.reverse)
        writeCarried(b, h, step, state);
      decay(state, getDecayBefore(b, h, step));
      if (isFirstOfChunk(step) && options.reverse)
        writeCarried(b, h, step, state);
      addKey(b, h, i, state);
      writeRow(b, h, i, multiply(queryRow(b, h, i), state));
    }
    decay(state, getLastDecay(b, h));
    writeState(b, h, state);
  }

  /// By chunks, whose factors are rounded. In reverse, as kernels have it, what
  /// is carried into a chunk has the decay of its first step already.
  void multiplyChunks(int64_t b, int64_t h) const {
    State state = getFirstState(b, h);
    for (int64_t first = 0; first < dims.kvLength;) {
      int64_t end = getChunkEnd(first);
      if (!options.full) {
        writeChunk(b, h, first, end, state);
        writeCarried(b, h, first, state);
      }
      addChunk(b, h, first, end, state);
      first = end;
    }
    State factor = roundFactors(query.getType(), state);
    for (int64_t i = 0; options.full && i < dims.queryLength; ++i)
      writeRow(b, h, i, multiply(queryRow(b, h, i), factor));
    writeState(b, h, state);
  }

private:
  using State = std::vector<Real>; ///< [D, Dv]

  /// The outputs of steps [first, end), before which the state is `state`.
  void writeChunk(int64_t b, int64_t h, int64_t first, int64_t end,
                  const State &state) const {
    State stateFactor = roundFactors(query.getType(), state);
    for (int64_t step = first; step < end; ++step) {
      const double *q = queryRow(b, h, getPosition(step));
      std::vector<Real> row(static_cast<size_t>(dims.valueDim));
      Real factor = 1;
      for (int64_t other = step; other >= first; --other) {
        int64_t j = getPosition(other);
        Real weight =
            factor * detail::dot<Real>(q, keyRow(b, h, j), dims.headDim);
        weight = roundFactor(value.getType(), weight);
        const double *v = valueRow(b, h, j);
        for (int64_t e = 0; e < dims.valueDim; ++e)
          row[e] += weight * static_cast<Real>(v[e]);
        factor *= getDecayInChunk(b, h, other, first);
      }
      std::vector<Real> before = multiply(q, stateFactor);
      for (int64_t e = 0; e < dims.valueDim; ++e)
        row[e] += factor * before[e];
      writeRow(b, h, getPosition(step), row);
    }
  }

  /// The state after steps [first, end).
  void addChunk(int64_t b, int64_t h, int64_t first, int64_t end,
                State &state) const {
    std::vector<Real> factors(static_cast<size_t>(end - first));
    Real all = 1;
    if (end == dims.kvLength)
      all = getLastDecay(b, h);
    else if (options.reverse)
      all = getDecayBefore(b, h, end);
    for (int64_t step = end - 1; step >= first; --step) {
      factors[step - first] = all;
      all *= getDecayInChunk(b, h, step, first);
    }
    decay(state, all);
    for (int64_t step = first; step < end; ++step)
      addKey(b, h, getPosition(step), state, factors[step - first]);
  }

  /// The oracle rounds nothing.
  Real roundFactor(ElementType type, Real factor) const {
    if (std::is_same_v<Real, double> || !options.roundFactors)
      return factor;
    return static_cast<Real>(roundToElement(factor, type));
  }
  State roundFactors(ElementType type, State state) const {
    for (Real &s : state)
      s = roundFactor(type, s);
    return state;
  }
  static void decay(State &state, Real factor) {
    for (Real &s : state)
      s *= factor;
  }
  /// Adds (K[j] * factor)^T V[j].
  void addKey(int64_t b, int64_t h, int64_t j, State &state,
              Real factor = 1) const {
    const double *k = keyRow(b, h, j), *v = valueRow(b, h, j);
    for (int64_t d = 0; d < dims.headDim; ++d) {
      Real decayed =
          roundFactor(key.getType(), static_cast<Real>(k[d]) * factor);
      for (int64_t e = 0; e < dims.valueDim; ++e)
        state[d * dims.valueDim + e] += decayed * static_cast<Real>(v[e]);
    }
  }
  /// The step behind the chunk that begins with step `first`; chunks begin at
  /// multiples of 64 positions.
  int64_t getChunkEnd(int64_t first) const {
    int64_t left = dims.kvLength - first;
    return first +
           (options.reverse ? (left - 1) % kChunk + 1 : std::min(left, kChunk));
  }
  bool isFirstOfChunk(int64_t step) const {
    return step == 0 ||
           getPosition(step) / kChunk != getPosition(step - 1) / kChunk;
  }
  /// The position that a step takes.
  int64_t getPosition(int64_t step) const {
    return options.reverse ? dims.kvLength - 1 - step : step;
  }
  /// The decay between the step before and this one: that of the later position
  /// of the two.
  Real getDecayBefore(int64_t b, int64_t h, int64_t step) const {
    if (!options.reverse)
      return getDecay(b, h, step);
    return step == 0 ? Real(1) : getDecay(b, h, getPosition(step) + 1);
  }
  /// Of the steps of a chunk, what the state before it does not have.
  Real getDecayInChunk(int64_t b, int64_t h, int64_t step,
                       int64_t first) const {
    return options.reverse && step == first ? Real(1)
                                            : getDecayBefore(b, h, step);
  }
  /// The decay behind the last step.
  Real getLastDecay(int64_t b, int64_t h) const {
    return options.reverse && dims.kvLength > 0 ? getDecay(b, h, 0) : Real(1);
  }
  const double *queryRow(int64_t b, int64_t h, int64_t i) const {
    return query.getRow(query.offset(b, h, i, 0));
  }
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
  State getFirstState(int64_t b, int64_t h) const {
    State state(static_cast<size_t>(dims.headDim * dims.valueDim));
    if (options.state) {
      const double *given =
          options.state->getRow(options.state->offset(b, h, 0, 0));
      std::copy(given, given + state.size(), state.begin());
    }
    return state;
  }
  std::vector<Real> multiply(const double *q, const State &state) const {
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

  void writeState(int64_t b, int64_t h, const State &state) const {
    std::copy(state.begin(), state.end(),
              result.state.getRow(result.state.offset(b, h, 0, 0)));
  }
  void writeCarried(int64_t b, int64_t h, int64_t step,
                    const State &state) const {
    int64_t chunks = result.states.getShape()[2];
    int64_t entry = (b * dims.queryHeads + h) * chunks;
    entry += getPosition(step) / kChunk;
    std::copy(state.begin(), state.end(),
              result.states.getRow(entry * dims.headDim * dims.valueDim));
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
  if (options.full && (options.reverse || options.decay))
    return Error{"expected no reverse and no decays of a full linear "
                 "attention"};
  if (!options.full && dims.queryLength != dims.kvLength)
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
  ElementType stateType = isOracle ? ElementType::F64 : ElementType::F32;
  std::vector<int64_t> states = {
      dims->batch, dims->queryHeads,
      options.full ? 0 : ceilDiv(dims->queryLength, kChunk), dims->headDim,
      dims->valueDim};
  LinearAttentionResult result = {
      Tensor({dims->batch, dims->queryHeads, dims->queryLength, dims->valueDim},
             outputType),
      Tensor({dims->batch, dims->queryHeads, dims->headDim, dims->valueDim},
             stateType),
      Tensor(states, stateType)};
  LinearHead<Real> heads(query, key, value, options, *dims, result);
  parallelFor(dims->batch * dims->queryHeads, [&](int64_t head) {
    int64_t b = head / dims->queryHeads, h = head % dims->queryHeads;
    if (isOracle)
      heads.recur(b, h);
    else
      heads.multiplyChunks(b, h);
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
