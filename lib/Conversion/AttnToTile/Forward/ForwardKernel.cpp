//===- ForwardKernel.cpp - The kernel of a tiled attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the nest of a tiled attention (docs/Forms.md). The scf.forall becomes
// the grid, key loops stay loops, slices become tile loads.
//
//===----------------------------------------------------------------------===//

#include "Forward/ForwardKernel.h"

#include "Forward/OnlineStep.h"
#include "Forward/QueryRows.h"
#include "Kernel/KernelScope.h"
#include "Kernel/Prologue.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Schedule/Family.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

namespace {

/// Builds the kernel of one tiled attention.
class KernelBuilder : KernelScope {
public:
  KernelBuilder(OpBuilder &builder, TiledAttention &attention)
      : KernelScope(builder, attention) {}

  LogicalResult build(StringRef name);

private:
  void addWorkspaces(tile::KernelOp kernel);
  FailureOr<Value> takeSplit(Value number);
  void mapTile(Value tile, Value head, Value batch);
  void exitUnlessNeeded();
  void takeSequences();
  void exitBehind(Value rows);
  template <typename OpTy>
  Value create(Value a, Value b) {
    return OpTy::create(builder, attention.forall.getLoc(), a, b);
  }
  LogicalResult mapOrderedGrid(TileOrder order);
  LogicalResult mapGrid();
  LogicalResult mapPersistentGrid();
  LogicalResult mapPlannedGrid();
  LogicalResult checkGrid();
  LogicalResult convertBlock(Block &block);
  LogicalResult convertLoop(scf::ForOp loop);
  LogicalResult convertStep(OnlineAttentionOp step);
  FailureOr<Value> loadKeys(Value slice, int64_t cols, Value column,
                            Value keysInTile);
  LogicalResult convertNormalize(NormalizeOp op);
  LogicalResult convertOutputMod(OutputModOp op);
  FailureOr<SmallVector<Value>> getPlace();
  void storeTile(Value tile, Value tensor, SmallVector<Value> place);
  LogicalResult convertStores(scf::InParallelOp op);
  FailureOr<Value> getQuery();
  SmallVector<Value> getFragments(ValueRange state);
  void setState(ValueRange results, ValueRange fragments);

  Value query;
  Value firstColumn; ///< of this CTA's slice of V and O; null without dv-split
  Value split;       ///< of the keys; null if there is one
};

} // namespace

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// Maps the tile that is number `tile` among the row tiles, and for each the
/// slices of V and O, of a head, or with pack_gqa of a group of heads.
void KernelBuilder::mapTile(Value tile, Value head, Value batch) {
  Location loc = attention.forall.getLoc();
  if (attention.getDvSlices() > 1) {
    Value slices = constant(attention.getDvSlices());
    Value slice = arith::RemUIOp::create(builder, loc, tile, slices);
    tile = arith::DivUIOp::create(builder, loc, tile, slices);
    firstColumn = arith::MulIOp::create(builder, loc, slice,
                                        constant(attention.getTileDv()));
  }
  Value row = arith::MulIOp::create(builder, loc, tile,
                                    constant(attention.getTilePositions()));
  if (int64_t heads = attention.getTileHeads(); heads > 1)
    head = arith::MulIOp::create(builder, loc, head, constant(heads));
  SmallVector<Value> position = {batch, head, row};
  if (split)
    position.push_back(split);
  values.map(attention.forall.getInductionVars(), position);
}

/// Splits of one batch have neighbouring numbers: takes the split of `number`,
/// and leaves the batch.
FailureOr<Value> KernelBuilder::takeSplit(Value number) {
  if (!attention.combine)
    return number;
  FailureOr<Value> splits = getExtent(kLoopSplit);
  if (failed(splits))
    return failure();
  split = create<arith::RemUIOp>(number, *splits);
  return create<arith::DivUIOp>(number, *splits);
}

