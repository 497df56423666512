//===- BackwardOps.cpp - Ops of the backward pass -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descales.h"
#include "MaskChecks.h"
#include "ModPrograms.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include <cmath>

using namespace mlir;
using namespace attn;

/// The sum of -exp(sink - LSE) * delta over the rows of a head.
static reference::Tensor getSinkGradient(const reference::Tensor &sink,
                                         const reference::BackwardInputs &rows,
                                         ElementType type) {
  reference::Tensor gradient(sink.getShape(), type);
  int64_t width = rows.output.getDim(kHeadDim);
  int64_t length = rows.lse.getDim(kSequence);
  for (int64_t row = 0; row < rows.lse.getNumElements(); ++row) {
    if (rows.lse[row] == -HUGE_VAL)
      continue;
    double delta = rows.lseGradient ? -(*rows.lseGradient)[row] : 0;
    for (int64_t i = row * width; i < (row + 1) * width; ++i)
      delta += rows.output[i] * rows.outputGradient[i];
    int64_t head = row / length % sink.getNumElements();
    gradient.set(head,
                 gradient[head] - std::exp(sink[head] - rows.lse[row]) * delta);
  }
  return gradient;
}

/// The LSE of another library may be to base 2, which gives wrong gradients and
/// nothing else. Fails if that of all rows is that of the forward times
/// log2(e). The forward is as much work as the rest: not of many scores.
static LogicalResult checkBase(AttentionBackwardOp op,
                               const reference::Tensor &query,
                               const reference::Tensor &key,
                               const reference::Tensor &value,
                               const reference::Tensor &lse,
                               const reference::AttentionOptions &options) {
  constexpr int64_t kMostScores = int64_t(1) << 22, kFewestRows = 4;
  if (lse.getNumElements() * key.getDim(kSequence) > kMostScores)
    return success();
  Result<reference::AttentionResult> forward =
      reference::attention(query, key, value, options);
  if (!forward)
    return success(); // the backward says what is wrong
  int64_t rows = 0;
  for (int64_t row = 0; row < lse.getNumElements(); ++row) {
    double natural = forward->lse[row];
    if (!std::isfinite(natural) || std::abs(natural) < 0.1)
      continue;
    constexpr double kLog2OfE = 1.4426950408889634;
    if (!(std::abs(lse[row] / natural - kLog2OfE) < 1e-2))
      return success();
    ++rows;
  }
  if (rows < kFewestRows)
    return success();
  return op.emitOpError() << "expected the natural logarithm in lse, got that "
                             "to base 2: multiply it by log(2)";
}

/// What the operand of that number stands for: itself, or of 8 bits each number
/// times its descale, as f64.
static FailureOr<reference::Tensor> getDequantized(AttentionBackwardOp op,
                                                   Environment &environment,
                                                   unsigned number) {
  Value operands[] = {op.getQuery(), op.getKey(), op.getValue(),
                      op.getDOutput()};
  reference::Tensor tensor = getOperand(operands[number], environment);
  if (!isFloat8(operands[number].getType()))
    return tensor;
  reference::Tensor wide = tensor.convertTo(ElementType::F64);
  Value given = op.getDescaleOf(number);
  if (!given)
    return wide;
  reference::Tensor descale = getOperand(given, environment);
  reference::Tensor query = getOperand(op.getQuery(), environment);
  reference::Tensor key = getOperand(op.getKey(), environment);
  if (failed(checkDescale(op, descale, query, key)))
    return failure();
  int64_t size = wide.getDim(kSequence) * wide.getDim(kHeadDim);
  for (int64_t i = 0; i < wide.getNumElements(); ++i)
    wide.set(i,
             wide[i] * getDescaleOfHead(descale, wide.getDim(kHead), i / size));
  return wide;
}

/// How factors of products of 8 bits are rounded; nothing of more bits.
static std::optional<reference::Float8Factors>
getFloat8Factors(AttentionBackwardOp op, Environment &environment) {
  if (!isFloat8(op.getQuery().getType()))
    return std::nullopt;
  reference::Float8Factors factors{
      getOperand(op.getValue(), environment).getType(),
      getOperand(op.getDOutput(), environment).getType()};
  if (op.getScaleDs())
    factors.scoreScale = getOperand(op.getScaleDs(), environment)[0];
  return factors;
}

