//===- AttentionGrad.cpp - The backward function of an attention ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of an attn.attention: what can be differentiated, and the function with its
// attn.attention_backward.
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn;

namespace {
/// Builds the backward function of one forward function.
class GradBuilder : GradScope {
public:
  GradBuilder(func::FuncOp forward, AttentionOp attention, bool recompute,
              bool lseGradient)
      : GradScope(forward, attention), attention(attention),
        recompute(recompute || !attention.getNormalization().hasLse()),
        lseGradient(lseGradient), result(attention.getOutput()) {
    findWideType();
    while (OutputModOp mod = findOutputMod(result)) {
      mods.push_back(mod);
      result = mod.getResult();
    }
  }

  LogicalResult run();

private:
  void findWideType();
  LogicalResult checkResults();
  LogicalResult checkOperands();
  static OutputModOp findOutputMod(Value output);
  LogicalResult findCaptures(Region &mod, StringRef name,
                             SetVector<Value> &captures);
  LogicalResult checkDerivatives(Region &mod);
  LogicalResult checkOutputMods();

  void createFunction();
  Value widen(Value value, Value descale);
  void widenOperands();
  template <typename OpTy>
  void cloneMods(OpTy copy);
  Value sumWeights(Value value);
  AttentionOp cloneForward();
  void cloneOutput();
  void differentiateOutputMods();
  AttentionBackwardOp createBackward();
  void returnGradients(AttentionBackwardOp backward);
  void returnProbModGradients();

  AttentionOp attention;
  bool recompute; ///< takes no results of the forward
  bool lseGradient;
  Value result; ///< the output, or what the last of `mods` makes of it
  SmallVector<OutputModOp> mods;

  /// The values that the attention uses, and whose gradient is asked for.
  SetVector<Value> uses;
  SetVector<Value> captures;
  bool wantsBias = false;

