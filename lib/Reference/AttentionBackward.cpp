//===- AttentionBackward.cpp - Gradients by definition --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One template over the arithmetic type serves oracle and yardstick, as in
// Attention.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttentionDetail.h"

#include "attn/Reference/Element.h"
#include "attn/Support/Parallel.h"

#include <limits>

namespace attn {
namespace reference {

namespace {
/// Computes in `Real`; P and dS are rounded to `factorType` before they are
/// factors of a product.
template <typename Real>
class HeadBackward {
public:
  HeadBackward(const Tensor &query, const Tensor &key, const Tensor &value,
               const BackwardInputs &inputs, const AttentionOptions &options,
               const detail::AttentionDims &dims, ElementType factorType,
               AttentionGradients &gradients)
      : query(query), key(key), value(value), inputs(inputs), options(options),
        dims(dims), factorType(factorType), gradients(gradients),
        scale(static_cast<Real>(options.scale.value_or(
            1 / std::sqrt(static_cast<double>(dims.headDim))))) {}

  /// The query heads of one K/V head, row after row: the sums of dK and dV have
  /// one order.
  void run(int64_t b, int64_t kvHead) const {
    int64_t group = dims.queryHeads / dims.kvHeads;
    for (int64_t h = kvHead * group; h < (kvHead + 1) * group; ++h)
      for (int64_t i = 0; i < dims.queryLength; ++i)
        addRow(b, h, i);
  }

private:
  static Real dot(const Tensor &a, int64_t aOffset, const Tensor &b,
                  int64_t bOffset, int64_t count) {
    return detail::dot<Real>(a.getRow(aOffset), b.getRow(bOffset), count);
  }

  /// sum += factor * row of `source`. Sums are of the type of `Real`.
  static void accumulate(Tensor &sum, int64_t sumOffset, Real factor,
                         const Tensor &source, int64_t sourceOffset,
                         int64_t count) {
    double *sums = sum.getRow(sumOffset);
    const double *row = source.getRow(sourceOffset);
    for (int64_t d = 0; d < count; ++d)
      sums[d] = static_cast<Real>(sums[d]) + factor * static_cast<Real>(row[d]);
  }

  /// A weight as a factor of dO.
  Real roundWeight(Real weight) const {
    if (!rounds8Bits())
      return roundFactor(weight);
    constexpr double kWeightScale = 256;
    return static_cast<Real>(
        quantize(weight, 1 / kWeightScale, inputs.float8->weights) /
        kWeightScale);
  }

  /// scale * dS1 as a factor of keys and queries.
  Real roundGradient(Real gradient) const {
    if (!rounds8Bits())
      return scale * roundFactor(gradient);
    double factor = inputs.float8->scoreScale;
    return static_cast<Real>(
        quantize(scale * gradient * factor, 1, inputs.float8->scores) / factor);
  }

  bool rounds8Bits() const {
    return inputs.float8 && factorType != ElementType::F64;
  }

  void addMaximum(const detail::ScoreIndex &at, Real gradient) const {
    Tensor &maxima = gradients.scoreMaxima;
    int64_t row = (at.b * dims.queryHeads + at.h) * dims.queryLength + at.i;
    double size = std::abs(gradient);
    if (std::isnan(size) || size > maxima[row])
      maxima.set(row, size);
  }

  Real roundFactor(Real factor) const {
    return static_cast<Real>(options.tf32Products
                                 ? roundToTf32(factor)
                                 : roundToElement(factor, factorType));
  }

  /// The gradient before soft cap, bias and scoreMod, given that after them.
  /// Adds to the gradient of the bias on the way.
  Real goBack(Real gradient, Real raw, const detail::ScoreIndex &at) const {
    Real biased = raw, capDerivative = 1;
    if (options.softCap) {
      Real cap = static_cast<Real>(*options.softCap);
      Real tanh = std::tanh(raw / cap);
      biased = cap * tanh;
      capDerivative = 1 - tanh * tanh;
    }
    if (options.bias)
      biased += static_cast<Real>(
          detail::getBias(*options.bias, at.b, at.h, at.i, at.j));
    if (options.scoreGradientSink)
      options.scoreGradientSink(biased, at.b, at.h, at.i, at.j, gradient);
    if (options.scoreMod)
      gradient *= static_cast<Real>(
          options.scoreModDerivative(biased, at.b, at.h, at.i, at.j));
    if (options.bias)
      addToBias(gradient, at);
    return gradient * capDerivative;
  }

