//===- OnlineStep.cpp - A step of attention on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forward/OnlineStep.h"

#include "Kernel/Fragments.h"
#include "Kernel/KernelChecks.h"
#include "Kernel/RowTerms.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/SinkBuilder.h"
#include "attn/Schedule/Constraints.h"
#include "attn/Schedule/Family.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace attn;

static constexpr double kLog2e = llvm::numbers::log2e;
/// Half of a unit in its last place is 2^-17: no rounding of a shift below it
/// shows in an exponential.
static constexpr double kLargeShift = 256;

/// The rise of a maximum, as a power of two, from which the accumulator is
/// rescaled; 0 for always.
static double getRescaleThreshold(OnlineAttentionOp step) {
  auto schedule = step.getScheduleAttr();
  // A number may be as large as f16 has, times a weight of at most 1.
  bool mayOverflow = step.hasProbMod() &&
                     getElementTypeOrSelf(step.getQuery().getType()).isF16();
  return schedule && !mayOverflow
             ? static_cast<double>(schedule.getValues().rescaleThreshold)
             : 0;
}

/// log2 of what weights are multiplied by before they are rounded.
static double getOffset(OnlineAttentionOp step) {
  Type element = getWeightType(step);
  if (!isFloat8(element))
    return 0;
  auto threshold = static_cast<int64_t>(getRescaleThreshold(step));
  return static_cast<double>(getWeightOffset(getFloat8(element), threshold));
}

/// True if a hidden key has a score of -inf, which no maximum takes.
static bool hidesByInfinity(OnlineAttentionOp step) {
  return step.getNormalization().getHiddenScore() == kMinusInf &&
         step.getState().get(RowRole::Maximum);
}

ScoreUnits ScoreUnits::get(OnlineAttentionOp step) {
  double scale = step.getScaleValue();
  double offset = getOffset(step);
  // Without a maximum there is no exponential that could take a factor.
  if (!step.getState().get(RowRole::Maximum))
    return {scale, 1.0, 1.0};
  // The running maximum is over scores: the factor must keep their order, and
  // is an f32, whose product with -inf must be no NaN.
  float factor = scale * kLog2e;
  if (!ModToMap::changesScores(step) && factor > 0 && std::isfinite(factor))
    return {1.0, scale * kLog2e, scale, offset};
  return {scale, kLog2e, 1.0, offset};
}

bool attn::transposesValue(OnlineAttentionOp step) {
  ScheduleAttr schedule = step.getScheduleAttr();
  Type element = getElementTypeOrSelf(step.getValue().getType());
  return isFloat8(element) && isFloat8(getWeightType(step)) && schedule &&
         getFamily(schedule.getValues().mma)
             .transposesValue(getFloat8(element));
}

bool attn::widensTiles(OnlineAttentionOp step) {
  ScheduleAttr schedule = step.getScheduleAttr();
  return isByte(step.getKey().getType()) &&
         !isByte(step.getQuery().getType()) && schedule &&
         getFamily(schedule.getValues().mma).hasRoles();
}

/// A prob_mod may make numbers that only bf16 has, as may weights that are no
/// exponentials.
bool attn::narrowsQuery(OnlineAttentionOp step) {
  ScheduleAttr schedule = step.getScheduleAttr();
  auto isMmaSync = schedule && schedule.getValues().mma == MmaFamily::MmaSync;
  return isMmaSync &&
         getElementTypeOrSelf(step.getQuery().getType()).isBF16() &&
         isByte(step.getKey().getType()) && isByte(step.getValue().getType()) &&
         hidesByInfinity(step) && !step.hasProbMod();
}

/// A tile of a cache as products read it: in the type of the query, where they
/// are those of shared memory.
static Value widenTile(OpBuilder &builder, OnlineAttentionOp step, Value tile) {
  if (!widensTiles(step))
    return tile;
  auto type = cast<tile::SharedType>(tile.getType());
  Type element = getElementTypeOrSelf(step.getQuery().getType());
  auto wide = tile::SharedType::get(
      builder.getContext(), type.getShape(), element,
      tile::SharedType::getSwizzleFor(2 * type.getCols()));
  return tile::WidenBytesOp::create(builder, step.getLoc(), wide, tile);
}