/// A CTA for each tile, in the order that a prologue has found. Grid: x = tiles
/// of a batch or of all; y = query heads, or groups of them; z = splits of the
/// keys, and what is left of the batches.
LogicalResult KernelBuilder::mapOrderedGrid(TileOrder order) {
  Location loc = attention.prologue[order.prologue].op->getLoc();
  auto divide = [&](Value a, Value b) {
    return std::pair<Value, Value>(arith::DivUIOp::create(builder, loc, a, b),
                                   arith::RemUIOp::create(builder, loc, a, b));
  };
  Value slices = constant(attention.getDvSlices());
  auto [place, slice] = divide(getBlockId(gpu::Dimension::x), slices);
  Value number = tile::ExtractOp::create(
      builder, loc, builder.getI32Type(), prologueViews[order.prologue].back(),
      Value(arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                       place)));
  Value tile =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  FailureOr<Value> rest = takeSplit(getBlockId(gpu::Dimension::z));
  if (failed(rest))
    return failure();
  Value batch = *rest;
  if (order.isOfBatches) {
    FailureOr<Value> rows = getExtent(kLoopM);
    if (failed(rows))
      return failure();
    Value tiles = arith::CeilDivUIOp::create(
        builder, loc, *rows, constant(attention.getTilePositions()));
    std::tie(batch, tile) = divide(tile, tiles);
  }
  tile = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, tile, slices), slice);
  mapTile(tile, getBlockId(gpu::Dimension::y), batch);
  return success();
}

/// A CTA for each tile. Grid: x = tiles of a head, the last, which under causal
/// masks are the longest, first; y = query heads, or groups of them; z = batch
/// and split of the keys.
LogicalResult KernelBuilder::mapGrid() {
  std::optional<TileOrder> order = getTileOrder(attention);
  if (order && !attention.onlyBelow)
    return mapOrderedGrid(*order);
  FailureOr<Value> batch = takeSplit(getBlockId(gpu::Dimension::z));
  if (failed(batch))
    return failure();
  mapTile(getReversedBlockId(), getBlockId(gpu::Dimension::y), *batch);
  return success();
}

/// Ends CTAs whose tile has no row with an LSE below the bound: each warp looks
/// at all of the tile's.
void KernelBuilder::exitUnlessNeeded() {
  Location loc = attention.forall.getLoc();
  SmallVector<Value> ivs =
      llvm::map_to_vector(attention.forall.getInductionVars(),
                          [&](Value iv) { return values.lookup(iv); });
  Value lse = values.lookup(attention.lse);
  Value rows = tile::DimOp::create(builder, loc, lse, kSequence);
  Value last = create<arith::SubIOp>(rows, constant(1));
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value lane = create<arith::RemUIOp>(thread, constant(kLanes));
  Value positions = constant(attention.getTilePositions());
  Value bound = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(*attention.onlyBelow));
  int64_t tileM = attention.schedule.getTileM();
  Value needed;
  for (int64_t first = 0; first < tileM; first += kLanes) {
    Value inTile = create<arith::AddIOp>(lane, constant(first));
    inTile = create<arith::MinSIOp>(inTile, constant(tileM - 1));
    Value head = create<arith::AddIOp>(
        ivs[kLoopH], create<arith::DivUIOp>(inTile, positions));
    // The last row in place of one past the end.
    Value row = create<arith::AddIOp>(
        ivs[kLoopM], create<arith::RemUIOp>(inTile, positions));
    row = create<arith::MinSIOp>(row, last);
    SmallVector<Value> at;
    for (Value index : {ivs[kLoopB], head, row})
      at.push_back(arith::IndexCastOp::create(builder, loc,
                                              builder.getI64Type(), index));
    Value own =
        tile::ExtractOp::create(builder, loc, builder.getF32Type(), lse, at);
    Value isBelow = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OLT, own, bound);
    needed = needed ? create<arith::OrIOp>(needed, isBelow) : isBelow;
  }
  Value any = gpu::SubgroupReduceOp::create(
      builder, loc,
      arith::ExtUIOp::create(builder, loc, builder.getI32Type(), needed),
      gpu::AllReduceOperation::OR, /*uniform=*/true);
  Value none =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, any,
                            arith::ConstantIntOp::create(builder, loc, 0, 32));
  tile::ExitOp::create(builder, loc, none);
}

/// Ends CTAs whose tile begins behind the `rows` of its sequence.
void KernelBuilder::exitBehind(Value rows) {
  Value row = values.lookup(attention.forall.getInductionVar(kLoopM));
  tile::ExitOp::create(builder, attention.forall.getLoc(),
                       arith::CmpIOp::create(builder, attention.forall.getLoc(),
                                             arith::CmpIPredicate::sge, row,
                                             rows));
}

