//===- RowEmitter.cpp - The step of a row in vector code --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"

using namespace mlir;
using namespace attn;

/// True where `x` is `number`.
static Value isEqual(ImplicitLocOpBuilder &b, Value x, double number) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x,
                               createSplat(b, x.getType(), number));
}

SmallVector<Value> RowEmitter::emitRowStep(const ScoreRow &scores,
                                           ValueRange before) {
  row = scores;
  shift = Value();
  Values state = {Value()};
  llvm::append_range(state, before);
  return Values(emitStep(RunningState(reduction, state)).getRows());
}

SmallVector<Value> RowEmitter::getPlace(Columns keys) {
  return {row.inBuffer, row.column ? add(row.column, keys.begin) : keys.begin};
}

Value RowEmitter::loadScores(Columns keys) {
  return vector::LoadOp::create(b, vectorOf(keys.width), row.scores,
                                getPlace(keys));
}

void RowEmitter::storeScores(Value part, Columns keys) {
  vector::StoreOp::create(b, part, row.scores, getPlace(keys));
}

/// What the scores are after their mods is kept.
Value RowEmitter::emitMaximum(Value before) {
  bool hasMods = bias || !scoreMod.empty() || !maskMod.empty();
  Value ofTile = reduceColumns(
      b, scoreType, dims.keyRows, kMinusInf, createMax, [&](Columns keys) {
        Value part = emitScoreMods(loadScores(keys), row.position, keys);
        if (hasMods)
          storeScores(part, keys);
        return part;
      });
  return createMax(b, ofTile, before);
}

Value RowEmitter::emitShift(Value max) {
  Value isEmpty = isEqual(b, max, kMinusInf);
  return arith::SelectOp::create(b, isEmpty, createSplat(b, scoreType, 0), max);
}

Value RowEmitter::emitDecay(Value before, Value shift) {
  return createExpOfNonPositive(b, arith::SubFOp::create(b, before, shift));
}

Value RowEmitter::emitExponential(Value scores, Columns keys) {
  return createExpOfNonPositive(
      b, arith::SubFOp::create(b, scores, broadcast(shift, keys.width)));
}

Value RowEmitter::emitWeights(Columns keys) {
  Value part = loadScores(keys);
  return shift ? emitExponential(part, keys)
               : emitScoreMods(part, row.position, keys);
}

Value RowEmitter::emitSum(Value init) {
  Value ofTile = reduceColumns(b, scoreType, dims.keyRows, 0.0, createSum,
                               [&](Columns keys) { return emitWeights(keys); });
  return arith::AddFOp::create(b, init, ofTile);
}

Value RowEmitter::emitRescaled(Value value, Value decay) {
  return arith::MulFOp::create(b, value, decay);
}

Value RowEmitter::emitProduct(Value acc, Value) {
  bool hasSum =
      llvm::any_of(reduction.getRowValues(), [](const RowValue &kind) {
        return kind.role == RowRole::Sum;
      });
  // A sum has made them.
  if (!hasSum)
    forColumns(dims.keyRows, [&](Columns keys) { emitWeights(keys); });
  return acc;
}

Value attn::createInverse(ImplicitLocOpBuilder &b, Value divisor,
                          double scale) {
  if (!divisor)
    return Value();
  Type type = divisor.getType();
  Value isEmpty = isEqual(b, divisor, 0), none = createSplat(b, type, 0);
  Value inverse =
      arith::DivFOp::create(b, createSplat(b, type, scale), divisor);
  return arith::SelectOp::create(b, isEmpty, none, inverse);
}

Value attn::createLse(ImplicitLocOpBuilder &b, ValueRange rows) {
  Value isEmpty = isEqual(b, rows[1], 0);
  Value lse =
      arith::AddFOp::create(b, rows[0], math::LogOp::create(b, rows[1]));
  Value none = createSplat(b, lse.getType(), kMinusInf);
  return arith::SelectOp::create(b, isEmpty, none, lse);
}