tile::FragmentLayoutAttr attn::getOutputLayout(OnlineAttentionOp step) {
  // Of a product in tensor memory each lane reads the columns that it wants.
  ScheduleAttr schedule = step.getScheduleAttr();
  if (schedule && getFamily(schedule.getValues().mma).facts.tensorColumns)
    return tile::FragmentLayoutAttr::getAccumulator(step.getContext());
  Type element = widensTiles(step)
                     ? getWeightType(step)
                     : getElementTypeOrSelf(step.getValue().getType());
  return tile::FragmentType::getProductLayout(element, transposesValue(step));
}

//===----------------------------------------------------------------------===//
// Start, step, end
//===----------------------------------------------------------------------===//

RunningState attn::buildInitialState(OpBuilder &builder, Location loc,
                                     RowReductionInterface reduction,
                                     int64_t rows, int64_t valueDim,
                                     tile::FragmentLayoutAttr layout) {
  auto accType = tile::FragmentType::get(builder.getContext(), {rows, valueDim},
                                         builder.getF32Type(), layout);
  SmallVector<Value> values = {createFill(builder, loc, accType, 0.0f)};
  for (const RowValue &row : reduction.getRowValues())
    values.push_back(createFill(builder, loc, getRowType(builder, rows),
                                static_cast<float>(row.neutral)));
  return RunningState(reduction, values);
}

/// True if the maximum of a row of the warp rises by more than `threshold`; as
/// it does from -inf.
static Value buildRises(Fragments &fragments, Value before, Value after,
                        double threshold) {
  Value rises =
      fragments.map(before.getType(), {before, after}, [&](ValueRange args) {
        Value rise = fragments.sub(args[1], args[0]);
        Value one = fragments.constant(1.0);
        return fragments.selectGreater(rise, threshold, one,
                                       fragments.constant(0.0));
      });
  return fragments.any(rises);
}

Value ScoreTile::emitMaximum(Value before) {
  Type type = before.getType();
  Value init = factor ? createFill(builder, loc, type, kMinusInf) : before;
  Value max = tile::RowReduceOp::create(builder, loc, tile::Reduction::max,
                                        weights, init);
  if (factor)
    max = fragments.map(type, {before, max, factor}, [&](ValueRange args) {
      return fragments.max(args[0], fragments.mul(args[1], args[2]));
    });
  return tile::RowAllReduceOp::create(builder, loc, before.getType(),
                                      tile::Reduction::max, max);
}

Value ScoreTile::emitFinite(Value max) {
  return fragments.map(max.getType(), max, [&](ValueRange args) {
    return fragments.selectEqual(args[0], kMinusInf, fragments.constant(0.0),
                                 args[0]);
  });
}

Value ScoreTile::emitShift(Value max) {
  Value finite = emitFinite(max);
  shift = fragments.map(max.getType(), finite, [&](ValueRange args) {
    Value unit = fragments.constant(units.exponent);
    return units.offset == 0 ? fragments.mul(args[0], unit)
                             : fragments.fma(args[0], unit,
                                             fragments.constant(-units.offset));
  });
  return finite;
}

/// Exactly 1 where the maximum stays.
Value ScoreTile::emitDecay(Value before, Value max) {
  return fragments.map(before.getType(), {before, max}, [&](ValueRange args) {
    Value exponent = fragments.sub(args[0], args[1]);
    return fragments.exp2(
        fragments.mul(exponent, fragments.constant(units.exponent)));
  });
}

