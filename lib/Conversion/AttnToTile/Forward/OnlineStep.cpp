//===- OnlineStep.cpp - A step of attention on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forward/OnlineStep.h"

#include "Kernel/Fragments.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"
#include "attn/Dialect/Attn/Utils/SinkBuilder.h"
#include "attn/Schedule/Constraints.h"
#include "attn/Schedule/Family.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static constexpr double kLog2e = llvm::numbers::log2e;
/// Half of a unit in its last place is 2^-17: no rounding of a shift below it
/// shows in an exponential.
static constexpr double kLargeShift = 256;

ScoreUnits ScoreUnits::get(OnlineAttentionOp step) {
  double scale = step.getScaleValue();
  double offset = isFloat8(step.getQuery().getType()) ? kWeightOffset : 0;
  // Without a maximum there is no exponential that could take a factor.
  if (!step.getState().get(RowRole::Maximum))
    return {scale, 1.0, 1.0};
  // The running maximum is over scores: the factor must keep their order.
  if (!ModToMap::changesScores(step) && scale > 0)
    return {1.0, scale * kLog2e, scale, offset};
  return {scale, kLog2e, 1.0, offset};
}

bool attn::transposesValue(OnlineAttentionOp step) {
  ScheduleAttr schedule = step.getScheduleAttr();
  return isFloat8(step.getValue().getType()) && schedule &&
         getFamily(getSchedule(schedule).mma).hasRoles();
}

tile::FragmentLayout attn::getOutputLayout(OnlineAttentionOp step) {
  return tile::FragmentType::getProductLayout(
      getElementTypeOrSelf(step.getValue().getType()), transposesValue(step));
}

//===----------------------------------------------------------------------===//
// Start, step, end
//===----------------------------------------------------------------------===//

RunningState attn::buildInitialState(OpBuilder &builder, Location loc,
                                     RowReductionInterface reduction,
                                     int64_t rows, int64_t valueDim,
                                     tile::FragmentLayout layout) {
  auto accType = tile::FragmentType::get(builder.getContext(), {rows, valueDim},
                                         builder.getF32Type(), layout);
  SmallVector<Value> values = {createFill(builder, loc, accType, 0.0f)};
  for (const RowValue &row : reduction.getRowValues())
    values.push_back(createFill(builder, loc, getRowType(builder, rows),
                                static_cast<float>(row.neutral)));
  return RunningState(reduction, values);
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
    Value none = fragments.map(rows, tile.shift, [&](ValueRange) {
      return fragments.constant(-tile.offset);
    });
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
    Value unit = fragments.constant(units.exponent);
    return units.offset == 0 ? fragments.mul(args[0], unit)
                             : fragments.fma(args[0], unit,
                                             fragments.constant(-units.offset));
  });
  // Exactly 1 where the maximum stays.
  result.decay = fragments.map(rowsType, {before, safe}, [&](ValueRange args) {
    return fragments.exp2(fragments.mul(fragments.sub(args[0], args[1]),
                                        fragments.constant(units.exponent)));
  });
  result.p = buildExponentials(fragments, {scores, safe, shift, units.offset},
                               units.exponent);
  if (auto schedule = step.getScheduleAttr())
    result.p.getDefiningOp<tile::MapOp>().setExp2OnFma(
        getSchedule(schedule).exp2OnFma);
  return result;
}

FailureOr<RunningState> attn::buildStep(ModToMap &mods, OnlineAttentionOp step,
                                        Value query, Value key, Value value,
                                        Value keysInTile, RunningState state) {
  OpBuilder &builder = mods.getBuilder();
  Location loc = step.getLoc();
  Fragments fragments(builder, loc);
  auto keyType = cast<tile::SharedType>(key.getType());
  int64_t rows = cast<tile::FragmentType>(state.getAcc().getType()).getRows();
  auto scoreType = getAccumulatorType(builder, rows, keyType.getRows());

  Value zero = createFill(builder, loc, scoreType, 0.0f);
  Value product = tile::MmaOp::create(builder, loc, query, key,
                                      /*transposeB=*/true, zero);
  FailureOr<Value> scores =
      mods.apply(step, product, ScoreUnits::get(step).beforeMods, keysInTile);
  if (failed(scores))
    return failure();
  Value weights = *scores, sum = state.get(RowRole::Sum), acc = state.getAcc();
  OnlineSoftmax softmax;
  if (Value max = state.get(RowRole::Maximum)) {
    softmax = buildSoftmax(fragments, builder, step, *scores, max);
    weights = softmax.p;
    state.set(RowRole::Maximum, softmax.max);
    if (sum)
      sum = fragments.scale(sum, softmax.decay);
  }
  if (sum)
    state.set(RowRole::Sum,
              tile::RowReduceOp::create(builder, loc, tile::Reduction::sum,
                                        weights, sum));
  auto rescale = [&]() -> SmallVector<Value> {
    return {fragments.scale(acc, softmax.decay)};
  };
  if (softmax.rises)
    acc = fragments.choose(softmax.rises, rescale, acc).front();
  else if (softmax.decay)
    acc = rescale().front();
  auto operandType = tile::FragmentType::get(
      builder.getContext(), {rows, keyType.getRows()}, keyType.getElementType(),
      tile::FragmentLayout::OperandA);
  // The sum has what is dropped, too.
  Value kept = mods.applyDropout(step, weights);
  Value operand = tile::ToOperandOp::create(builder, loc, operandType, kept);
  bool transposed = transposesValue(step);
  if (transposed)
    value = tile::TransposeBytesOp::create(builder, loc, value);
  state.setAcc(
      tile::MmaOp::create(builder, loc, operand, value, transposed, acc));
  return state;
}

