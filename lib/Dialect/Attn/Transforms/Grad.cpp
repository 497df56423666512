//===- Grad.cpp - Backward functions of attention ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-grad.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModDerivative.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_GRADPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static bool isFloatTensor(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

namespace {
/// Builds the backward function of one forward function.
class GradBuilder {
public:
  GradBuilder(func::FuncOp forward, AttentionOp attention, bool recompute,
              bool lseGradient)
      : forward(forward), attention(attention),
        recompute(recompute || !attention.getNormalization().hasLse()),
        lseGradient(lseGradient), builder(forward.getContext()) {}

  LogicalResult run();

private:
  bool isArgument(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &forward.getBody().front();
  }
  LogicalResult checkResults();
  LogicalResult checkOperands();
  LogicalResult checkSource(Value value, StringRef role);
  LogicalResult findCaptures();

  void createFunction();
  Value cloneValue(Value value);
  template <typename OpTy>
  void cloneMods(OpTy copy);
  AttentionOp cloneForward();
  AttentionBackwardOp createBackward();
  Value createGradient(AttentionBackwardOp backward, BlockArgument argument);

  func::FuncOp forward;
  AttentionOp attention;
  bool recompute; ///< takes no results of the forward
  bool lseGradient;
  OpBuilder builder;

  /// The values that the attention uses, and whose gradient is asked for.
  SetVector<Value> uses;
  SmallVector<Value> captures;
  bool wantsBias = false;