/// Weights less the maximum where that is `large`, and the shift that is left.
SmallVector<Value> ScoreTile::subtract(Value max, Value large) {
  Value rest = fragments.map(shift.getType(), shift, [&](ValueRange args) {
    return arith::SelectOp::create(builder, loc, large,
                                   fragments.constant(-units.offset), args[0])
        .getResult();
  });
  Value differences = tile::UpdateRowsOp::create(
      builder, loc, tile::RowUpdate::subtract, weights, max, large);
  return {differences, rest};
}

/// `subtract` of weights that have a factor for each row, and the unit of what
/// it gives.
SmallVector<Value> ScoreTile::subtractScaled(Value max, Value large) {
  Value unit = fragments.multiply(factor, units.exponent);
  auto subtractFirst = [&]() -> SmallVector<Value> {
    Value differences = fragments.map(
        weights.getType(), {fragments.scale(weights, factor), max},
        [&](ValueRange args) { return fragments.sub(args[0], args[1]); });
    auto fill = [&](double value) {
      return createFill(builder, loc, shift.getType(),
                        static_cast<float>(value));
    };
    return {differences, fill(-units.offset), fill(units.exponent)};
  };
  return llvm::to_vector(
      fragments.choose(large, subtractFirst, {weights, shift, unit}));
}

/// A large shift is rounded by more than an exponential forgives, or overflows
/// (masks that add -1e9, or the lowest float): then the difference from the
/// maximum is taken first, in a branch, since nearly no tile needs it.
void ScoreTile::emitExponentials(Value max) {
  Value large = fragments.anyLarger(shift, kLargeShift);
  SmallVector<Value> relative =
      factor ? subtractScaled(max, large) : subtract(max, large);
  weights = fragments.map(weights.getType(), relative, [&](ValueRange args) {
    Value unit = factor ? args[2] : fragments.constant(units.exponent);
    return fragments.exp2(
        fragments.fma(args[0], unit, fragments.negate(args[1])));
  });
}

Value ScoreTile::emitSum(Value init) {
  return tile::RowReduceOp::create(builder, loc, tile::Reduction::sum, weights,
                                   init);
}

Value ScoreTile::emitRescaled(Value value, Value decay) {
  return fragments.scale(value, decay);
}

namespace {
/// The tile of a step, with its values.
class OnlineTile : public ScoreTile {
public:
  OnlineTile(ModToMap &mods, OnlineAttentionOp step, Value scores, Value value,
             Value keysInTile)
      : ScoreTile(mods.getBuilder(), step.getLoc(), ScoreUnits::get(step),
                  scores),
        mods(mods), step(step), value(value), keysInTile(keysInTile) {}

  /// False if the step's prob_mod has no meaning on the GPU.
  bool isComplete() const { return succeeded(probMod); }

private:
  Value emitMaximum(Value before) override;
  void emitExponentials(Value max) override;
  Value emitProduct(Value acc, Value decay) override;
  Value multiply(Value acc);

  ModToMap &mods;
  OnlineAttentionOp step;
  Value value; ///< in shared memory
  Value keysInTile;
  LogicalResult probMod = success();
  Value rises; ///< i1: some decay of the warp is not 1; null if not asked
};
} // namespace

Value OnlineTile::emitMaximum(Value before) {
  Value max = ScoreTile::emitMaximum(before);
  double threshold = getRescaleThreshold(step);
  if (threshold == 0)
    return max;
  rises = buildRises(fragments, before, max, threshold / units.exponent);
  return fragments.map(max.getType(), {max, before}, [&](ValueRange args) {
    return arith::SelectOp::create(builder, loc, rises, args[0], args[1])
        .getResult();
  });
}

void OnlineTile::emitExponentials(Value max) {
  ScoreTile::emitExponentials(max);
  if (auto schedule = step.getScheduleAttr())
    weights.getDefiningOp<tile::MapOp>().setExp2OnFma(
        schedule.getValues().exp2OnFma);
}