  void addToBias(Real gradient, const detail::ScoreIndex &at) const {
    Tensor &bias = gradients.bias;
    auto clamp = [&](int64_t dim, int64_t index) {
      return bias.getDim(dim) == 1 ? 0 : index;
    };
    int64_t offset = bias.offset(clamp(0, at.b), clamp(1, at.h), clamp(2, at.i),
                                 clamp(3, at.j));
    bias.set(offset, static_cast<Real>(bias[offset]) + gradient);
  }

  bool hasSoftmax() const {
    return options.normalization == Normalization::Softmax;
  }

  void addRow(int64_t b, int64_t h, int64_t i) const {
    if (!hasSoftmax())
      return addVisibleScores(b, h, i, /*lse=*/0, /*delta=*/0);
    int64_t row = (b * dims.queryHeads + h) * dims.queryLength + i;
    Real lse = static_cast<Real>(inputs.lse[row]);
    if (lse == -std::numeric_limits<Real>::infinity())
      return;
    int64_t outputRow = row * dims.valueDim;
    Real delta = dot(inputs.outputGradient, outputRow, inputs.output, outputRow,
                     dims.valueDim);
    if (inputs.lseGradient)
      delta -= static_cast<Real>((*inputs.lseGradient)[row]);
    addVisibleScores(b, h, i, lse, delta);
  }

  void addVisibleScores(int64_t b, int64_t h, int64_t i, Real lse,
                        Real delta) const {
    for (int64_t j = 0; j < dims.kvLength; ++j)
      if (detail::isVisible(options, {b, h, i, j}))
        addScore({b, h, i, j}, lse, delta);
  }

  void addScore(const detail::ScoreIndex &at, Real lse, Real delta) const {
    int64_t kvHead = dims.getKvHead(at.h);
    int64_t queryRow = query.offset(at.b, at.h, at.i, 0);
    int64_t keyRow = key.offset(at.b, kvHead, at.j, 0);
    int64_t valueRow = value.offset(at.b, kvHead, at.j, 0);
    int64_t outputRow = inputs.outputGradient.offset(at.b, at.h, at.i, 0);
    Real raw = scale * dot(query, queryRow, key, keyRow, dims.headDim);
    Real p = detail::changeScore<Real>(raw, options, at);
    if (hasSoftmax())
      p = std::exp(p - lse);
    if (hasSoftmax() && p == 0)
      return;
    const Tensor &dO = inputs.outputGradient;
    Real kept = static_cast<Real>(detail::getDropoutFactor(options, at));
    Real dP = kept * dot(dO, outputRow, value, valueRow, dims.valueDim);
    accumulate(gradients.value, valueRow, roundWeight(p * kept), dO, outputRow,
               dims.valueDim);
    Real gradient = hasSoftmax() ? p * (dP - delta) : dP;
    Real inner = goBack(gradient, raw, at);
    addMaximum(at, scale * inner);
    Real dS = roundGradient(inner);
    accumulate(gradients.query, queryRow, dS, key, keyRow, dims.headDim);
    accumulate(gradients.key, keyRow, dS, query, queryRow, dims.headDim);
  }