/// What query, key, value and d_output stand for.
static FailureOr<std::array<reference::Tensor, 4>>
getFactors(AttentionBackwardOp op, Environment &environment) {
  std::array<reference::Tensor, 4> factors;
  for (auto [number, factor] : llvm::enumerate(factors)) {
    FailureOr<reference::Tensor> dequantized =
        getDequantized(op, environment, number);
    if (failed(dequantized))
      return failure();
    factor = std::move(*dequantized);
  }
  return factors;
}

LogicalResult attn::evaluateBackward(Operation *op, Environment &environment) {
  auto backward = cast<AttentionBackwardOp>(op);
  auto operand = [&](Value value) { return getOperand(value, environment); };
  auto factors = getFactors(backward, environment);
  if (failed(factors))
    return failure();
  const auto &[query, key, value, dOutput] = *factors;
  bool hasSoftmax = backward.getNormalization().hasLse();
  reference::Tensor output, lse;
  if (hasSoftmax) {
    output = operand(backward.getOutput());
    lse = operand(backward.getLse());
  }
  std::optional<reference::Tensor> dLse;
  if (backward.getDLse())
    dLse = operand(backward.getDLse());
  for (Region *region : {&backward.getScoreMod(), &backward.getMaskMod()})
    if (failed(checkMaskData(*region, environment, query, key)))
      return failure();
  ModPrograms mods(backward, environment, query, key);
  reference::BackwardInputs inputs{output, lse, dOutput,
                                   dLse ? &*dLse : nullptr,
                                   getFloat8Factors(backward, environment)};
  bool isOracle = environment.precision == EvaluationPrecision::Float64;
  if (isOracle && hasSoftmax &&
      failed(checkBase(backward, query, key, value, lse, mods.options)))
    return failure();
  auto function =
      isOracle ? static_cast<decltype(&reference::unfusedAttentionBackward)>(
                     reference::attentionBackward)
               : reference::unfusedAttentionBackward;
  Result<reference::AttentionGradients> gradients =
      function(query, key, value, inputs, mods.options);
  if (!gradients)
    return op->emitOpError() << gradients.error();
  if (failed(mods.checkReads()))
    return failure();
  auto set = [&](Value result, const reference::Tensor &gradient) {
    environment.values[result] =
        fromReference(gradient.convertTo(getResultType(result, environment)));
  };
  set(backward.getDQuery(), gradients->query);
  set(backward.getDKey(), gradients->key);
  set(backward.getDValue(), gradients->value);
  if (backward.getDBias())
    set(backward.getDBias(), gradients->bias);
  for (auto [result, gradient] :
       llvm::zip_equal(backward.getDCaptures(), mods.captureGradients))
    set(result, gradient);
  if (backward.getDSink())
    set(backward.getDSink(),
        getSinkGradient(operand(backward.getSink()), inputs,
                        isOracle ? ElementType::F64 : ElementType::F32));
  if (backward.getAmaxDs())
    set(backward.getAmaxDs(), gradients->scoreMaxima);
  return success();
}

LogicalResult attn::evaluateDelta(Operation *op, Environment &environment) {
  auto deltaOp = cast<BackwardDeltaOp>(op);
  reference::Tensor output = getOperand(deltaOp.getOutput(), environment);
  reference::Tensor dOutput = getOperand(deltaOp.getDOutput(), environment);
  if (output.getShape() != dOutput.getShape())
    return op->emitOpError()
           << "expected operands of one shape, got "
           << reference::formatShape(output.getShape()) << " and "
           << reference::formatShape(dOutput.getShape());
  std::vector<int64_t> rows = output.getShape();
  int64_t width = rows.back();
  rows.pop_back();
  reference::Tensor delta(rows, getResultType(deltaOp.getDelta(), environment));
  std::optional<reference::Tensor> dLse;
  if (deltaOp.getDLse())
    dLse = getOperand(deltaOp.getDLse(), environment);
  double descale = 1;
  if (deltaOp.getDescale())
    descale = getOperand(deltaOp.getDescale(), environment)[0];
  for (int64_t row = 0; row < delta.getNumElements(); ++row) {
    double sum = dLse ? -(*dLse)[row] : 0;
    for (int64_t i = row * width; i < (row + 1) * width; ++i)
      sum += output[i] * descale * dOutput[i];
    delta.set(row, sum);
  }
  environment.values[deltaOp.getDelta()] = fromReference(delta);
  return success();
}