/// Makes the sequence of the CTA's batch of each operand that has several, and
/// ends CTAs that have no row of the query. Offsets that do not ascend, or lead
/// out of the tensor, give fewer rows.
void KernelBuilder::takeSequences() {
  Location loc = attention.forall.getLoc();
  Value batch = values.lookup(attention.forall.getInductionVar(kLoopB));
  auto readOffset = [&](Value offsets, Value at) -> Value {
    auto type = cast<tile::GlobalType>(offsets.getType()).getElementType();
    at = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
    Value entry =
        tile::ExtractOp::create(builder, loc, type, offsets, ValueRange{at});
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      entry);
  };
  for (const KernelOperand &operand : attention.operands) {
    if (!operand.offsets)
      continue;
    Value packed = values.lookup(operand.tensor);
    Value offsets = values.lookup(operand.offsets);
    auto type = cast<tile::GlobalType>(packed.getType());
    Value all = tile::DimOp::create(builder, loc, packed,
                                    tile::SequenceOp::getRowDim(type));
    Value first =
        create<arith::MaxSIOp>(readOffset(offsets, batch), constant(0));
    Value end = readOffset(offsets, create<arith::AddIOp>(batch, constant(1)));
    Value rows = create<arith::SubIOp>(create<arith::MinSIOp>(end, all), first);
    int64_t room =
        cast<ShapedType>(operand.batches.getType()).getDimSize(kSequence);
    if (!ShapedType::isDynamic(room))
      rows = create<arith::MinSIOp>(rows, constant(room));
    values.map(operand.batches,
               tile::SequenceOp::create(builder, loc,
                                        tile::SequenceOp::getViewType(type),
                                        packed, first, rows)
                   .getResult());
    if (operand.name == "query")
      exitBehind(rows);
  }
}

/// A persistent grid: the builder is set into a loop over the tiles of a CTA,
/// which are the grid's size apart. Neighbours in the grid have neighbouring
/// tiles of a head, and share its keys and values in L2.
LogicalResult KernelBuilder::mapPersistentGrid() {
  Location loc = attention.forall.getLoc();
  SmallVector<Value> counts; // batch, heads, rows
  for (unsigned loop : {kLoopB, kLoopH, kLoopM}) {
    FailureOr<Value> extent = getExtent(loop);
    if (failed(extent))
      return failure();
    counts.push_back(*extent);
  }
  // The CTAs of a cluster have tiles of one head.
  int64_t clusterCtas = attention.getClusterCtas();
  Value rowTiles = arith::CeilDivUIOp::create(
      builder, loc, counts[2],
      constant(clusterCtas * attention.getTilePositions()));
  if (clusterCtas > 1)
    rowTiles =
        arith::MulIOp::create(builder, loc, rowTiles, constant(clusterCtas));
  if (int64_t heads = attention.getTileHeads(); heads > 1)
    counts[1] =
        arith::DivUIOp::create(builder, loc, counts[1], constant(heads));
  auto times = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(builder, loc, a, b);
  };
  Value total = times(times(rowTiles, counts[1]), counts[0]);
  Value ctas = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  auto loop = scf::ForOp::create(builder, loc, getBlockId(gpu::Dimension::x),
                                 total, ctas);
  builder.setInsertionPointToStart(loop.getBody());
  Value head =
      arith::DivUIOp::create(builder, loc, loop.getInductionVar(), rowTiles);
  mapTile(
      arith::RemUIOp::create(builder, loc, loop.getInductionVar(), rowTiles),
      arith::RemUIOp::create(builder, loc, head, counts[1]),
      arith::DivUIOp::create(builder, loc, head, counts[1]));
  return success();
}

/// A grid that walks a worklist: the builder is set into a loop over the splits
/// that it has, and for each over the row tiles and heads of the batch. What
/// CTAs take at a time has the same length, but for the last splits of
/// sequences, which are behind the others in the list, the longest first.
LogicalResult KernelBuilder::mapPlannedGrid() {
  Location loc = attention.forall.getLoc();
  auto read = [&](Value at) -> Value {
    at = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
    Value number = tile::ExtractOp::create(builder, loc, builder.getI32Type(),
                                           worklist, at);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      number);
  };
  FailureOr<Value> rows = getExtent(kLoopM), heads = getExtent(kLoopH);
  if (failed(rows) || failed(heads))
    return failure();
  Value rowTiles = arith::CeilDivUIOp::create(
      builder, loc, *rows, constant(attention.getTilePositions()));
  rowTiles = create<arith::MulIOp>(rowTiles, constant(attention.getDvSlices()));
  Value groups =
      create<arith::DivUIOp>(*heads, constant(attention.getTileHeads()));
  Value tiles = create<arith::MulIOp>(rowTiles, groups);
  Value total = create<arith::MulIOp>(read(constant(0)), tiles);
  Value ctas = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  auto loop = scf::ForOp::create(builder, loc, getBlockId(gpu::Dimension::x),
                                 total, ctas);
  builder.setInsertionPointToStart(loop.getBody());
  Value item = create<arith::DivUIOp>(loop.getInductionVar(), tiles);
  Value tile = create<arith::RemUIOp>(loop.getInductionVar(), tiles);
  FailureOr<Value> batch =
      takeSplit(read(create<arith::AddIOp>(item, constant(1))));
  if (failed(batch))
    return failure();
  mapTile(create<arith::RemUIOp>(tile, rowTiles),
          create<arith::DivUIOp>(tile, rowTiles), *batch);
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles and steps
//===----------------------------------------------------------------------===//