  const Tensor &query, &key, &value;
  const BackwardInputs &inputs;
  const AttentionOptions &options;
  const detail::AttentionDims &dims;
  ElementType factorType;
  AttentionGradients &gradients;
  Real scale;
};

struct Precision {
  /// Of P and dS as factors, and of the gradients while they are summed.
  ElementType factorType, sumType;
};
} // namespace

static Status checkShape(const char *name, const Tensor &tensor,
                         const std::vector<int64_t> &shape) {
  if (tensor.getShape() == shape)
    return {};
  return Error{std::string("expected ") + name + " of shape " +
               formatShape(shape) + ", got " + formatShape(tensor.getShape())};
}

static Status checkInputs(const BackwardInputs &inputs,
                          const AttentionOptions &options,
                          const detail::AttentionDims &dims) {
  std::vector<int64_t> rows = {dims.batch, dims.queryHeads, dims.queryLength};
  std::vector<int64_t> output = rows;
  output.push_back(dims.valueDim);
  if (options.normalization == Normalization::Sum)
    return Error{"expected softmax or no normalization, got a sum"};
  if (options.normalization == Normalization::Softmax) {
    if (Status status = checkShape("output", inputs.output, output); !status)
      return status;
    if (Status status = checkShape("lse", inputs.lse, rows); !status)
      return status;
  }
  if (Status status =
          checkShape("output gradient", inputs.outputGradient, output);
      !status)
    return status;
  if (inputs.lseGradient)
    if (Status status = checkShape("lse gradient", *inputs.lseGradient, rows);
        !status)
      return status;
  if (options.scoreMod && !options.scoreModDerivative)
    return Error{"expected the derivative of the score_mod"};
  return {};
}

template <typename Real>
static Result<AttentionGradients>
computeBackward(const Tensor &query, const Tensor &key, const Tensor &value,
                const BackwardInputs &inputs, const AttentionOptions &options,
                Precision precision) {
  Result<detail::AttentionDims> dims =
      detail::getDims(query, key, value, options);
  if (!dims)
    return Error{dims.error()};
  if (Status status = checkInputs(inputs, options, *dims); !status)
    return Error{status.error()};
  AttentionGradients gradients = {
      Tensor(query.getShape(), precision.sumType),
      Tensor(key.getShape(), precision.sumType),
      Tensor(value.getShape(), precision.sumType),
      options.bias ? Tensor(options.bias->getShape(), precision.sumType)
                   : Tensor(),
      Tensor({dims->batch, dims->queryHeads, dims->queryLength},
             precision.sumType)};
  HeadBackward<Real> head(query, key, value, inputs, options, *dims,
                          precision.factorType, gradients);
  // A broadcast bias sums over all heads, in one order on one thread.
  parallelFor(
      dims->batch * dims->kvHeads,
      [&](int64_t i) { head.run(i / dims->kvHeads, i % dims->kvHeads); },
      options.bias || options.scoreGradientSink ? 1 : 0);
  return gradients;
}

Result<AttentionGradients> attentionBackward(const Tensor &query,
                                             const Tensor &key,
                                             const Tensor &value,
                                             const BackwardInputs &inputs,
                                             const AttentionOptions &options) {
  return computeBackward<double>(query, key, value, inputs, options,
                                 {ElementType::F64, ElementType::F64});
}

Result<AttentionGradients> attentionBackward(const Tensor &query,
                                             const Tensor &key,
                                             const Tensor &value,
                                             const Tensor &outputGradient,
                                             const AttentionOptions &options) {
  AttentionOptions wide = options;
  wide.outputType = ElementType::F64;
  Result<AttentionResult> forward = attention(query, key, value, wide);
  if (!forward)
    return Error{forward.error()};
  return attentionBackward(query, key, value,
                           {forward->output, forward->lse, outputGradient},
                           options);
}

Result<AttentionGradients>
unfusedAttentionBackward(const Tensor &query, const Tensor &key,
                         const Tensor &value, const BackwardInputs &inputs,
                         const AttentionOptions &options) {
  Precision precision = {getSizeBytes(value.getType()) <= 2 ? value.getType()
                                                            : ElementType::F32,
                         ElementType::F32};
  if (!options.tf32Products)
    return computeBackward<float>(query, key, value, inputs, options,
                                  precision);
  Tensor outputGradient = detail::roundToTf32(inputs.outputGradient);
  return computeBackward<float>(detail::roundToTf32(query),
                                detail::roundToTf32(key),
                                detail::roundToTf32(value),
                                {inputs.output, inputs.lse, outputGradient,
                                 inputs.lseGradient, inputs.float8},
                                options, precision);
}

} // namespace reference
} // namespace attn
