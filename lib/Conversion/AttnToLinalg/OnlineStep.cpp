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

  OnlineState emit(std::optional<OnlineState> state);

private:
  Value emitMaskedScores();
  Value emitMax(Value scores, Value init);
  Value emitExponentials(Value scores, Value max);
  Value emitSum(Value exponentials, Value init);
  Value emitKept(Value exponentials);
  Value emitAccumulation(Value exponentials, Value init);
  Value rescale(Value state, Value oldMax, Value newMax);
};
} // namespace

/// Q K^T, then scale, bias, score_mod and mask_mod, in this order.
Value StepEmitter::emitMaskedScores() {
  return emitScores(emitProducts(query, inputs.key),
                    [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                      Value score = args[0];
                      SmallVector<Value> at = coordinates(b, l);
                      if (!inputs.scoreMod->empty()) {
                        SmallVector<Value> arguments = {score};
                        llvm::append_range(arguments, at);
                        score = inlineMod(b, *inputs.scoreMod, arguments);
                      }
                      if (inputs.maskMod->empty())
                        return score;
                      Value visible = inlineMod(b, *inputs.maskMod, at);
                      return arith::SelectOp::create(
                          b, l, visible, score, negativeInfinity(b, l, type));
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

Value StepEmitter::emitSum(Value exponentials, Value init) {
  SmallVector<unsigned> rows = rowLoops(), loops = rowLoops();
  loops.push_back(loopJ);
  return generic({exponentials}, {map(loops), map(rows)}, init, loops, {loopJ},
                 [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                   return arith::AddFOp::create(b, l, args[1], args[0]);
                 });
}

/// The exponentials that dropout keeps; all of them without it.
Value StepEmitter::emitKept(Value exponentials) {
  if (!inputs.dropout)
    return exponentials;
  SmallVector<unsigned> loops = rowLoopsAnd(loopJ);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, exponentials), type);
  return generic({exponentials}, {map(loops), map(loops)}, init, loops, {},
                 [&](OpBuilder &b, Location l, ValueRange args) {
                   return emitDropout(b, l, args[0], 1);
                 });
}

/// init + P V. The mask is asked again, because 0 times an infinite or NaN
/// value of a masked key would be NaN.
Value StepEmitter::emitAccumulation(Value exponentials, Value init) {
  SmallVector<unsigned> scoreLoops = rowLoops(), accLoops = rowLoops();
  scoreLoops.push_back(loopJ);
  accLoops.push_back(loopD);
  SmallVector<unsigned> loops = scoreLoops;
  loops.push_back(loopD);
  return generic(
      {exponentials, inputs.value},
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

OnlineState StepEmitter::emit(std::optional<OnlineState> state) {
  OnlineState from;
  if (state) {
    from = {expandHeads(state->acc), expandHeads(state->max),
            expandHeads(state->sum)};
  } else {
    Sizes sizes = rowSizes();
    Value zero = constantFloat(builder, loc, type, 0);
    from.max =
        filled(builder, loc, sizes, negativeInfinity(builder, loc, type));
    from.sum = filled(builder, loc, sizes, zero);
    sizes.push_back(getDim(builder, loc, inputs.value, kHeadDim));
    from.acc = filled(builder, loc, sizes, zero);
  }
  Value scores = emitMaskedScores();
  Value max = emitMax(scores, from.max);
  Value exponentials = emitExponentials(scores, max);
  if (state) {
    from.sum = rescale(from.sum, from.max, max);
    from.acc = rescale(from.acc, from.max, max);
  }
  Value sum = emitSum(exponentials, from.sum);
  Value acc = emitAccumulation(emitKept(exponentials), from.acc);
  auto typeOf = [&](Value value) { return value ? value.getType() : Type(); };
  OnlineState wanted = state.value_or(OnlineState());
  return {collapseHeads(acc, typeOf(wanted.acc)),
          collapseHeads(max, typeOf(wanted.max)),
          collapseHeads(sum, typeOf(wanted.sum))};
}

OnlineState attn::emitOnlineStep(OpBuilder &builder, Location loc,
                                 const ScoreInputs &inputs,
                                 std::optional<OnlineState> state) {
  return StepEmitter(builder, loc, inputs).emit(state);
}
