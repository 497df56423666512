//===- OnlineStep.cpp - The online softmax on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnlineStep.h"

#include "Fragments.h"

#include "attn/Dialect/Attn/IR/ScheduleConversion.h"
#include "attn/Dialect/Attn/IR/SinkBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static constexpr double kLog2e = llvm::numbers::log2e;
/// Half of a unit in its last place is 2^-17: no rounding of a shift below it
/// shows in an exponential.
static constexpr double kLargeShift = 256;

ScoreUnits ScoreUnits::get(OnlineAttentionOp step) {
  double scale = step.getScaleValue();
  // The running maximum is over scores: the factor must keep their order.
  if (!ModToMap::changesScores(step) && scale > 0)
    return {1.0, scale * kLog2e, scale};
  return {scale, kLog2e, 1.0};
}

//===----------------------------------------------------------------------===//
// Start, step, end
//===----------------------------------------------------------------------===//

FragmentState attn::buildInitialState(OpBuilder &builder, Location loc,
                                      int64_t rows, int64_t valueDim) {
  tile::FragmentType row = getRowType(builder, rows);
  return {createFill(builder, loc, getAccumulatorType(builder, rows, valueDim),
                     0.0f),
          createFill(builder, loc, row, kMinusInf),
          createFill(builder, loc, row, 0.0f)};
}

/// The rise of a maximum, as a power of two, from which the accumulator is
/// rescaled; 0 for always.
static double getRescaleThreshold(OnlineAttentionOp step) {
  auto schedule = step.getScheduleAttr();
  return schedule ? static_cast<double>(getSchedule(schedule).rescaleThreshold)
                  : 0;
}

/// True if the maximum of a row of the warp rises by more than `threshold`; as
/// it does from -inf.
static Value buildRises(Fragments &fragments, Value before, Value after,
                        double threshold) {
  Value rises =
      fragments.map(before.getType(), {before, after}, [&](ValueRange args) {
        return fragments.selectGreater(fragments.sub(args[1], args[0]),
                                       threshold, fragments.constant(1.0),
                                       fragments.constant(0.0));
      });
  return fragments.any(rises);
}

namespace {
/// What the softmax of one tile gives.
struct OnlineSoftmax {
  Value max;   ///< of the scores so far
  Value p;     ///< exponentials relative to it
  Value decay; ///< by which the sum and the accumulator so far shrink
  Value rises; ///< i1: some decay of the warp is not 1; null if not asked
};
} // namespace

Value attn::buildExponentials(Fragments &fragments, const ShiftedScores &tile,
                              double unit) {
  Type rows = tile.shift.getType(), elements = tile.scores.getType();
  auto subtractFirst = [&]() -> SmallVector<Value> {
    Value differences =
        fragments.map(elements, {tile.scores, tile.max}, [&](ValueRange args) {
          return fragments.sub(args[0], args[1]);
        });
    Value none = fragments.map(
        rows, tile.shift, [&](ValueRange) { return fragments.constant(0.0); });
    return {differences, none};
  };
  ValueRange relative =
      fragments.choose(fragments.anyLarger(tile.shift, kLargeShift),
                       subtractFirst, {tile.scores, tile.shift});
  return fragments.map(elements, relative, [&](ValueRange args) {
    return fragments.exp2(fragments.fma(args[0], fragments.constant(unit),
                                        fragments.negate(args[1])));
  });
}

static OnlineSoftmax buildSoftmax(Fragments &fragments, OpBuilder &builder,
                                  OnlineAttentionOp step, Value scores,
                                  Value before) {
  Location loc = step.getLoc();
  ScoreUnits units = ScoreUnits::get(step);
  Type rowsType = before.getType();
  OnlineSoftmax result;
  Value max = tile::RowReduceOp::create(builder, loc, tile::Reduction::max,
                                        scores, before);
  max = tile::RowAllReduceOp::create(builder, loc, rowsType,
                                     tile::Reduction::max, max);
  if (double threshold = getRescaleThreshold(step)) {
    result.rises =
        buildRises(fragments, before, max, threshold / units.exponent);
    max = fragments.map(rowsType, {max, before}, [&](ValueRange args) {
      return arith::SelectOp::create(builder, loc, result.rises, args[0],
                                     args[1])
          .getResult();
    });
  }
  result.max = max;
  // A row that has seen no key yet has maximum -inf: with 0 instead, its
  // exponentials are exp2(-inf - 0) = 0 and not NaN.
  Value safe = fragments.map(rowsType, max, [&](ValueRange args) {
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 args[0]);
  });
  Value shift = fragments.map(rowsType, safe, [&](ValueRange args) {
    return fragments.mul(args[0], fragments.constant(units.exponent));
  });
  // Exactly 1 where the maximum stays.
  result.decay = fragments.map(rowsType, {before, safe}, [&](ValueRange args) {
    return fragments.exp2(fragments.mul(fragments.sub(args[0], args[1]),
                                        fragments.constant(units.exponent)));
  });
  result.p =
      buildExponentials(fragments, {scores, safe, shift}, units.exponent);
  if (auto schedule = step.getScheduleAttr())
    result.p.getDefiningOp<tile::MapOp>().setExp2OnFma(
        getSchedule(schedule).exp2OnFma);
  return result;
}

