//===- TwoPhaseStep.cpp - Softmax in two phases -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallCache/TwoPhaseStep.h"

#include "Kernel/Fragments.h"

using namespace mlir;
using namespace attn;

TileSoftmax attn::buildTileSoftmax(OpBuilder &builder, Location loc,
                                   const ScoreUnits &units, Value scores) {
  Fragments fragments(builder, loc);
  Value max = fragments.reduce(tile::Reduction::max, scores, kMinusInf);
  Type rows = max.getType();
  // Of a row without visible key the exponentials are 2^(-inf - 0) = 0.
  Value safe = fragments.map(rows, max, [&](ValueRange args) {
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 args[0]);
  });
  Value shift = fragments.map(rows, safe, [&](ValueRange args) {
    return fragments.mul(args[0], fragments.constant(units.exponent));
  });
  TileSoftmax softmax;
  softmax.probabilities =
      buildExponentials(fragments, {scores, safe, shift}, units.exponent);
  softmax.rows.sum =
      fragments.reduce(tile::Reduction::sum, softmax.probabilities, 0.0f);
  softmax.rows.max = max;
  return softmax;
}

OutputState attn::buildInitialOutputState(OpBuilder &builder, Location loc,
                                          int64_t rows, int64_t cols) {
  auto softmax = SoftmaxAttr::get(builder.getContext());
  return {buildInitialState(builder, loc, softmax, rows, cols),
          createFill(builder, loc, getRowType(builder, rows), 0.0f)};
}

OutputState attn::buildRescale(OpBuilder &builder, Location loc,
                               const ScoreUnits &units,
                               const RowStatistics &tile, RunningState state) {
  Fragments fragments(builder, loc);
  Value oldMax = state.get(RowRole::Maximum), oldSum = state.get(RowRole::Sum);
  Type rows = oldMax.getType();
  auto spread = [&](Value part) -> Value {
    return tile::RowAllReduceOp::create(builder, loc, rows,
                                        tile::Reduction::max, part);
  };
  Value tileMax = spread(tile.max), tileSum = spread(tile.sum);
  Value max = fragments.map(rows, {oldMax, tileMax}, [&](ValueRange args) {
    return fragments.max(args[0], args[1]);
  });
  Value safe = fragments.map(rows, max, [&](ValueRange args) {
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 args[0]);
  });
  auto power = [&](ValueRange args) {
    return fragments.exp2(fragments.mul(fragments.sub(args[0], args[1]),
                                        fragments.constant(units.exponent)));
  };
  Value decay = fragments.map(rows, {oldMax, safe}, power);
  Value weight = fragments.map(rows, {tileMax, safe}, power);
  // In the lane that has loaded the row: its part of the sum.
  Value part = fragments.map(rows, {tile.max, safe}, power);
  Value added = fragments.scale(tileSum, part);
  Value sum = fragments.map(rows, {oldSum, decay, added}, [&](ValueRange args) {
    return fragments.fma(args[0], args[1], args[2]);
  });
  state.setAcc(fragments.scale(state.getAcc(), decay));
  state.set(RowRole::Maximum, max);
  state.set(RowRole::Sum, sum);
  return {state, weight};
}