/// `acc` plus the weights times the values.
Value OnlineTile::multiply(Value acc) {
  Type element =
      narrowsQuery(step) ? builder.getF16Type() : getWeightType(step);
  auto operandType = tile::FragmentType::getOperandPairs(
      cast<tile::FragmentType>(weights.getType()).getShape(), element);
  // The sum is that of the weights before.
  FailureOr<Value> changed = mods.applyProbMod(step, weights, keysInTile);
  probMod = changed;
  Value kept = mods.applyDropout(step, changed.value_or(weights));
  Value operand = tile::ToOperandOp::create(builder, loc, operandType, kept);
  bool transposed = transposesValue(step);
  value = transposed
              ? tile::TransposeBytesOp::create(builder, loc, value).getResult()
              : widenTile(builder, step, value);
  return tile::MmaOp::create(builder, loc, operand, value, transposed, acc);
}

/// True if the products of a tile are summed apart.
static bool promotes(OnlineAttentionOp step) {
  auto schedule = step.getScheduleAttr();
  return schedule && schedule.getValues().promote;
}

static bool isMmaSync(OnlineAttentionOp step) {
  auto schedule = step.getScheduleAttr();
  return schedule && schedule.getValues().mma == MmaFamily::MmaSync;
}

Value OnlineTile::emitProduct(Value acc, Value decay) {
  Type type = acc.getType();
  if (promotes(step)) {
    Value product = multiply(createFill(builder, loc, type, 0.0f));
    if (!decay)
      return fragments.map(type, {acc, product}, [&](ValueRange args) {
        return fragments.add(args[0], args[1]);
      });
    return fragments.map(type, {acc, decay, product}, [&](ValueRange args) {
      return fragments.fma(args[0], args[1], args[2]);
    });
  }
  auto rescale = [&]() -> SmallVector<Value> {
    return {fragments.scale(acc, decay)};
  };
  // Products of other families have places of their own for their sums.
  if (rises && isMmaSync(step))
    acc = tile::UpdateRowsOp::create(builder, loc, tile::RowUpdate::multiply,
                                     acc, decay, rises);
  else if (rises)
    acc = fragments.choose(rises, rescale, acc).front();
  else if (decay)
    acc = rescale().front();
  return multiply(acc);
}

/// Sums of `depth` products of i8, in f32. The bits of 1.5 * 2^23 plus a number
/// from -2^22 to 2^22, which up to 256 products have, are those of the f32 that
/// is so much larger: an addition of integers and one of floats, which there
/// are more units for than for conversions.
static Value toFloat(OpBuilder &builder, Location loc, Value sums,
                     int64_t depth) {
  constexpr int64_t kMostShifted = 256, kShiftBits = 0x4B400000;
  constexpr double kShift = 12582912;
  ArrayRef<int64_t> shape = cast<tile::FragmentType>(sums.getType()).getShape();
  Fragments fragments(builder, loc);
  return fragments.map(
      getAccumulatorType(builder, shape[0], shape[1]), sums,
      [&](ValueRange args) -> Value {
        Type f32 = builder.getF32Type();
        if (depth > kMostShifted)
          return arith::SIToFPOp::create(builder, loc, f32, args[0]);
        Value shift =
            arith::ConstantIntOp::create(builder, loc, kShiftBits, 32);
        Value bits = arith::AddIOp::create(builder, loc, args[0], shift);
        Value shifted = arith::BitcastOp::create(builder, loc, f32, bits);
        return fragments.sub(shifted, fragments.constant(kShift));
      });
}

/// What scores are multiplied by, where it is one number for a row: descales
/// and the factor of the query's rows, which then cost nothing but a factor of
/// the exponent. Null otherwise.
static FailureOr<Value> buildFactor(ModToMap &mods, OnlineAttentionOp step,
                                    Value ofQuery) {
  if (!hidesByInfinity(step))
    return Value();
  FailureOr<Value> factor = mods.buildRowFactor(step);
  if (failed(factor))
    return failure();
  Fragments fragments(mods.getBuilder(), step.getLoc());
  auto hoisted = [](Value value) {
    hoistInvariant(value.getDefiningOp());
    return value;
  };
  if (*factor && ofQuery)
    factor = hoisted(fragments.scale(*factor, ofQuery));
  else if (ofQuery && !ModToMap::changesScores(step))
    factor = ofQuery;
  double scale = ScoreUnits::get(step).beforeMods;
  if (*factor && scale != 1)
    factor = hoisted(fragments.multiply(*factor, scale));
  return factor;
}

