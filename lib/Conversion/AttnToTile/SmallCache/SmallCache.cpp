//===- SmallCache.cpp - The kernels of the small-cache schedule -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Phase 1, a CTA for each row tile and key tile: S = Q K^T over slices of D,
// their weights (TwoPhaseStep.h), spill. Phase 2, a CTA for each row tile and
// slice of Dv: O = P V over slices of the keys, normalisation, LSE.
//
//===----------------------------------------------------------------------===//

#include "SmallCache/SmallCache.h"

#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"
#include "Launch/PrologueKernels.h"
#include "SmallCache/TwoPhaseStep.h"

#include <numeric>

using namespace mlir;
using namespace attn;

namespace {

/// What both phases share: the parameters and the row tile of a CTA.
class PhaseBuilder : protected KernelScope {
public:
  PhaseBuilder(OpBuilder &builder, TiledAttention &attention,
               const LaunchProgram &program)
      : KernelScope(builder, attention), program(program),
        loc(attention.forall.getLoc()), schedule(attention.schedule) {}

protected:
  /// The kernel up to the values that the key loops start from.
  LogicalResult begin(StringRef name);
  void mapRowTile(Value firstTile);

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  /// `n` in whole key tiles, rounded up.
  Value countKeyTiles(Value n);
  RowReductionInterface getReduction() {
    return attention.first.getNormalization();
  }
  /// Where each row value of the rows is, over the keys of a tile.
  SmallVector<SmallVector<Value>> getStatisticsIndices(Value keyTile);
  Value getKeys();
  /// Batch, head and first row of the CTA's row tile.
  SmallVector<Value> getRowIndices() {
    return llvm::map_to_vector(attention.forall.getInductionVars(),
                               [&](Value iv) { return values.lookup(iv); });
  }

  const LaunchProgram &program;
  Location loc;
  ScheduleAttr schedule;
  SmallVector<scf::ForOp> keyLoops; ///< of the tiled form, in order
  /// Workspaces; the second is null without row values.
  Value probabilities, statistics;
};

class SmallCacheScoreBuilder : PhaseBuilder {
public:
  using PhaseBuilder::PhaseBuilder;
  LogicalResult build(StringRef name);

private:
  /// What a loop says about the CTA's key tile.
  struct Visit {
    scf::ForOp loop;
    Value hasTile; ///< i1: the loop visits the tile
  };

  Value buildVisits();
  FailureOr<Value> buildProduct(Value isVisible);
  FailureOr<Value> buildScores(Value scores);

  Value firstKey;
  SmallVector<Visit> visits;
};

class OutputKernelBuilder : PhaseBuilder {
public:
  using PhaseBuilder::PhaseBuilder;
  LogicalResult build(StringRef name);

private:
  FailureOr<OutputState> buildKeyLoop();
  LogicalResult buildLoopBody(scf::ForOp loop);
  OutputState buildTileStart(Value key, const OutputState &state);
  LogicalResult buildStores(const OutputState &state);

  Value firstColumn; ///< of the CTA's slice of V and O; null if there is one
};

/// The state of the rows, and the weight behind it if there is one.
SmallVector<Value> toValues(const OutputState &state) {
  SmallVector<Value> values(state.row.getValues());
  if (state.weight)
    values.push_back(state.weight);
  return values;
}

OutputState toState(RowReductionInterface reduction, ValueRange values) {
  size_t count = reduction.getRowValues().size() + 1;
  return {RunningState(reduction, values.take_front(count)),
          values.size() > count ? values.back() : Value()};
}

} // namespace

//===----------------------------------------------------------------------===//
// Both phases
//===----------------------------------------------------------------------===//

LogicalResult PhaseBuilder::begin(StringRef name) {
  FailureOr<tile::KernelOp> kernel = beginKernel(name);
  if (failed(kernel))
    return failure();
  Block &body = kernel->getBody().front();
  probabilities = body.addArgument(program.getOwnViews()[0], loc);
  if (!getReduction().getRowValues().empty())
    statistics = body.addArgument(program.getOwnViews()[1], loc);
  Value firstTile = body.addArgument(builder.getI32Type(), loc);
  mapRowTile(arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        firstTile));
  for (Operation &op : *attention.forall.getBody()) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      keyLoops.push_back(loop);
    else if (isScalarOp(&op) && failed(copyScalar(&op)))
      return failure();
  }
  return success();
}