  Value query, key, value; ///< of the backward: none of 8 bits
  Value dOutput, dLse;
  Value output, lse; ///< of the forward, in the backward function
  /// The gradients of what `mods` read, of which each is read by one at least.
  SetVector<Value> outputCaptures;
  SmallVector<std::pair<Value, Value>> ofOutputCaptures;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be differentiated
//===----------------------------------------------------------------------===//

/// That of the query, or of the output where it has 16 bits.
void GradBuilder::findWideType() {
  wide = getElementTypeOrSelf(attention.getQuery().getType());
  if (!isFloat8(wide))
    return;
  wide = getElementTypeOrSelf(attention.getOutput().getType());
  if (!wide.isF16())
    wide = builder.getBF16Type();
}

/// What follows `output`, which may be returned, too.
OutputModOp GradBuilder::findOutputMod(Value output) {
  for (Operation *user : output.getUsers())
    if (auto mod = dyn_cast<OutputModOp>(user))
      return mod;
  return OutputModOp();
}

LogicalResult GradBuilder::checkResults() {
  auto returns =
      cast<func::ReturnOp>(forward.getBody().front().getTerminator());
  llvm::SmallDenseSet<Value> known;
  auto isKnown = [&](Value value) { return value && known.contains(value); };
  auto isAmax = [&](Value value) {
    return llvm::any_of(
        mods, [&](OutputModOp mod) { return mod.getAmax() == value; });
  };
  for (Value value : returns.getOperands()) {
    bool isOfAttention = value == result || isAmax(value) ||
                         llvm::is_contained(attention->getResults(), value);
    if (!isOfAttention || !known.insert(value).second)
      return returns.emitOpError()
             << "expected @" << forward.getName()
             << " to return the output of its attention, and its LSE, and "
                "nothing else";
  }
  bool hasLse = isKnown(attention.getLse());
  if (!isKnown(result))
    return returns.emitOpError()
           << "expected @" << forward.getName()
           << (mods.empty() ? " to return the output of its attention"
                            : " to return what output_mod makes of the output "
                              "of its attention");
  if (!recompute && !isKnown(attention.getOutput()))
    return mods.front().emitOpError()
           << "expected @" << forward.getName()
           << " to return the output before it, too, which the backward "
              "reads; the option recompute does without";
  if (isa<SumAttr>(attention.getNormalization()) &&
      attention.getDropoutRateAttr())
    return attention.emitOpError() << "expected no dropout with normalization "
                                   << attention.getNormalization()
                                   << ", whose gradients are not derived";
  if (!attention.getNormalization().hasLse()) {
    if (!lseGradient)
      return success();
    return attention.emitOpError()
           << "expected an LSE, whose gradient the backward takes, got "
              "normalization "
           << attention.getNormalization();
  }
  if (!hasLse && (!recompute || lseGradient))
    return attention.emitOpError()
           << "expected @" << forward.getName()
           << " to return the LSE of its attention"
           << (lseGradient ? ", whose gradient the backward takes"
                           : ", which the backward reads; the option "
                             "recompute does without");
  return success();
}

LogicalResult GradBuilder::checkOperands() {
  if (getElementTypeOrSelf(attention.getKey().getType()).isInteger())
    return attention.emitOpError()
           << "expected floats for a backward, got keys and values of "
           << getElementTypeOrSelf(attention.getKey().getType());
  if (isByte(attention.getKey().getType()) && attention.hasProbMod())
    return attention.emitOpError()
           << "expected keys and values of at least 16 bits for a backward "
              "through prob_mod, got "
           << getElementTypeOrSelf(attention.getKey().getType());
  if (llvm::any_of(attention.getDescales(),
                   [&](Value descale) { return isArgument(descale); }))
    attention.emitRemark()
        << "takes its descales for constants, whose gradient is 0";
  std::pair<StringRef, Value> inputs[] = {{"query", attention.getQuery()},
                                          {"key", attention.getKey()},
                                          {"value", attention.getValue()}};
  for (auto [name, value] : inputs) {
    if (failed(checkArgument(skipViews(value), name)))
      return failure();
  }
  uses.insert_range(attention->getOperands());
  for (Region &region : attention->getRegions())
    getUsedValuesDefinedAbove(region, uses);
  for (OutputModOp mod : mods)
    getUsedValuesDefinedAbove(mod.getMod(), uses);
  for (Value value : uses)
    if (failed(checkSource(value, "what the attention reads")))
      return failure();
  return success();
}

/// Captures are the arguments that a region reads. Reads through
/// other ops would lose their gradient.
LogicalResult GradBuilder::findCaptures(Region &mod, StringRef name,
                                        SetVector<Value> &captures) {
  SetVector<Value> read;
  getUsedValuesDefinedAbove(mod, read);
  for (Value value : read) {
    if (!isFloatTensor(value) || !isArgument(value))
      continue;
    bool isRead = false;
    for (Operation *user : value.getUsers()) {
      if (!mod.isAncestor(user->getParentRegion()) || isa<tensor::DimOp>(user))
        continue;
      if (!isa<tensor::ExtractOp>(user) || user->getParentRegion() != &mod)
        return user->emitOpError()
               << "cannot be differentiated: expected " << name
               << " to read arguments by tensor.extract";
      isRead = true;
    }
    if (isRead)
      captures.insert(value);
  }
  return success();
}

/// Fails at an op of `mod` without a derivative, by what is changed or read.
LogicalResult GradBuilder::checkDerivatives(Region &mod) {
  if (mod.empty())
    return success();
  SmallVector<Value> variables = {mod.getArgument(0)};
  for (auto read : mod.getOps<tensor::ExtractOp>())
    if (captures.contains(read.getTensor()))
      variables.push_back(read);
  return verifyDifferentiable(mod, variables);
}

LogicalResult GradBuilder::checkOutputMods() {
  for (OutputModOp mod : mods)
    if (failed(findCaptures(mod.getMod(), "output_mod", outputCaptures)) ||
        failed(verifyOutputGrad(mod, outputCaptures)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The backward function
//===----------------------------------------------------------------------===//

void GradBuilder::createFunction() {
  SmallVector<Type> more;
  if (!recompute)
    llvm::append_range(more, forward.getResultTypes());
  // One of 8 bits has that of what is rounded.
  auto type = cast<RankedTensorType>(result.getType());
  more.push_back(isFloat8(type) ? type.clone(getElementTypeOrSelf(
                                      attention.getOutput().getType()))
                                : type);
  if (lseGradient)
    more.push_back(attention.getLse().getType());
  ValueRange arguments = GradScope::createFunction(more);
  auto returns =
      cast<func::ReturnOp>(forward.getBody().front().getTerminator());
  if (!recompute) {
    mapping.map(returns.getOperands(),
                arguments.take_front(returns.getNumOperands()));
    arguments = arguments.drop_front(returns.getNumOperands());
  }
  dOutput = arguments[0];
  if (lseGradient)
    dLse = arguments[1];
  for (Value value : uses)
    cloneValue(value);
}

/// `value` with 16 bits or more, times its descale, which may be null.
Value GradBuilder::widen(Value value, Value descale) {
  if (!isFloat8(value.getType()))
    return value;
  auto type = cast<RankedTensorType>(value.getType()).clone(wide);
  return DequantizeOp::create(builder, attention.getLoc(), type, value,
                              descale);
}

void GradBuilder::widenOperands() {
  query = mapping.lookup(attention.getQuery());
  key = mapping.lookup(attention.getKey());
  value = mapping.lookup(attention.getValue());
  unsigned operand = 0;
  for (Value *input : {&query, &key, &value}) {
    Value descale = attention.getDescaleOf(operand++);
    *input = widen(*input, mapping.lookupOrNull(descale));
  }
}

/// Fills the regions of `copy`; `mapping` stays free of what is inside them.
template <typename OpTy>
void GradBuilder::cloneMods(OpTy copy) {
  IRMapping inner = mapping;
  attention.getScoreMod().cloneInto(&copy.getScoreMod(), inner);
  attention.getMaskMod().cloneInto(&copy.getMaskMod(), inner);
}

/// The forward again of `value`, without normalization, in the score type.
Value GradBuilder::sumWeights(Value value) {
  SmallVector<int64_t> shape(
      cast<ShapedType>(attention.getOutput().getType()).getShape());
  shape.back() = cast<ShapedType>(value.getType()).getShape().back();
  auto operand = [&](Value value) {
    return value ? mapping.lookup(value) : value;
  };
  auto copy = AttentionOp::create(
      builder, attention.getLoc(),
      RankedTensorType::get(shape, attention.getScoreType()), /*lse=*/Type(),
      query, key, value, operand(attention.getBias()), /*sink=*/Value(),
      /*descales=*/ValueRange(), /*keyLengths=*/Value(),
      /*queryLengths=*/Value(), /*dropoutSeed=*/Value(),
      /*dropoutOffset=*/Value(), /*dropoutRate=*/FloatAttr(),
      attention.getScaleAttr(), NoneAttr::get(builder.getContext()),
      /*schedule=*/ScheduleAttr());
  cloneMods(copy);
  return copy.getOutput();
}

/// The forward again, with its LSE, of what the backward multiplies: of weights
/// that are rounded to 8 bits, rowsum(dO * O) errs more than all else
/// (docs/Rationale/Float8.md). The schedule of bytes is none of 16 bits.
AttentionOp GradBuilder::cloneForward() {
  auto output = cast<RankedTensorType>(attention.getOutput().getType());
  Type lse = RankedTensorType::get(output.getShape().drop_back(),
                                   attention.getScoreType());
  auto operand = [&](Value value) {
    return value ? mapping.lookup(value) : value;
  };
  bool hasBytes = isFloat8(attention.getKey().getType());
  auto copy = AttentionOp::create(
      builder, attention.getLoc(), output, lse, query, key, value,
      operand(attention.getBias()), operand(attention.getSink()),
      /*descales=*/ValueRange(), /*keyLengths=*/Value(),
      /*queryLengths=*/Value(), operand(attention.getDropoutSeed()),
      operand(attention.getDropoutOffset()), attention.getDropoutRateAttr(),
      attention.getScaleAttr(), attention.getNormalizationAttr(),
      hasBytes ? ScheduleAttr() : attention.getScheduleAttr());
  cloneMods(copy);
  return copy;
}

/// Sets output and LSE to those of the forward, as far as something reads them.
void GradBuilder::cloneOutput() {
  bool isRead =
      attention.getNormalization().hasLse() && !attention.hasProbMod();
  if (!recompute) {
    output = mapping.lookup(attention.getOutput());
    lse = mapping.lookup(attention.getLse());
  } else if (isRead) {
    AttentionOp copy = cloneForward();
    output = copy.getOutput();
    lse = copy.getLse();
  } else if (!mods.empty()) {
    IRMapping inner = mapping;
    output = cast<AttentionOp>(builder.clone(*attention, inner)).getOutput();
  }
}

/// From the gradient of the result to that of the output.
void GradBuilder::differentiateOutputMods() {
  if (mods.empty())
    return;
  IRMapping inner = mapping;
  inner.map(attention.getOutput(), output);
  SmallVector<OutputModOp> copies;
  for (OutputModOp mod : mods)
    copies.push_back(cast<OutputModOp>(builder.clone(*mod, inner)));
  SetVector<Value> captures;
  for (Value capture : outputCaptures)
    captures.insert(mapping.lookup(capture));
  OutputGradients gradients =
      buildOutputGrad(builder, copies, captures, dOutput, wide);
  dOutput = gradients.dOutput;
  ofOutputCaptures = gradients.ofCaptures;
  copies.back().erase(); // The forward has its result.
}

AttentionBackwardOp GradBuilder::createBackward() {
  // Without an LSE weights are computed again, and nothing is known of rows.
  bool hasLse = attention.getNormalization().hasLse();
  Value ownOutput = hasLse ? output : Value(), ownLse = hasLse ? lse : Value();
  auto operand = [&](Value value) {
    return value ? mapping.lookup(value) : value;
  };
  Value value = this->value, gradient = dOutput,
        bias = operand(attention.getBias());
  RowReductionInterface normalization = attention.getNormalization();
  Value inverses;
  if (auto sum = dyn_cast<SumAttr>(normalization)) {
    Location loc = attention.getLoc();
    int64_t columns = cast<ShapedType>(value.getType()).getDimSize(kHeadDim);
    value = appendOne(builder, loc, value);
    Value sums = sumWeights(value);
    inverses = invertSums(builder, loc, sums, columns,
                          sum.getEpsilon().getValueAsDouble());
    gradient = differentiateQuotient(builder, loc, sums, inverses, dOutput,
                                     getElementTypeOrSelf(query));
    normalization = NoneAttr::get(builder.getContext());
  }
  SmallVector<Value> read =
      llvm::map_to_vector(captures.getArrayRef(), operand);
  SmallVector<Type> readTypes =
      llvm::map_to_vector(read, [](Value v) { return v.getType(); });
  // One that is no argument needs no gradient.
  Value sink = attention.getSink();
  sink = sink && isArgument(sink) ? mapping.lookup(sink) : Value();
  auto backward = AttentionBackwardOp::create(
      builder, attention.getLoc(), query.getType(), key.getType(),
      value.getType(), wantsBias ? bias.getType() : Type(), readTypes,
      sink ? sink.getType() : Type(), /*amaxDs=*/Type(), query, key, value,
      bias, ownOutput, ownLse, gradient, dLse, /*descales=*/ValueRange(),
      /*scaleDs=*/Value(), sink, read, operand(attention.getDropoutSeed()),
      operand(attention.getDropoutOffset()), attention.getDropoutRateAttr(),
      attention.getScaleAttr(), normalization,
      /*schedule=*/ScheduleAttr(), /*key_schedule=*/ScheduleAttr(),
      /*value_schedule=*/ScheduleAttr());
  cloneMods(backward);
  if (inverses)
    scaleWeights(builder, backward, inverses);
  return backward;
}

void GradBuilder::returnGradients(AttentionBackwardOp backward) {
  Value dValue = backward.getDValue();
  if (isa<SumAttr>(attention.getNormalization()))
    dValue = takeColumns(builder, attention.getLoc(), dValue, value);
  SmallVector<std::pair<Value, Value>> uses = {
      {backward.getQuery(), backward.getDQuery()},
      {backward.getKey(), backward.getDKey()},
      {value, dValue},
      {backward.getBias(), backward.getDBias()},
      {backward.getSink(), backward.getDSink()}};
  for (auto [capture, gradient] :
       llvm::zip_equal(backward.getCaptures(), backward.getDCaptures()))
    uses.push_back({capture, gradient});
  llvm::append_range(uses, ofOutputCaptures);
  GradScope::returnGradients(uses);
}

void GradBuilder::returnProbModGradients() {
  IRMapping inner = mapping;
  auto copy = cast<AttentionOp>(builder.clone(*attention, inner));
  ProbModGradients wanted;
  wanted.captures = llvm::map_to_vector(
      captures, [&](Value capture) { return mapping.lookup(capture); });
  wanted.bias = wantsBias;
  wanted.sink = attention.getSink() && isArgument(attention.getSink());
  SmallVector<std::pair<Value, Value>> uses =
      buildProbModGrad(builder, copy, lse, dOutput, dLse, wanted);
  copy.erase();
  llvm::append_range(uses, ofOutputCaptures);
  GradScope::returnGradients(uses);
}

LogicalResult GradBuilder::run() {
  wantsBias = attention.getBias() && isArgument(attention.getBias());
  if (failed(checkResults()) || failed(checkOperands()) ||
      failed(findCaptures(attention.getScoreMod(), "score_mod", captures)) ||
      failed(findCaptures(attention.getProbMod(), "prob_mod", captures)) ||
      failed(checkDerivatives(attention.getScoreMod())) ||
      failed(checkDerivatives(attention.getProbMod())) ||
      failed(checkOutputMods()))
    return failure();
  createFunction();
  widenOperands();
  cloneOutput();
  differentiateOutputMods();
  if (attention.hasProbMod())
    returnProbModGradients();
  else
    returnGradients(createBackward());
  return success();
}

LogicalResult attn::buildAttentionGrad(func::FuncOp forward,
                                       AttentionOp attention, bool recompute,
                                       bool lseGradient) {
  return GradBuilder(forward, attention, recompute, lseGradient).run();
}