/// `scores` and `factor`; where a factor of the warp, times that of the
/// `exponent`, does not keep the order of finite scores, or makes a NaN of the
/// -inf of a hidden key, the products of both and 1. In a branch, since no
/// descale that anybody uses is so.
static std::pair<Value, Value>
multiplyUnlessPositive(OpBuilder &builder, Location loc, Value scores,
                       Value factor, double exponent) {
  Fragments fragments(builder, loc);
  Type rows = factor.getType();
  Value isOther =
      fragments.any(fragments.map(rows, factor, [&](ValueRange args) {
        Value unit = fragments.mul(args[0], fragments.constant(exponent));
        Value one = fragments.constant(1.0), zero = fragments.constant(0.0);
        Value isFinite = arith::CmpFOp::create(
            builder, loc, arith::CmpFPredicate::OLT, unit,
            fragments.constant(std::numeric_limits<double>::infinity()));
        Value other = fragments.selectGreater(unit, 0.0, zero, one);
        return arith::SelectOp::create(builder, loc, isFinite, other, one)
            .getResult();
      }));
  hoistInvariant(isOther.getDefiningOp());
  auto multiply = [&]() -> SmallVector<Value> {
    return {fragments.scale(scores, factor),
            createFill(builder, loc, rows, 1.0f)};
  };
  ValueRange chosen = fragments.choose(isOther, multiply, {scores, factor});
  return {chosen[0], chosen[1]};
}

FailureOr<RunningState> attn::buildStep(ModToMap &mods, OnlineAttentionOp step,
                                        const QueryTile &query, Value key,
                                        Value value, Value keysInTile,
                                        RunningState state) {
  OpBuilder &builder = mods.getBuilder();
  Location loc = step.getLoc();
  int64_t rows = cast<tile::FragmentType>(state.getAcc().getType()).getRows();
  int64_t keys = cast<tile::SharedType>(key.getType()).getRows();
  Type element = getElementTypeOrSelf(step.getQuery().getType());
  Value zero = createFill(
      builder, loc, getAccumulatorType(builder, rows, keys, element), 0.0f);
  Value product = tile::MmaOp::create(builder, loc, query.rows,
                                      widenTile(builder, step, key),
                                      /*transposeB=*/true, zero);
  if (element.isInteger())
    product = toFloat(builder, loc, product, AttentionDims::get(step).headDim);
  FailureOr<Value> factor = buildFactor(mods, step, query.factor);
  if (failed(factor))
    return failure();
  if (*factor)
    std::tie(product, *factor) = multiplyUnlessPositive(
        builder, loc, product, *factor, ScoreUnits::get(step).exponent);
  else if (query.factor)
    product = Fragments(builder, loc).scale(product, query.factor);
  FailureOr<Value> scores =
      *factor ? mods.applyMasks(step, product, keysInTile)
              : mods.apply(step, product, ScoreUnits::get(step).beforeMods,
                           keysInTile);
  if (failed(scores))
    return failure();
  OnlineTile tile(mods, step, *scores, value, keysInTile);
  tile.factor = *factor;
  RunningState after = tile.emitStep(state);
  if (!tile.isComplete())
    return failure();
  return after;
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
  if (rows.empty()) {
    Value acc = state.getAcc();
    if (scale != 1)
      acc = fragments.multiply(acc, scale);
    if (!descale)
      return acc;
    return fragments.map(acc.getType(), acc, [&](ValueRange args) {
      return fragments.mul(args[0], descale);
    });
  }
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