/// The query as an operand: in registers if the schedule says so, else in
/// shared memory, from which every mma reads it again.
FailureOr<Value> KernelBuilder::getQuery() {
  if (query)
    return query;
  OnlineAttentionOp op = attention.first;
  ScheduleAttr schedule = attention.schedule;
  int64_t rows = schedule.getTileM(), cols = attention.getPaddedHeadDim();
  FailureOr<Value> tile = loadSlice(op.getQuery(), rows, cols);
  if (failed(tile))
    return failure();
  query = *tile;
  if (Operation *last = getFusedRows(op))
    changeQueryRows(builder, query.getDefiningOp<tile::LoadOp>(),
                    RowChain::get(last), values);
  auto operandType =
      tile::FragmentType::get(builder.getContext(), {rows, cols},
                              getElementTypeOrSelf(op.getQuery().getType()),
                              tile::FragmentLayout::OperandA);
  if (getSchedule(schedule).queryInRegisters)
    query =
        tile::LoadOperandOp::create(builder, op.getLoc(), operandType, query);
  return query;
}

SmallVector<Value> KernelBuilder::getFragments(ValueRange state) {
  return llvm::map_to_vector(state,
                             [&](Value part) { return values.lookup(part); });
}

void KernelBuilder::setState(ValueRange results, ValueRange fragments) {
  for (auto [result, fragment] : llvm::zip_equal(results, fragments))
    values.map(result, fragment);
}

/// Loads a tile of keys or values. Where those of a batch may end before the
/// tensor does, or a row is where a table says, no other row is read.
FailureOr<Value> KernelBuilder::loadKeys(Value slice, int64_t cols,
                                         Value column, Value keysInTile) {
  int64_t tileN = attention.schedule.getTileN();
  FailureOr<Value> tile = loadSlice(slice, tileN, cols, column);
  if (failed(tile) || !readsByRow(attention.first))
    return tile;
  auto load = tile->getDefiningOp<tile::LoadOp>();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(load);
  load.getRowsMutable().assign(keysInTile ? keysInTile : constant(tileN));
  return tile;
}

LogicalResult KernelBuilder::convertStep(OnlineAttentionOp step) {
  FailureOr<Value> keysInTile = getKeysInTile(step);
  if (failed(keysInTile))
    return failure();
  FailureOr<Value> key = loadKeys(step.getKey(), attention.getPaddedHeadDim(),
                                  Value(), *keysInTile);
  FailureOr<Value> value = loadKeys(step.getValue(), attention.getTileDv(),
                                    firstColumn, *keysInTile);
  FailureOr<Value> query = getQuery();
  if (failed(key) || failed(value) || failed(query))
    return failure();
  RunningState before(step.getNormalization(),
                      getFragments(step.getState().getValues()));
  FailureOr<RunningState> next =
      buildStep(mods, step, *query, *key, *value, *keysInTile, before);
  if (failed(next))
    return failure();
  setState(step->getResults(), next->getValues());
  return success();
}