  func::FuncOp backwardFunction;
  /// From the forward function to the backward function.
  IRMapping mapping;
  Value dOutput, dLse;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be differentiated
//===----------------------------------------------------------------------===//

LogicalResult GradBuilder::checkResults() {
  auto returns =
      cast<func::ReturnOp>(forward.getBody().front().getTerminator());
  bool hasOutput = false, hasLse = false;
  for (Value result : returns.getOperands()) {
    bool isOutput = result == attention.getOutput();
    bool isLse = attention.getLse() && result == attention.getLse();
    if ((!isOutput && !isLse) || (isOutput && hasOutput) || (isLse && hasLse))
      return returns.emitOpError()
             << "expected @" << forward.getName()
             << " to return the output of its attention, and its LSE, and "
                "nothing else";
    hasOutput |= isOutput;
    hasLse |= isLse;
  }
  if (!hasOutput)
    return returns.emitOpError() << "expected @" << forward.getName()
                                 << " to return the output of its attention";
  if (isa<SumAttr>(attention.getNormalization()))
    return attention.emitOpError()
           << "expected normalization #attn.softmax or #attn.none, got "
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

/// Fails if `value`, which is no argument, depends on a float tensor that is
/// one: its gradient would be lost.
LogicalResult GradBuilder::checkSource(Value value, StringRef role) {
  if (isArgument(value))
    return success();
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0)
    return attention.emitOpError()
           << "expected " << role << " to be an argument of @"
           << forward.getName();
  for (Value operand : op->getOperands()) {
    if (isa<tensor::DimOp>(op))
      continue;
    if (isFloatTensor(operand))
      return op->emitOpError()
             << "cannot be differentiated: expected " << role
             << " to be an argument of @" << forward.getName();
    if (failed(checkSource(operand, role)))
      return failure();
  }
  return success();
}

LogicalResult GradBuilder::checkOperands() {
  if (isFloat8(attention.getQuery().getType()))
    return attention.emitOpError()
           << "expected inputs of at least 16 bits for a backward, got "
           << getElementTypeOrSelf(attention.getQuery().getType());
  std::pair<StringRef, Value> inputs[] = {{"query", attention.getQuery()},
                                          {"key", attention.getKey()},
                                          {"value", attention.getValue()}};
  for (auto [name, value] : inputs)
    if (!isArgument(value))
      return attention.emitOpError()
             << "expected " << name << " to be an argument of @"
             << forward.getName();
  uses.insert_range(attention->getOperands());
  for (Region &region : attention->getRegions())
    getUsedValuesDefinedAbove(region, uses);
  for (Value value : uses)
    if (failed(checkSource(value, "what the attention reads")))
      return failure();
  return success();
}

/// Captures are the arguments that score_mod reads. Reads through other ops
/// would lose their gradient.
LogicalResult GradBuilder::findCaptures() {
  wantsBias = attention.getBias() && isArgument(attention.getBias());
  if (!attention.hasScoreMod())
    return success();
  Region &mod = attention.getScoreMod();
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
               << "cannot be differentiated: expected score_mod to read "
                  "arguments by tensor.extract";
      isRead = true;
    }
    if (isRead)
      captures.push_back(value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The backward function
//===----------------------------------------------------------------------===//

/// `value` of the forward function in the backward function.
Value GradBuilder::cloneValue(Value value) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneValue(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void GradBuilder::createFunction() {
  Location loc = forward.getLoc();
  Type outputType = attention.getOutput().getType();
  SmallVector<Type> inputs(forward.getArgumentTypes()), results;
  if (!recompute)
    llvm::append_range(inputs, forward.getResultTypes());
  inputs.push_back(outputType);
  if (lseGradient)
    inputs.push_back(attention.getLse().getType());
  for (BlockArgument argument : forward.getArguments())
    if (isFloatTensor(argument))
      results.push_back(argument.getType());
  builder.setInsertionPointAfter(forward);
  backwardFunction =
      func::FuncOp::create(builder, loc, (forward.getName() + "_grad").str(),
                           builder.getFunctionType(inputs, results));
  Block *body = backwardFunction.addEntryBlock();
  builder.setInsertionPointToStart(body);
  size_t next = forward.getNumArguments();
  mapping.map(forward.getArguments(), body->getArguments().take_front(next));
  auto returns =
      cast<func::ReturnOp>(forward.getBody().front().getTerminator());
  if (!recompute)
    for (Value result : returns.getOperands())
      mapping.map(result, body->getArgument(next++));
  dOutput = body->getArgument(next++);
  if (lseGradient)
    dLse = body->getArgument(next++);
  for (Value value : uses)
    cloneValue(value);
}

/// Fills the regions of `copy`; `mapping` stays free of what is inside them.
template <typename OpTy>
void GradBuilder::cloneMods(OpTy copy) {
  IRMapping inner = mapping;
  attention.getScoreMod().cloneInto(&copy.getScoreMod(), inner);
  attention.getMaskMod().cloneInto(&copy.getMaskMod(), inner);
}

/// The forward again, with its LSE.
AttentionOp GradBuilder::cloneForward() {
  auto output = cast<RankedTensorType>(attention.getOutput().getType());
  Type lse = RankedTensorType::get(output.getShape().drop_back(),
                                   attention.getScoreType());
  auto operand = [&](Value value) {
    return value ? mapping.lookup(value) : value;
  };
  auto copy = AttentionOp::create(
      builder, attention.getLoc(), output, lse, operand(attention.getQuery()),
      operand(attention.getKey()), operand(attention.getValue()),
      operand(attention.getBias()), operand(attention.getSink()),
      /*descales=*/ValueRange(), /*keyLengths=*/Value(),
      /*queryLengths=*/Value(), operand(attention.getDropoutSeed()),
      operand(attention.getDropoutOffset()), attention.getDropoutRateAttr(),
      attention.getScaleAttr(), attention.getNormalizationAttr(),
      attention.getScheduleAttr());
  cloneMods(copy);
  return copy;
}

AttentionBackwardOp GradBuilder::createBackward() {
  Value output, lse;
  if (!attention.getNormalization().hasLse()) {
    // Weights are computed again, and nothing is known of rows.
  } else if (recompute) {
    AttentionOp copy = cloneForward();
    output = copy.getOutput();
    lse = copy.getLse();
  } else {
    output = mapping.lookup(attention.getOutput());
    lse = mapping.lookup(attention.getLse());
  }
  auto operand = [&](Value value) {
    return value ? mapping.lookup(value) : value;
  };
  Value query = operand(attention.getQuery()),
        key = operand(attention.getKey()),
        value = operand(attention.getValue()),
        bias = operand(attention.getBias());
  SmallVector<Value> read = llvm::map_to_vector(captures, operand);
  SmallVector<Type> readTypes =
      llvm::map_to_vector(read, [](Value v) { return v.getType(); });
  // One that is no argument needs no gradient.
  Value sink = attention.getSink();
  sink = sink && isArgument(sink) ? mapping.lookup(sink) : Value();
  auto backward = AttentionBackwardOp::create(
      builder, attention.getLoc(), query.getType(), key.getType(),
      value.getType(), wantsBias ? bias.getType() : Type(), readTypes,
      sink ? sink.getType() : Type(), query, key, value, bias, output, lse,
      dOutput, dLse, sink, read, operand(attention.getDropoutSeed()),
      operand(attention.getDropoutOffset()), attention.getDropoutRateAttr(),
      attention.getScaleAttr(), attention.getNormalizationAttr(),
      /*schedule=*/ScheduleAttr());
  cloneMods(backward);
  return backward;
}

/// The sum of the gradients of all that `argument` is to the attention.
Value GradBuilder::createGradient(AttentionBackwardOp backward,
                                  BlockArgument argument) {
  Location loc = backward.getLoc();
  Value self = mapping.lookup(argument), sum;
  auto init = [&]() -> Value {
    return tensor::EmptyOp::create(builder, loc,
                                   tensor::getMixedSizes(builder, loc, self),
                                   getElementTypeOrSelf(self.getType()));
  };
  auto add = [&](Value operand, Value gradient) {
    if (operand != self || !gradient)
      return;
    sum = sum ? linalg::AddOp::create(builder, loc, ValueRange{sum, gradient},
                                      ValueRange(init()))
                    .getResult(0)
              : gradient;
  };
  add(backward.getQuery(), backward.getDQuery());
  add(backward.getKey(), backward.getDKey());
  add(backward.getValue(), backward.getDValue());
  add(backward.getBias(), backward.getDBias());
  add(backward.getSink(), backward.getDSink());
  for (auto [capture, gradient] :
       llvm::zip_equal(backward.getCaptures(), backward.getDCaptures()))
    add(capture, gradient);
  if (sum)
    return sum;
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(getElementTypeOrSelf(self.getType())));
  return linalg::FillOp::create(builder, loc, zero, init()).getResult(0);
}

LogicalResult GradBuilder::run() {
  if (failed(checkResults()) || failed(checkOperands()) ||
      failed(findCaptures()))
    return failure();
  if (attention.hasScoreMod()) {
    SmallVector<Value> variables = {attention.getScoreMod().getArgument(0)};
    for (auto read : attention.getScoreMod().getOps<tensor::ExtractOp>())
      if (llvm::is_contained(captures, read.getTensor()))
        variables.push_back(read);
    if (failed(verifyDifferentiable(attention.getScoreMod(), variables)))
      return failure();
  }
  createFunction();
  AttentionBackwardOp backward = createBackward();
  SmallVector<Value> gradients;
  for (BlockArgument argument : forward.getArguments())
    if (isFloatTensor(argument))
      gradients.push_back(createGradient(backward, argument));
  func::ReturnOp::create(builder, forward.getLoc(), gradients);
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct Grad : public attn::impl::GradPassBase<Grad> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<std::pair<func::FuncOp, AttentionOp>> functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<AttentionOp> found;
      function.walk([&](AttentionOp op) { found.push_back(op); });
      if (function.isPrivate() || found.empty())
        continue;
      if (failed(checkFunction(function, found)))
        return signalPassFailure();
      functions.push_back({function, found.front()});
    }
    if (functions.empty()) {
      getOperation().emitError()
          << "expected a public function with an attn.attention";
      return signalPassFailure();
    }
    for (auto [function, attention] : functions) {
      if (failed(
              GradBuilder(function, attention, recompute, lseGradient).run()))
        return signalPassFailure();
      ++numFunctions;
    }
  }

private:
  LogicalResult checkFunction(func::FuncOp function,
                              ArrayRef<AttentionOp> found) {
    if (found.size() != 1) {
      InFlightDiagnostic diag = function.emitOpError()
                                << "expected one attention in @"
                                << function.getName() << ", got "
                                << found.size();
      for (AttentionOp op : found)
        diag.attachNote(op.getLoc()) << "an attention";
      return diag;
    }
    if (found.front()->getParentOp() != function)
      return AttentionOp(found.front()).emitOpError()
             << "expected to be at the top level of @" << function.getName();
    AttentionOp attention = found.front();
    if (attention.hasLengths())
      return attention.emitOpError()
             << "expected no lengths, with which there is no backward";
    std::string name = (function.getName() + "_grad").str();
    if (getOperation().lookupSymbol(name))
      return function.emitOpError()
             << "expected no symbol @" << name << ", got one";
    return success();
  }
};
} // namespace