/// Row tiles are numbered over batch, head and row, rows fastest.
void PhaseBuilder::mapRowTile(Value firstTile) {
  Value query = values.lookup(attention.first.getQuery()
                                  .getDefiningOp<tensor::ExtractSliceOp>()
                                  .getSource());
  Value heads = tile::DimOp::create(builder, loc, query, 1);
  Value rows = tile::DimOp::create(builder, loc, query, 2);
  Value tileM = constant(schedule.getValues().tileM);
  Value padded = arith::AddIOp::create(
      builder, loc, rows, constant(schedule.getValues().tileM - 1));
  Value tilesPerHead = arith::DivUIOp::create(builder, loc, padded, tileM);
  Value tile =
      arith::AddIOp::create(builder, loc, firstTile, getReversedBlockId());
  Value row = arith::RemUIOp::create(builder, loc, tile, tilesPerHead);
  row = arith::MulIOp::create(builder, loc, row, tileM);
  Value head = arith::DivUIOp::create(builder, loc, tile, tilesPerHead);
  Value batch = arith::DivUIOp::create(builder, loc, head, heads);
  head = arith::RemUIOp::create(builder, loc, head, heads);
  values.map(attention.forall.getInductionVars(),
             SmallVector<Value>{batch, head, row});
}

Value PhaseBuilder::countKeyTiles(Value n) {
  Value padded = arith::AddIOp::create(
      builder, loc, n, constant(schedule.getValues().tileN - 1));
  return arith::DivUIOp::create(builder, loc, padded,
                                constant(schedule.getValues().tileN));
}

SmallVector<SmallVector<Value>>
PhaseBuilder::getStatisticsIndices(Value keyTile) {
  SmallVector<Value> at = getRowIndices();
  auto count = static_cast<int64_t>(getReduction().getRowValues().size());
  Value first = arith::MulIOp::create(builder, loc, keyTile, constant(count));
  SmallVector<SmallVector<Value>> places;
  for (int64_t i = 0; i < count; ++i) {
    Value row = first;
    if (i > 0)
      row = arith::AddIOp::create(builder, loc, first, constant(i));
    places.push_back({at[0], at[1], row, at[2]});
  }
  return places;
}

Value PhaseBuilder::getKeys() {
  Value key = values.lookup(attention.first.getKey()
                                .getDefiningOp<tensor::ExtractSliceOp>()
                                .getSource());
  return tile::DimOp::create(builder, loc, key, 2);
}

//===----------------------------------------------------------------------===//
// Phase 1
//===----------------------------------------------------------------------===//

/// Finds which loop visits the key tile of this CTA; returns whether any does.
Value SmallCacheScoreBuilder::buildVisits() {
  Value visible;
  for (scf::ForOp loop : keyLoops) {
    values.map(loop.getInductionVar(), firstKey);
    Value starts = compare(arith::CmpIPredicate::sge, firstKey,
                           values.lookup(loop.getLowerBound()));
    Value ends = compare(arith::CmpIPredicate::slt, firstKey,
                         values.lookup(loop.getUpperBound()));
    Value has = arith::AndIOp::create(builder, loc, starts, ends);
    visits.push_back({loop, has});
    visible = visible
                  ? arith::OrIOp::create(builder, loc, visible, has).getResult()
                  : has;
  }
  return visible;
}

/// Q K^T of the tile; nothing is read if it is not visible.
FailureOr<Value> SmallCacheScoreBuilder::buildProduct(Value isVisible) {
  int64_t tileD = schedule.getValues().tileD;
  Value end = constant(attention.getPaddedHeadDim());
  end = arith::SelectOp::create(builder, loc, isVisible, end, constant(0));
  Value zero =
      createFill(builder, loc,
                 getAccumulatorType(builder, schedule.getValues().tileM,
                                    schedule.getValues().tileN),
                 0.0f);
  Value begin = constant(0);
  auto loop =
      scf::ForOp::create(builder, loc, begin, end, constant(tileD), zero);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  OnlineAttentionOp step = attention.first;
  Value column = loop.getInductionVar();
  FailureOr<Value> query =
      loadSlice(step.getQuery(), schedule.getValues().tileM, tileD, column);
  FailureOr<Value> key =
      loadSlice(step.getKey(), schedule.getValues().tileN, tileD, column);
  if (failed(query) || failed(key))
    return failure();
  Value sum = tile::MmaOp::create(builder, loc, *query, *key,
                                  /*transposeB=*/true,
                                  loop.getRegionIterArgs().front());
  scf::YieldOp::create(builder, loc, sum);
  return loop.getResult(0);
}