LogicalResult KernelBuilder::convertLoop(scf::ForOp loop) {
  Location loc = loop.getLoc();
  // The first loop starts from the initial state.
  SmallVector<Value> init;
  if (values.contains(loop.getInitArgs()[0])) {
    init = getFragments(loop.getInitArgs());
  } else {
    RowReductionInterface reduction = attention.normalize.getNormalization();
    RunningState state = buildInitialState(
        builder, loc, reduction, attention.schedule.getTileM(),
        attention.getTileDv(), getOutputLayout(attention.first));
    llvm::append_range(init, state.getValues());
    if (failed(getQuery()))
      return failure();
  }
  auto copy = scf::ForOp::create(
      builder, loc, values.lookup(loop.getLowerBound()),
      values.lookup(loop.getUpperBound()), values.lookup(loop.getStep()), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  values.map(loop.getInductionVar(), copy.getInductionVar());
  setState(loop.getRegionIterArgs(), copy.getRegionIterArgs());
  if (failed(convertBlock(*loop.getBody())))
    return failure();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (Value state : yield.getOperands())
    if (!values.contains(state))
      return yield.emitOpError()
             << "expected state of a step in its loop, got a value from "
                "outside";
  scf::YieldOp::create(builder, loc, getFragments(yield.getOperands()));
  setState(loop.getResults(), copy.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::convertNormalize(NormalizeOp op) {
  FailureOr<Value> descale = loadDescale();
  if (failed(descale))
    return failure();
  RunningState state(op.getNormalization(),
                     getFragments(op.getState().getValues()));
  auto [output, lse] =
      buildNormalize(builder, op, ScoreUnits::get(attention.first), state,
                     loadSink(), *descale);
  values.map(op.getOutput(), output);
  if (op.getLse())
    values.map(op.getLse(), lse);
  return success();
}

LogicalResult KernelBuilder::convertOutputMod(OutputModOp op) {
  SmallVector<Value> place =
      llvm::map_to_vector(attention.forall.getInductionVars(),
                          [&](Value iv) { return values.lookup(iv); });
  if (firstColumn)
    place.push_back(firstColumn);
  FailureOr<Value> output =
      applyOutputMod(op, values.lookup(op.getSource()), place);
  if (failed(output))
    return failure();
  values.map(op.getResult(), *output);
  return success();
}

/// Where the CTA's rows are in an output, or in a workspace of states, whose
/// first dimension has the batches of each split.
FailureOr<SmallVector<Value>> KernelBuilder::getPlace() {
  SmallVector<Value> place =
      llvm::map_to_vector(attention.forall.getInductionVars(),
                          [&](Value iv) { return values.lookup(iv); });
  if (!split)
    return place;
  FailureOr<Value> batches = getExtent(kLoopB);
  if (failed(batches))
    return failure();
  place.pop_back();
  place[kLoopB] = create<arith::AddIOp>(create<arith::MulIOp>(split, *batches),
                                        place[kLoopB]);
  return place;
}

void KernelBuilder::storeTile(Value tile, Value tensor,
                              SmallVector<Value> place) {
  Location loc = attention.forall.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  if (firstColumn && cast<tile::FragmentType>(tile.getType()).isRow()) {
    // The CTAs of all slices have the same LSE.
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, firstColumn, constant(0));
    auto guarded = scf::IfOp::create(builder, loc, isFirst);
    builder.setInsertionPointToStart(guarded.thenBlock());
  } else if (firstColumn) {
    place.push_back(firstColumn);
  }
  tile::StoreOp::create(builder, loc, tile, tensor, place,
                        attention.getTileHeads());
}

LogicalResult KernelBuilder::convertStores(scf::InParallelOp op) {
  FailureOr<SmallVector<Value>> place = getPlace();
  if (failed(place))
    return failure();
  SmallVector<Value> tiles, tensors;
  for (Operation &yielding : op.getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(yielding);
    tiles.push_back(values.lookup(insert.getSource()));
    tensors.push_back(values.lookup(insert.getDest()));
  }
  if (split) {
    OnlineAttentionOp step = attention.first;
    RunningState whole = buildWholeState(
        builder, attention.forall.getLoc(), ScoreUnits::get(step),
        RunningState(step.getNormalization(), tiles));
    tiles.assign(whole.getValues().begin(), whole.getValues().end());
  }
  for (auto [tile, tensor] : llvm::zip_equal(tiles, tensors))
    storeTile(tile, tensor, *place);
  return success();
}

LogicalResult KernelBuilder::convertBlock(Block &block) {
  for (Operation &op : block) {
    LogicalResult result =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](scf::ForOp loop) { return convertLoop(loop); })
            .Case([&](OnlineAttentionOp step) { return convertStep(step); })
            .Case([&](NormalizeOp end) { return convertNormalize(end); })
            .Case([&](OutputModOp mod) { return convertOutputMod(mod); })
            .Case(
                [&](scf::InParallelOp stores) { return convertStores(stores); })
            // Slices are loaded where they are used; the initial state is
            // built with the first loop.
            .Case<tensor::ExtractSliceOp, tensor::EmptyOp, linalg::FillOp,
                  scf::YieldOp>([](Operation *) { return success(); })
            .Default([&](Operation *other) -> LogicalResult {
              if (isScalarOp(other))
                return copyScalar(other);
              return other->emitOpError()
                     << "expected only ops of the tiled form";
            });
    if (failed(result))
      return failure();
  }
  return success();
}

