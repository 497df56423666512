//===- TwoPhaseStep.cpp - Row reductions in two phases -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallCache/TwoPhaseStep.h"

#include "Kernel/Fragments.h"

using namespace mlir;
using namespace attn;

TileWeights attn::buildTileWeights(OpBuilder &builder, OnlineAttentionOp step,
                                   Value scores) {
  Location loc = step.getLoc();
  SmallVector<Value> neutral = {Value()};
  int64_t rows = cast<tile::FragmentType>(scores.getType()).getRows();
  for (const RowValue &kind : step.getNormalization().getRowValues())
    neutral.push_back(createFill(builder, loc, getRowType(builder, rows),
                                 static_cast<float>(kind.neutral)));
  ScoreTile tile(builder, loc, ScoreUnits::get(step), scores);
  RunningState state = tile.emitStep(
      RunningState(step.getNormalization(), neutral), /*isFirst=*/true);
  if (Value sum = state.get(RowRole::Sum))
    state.set(RowRole::Sum,
              tile::RowAllReduceOp::create(builder, loc, sum.getType(),
                                           tile::Reduction::sum, sum));
  return {tile.weights, SmallVector<Value>(state.getRows())};
}

OutputState attn::buildInitialOutputState(OpBuilder &builder,
                                          OnlineAttentionOp step, int64_t rows,
                                          int64_t cols) {
  Location loc = step.getLoc();
  RunningState state = buildInitialState(
      builder, loc, step.getNormalization(), rows, cols,
      tile::FragmentLayoutAttr::getAccumulator(builder.getContext()));
  // Without a maximum, what tiles weigh does not depend on each other.
  if (!state.get(RowRole::Maximum))
    return {state, Value()};
  return {state, createFill(builder, loc, getRowType(builder, rows), 0.0f)};
}

OutputState attn::buildRescale(OpBuilder &builder, OnlineAttentionOp step,
                               ValueRange tileRows, RunningState state) {
  Location loc = step.getLoc();
  ScoreTile units(builder, loc, ScoreUnits::get(step));
  Fragments fragments(builder, loc);
  SmallVector<Value> values = {Value()};
  llvm::append_range(values, tileRows);
  RunningState tile(step.getNormalization(), values);
  auto spread = [&](Value part) -> Value {
    return tile::RowAllReduceOp::create(builder, loc, part.getType(),
                                        tile::Reduction::max, part);
  };
  Value sum = state.get(RowRole::Sum), ofTile = tile.get(RowRole::Sum);
  Value before = state.get(RowRole::Maximum);
  if (!before) {
    // Exact: a quarter in each lane of the quad.
    if (sum)
      state.set(RowRole::Sum,
                fragments.map(sum.getType(), {sum, spread(ofTile)},
                              [&](ValueRange args) {
                                return fragments.fma(
                                    args[1], fragments.constant(0.25), args[0]);
                              }));
    return {state, Value()};
  }
  Value ofLanes = tile.get(RowRole::Maximum), tileMax = spread(ofLanes);
  if (sum)
    ofTile = spread(ofTile);
  Value max =
      fragments.map(before.getType(), {before, tileMax}, [&](ValueRange args) {
        return fragments.max(args[0], args[1]);
      });
  Value shift = units.emitFinite(max);
  Value decay = units.emitDecay(before, shift);
  Value weight = units.emitDecay(tileMax, shift);
  if (sum) {
    // In the lane that has loaded the row: its part of the sum.
    Value added = fragments.scale(ofTile, units.emitDecay(ofLanes, shift));
    sum =
        fragments.map(sum.getType(), {sum, decay, added}, [&](ValueRange args) {
          return fragments.fma(args[0], args[1], args[2]);
        });
    state.set(RowRole::Sum, sum);
  }
  state.setAcc(fragments.scale(state.getAcc(), decay));
  state.set(RowRole::Maximum, max);
  return {state, weight};
}
