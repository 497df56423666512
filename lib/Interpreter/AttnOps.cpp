//===- AttnOps.cpp - Ops of the attn dialect ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionProgram.h"
#include "Values.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Reference/Attention.h"

#include <cmath>

using namespace mlir;
using namespace attn;

static ElementType elementTypeOf(Value value) {
  return toElementType(cast<ShapedType>(value.getType()).getElementType());
}

/// The type that results are rounded to: their own, or f64 for the oracle.
static ElementType resultType(Value value, const Environment &environment) {
  return environment.precision == EvaluationPrecision::Float64
             ? ElementType::F64
             : elementTypeOf(value);
}

static reference::Tensor operand(Value value, const Environment &environment) {
  return toReference(*environment.tensor(value),
                     resultType(value, environment));
}

//===----------------------------------------------------------------------===//
// attn.attention
//===----------------------------------------------------------------------===//

static LogicalResult checkReads(const std::optional<RegionProgram> &program) {
  if (!program || !program->getFaultyRead())
    return success();
  return program->getFaultyRead()->emitOpError() << "reads out of range";
}

static LogicalResult evaluateAttention(Operation *op,
                                       Environment &environment) {
  auto attention = cast<AttentionOp>(op);
  reference::Tensor query = operand(attention.getQuery(), environment);
  reference::Tensor key = operand(attention.getKey(), environment);
  reference::Tensor value = operand(attention.getValue(), environment);
  std::optional<reference::Tensor> bias;
  std::optional<RegionProgram> scoreMod, maskMod;
  reference::AttentionOptions options;
  options.scale = attention.getScaleValue();
  options.outputType = resultType(attention.getOutput(), environment);
  options.tf32Products =
      environment.precision == EvaluationPrecision::UnfusedTf32 &&
      query.getType() == ElementType::F32;
  if (attention.getBias())
    options.bias = &bias.emplace(operand(attention.getBias(), environment));
  int64_t queryLength = query.getDim(kSequence);
  int64_t keyLength = key.getDim(kSequence);
  auto index = [](int64_t i) { return Scalar::ofInteger(i); };
  if (attention.hasScoreMod()) {
    scoreMod.emplace(attention.getScoreMod(), environment, queryLength,
                     keyLength);
    options.scoreMod = [&](double score, int64_t b, int64_t h, int64_t i,
                           int64_t j) {
      return scoreMod
          ->run({Scalar::ofReal(score), index(b), index(h), index(i), index(j)})
          .real;
    };
  }
  if (attention.hasMaskMod()) {
    maskMod.emplace(attention.getMaskMod(), environment, queryLength,
                    keyLength);
    options.maskMod = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
      return maskMod->run({index(b), index(h), index(i), index(j)}).integer !=
             0;
    };
  }
  bool isOracle = environment.precision == EvaluationPrecision::Float64;
  Result<reference::AttentionResult> result =
      isOracle ? reference::attention(query, key, value, options)
               : reference::unfusedAttention(query, key, value, options);
  if (!result)
    return op->emitOpError() << result.error();
  if (failed(checkReads(scoreMod)) || failed(checkReads(maskMod)))
    return failure();
  environment.values[attention.getOutput()] = fromReference(result->output);
  if (attention.getLse())
    environment.values[attention.getLse()] = fromReference(result->lse);
  return success();
}

//===----------------------------------------------------------------------===//
// attn.normalize and attn.merge
//===----------------------------------------------------------------------===//

/// Fails unless both tensors have the same leading sizes, as many as there are
/// in the shorter shape.
static LogicalResult checkSameRows(Operation *op, const reference::Tensor &a,
                                   const reference::Tensor &b) {
  size_t rank = std::min(a.getShape().size(), b.getShape().size());
  if (ArrayRef<int64_t>(a.getShape()).take_front(rank) ==
      ArrayRef<int64_t>(b.getShape()).take_front(rank))
    return success();
  return op->emitOpError() << "expected operands with the same rows, got "
                           << reference::formatShape(a.getShape()) << " and "
                           << reference::formatShape(b.getShape());
}

static LogicalResult evaluateNormalize(Operation *op,
                                       Environment &environment) {
  auto normalize = cast<NormalizeOp>(op);
  reference::Tensor acc = operand(normalize.getAcc(), environment);
  reference::Tensor max = operand(normalize.getMax(), environment);
  reference::Tensor sum = operand(normalize.getSum(), environment);
  if (failed(checkSameRows(op, acc, max)) ||
      failed(checkSameRows(op, acc, sum)))
    return failure();
  reference::Tensor output(acc.getShape(),
                           resultType(normalize.getOutput(), environment));
  int64_t width = acc.getDim(kHeadDim);
  for (int64_t i = 0; i < acc.getNumElements(); ++i) {
    double total = sum[i / width];
    output.set(i, total == 0 ? 0 : acc[i] / total);
  }
  environment.values[normalize.getOutput()] = fromReference(output);
  if (!normalize.getLse())
    return success();
  reference::Tensor lse(max.getShape(),
                        resultType(normalize.getLse(), environment));
  for (int64_t i = 0; i < max.getNumElements(); ++i)
    lse.set(i, max[i] + std::log(sum[i]));
  environment.values[normalize.getLse()] = fromReference(lse);
  return success();
}

/// log(sum_p exp(lses[p][row])).
static double mergeLse(ArrayRef<reference::Tensor> lses, int64_t row) {
  double max = -HUGE_VAL;
  for (const reference::Tensor &lse : lses)
    max = std::max(max, lse[row]);
  if (max == -HUGE_VAL)
    return max;
  double sum = 0;
  for (const reference::Tensor &lse : lses)
    sum += std::exp(lse[row] - max);
  return max + std::log(sum);
}

static LogicalResult evaluateMerge(Operation *op, Environment &environment) {
  auto merge = cast<MergeOp>(op);
  std::vector<reference::Tensor> outputs, lses;
  for (Value value : merge.getOutputs())
    outputs.push_back(operand(value, environment));
  for (Value value : merge.getLses())
    lses.push_back(operand(value, environment));
  for (auto &parts : {outputs, lses})
    for (const reference::Tensor &part : parts)
      if (failed(checkSameRows(op, outputs.front(), part)))
        return failure();
  reference::Tensor output(outputs.front().getShape(),
                           resultType(merge.getOutput(), environment));
  reference::Tensor lse(lses.front().getShape(),
                        resultType(merge.getLse(), environment));
  int64_t width = output.getDim(kHeadDim);
  for (int64_t row = 0; row < lse.getNumElements(); ++row) {
    double total = mergeLse(lses, row);
    lse.set(row, total);
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      double sum = 0;
      for (auto [part, partLse] : llvm::zip_equal(outputs, lses))
        if (partLse[row] != -HUGE_VAL)
          sum += std::exp(partLse[row] - total) * part[i];
      output.set(i, sum);
    }
  }
  environment.values[merge.getOutput()] = fromReference(output);
  environment.values[merge.getLse()] = fromReference(lse);
  return success();
}

OpEvaluator attn::findAttnEvaluator(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return findUnsupportedRegionOp(attention.getScoreMod()) ||
                   findUnsupportedRegionOp(attention.getMaskMod())
               ? nullptr
               : evaluateAttention;
  if (isa<NormalizeOp>(op))
    return evaluateNormalize;
  if (isa<MergeOp>(op))
    return evaluateMerge;
  return nullptr;
}
