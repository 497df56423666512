//===- ModPrograms.cpp - An attention's options for the oracle ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModPrograms.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"
#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"

using namespace mlir;
using namespace attn;

/// (score, b, h, i, j) as a score_mod takes them.
static std::array<Scalar, 5> makeArguments(double score, int64_t b, int64_t h,
                                           int64_t i, int64_t j) {
  return {Scalar::ofReal(score), Scalar::ofInteger(b), Scalar::ofInteger(h),
          Scalar::ofInteger(i), Scalar::ofInteger(j)};
}

/// A program for a score_mod, or its derivative, as a function.
static reference::ScoreMod makeScoreMod(const RegionProgram &program) {
  return [&program](double score, int64_t b, int64_t h, int64_t i, int64_t j) {
    return program.run(makeArguments(score, b, h, i, j)).real;
  };
}

static void setNormalization(reference::AttentionOptions &options,
                             RowReductionInterface reduction) {
  if (isa<NoneAttr>(reduction))
    options.normalization = reference::Normalization::None;
  if (auto sum = dyn_cast<SumAttr>(reduction)) {
    options.normalization = reference::Normalization::Sum;
    options.epsilon = sum.getEpsilon().getValueAsDouble();
  }
}

template <typename OpTy>
void ModPrograms::addMods(OpTy op, const Environment &environment) {
  options.scale = op.getScaleValue();
  setNormalization(options, op.getNormalization());
  ElementType type = getResultType(op.getQuery(), environment);
  options.shortSums =
      environment.precision == EvaluationPrecision::UnfusedShortSums &&
      getSizeBytes(type) == 1;
  options.tf32Products =
      (environment.precision == EvaluationPrecision::UnfusedTf32 ||
       environment.precision == EvaluationPrecision::UnfusedShortSums) &&
      type == ElementType::F32;
  if (op.getBias())
    options.bias = &bias.emplace(getOperand(op.getBias(), environment));
  if (std::optional<Dropout> dropout = Dropout::get(op)) {
    auto bitsOf = [&](Value value) {
      return static_cast<uint64_t>(environment.scalar(value).integer);
    };
    options.dropout = reference::Dropout{
        bitsOf(dropout->seed), bitsOf(dropout->offset), dropout->rate};
  }
  if (op.hasScoreMod()) {
    scoreMod =
        std::make_unique<RegionProgram>(op.getScoreMod(), environment, lengths);
    options.scoreMod = makeScoreMod(*scoreMod);
  }
  if (op.hasMaskMod()) {
    maskMod =
        std::make_unique<RegionProgram>(op.getMaskMod(), environment, lengths);
    options.maskMod = [this](int64_t b, int64_t h, int64_t i, int64_t j) {
      auto arguments = makeArguments(0, b, h, i, j);
      return maskMod->run(ArrayRef(arguments).drop_front()).integer != 0;
    };
  }
}

ModPrograms::ModPrograms(AttentionOp op, const Environment &environment,
                         const reference::Tensor &query,
                         const reference::Tensor &key)
    : lengths{{query.getDim(kSequence), nullptr},
              {key.getDim(kSequence), nullptr}} {
  if (Value ofBatches = op.getQueryLengths())
    lengths.query.ofBatches = environment.tensor(ofBatches);
  if (Value ofBatches = op.getKeyLengths())
    lengths.key.ofBatches = environment.tensor(ofBatches);
  addMods(op, environment);
  if (op.hasProbMod()) {
    probMod =
        std::make_unique<RegionProgram>(op.getProbMod(), environment, lengths);
    options.probMod = makeScoreMod(*probMod);
  }
  if (op.hasLengths())
    hideBehindLengths();
}

void ModPrograms::hideBehindLengths() {
  options.maskMod = [this, visible = options.maskMod](int64_t b, int64_t h,
                                                      int64_t i, int64_t j) {
    return i < lengths.query.get(b) && j < lengths.key.get(b) &&
           (!visible || visible(b, h, i, j));
  };
}

ModPrograms::ModPrograms(AttentionBackwardOp op, const Environment &environment,
                         const reference::Tensor &query,
                         const reference::Tensor &key)
    : lengths{{query.getDim(kSequence), nullptr},
              {key.getDim(kSequence), nullptr}} {
  addMods(op, environment);
  if (!op.hasScoreMod())
    return;
  scoreModDerivative =
      makeDerivative(op, op.getScoreMod().getArgument(0), environment);
  options.scoreModDerivative = makeScoreMod(*scoreModDerivative);
  if (!op.getCaptures().empty())
    addCaptures(op, environment);
}

std::unique_ptr<RegionProgram>
ModPrograms::makeDerivative(AttentionBackwardOp op, Value variable,
                            const Environment &environment) {
  Region &region = *derivatives.emplace_back(std::make_unique<Region>());
  // The verifier has seen to it that this succeeds.
  if (failed(differentiateMod(op.getScoreMod(), variable, region)))
    llvm::report_fatal_error("expected a score_mod that was verified");
  return std::make_unique<RegionProgram>(region, environment, lengths);
}

void ModPrograms::addCaptures(AttentionBackwardOp op,
                              const Environment &environment) {
  for (auto [i, capture] : llvm::enumerate(op.getCaptures())) {
    ElementType type = environment.precision == EvaluationPrecision::Float64
                           ? ElementType::F64
                           : ElementType::F32;
    captureGradients.emplace_back(environment.tensor(capture)->shape, type);
    for (tensor::ExtractOp read : op.getReads(capture)) {
      CaptureRead made{i, {}, makeDerivative(op, read, environment)};
      for (Value index : read.getIndices())
        made.indices.push_back(std::make_unique<RegionProgram>(
            op.getScoreMod(), environment, lengths, index));
      reads.push_back(std::move(made));
    }
  }
  options.scoreGradientSink = [this](double score, int64_t b, int64_t h,
                                     int64_t i, int64_t j, double gradient) {
    addCaptureGradients(makeArguments(score, b, h, i, j), gradient);
  };
}

void ModPrograms::addCaptureGradients(ArrayRef<Scalar> arguments,
                                      double gradient) {
  for (const CaptureRead &read : reads) {
    reference::Tensor &sum = captureGradients[read.capture];
    int64_t position = 0;
    bool isInRange = true;
    for (auto [dim, program] : llvm::enumerate(read.indices)) {
      int64_t index = program->run(arguments).integer;
      isInRange &= index >= 0 && index < sum.getDim(dim);
      position = position * sum.getDim(dim) + index;
    }
    // The read itself reports what is out of range.
    if (isInRange)
      sum.set(position,
              sum[position] + gradient * read.derivative->run(arguments).real);
  }
}

LogicalResult ModPrograms::checkReads() const {
  for (const RegionProgram *program :
       {scoreMod.get(), maskMod.get(), probMod.get()})
    if (program && program->getFaultyRead())
      return program->getFaultyRead()->emitOpError() << "reads out of range";
  return success();
}
