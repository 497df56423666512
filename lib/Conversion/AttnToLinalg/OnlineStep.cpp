//===- OnlineStep.cpp - One attention step in linalg ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnlineStep.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/StepEmitter.h"

using namespace mlir;
using namespace attn;

namespace {
/// Emits one step; holds what its parts share.
class OnlineStepEmitter : ScoreEmitter, StepEmitter {
public:
  OnlineStepEmitter(OpBuilder &builder, Location loc, const ScoreInputs &inputs)
      : ScoreEmitter(builder, loc, inputs) {}

  RunningState emit(std::optional<RunningState> state);

private:
  RunningState createInitialState();
  Value emitMaskedScores();
  Value emitKept();

  Value emitMaximum(Value before) override;
  Value emitShift(Value max) override;
  Value emitDecay(Value before, Value shift) override;
  void emitExponentials(Value shift) override;
  Value emitSum(Value init) override;
  Value emitRescaled(Value value, Value decay) override;
  Value emitProduct(Value acc, Value decay) override;

  Value weights; ///< the scores, until they are weights
};
} // namespace

/// Q K^T, then scale, bias, score_mod and mask_mod, in this order.
Value OnlineStepEmitter::emitMaskedScores() {
  return emitScores(
      emitProducts(query, inputs.key),
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        SmallVector<Value> at = coordinates(b, l);
        Value score = emitScoreMod(b, args[0], at);
        if (inputs.maskMod->empty())
          return score;
        Value visible = inlineMod(b, *inputs.maskMod, at);
        return arith::SelectOp::create(
            b, l, visible, score,
            constantFloat(b, l, type, inputs.normalization.getHiddenScore()));
      });
}

/// NaN propagates.
Value OnlineStepEmitter::emitMaximum(Value before) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  return generic({weights}, {map(loops), map(rowLoops())}, before, loops,
                 {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::MaximumFOp::create(b, l, args[1], args[0]);
                 });
}

Value OnlineStepEmitter::emitShift(Value max) {
  SmallVector<unsigned> rows = rowLoops();
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, max), type);
  return generic({max}, {map(rows), map(rows)}, init, rows, {},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   Value isEmpty = arith::CmpFOp::create(
                       b, l, arith::CmpFPredicate::OEQ, args[0],
                       negativeInfinity(b, l, type));
                   return arith::SelectOp::create(
                       b, l, isEmpty, constantFloat(b, l, type, 0), args[0]);
                 });
}

/// exp(args[1] - args[0])
static Value emitExponential(OpBuilder &b, Location l, ValueRange args) {
  return math::ExpOp::create(b, l,
                             arith::SubFOp::create(b, l, args[1], args[0]));
}

Value OnlineStepEmitter::emitDecay(Value before, Value shift) {
  SmallVector<unsigned> rows = rowLoops();
  return generic({shift}, {map(rows), map(rows)}, before, rows, {},
                 emitExponential);
}

void OnlineStepEmitter::emitExponentials(Value shift) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  weights = generic({shift}, {map(rowLoops()), map(loops)}, weights, loops, {},
                    emitExponential);
}

Value OnlineStepEmitter::emitSum(Value init) {
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  return generic({weights}, {map(loops), map(rowLoops())}, init, loops, {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::AddFOp::create(b, l, args[1], args[0]);
                 });
}

/// What a prob_mod makes of the weights, where they are not 0, and dropout
/// keeps; the weights without either.
Value OnlineStepEmitter::emitKept() {
  if (!inputs.dropout && !inputs.probMod)
    return weights;
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, weights), type);
  return generic({weights}, {map(loops), map(loops)}, init, loops, {},
                 [&](OpBuilder &b, Location l, ValueRange args) {
                   return emitDropout(b, l, emitProbMod(b, l, args[0]), 1);
                 });
}

/// Of row values or of an accumulator.
Value OnlineStepEmitter::emitRescaled(Value value, Value decay) {
  SmallVector<unsigned> rows = rowLoops(), loops = rows;
  if (cast<ShapedType>(value.getType()).getRank() >
      static_cast<int64_t>(rows.size()))
    loops.push_back(loopD);
  return generic({decay}, {map(rows), map(loops)}, value, loops, {},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::MulFOp::create(b, l, args[1], args[0]);
                 });
}

/// The mask is asked again, because 0 times an infinite or NaN value of a
/// masked key would be NaN.
Value OnlineStepEmitter::emitProduct(Value acc, Value decay) {
  Value kept = emitKept();
  if (decay)
    acc = emitRescaled(acc, decay);
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  loops.push_back(loopD);
  return generic({kept, inputs.value},
                 {map(rowLoopsAnd(loopJ)), map({loopB, loopH, loopJ, loopD}),
                  map(rowLoopsAnd(loopD))},
                 acc, loops, {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   Value v = convertFloat(b, l, args[1], type);
                   Value product = arith::MulFOp::create(b, l, args[0], v);
                   Value sum = arith::AddFOp::create(b, l, args[2], product);
                   if (inputs.maskMod->empty())
                     return sum;
                   Value visible =
                       inlineMod(b, *inputs.maskMod, coordinates(b, l));
                   return arith::SelectOp::create(b, l, visible, sum, args[2]);
                 });
}

RunningState OnlineStepEmitter::createInitialState() {
  Sizes sizes = rowSizes(), accSizes = sizes;
  accSizes.push_back(getDim(builder, loc, inputs.value, kHeadDim));
  auto fill = [&](ArrayRef<OpFoldResult> of, double number) {
    return filled(builder, loc, of, constantFloat(builder, loc, type, number));
  };
  SmallVector<Value> values = {fill(accSizes, 0)};
  for (const RowValue &row : inputs.normalization.getRowValues())
    values.push_back(fill(sizes, row.neutral));
  return RunningState(inputs.normalization, values);
}

RunningState OnlineStepEmitter::emit(std::optional<RunningState> before) {
  RunningState state;
  if (before)
    state =
        RunningState(inputs.normalization,
                     llvm::map_to_vector(before->getValues(), [&](Value value) {
                       return expandHeads(value);
                     }));
  else
    state = createInitialState();
  weights = emitMaskedScores();
  state = emitStep(state, /*isFirst=*/!before);
  SmallVector<Value> after;
  for (auto [i, value] : llvm::enumerate(state.getValues()))
    after.push_back(collapseHeads(
        value, before ? before->getValues()[i].getType() : Type()));
  return RunningState(inputs.normalization, after);
}

RunningState attn::emitOnlineStep(OpBuilder &builder, Location loc,
                                  const ScoreInputs &inputs,
                                  std::optional<RunningState> state) {
  return OnlineStepEmitter(builder, loc, inputs).emit(state);
}