RunningState attn::buildWholeState(OpBuilder &builder, Location loc,
                                   const ScoreUnits &units,
                                   RunningState state) {
  Value sum = state.get(RowRole::Sum);
  if (!sum)
    return state;
  sum = tile::RowAllReduceOp::create(builder, loc, sum.getType(),
                                     tile::Reduction::sum, sum);
  if (units.offset != 0) {
    Fragments fragments(builder, loc);
    double factor = std::exp2(-units.offset);
    sum = fragments.multiply(sum, factor);
    state.setAcc(fragments.multiply(state.getAcc(), factor));
  }
  state.set(RowRole::Sum, sum);
  return state;
}

/// The accumulator, divided as the reduction of `normalize` says.
static Value buildOutput(Fragments &fragments, OpBuilder &builder,
                         NormalizeOp normalize, const RunningState &state,
                         Value descale) {
  Location loc = normalize.getLoc();
  double scale = normalize.getScaleValue();
  ValueRange rows = state.getRows();
  if (rows.empty())
    return scale == 1 ? state.getAcc()
                      : fragments.multiply(state.getAcc(), scale);
  RowReductionInterface reduction = normalize.getNormalization();
  Type rowType = rows.front().getType();
  Value inverse = fragments.map(rowType, rows, [&](ValueRange args) {
    Value divisor = reduction.buildDivisor(builder, loc, args);
    Value quotient = fragments.divide(fragments.constant(scale), divisor);
    if (descale)
      quotient = fragments.mul(quotient, descale);
    return fragments.selectEqual(divisor, 0.0, fragments.constant(0.0),
                                 quotient);
  });
  return fragments.scale(state.getAcc(), inverse);
}

/// lseUnit * max + log(sum), -inf where no key is visible.
static Value buildLse(Fragments &fragments, double lseUnit,
                      const RunningState &state) {
  Value max = state.get(RowRole::Maximum), sum = state.get(RowRole::Sum);
  return fragments.map(max.getType(), {max, sum}, [&](ValueRange args) {
    Value sumLog = fragments.log(args[1]);
    Value total = fragments.fma(args[0], fragments.constant(lseUnit), sumLog);
    return fragments.selectEqual(args[1], 0.0, fragments.constant(kMinusInf),
                                 total);
  });
}

/// The state after the sink, with the maximum in natural units.
static RunningState takeSink(Fragments &fragments, OpBuilder &builder,
                             Location loc, double lseUnit,
                             const RunningState &state, Value sink) {
  Value oldMax = state.get(RowRole::Maximum), sum = state.get(RowRole::Sum);
  auto map = [&](Value RowState::*part) {
    return fragments.map(
        oldMax.getType(), {oldMax, sum, sink}, [&](ValueRange args) {
          Value max = fragments.mul(args[0], fragments.constant(lseUnit));
          return buildSink(builder, loc, max, args[1], args[2]).*part;
        });
  };
  RunningState after = state;
  after.setAcc(fragments.scale(state.getAcc(), map(&RowState::decay)));
  after.set(RowRole::Maximum, map(&RowState::max));
  after.set(RowRole::Sum, map(&RowState::sum));
  return after;
}

std::pair<Value, Value> attn::buildNormalize(OpBuilder &builder,
                                             NormalizeOp normalize,
                                             const ScoreUnits &units,
                                             RunningState state, Value sink,
                                             Value descale) {
  Location loc = normalize.getLoc();
  Fragments fragments(builder, loc);
  state = buildWholeState(builder, loc, units, state);
  double lseUnit = units.lse;
  if (sink) {
    state = takeSink(fragments, builder, loc, lseUnit, state, sink);
    lseUnit = 1.0;
  }
  Value output = buildOutput(fragments, builder, normalize, state, descale);
  bool hasLse = normalize.getNormalization().hasLse();
  return {output, hasLse ? buildLse(fragments, lseUnit, state) : Value()};
}