/// The parameters behind the operands: where results go that are no outputs.
void KernelBuilder::addWorkspaces(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  Location loc = attention.forall.getLoc();
  if (attention.lseView)
    values.map(attention.lse, body.addArgument(attention.lseView->type, loc));
  for (auto [out, view] :
       llvm::zip(attention.forall.getRegionIterArgs(), attention.partials))
    values.map(out, body.addArgument(view.type, loc));
}

/// True if keys and values have fewer bits than the query.
static bool widensKeys(OnlineAttentionOp step) {
  return isByte(step.getKey().getType()) &&
         !isFloat8(step.getQuery().getType());
}

/// Which CTAs take several tiles.
LogicalResult KernelBuilder::checkGrid() {
  Schedule schedule = getSchedule(attention.schedule);
  bool hasRoles = getFamily(schedule.mma).hasRoles();
  if (attention.worklist && hasRoles)
    return attention.first.emitOpError()
           << "expected mma = \"mma_sync\" with balance = \"plan\", got "
           << attention.schedule;
  if (attention.worklist || schedule.persistentCtas == 0)
    return success();
  if (!hasRoles)
    return attention.first.emitOpError()
           << "expected mma=wgmma with persistent_ctas="
           << schedule.persistentCtas
           << ": other kernels have one tile for each CTA";
  if (attention.combine)
    return attention.first.emitOpError()
           << "expected persistent_ctas=0 with splits of the keys, got "
           << schedule.persistentCtas;
  return success();
}

LogicalResult KernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(name);
  if (failed(kernel))
    return failure();
  kernel->setForward(true);
  addWorkspaces(*kernel);
  if (attention.schedule.getQueryPrologue() == "fused" &&
      !getFusedRows(attention.first))
    return attention.first.emitOpError()
           << "expected an attn.rotary or attn.qk_norm of the query with "
              "query_prologue = \"fused\"";
  if (attention.getClusterCtas() > 1 && attention.first.hasMaskMod())
    return attention.first.emitOpError()
           << "expected no mask_mod with cluster_m="
           << attention.getClusterCtas()
           << ": the CTAs of a cluster read the same keys";
  if (attention.getClusterCtas() > 1 && transposesValue(attention.first))
    return attention.first.emitOpError()
           << "expected cluster_m=1 with inputs of "
           << getElementTypeOrSelf(attention.first.getQuery().getType())
           << ", got " << attention.getClusterCtas()
           << ": each CTA transposes its tiles of V";
  Schedule schedule = getSchedule(attention.schedule);
  int64_t rows = 16 * schedule.warps;
  if (rows < 16 || schedule.tileM % rows != 0)
    return attention.first.emitOpError()
           << "expected tile_m to be a multiple of 16 rows for each of "
           << schedule.warps << " warps, got " << schedule.tileM;
  bool hasRoles = getFamily(schedule.mma).hasRoles();
  if (std::string obstacle =
          KeyStorage::of(attention.first)
              .findTmaObstacle(getFamily(schedule.mma), schedule.tileN);
      !obstacle.empty())
    return attention.first.emitOpError()
           << "expected mma = \"mma_sync\", got " << attention.schedule << ": "
           << obstacle;
  if (widensKeys(attention.first) && (hasRoles || schedule.queryInRegisters))
    return attention.first.emitOpError()
           << "expected mma = \"mma_sync\" and query_in_registers = false with "
              "8-bit keys and values beside a query of "
           << getElementTypeOrSelf(attention.first.getQuery().getType())
           << ", got " << attention.schedule;
  if (failed(checkGrid()) ||
      failed(attention.worklist            ? mapPlannedGrid()
             : schedule.persistentCtas > 0 ? mapPersistentGrid()
                                           : mapGrid()))
    return failure();
  takeSequences();
  if (attention.onlyBelow)
    exitUnlessNeeded();
  if (failed(convertBlock(*attention.forall.getBody())))
    return failure();
  builder.setInsertionPointToEnd(&kernel->getBody().front());
  tile::ReturnOp::create(builder, attention.forall.getLoc());
  return success();
}

LogicalResult attn::buildForwardKernel(OpBuilder &builder,
                                       TiledAttention &attention,
                                       StringRef name) {
  return KernelBuilder(builder, attention).build(name);
}