/// The scores as the loop that visits the tile makes them of the product. At
/// most one does, so the others may follow it: two sets of scores do not fit in
/// the registers.
FailureOr<Value> SmallCacheScoreBuilder::buildScores(Value scores) {
  for (Visit visit : visits) {
    OnlineAttentionOp step =
        *visit.loop.getBody()->getOps<OnlineAttentionOp>().begin();
    ScoreUnits units = ScoreUnits::get(step);
    auto choice = scf::IfOp::create(builder, loc, TypeRange{scores.getType()},
                                    visit.hasTile, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, scores);
    builder.setInsertionPointToStart(choice.thenBlock());
    FailureOr<Value> keysInTile = getKeysInTile(step);
    if (failed(keysInTile))
      return failure();
    FailureOr<Value> changed =
        mods.apply(step, scores, units.beforeMods, *keysInTile);
    if (failed(changed))
      return failure();
    if (*changed == scores) {
      choice.erase();
      continue;
    }
    scf::YieldOp::create(builder, loc, *changed);
    scores = choice.getResult(0);
  }
  return scores;
}

LogicalResult SmallCacheScoreBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin(name)))
    return failure();
  Value keyTile = getBlockId(gpu::Dimension::y);
  firstKey = arith::MulIOp::create(builder, loc, keyTile,
                                   constant(schedule.getValues().tileN));
  Value isVisible = buildVisits();
  FailureOr<Value> product = buildProduct(isVisible);
  if (failed(product))
    return failure();
  auto guarded = scf::IfOp::create(builder, loc, isVisible);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    FailureOr<Value> scores = buildScores(*product);
    if (failed(scores))
      return failure();
    TileWeights tile = buildTileWeights(builder, attention.first, *scores);
    for (auto [rows, place] :
         llvm::zip_equal(tile.rows, getStatisticsIndices(keyTile)))
      tile::StoreOp::create(builder, loc, rows, statistics, place);
    SmallVector<Value> at = getRowIndices();
    at.push_back(firstKey);
    Value kept = mods.applyDropout(attention.first, tile.weights, at);
    tile::StoreOp::create(builder, loc, kept, probabilities, at);
  }
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// Phase 2
//===----------------------------------------------------------------------===//

/// At the first slice of a key tile: what its statistics make of the state.
OutputState OutputKernelBuilder::buildTileStart(Value key,
                                                const OutputState &state) {
  if (!statistics)
    return state;
  Value tileN = constant(schedule.getValues().tileN);
  Value offset = arith::RemUIOp::create(builder, loc, key, tileN);
  Value starts = compare(arith::CmpIPredicate::eq, offset, constant(0));
  SmallVector<Value> before = toValues(state);
  auto choice = scf::IfOp::create(builder, loc, ValueRange(before).getTypes(),
                                  starts, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, before);
  builder.setInsertionPointToStart(choice.thenBlock());
  Value keyTile = arith::DivUIOp::create(builder, loc, key, tileN);
  SmallVector<Value> rows;
  for (ValueRange place : getStatisticsIndices(keyTile))
    rows.push_back(tile::LoadRowOp::create(
        builder, loc, getRowType(builder, schedule.getValues().tileM),
        statistics, place, /*first_lane=*/true));
  OutputState after = buildRescale(builder, attention.first, rows, state.row);
  scf::YieldOp::create(builder, loc, toValues(after));
  return toState(getReduction(), choice.getResults());
}

