//===- OnlineStep.cpp - One attention step in linalg ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnlineStep.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

namespace {
/// Emits one step; holds what its parts share.
class StepEmitter : ScoreEmitter {
public:
  StepEmitter(OpBuilder &builder, Location loc, const ScoreInputs &inputs)
      : ScoreEmitter(builder, loc, inputs) {}

  RunningState emit(std::optional<RunningState> state);

private:
  RunningState createInitialState();
  Value emitMaskedScores();
  Value emitMax(Value scores, Value init);
  Value emitExponentials(Value scores, Value max);
  Value emitSum(Value weights, Value init);
  Value emitKept(Value weights);
  Value emitAccumulation(Value weights, Value init);
  Value rescale(Value state, Value oldMax, Value newMax);
};
} // namespace

/// Q K^T, then scale, bias, score_mod and mask_mod, in this order.
Value StepEmitter::emitMaskedScores() {
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

/// max(init, row maximum); NaN propagates.
Value StepEmitter::emitMax(Value scores, Value init) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  loops.push_back(loopJ);
  return generic({scores}, {map(loops), map(rows)}, init, loops, {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::MaximumFOp::create(b, l, args[1], args[0]);
                 });
}

/// exp(score - max), and 0 in rows that see nothing: -inf - -inf is NaN.
Value StepEmitter::emitExponentials(Value scores, Value max) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  loops.push_back(loopJ);
  return generic(
      {max}, {map(rows), map(loops)}, scores, loops, {},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value shifted = arith::SubFOp::create(b, l, args[1], args[0]);
        Value p = math::ExpOp::create(b, l, shifted);
        Value isEmpty =
            arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, args[0],
                                  negativeInfinity(b, l, type));
        return arith::SelectOp::create(b, l, isEmpty,
                                       constantFloat(b, l, type, 0), p);
      });
}

Value StepEmitter::emitSum(Value weights, Value init) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  loops.push_back(loopJ);
  return generic({weights}, {map(loops), map(rows)}, init, loops, {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::AddFOp::create(b, l, args[1], args[0]);
                 });
}

/// The weights that dropout keeps; all of them without it.
Value StepEmitter::emitKept(Value weights) {
  if (!inputs.dropout)
    return weights;
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, weights), type);
  return generic({weights}, {map(loops), map(loops)}, init, loops, {},
                 [&](OpBuilder &b, Location l, ValueRange args) {
                   return emitDropout(b, l, args[0], 1);
                 });
}

/// init + weights V. The mask is asked again, because 0 times an infinite or
/// NaN value of a masked key would be NaN.
Value StepEmitter::emitAccumulation(Value weights, Value init) {
  SmallVector<unsigned> scoreLoops = rowLoops(), accLoops = rowLoops();
  scoreLoops.push_back(loopJ);
  accLoops.push_back(loopD);
  SmallVector<unsigned> loops = scoreLoops;
  loops.push_back(loopD);
  return generic(
      {weights, inputs.value},
      {map(scoreLoops), map({loopB, loopH, loopJ, loopD}), map(accLoops)}, init,
      loops, {loopJ}, [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value v = convertFloat(b, l, args[1], type);
        Value product = arith::MulFOp::create(b, l, args[0], v);
        Value sum = arith::AddFOp::create(b, l, args[2], product);
        if (inputs.maskMod->empty())
          return sum;
        Value visible = inlineMod(b, *inputs.maskMod, coordinates(b, l));
        return arith::SelectOp::create(b, l, visible, sum, args[2]);
      });
}

/// state * exp(oldMax - newMax); the state as it is where newMax is -inf.
Value StepEmitter::rescale(Value state, Value oldMax, Value newMax) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  if (cast<ShapedType>(state.getType()).getRank() >
      static_cast<int64_t>(rows.size()))
    loops.push_back(loopD);
  return generic(
      {oldMax, newMax}, {map(rows), map(rows), map(loops)}, state, loops, {},
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value shift = arith::SubFOp::create(b, l, args[0], args[1]);
        Value factor = math::ExpOp::create(b, l, shift);
        Value scaled = arith::MulFOp::create(b, l, args[2], factor);
        Value isEmpty =
            arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, args[1],
                                  negativeInfinity(b, l, type));
        return arith::SelectOp::create(b, l, isEmpty, args[2], scaled);
      });
}

RunningState StepEmitter::createInitialState() {
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

RunningState StepEmitter::emit(std::optional<RunningState> before) {
  RunningState state;
  if (before)
    state =
        RunningState(inputs.normalization,
                     llvm::map_to_vector(before->getValues(), [&](Value value) {
                       return expandHeads(value);
                     }));
  else
    state = createInitialState();
  Value weights = emitMaskedScores();
  Value acc = state.getAcc(), sum = state.get(RowRole::Sum);
  if (Value oldMax = state.get(RowRole::Maximum)) {
    Value max = emitMax(weights, oldMax);
    weights = emitExponentials(weights, max);
    // What is empty need not be rescaled.
    if (before && sum)
      sum = rescale(sum, oldMax, max);
    if (before)
      acc = rescale(acc, oldMax, max);
    state.set(RowRole::Maximum, max);
  }
  if (sum)
    state.set(RowRole::Sum, emitSum(weights, sum));
  state.setAcc(emitAccumulation(emitKept(weights), acc));
  SmallVector<Value> after;
  for (auto [i, value] : llvm::enumerate(state.getValues()))
    after.push_back(collapseHeads(
        value, before ? before->getValues()[i].getType() : Type()));
  return RunningState(inputs.normalization, after);
}

RunningState attn::emitOnlineStep(OpBuilder &builder, Location loc,
                                  const ScoreInputs &inputs,
                                  std::optional<RunningState> state) {
  return StepEmitter(builder, loc, inputs).emit(state);
}