FailureOr<FragmentState> attn::buildStep(ModToMap &mods, OnlineAttentionOp step,
                                         Value query, Value key, Value value,
                                         Value keysInTile,
                                         const FragmentState &state) {
  OpBuilder &builder = mods.getBuilder();
  Location loc = step.getLoc();
  Fragments fragments(builder, loc);
  auto keyType = cast<tile::SharedType>(key.getType());
  int64_t rows = cast<tile::FragmentType>(state.max.getType()).getRows();
  auto scoreType = getAccumulatorType(builder, rows, keyType.getRows());

  Value zero = createFill(builder, loc, scoreType, 0.0f);
  Value product = tile::MmaOp::create(builder, loc, query, key,
                                      /*transposeB=*/true, zero);
  FailureOr<Value> scores =
      mods.apply(step, product, ScoreUnits::get(step).beforeMods, keysInTile);
  if (failed(scores))
    return failure();
  OnlineSoftmax softmax =
      buildSoftmax(fragments, builder, step, *scores, state.max);
  Value sum = fragments.scale(state.sum, softmax.decay);
  sum = tile::RowReduceOp::create(builder, loc, tile::Reduction::sum, softmax.p,
                                  sum);
  auto rescale = [&]() -> SmallVector<Value> {
    return {fragments.scale(state.acc, softmax.decay)};
  };
  Value acc = softmax.rises
                  ? fragments.choose(softmax.rises, rescale, state.acc).front()
                  : rescale().front();
  auto operandType = tile::FragmentType::get(
      builder.getContext(), {rows, keyType.getRows()}, keyType.getElementType(),
      tile::FragmentLayout::OperandA);
  // The sum has what is dropped, too.
  Value kept = mods.applyDropout(step, softmax.p);
  Value operand = tile::ToOperandOp::create(builder, loc, operandType, kept);
  acc = tile::MmaOp::create(builder, loc, operand, value,
                            /*transposeB=*/false, acc);
  return FragmentState{acc, softmax.max, sum};
}

FragmentState attn::buildWholeState(OpBuilder &builder, Location loc,
                                    const FragmentState &state) {
  return {state.acc, state.max,
          tile::RowAllReduceOp::create(builder, loc, state.sum.getType(),
                                       tile::Reduction::sum, state.sum)};
}

/// Output and LSE from a state whose sums are whole rows'.
static std::pair<Value, Value> buildQuotient(Fragments &fragments,
                                             double lseUnit,
                                             const FragmentState &state,
                                             double scale) {
  Type rowsType = state.max.getType();
  Value inverse = fragments.map(rowsType, state.sum, [&](ValueRange args) {
    Value quotient = fragments.divide(fragments.constant(scale), args[0]);
    return fragments.selectEqual(args[0], 0.0, fragments.constant(0.0),
                                 quotient);
  });
  Value output = fragments.map(
      state.acc.getType(), {state.acc, inverse},
      [&](ValueRange args) { return fragments.mul(args[0], args[1]); });
  Value lse =
      fragments.map(rowsType, {state.max, state.sum}, [&](ValueRange args) {
        Value sumLog = fragments.log(args[1]);
        Value total =
            fragments.fma(args[0], fragments.constant(lseUnit), sumLog);
        return fragments.selectEqual(args[1], 0.0,
                                     fragments.constant(kMinusInf), total);
      });
  return {output, lse};
}

/// The state after the sink, with the maximum in natural units.
static FragmentState takeSink(Fragments &fragments, OpBuilder &builder,
                              Location loc, double lseUnit,
                              const FragmentState &state, Value sink) {
  auto map = [&](Value RowState::*part) {
    return fragments.map(
        state.max.getType(), {state.max, state.sum, sink},
        [&](ValueRange args) {
          Value max = fragments.mul(args[0], fragments.constant(lseUnit));
          return buildSink(builder, loc, max, args[1], args[2]).*part;
        });
  };
  return {fragments.scale(state.acc, map(&RowState::decay)),
          map(&RowState::max), map(&RowState::sum)};
}

std::pair<Value, Value> attn::buildNormalize(OpBuilder &builder, Location loc,
                                             const ScoreUnits &units,
                                             const FragmentState &state,
                                             Value sink, double scale) {
  Fragments fragments(builder, loc);
  FragmentState whole = buildWholeState(builder, loc, state);
  if (!sink)
    return buildQuotient(fragments, units.lse, whole, scale);
  FragmentState after =
      takeSink(fragments, builder, loc, units.lse, whole, sink);
  return buildQuotient(fragments, /*lseUnit=*/1.0, after, scale);
}