/// One slice of keys: acc += weight * P V.
LogicalResult OutputKernelBuilder::buildLoopBody(scf::ForOp loop) {
  builder.setInsertionPointToStart(loop.getBody());
  int64_t rows = schedule.getValues().tileM;
  int64_t slice = getConstantIntValue(loop.getStep()).value_or(0);
  Value key = loop.getInductionVar();
  SmallVector<Value> at = getRowIndices();
  at.push_back(key);
  Value p = loadTile(probabilities, at, rows, slice);
  OnlineAttentionOp step = attention.first;
  values.map(step->getParentOfType<scf::ForOp>().getInductionVar(), key);
  FailureOr<Value> value =
      loadSlice(step.getValue(), slice, attention.getTileDv(), firstColumn);
  if (failed(value))
    return failure();
  OutputState state =
      buildTileStart(key, toState(getReduction(), loop.getRegionIterArgs()));
  auto operandType = tile::FragmentType::getOperandA(
      {rows, slice}, cast<tile::SharedType>(p.getType()).getElementType());
  Value operand = tile::LoadOperandOp::create(builder, loc, operandType, p);
  if (state.weight)
    operand = tile::ScaleRowsOp::create(builder, loc, operand, state.weight);
  state.row.setAcc(tile::MmaOp::create(builder, loc, operand, *value,
                                       /*transposeB=*/false,
                                       state.row.getAcc()));
  scf::YieldOp::create(builder, loc, toValues(state));
  return success();
}

/// The loop over all keys that some row of the tile sees, in whole key tiles.
FailureOr<OutputState> OutputKernelBuilder::buildKeyLoop() {
  int64_t slice =
      std::gcd(schedule.getValues().tileN, schedule.getValues().tileD);
  OutputState init = buildInitialOutputState(builder, attention.first,
                                             schedule.getValues().tileM,
                                             attention.getTileDv());
  Value begin = values.lookup(keyLoops.front().getLowerBound());
  Value end = values.lookup(keyLoops.back().getUpperBound());
  end = countKeyTiles(end);
  end = arith::MulIOp::create(builder, loc, end,
                              constant(schedule.getValues().tileN));
  end = arith::MinSIOp::create(builder, loc, end, getKeys());
  auto loop = scf::ForOp::create(builder, loc, begin, end, constant(slice),
                                 toValues(init));
  OpBuilder::InsertionGuard guard(builder);
  if (failed(buildLoopBody(loop)))
    return failure();
  return toState(getReduction(), loop.getResults());
}

LogicalResult OutputKernelBuilder::buildStores(const OutputState &state) {
  auto [output, lse] =
      buildNormalize(builder, attention.normalize,
                     ScoreUnits::get(attention.first), state.row, loadSink());
  SmallVector<Value> at = getRowIndices();
  if (Value tensor = attention.getOutput("lse")) {
    OpBuilder::InsertionGuard guard(builder);
    if (firstColumn) {
      // The CTAs of all slices have the same LSE.
      auto guarded = scf::IfOp::create(
          builder, loc,
          compare(arith::CmpIPredicate::eq, firstColumn, constant(0)));
      builder.setInsertionPointToStart(guarded.thenBlock());
    }
    tile::StoreOp::create(builder, loc, lse, values.lookup(tensor), at);
  }
  if (firstColumn)
    at.push_back(firstColumn);
  FailureOr<Value> stored =
      applyOutputMods(attention.outputMods, output, at, getStoredOutput());
  if (failed(stored))
    return failure();
  for (OutputModOp mod : attention.outputMods)
    if (mod.getAmax())
      tile::StoreOp::create(
          builder, loc, values.lookup(mod.getAmax()),
          values.lookup(attention.getOutput(attention.getAmaxName(mod))), at);
  tile::StoreOp::create(builder, loc, *stored,
                        values.lookup(attention.getOutput("output")), at);
  return success();
}

LogicalResult OutputKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin(name)))
    return failure();
  if (attention.getDvSlices() > 1) {
    firstColumn = getBlockId(gpu::Dimension::y);
    firstColumn = arith::MulIOp::create(builder, loc, firstColumn,
                                        constant(attention.getTileDv()));
  }
  FailureOr<OutputState> state = buildKeyLoop();
  if (failed(state) || failed(buildStores(*state)))
    return failure();
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildSmallCacheKernels(OpBuilder &builder,
                                           TiledAttention &attention,
                                           StringRef name) {
  LaunchProgram program = getSmallCacheProgram(builder, attention, name);
  if (failed(buildPrologueKernels(builder, attention, name)))
    return failure();
  ArrayRef<LaunchProgram::Kernel> own = program.getKernels().take_back(2);
  if (failed(SmallCacheScoreBuilder(builder, attention, program)
                 .build(own[0].entry)))
    return failure();
  return OutputKernelBuilder(builder, attention, program).build(own[1].entry);
}
