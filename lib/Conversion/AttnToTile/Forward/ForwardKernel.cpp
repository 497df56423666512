//===- ForwardKernel.cpp - The kernel of a tiled attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the nest of a tiled attention (docs/Forms.md). The scf.forall becomes
// the grid (ForwardGrid.cpp), key loops stay loops, slices become tile loads.
//
//===----------------------------------------------------------------------===//

#include "Forward/ForwardKernel.h"

#include "Forward/ForwardKernelBuilder.h"
#include "Forward/OnlineStep.h"
#include "Forward/QueryRows.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Schedule/Family.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Tiles and steps
//===----------------------------------------------------------------------===//

/// True if keys and values have fewer bits than the query.
static bool widensKeys(OnlineAttentionOp step) {
  return isByte(step.getKey().getType()) && !isByte(step.getQuery().getType());
}

/// The query as an operand: in registers if the schedule says so, else in
/// shared memory, from which every mma reads it again.
FailureOr<QueryTile> ForwardKernelBuilder::getQuery() {
  if (query.rows)
    return query;
  OnlineAttentionOp op = attention.first;
  ScheduleAttr schedule = attention.schedule;
  int64_t rows = schedule.getValues().tileM,
          cols = attention.getPaddedHeadDim();
  FailureOr<Value> tile = loadSlice(op.getQuery(), rows, cols);
  if (failed(tile))
    return failure();
  query.rows = *tile;
  if (Operation *last = getFusedRows(op))
    changeQueryRows(builder, tile->getDefiningOp<tile::LoadOp>(),
                    RowChain::get(last), values);
  if (narrowsQuery(op))
    query = narrowQuery(*tile);
  Type element = cast<tile::SharedType>(query.rows.getType()).getElementType();
  auto operandType =
      widensKeys(op)
          ? tile::FragmentType::getOperandBytes({rows, cols}, element)
          : tile::FragmentType::getOperandA({rows, cols}, element);
  if (schedule.getValues().queryInRegisters)
    query.rows = tile::LoadOperandOp::create(builder, op.getLoc(), operandType,
                                             query.rows, /*transpose=*/false);
  return query;
}

QueryTile ForwardKernelBuilder::narrowQuery(Value tile) {
  auto type = cast<tile::SharedType>(tile.getType());
  auto narrowType =
      tile::SharedType::get(builder.getContext(), type.getShape(),
                            builder.getF16Type(), type.getSwizzle());
  auto narrow =
      tile::NarrowRowsOp::create(builder, attention.first.getLoc(), narrowType,
                                 getRowType(builder, type.getRows()), tile);
  return {narrow.getNarrow(), narrow.getFactor()};
}

FailureOr<SmallVector<Value>>
ForwardKernelBuilder::getFragments(Operation *user, ValueRange state) {
  SmallVector<Value> fragments;
  for (Value value : state) {
    Value fragment = values.lookupOrNull(value);
    if (!fragment || !isa<tile::FragmentType>(fragment.getType()))
      return user->emitOpError()
             << "expected state of a step in its loop, got a value from "
                "outside";
    fragments.push_back(fragment);
  }
  return fragments;
}

void ForwardKernelBuilder::setState(ValueRange results, ValueRange fragments) {
  for (auto [result, fragment] : llvm::zip_equal(results, fragments))
    values.map(result, fragment);
}

/// Loads a tile of keys or values. Where those of a batch may end before the
/// tensor does, or a row is where a table says, no other row is read.
FailureOr<Value> ForwardKernelBuilder::loadKeys(Value slice, int64_t cols,
                                                Value column,
                                                const KeyRows &keys) {
  int64_t tileN = attention.schedule.getValues().tileN;
  FailureOr<Value> tile = loadSlice(slice, tileN, cols, column);
  if (failed(tile) || !readsByRow(attention.first))
    return tile;
  auto load = tile->getDefiningOp<tile::LoadOp>();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(load);
  load.getRowsMutable().assign(keys.end ? keys.end : constant(tileN));
  if (keys.first)
    load.getFirstMutable().assign(keys.first);
  return tile;
}

/// The tile of the values: one of their own, or columns of that of the keys. A
/// warp that shares its rows takes its columns of it.
FailureOr<Value> ForwardKernelBuilder::loadValue(OnlineAttentionOp step,
                                                 Value key,
                                                 const KeyRows &keys) {
  bool isInKey = readsValueInKey(attention);
  FailureOr<Value> whole = key;
  if (!isInKey)
    whole = loadKeys(step.getValue(), attention.getTileDv(), firstColumn, keys);
  if (failed(whole) || (!isInKey && attention.getSharing() == 1))
    return whole;
  auto tile = cast<tile::SharedType>(whole->getType());
  auto type = tile::SharedType::get(builder.getContext(),
                                    {tile.getRows(), getWarpColumns()},
                                    tile.getElementType(), tile.getSwizzle());
  Value column = warpColumn ? warpColumn : constant(0);
  if (!isInKey && firstColumn)
    column = create<arith::SubIOp>(column, firstColumn);
  return tile::ColumnsOp::create(builder, step.getLoc(), type, *whole, column)
      .getResult();
}

/// The keys of a tile that are there and right of what the mask hides from all
/// rows. The loop over whole tiles has the same operands as the others, since
/// their loads are one stream.
FailureOr<ForwardKernelBuilder::KeyRows>
ForwardKernelBuilder::getKeyRows(OnlineAttentionOp step) {
  FailureOr<Value> end = getKeysInTile(step);
  if (failed(end))
    return failure();
  KeyRows keys{*end, Value()};
  Value firstKey = step.getFirstKey();
  if (!firstKey)
    return keys;
  keys.first = constant(0);
  if (!step.hasMaskMod())
    return keys;
  FailureOr<Value> first = materialize(firstKey);
  FailureOr<Value> begin = materialize(step.getOffsets()[kLoopN]);
  if (failed(first) || failed(begin))
    return failure();
  keys.first =
      create<arith::MaxSIOp>(create<arith::SubIOp>(*first, *begin), keys.first);
  return keys;
}

LogicalResult ForwardKernelBuilder::convertStep(OnlineAttentionOp step) {
  FailureOr<KeyRows> keys = getKeyRows(step);
  if (failed(keys))
    return failure();
  FailureOr<Value> key =
      loadKeys(step.getKey(), attention.getPaddedHeadDim(), Value(), *keys);
  if (failed(key))
    return failure();
  FailureOr<Value> value = loadValue(step, *key, *keys);
  FailureOr<QueryTile> query = getQuery();
  if (failed(value) || failed(query))
    return failure();
  FailureOr<SmallVector<Value>> state =
      getFragments(step, step.getState().getValues());
  if (failed(state))
    return failure();
  FailureOr<RunningState> next =
      buildStep(mods, step, *query, *key, *value, keys->end,
                RunningState(step.getNormalization(), *state));
  if (failed(next))
    return failure();
  setState(step->getResults(), next->getValues());
  return success();
}

LogicalResult ForwardKernelBuilder::convertLoop(scf::ForOp loop) {
  Location loc = loop.getLoc();
  // The first loop starts from the initial state.
  SmallVector<Value> init;
  if (values.contains(loop.getInitArgs()[0])) {
    FailureOr<SmallVector<Value>> before =
        getFragments(loop, loop.getInitArgs());
    if (failed(before))
      return failure();
    init = *before;
  } else {
    RowReductionInterface reduction = attention.normalize.getNormalization();
    RunningState state = buildInitialState(
        builder, loc, reduction, attention.schedule.getValues().tileM,
        getWarpColumns(), getOutputLayout(attention.first));
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
  FailureOr<SmallVector<Value>> after =
      getFragments(yield, yield.getOperands());
  if (failed(after))
    return failure();
  scf::YieldOp::create(builder, loc, *after);
  setState(loop.getResults(), copy.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

LogicalResult ForwardKernelBuilder::convertNormalize(NormalizeOp op) {
  FailureOr<Value> descale = loadDescale();
  if (failed(descale))
    return failure();
  FailureOr<SmallVector<Value>> state =
      getFragments(op, op.getState().getValues());
  if (failed(state))
    return failure();
  auto [output, lse] = buildNormalize(
      builder, op, ScoreUnits::get(attention.first),
      RunningState(op.getNormalization(), *state), loadSink(), *descale);
  Fragments fragments(builder, op.getLoc());
  Value result = output;
  if (attention.hasOneZero())
    result = fragments.map(result.getType(), result, [&](ValueRange args) {
      return fragments.add(args[0], fragments.constant(0));
    });
  values.map(op.getOutput(), result);
  if (op.getLse())
    values.map(op.getLse(), lse);
  return success();
}

LogicalResult ForwardKernelBuilder::convertOutputMod(OutputModOp op) {
  SmallVector<Value> place =
      llvm::map_to_vector(attention.forall.getInductionVars(),
                          [&](Value iv) { return values.lookup(iv); });
  if (warpColumn)
    place.push_back(warpColumn);
  FailureOr<SmallVector<Value>> source = getFragments(op, op.getSource());
  if (failed(source))
    return failure();
  FailureOr<Value> output =
      applyOutputMod(op, source->front(), place, getStoredOutput());
  if (failed(output))
    return failure();
  values.map(op.getResult(), *output);
  return success();
}

/// Where the CTA's rows are in an output, or in a workspace of states, whose
/// first dimension has the batches of each split, or the splits of each batch,
/// or which is already that of the split's sequence.
FailureOr<SmallVector<Value>> ForwardKernelBuilder::getPlace() {
  SmallVector<Value> place =
      llvm::map_to_vector(attention.forall.getInductionVars(),
                          [&](Value iv) { return values.lookup(iv); });
  if (!split)
    return place;
  if (getRagged(attention.first.getQuery())) {
    place.pop_back();
    return place;
  }
  FailureOr<Value> batches = getExtent(kLoopB);
  if (failed(batches))
    return failure();
  place.pop_back();
  if (plansRanges(attention))
    place[kLoopB] = create<arith::AddIOp>(readFirstState(place[kLoopB]), split);
  else
    place[kLoopB] = create<arith::AddIOp>(
        create<arith::MulIOp>(split, *batches), place[kLoopB]);
  return place;
}

void ForwardKernelBuilder::storeTile(Value tile, Value tensor,
                                     SmallVector<Value> place) {
  Location loc = attention.forall.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  if (warpColumn && cast<tile::FragmentType>(tile.getType()).isRow()) {
    // The CTAs and warps of all slices have the same LSE.
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, warpColumn, constant(0));
    auto guarded = scf::IfOp::create(builder, loc, isFirst);
    builder.setInsertionPointToStart(guarded.thenBlock());
  } else if (warpColumn) {
    place.push_back(warpColumn);
  }
  tile::StoreOp::create(builder, loc, tile, tensor, place,
                        attention.getTileHeads());
}

LogicalResult ForwardKernelBuilder::convertStores(scf::InParallelOp op) {
  FailureOr<SmallVector<Value>> place = getPlace();
  if (failed(place))
    return failure();
  SmallVector<Value> tiles, tensors;
  for (Operation &yielding : op.getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(yielding);
    FailureOr<SmallVector<Value>> tile =
        getFragments(insert, insert.getSource());
    if (failed(tile))
      return failure();
    tiles.push_back(tile->front());
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

LogicalResult ForwardKernelBuilder::convertBlock(Block &block) {
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
void ForwardKernelBuilder::addWorkspaces(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  Location loc = attention.forall.getLoc();
  if (attention.lseView)
    values.map(attention.lse, body.addArgument(attention.lseView->type, loc));
  for (auto [out, view] :
       llvm::zip(attention.forall.getRegionIterArgs(), attention.partials))
    values.map(out, body.addArgument(view.type, loc));
}

/// Slices of V are whole panels of its tile.
LogicalResult ForwardKernelBuilder::checkSharing() {
  OnlineAttentionOp step = attention.first;
  constexpr int64_t kPanelBytes = 128;
  int64_t columns =
      kPanelBytes * 8 /
      getElementTypeOrSelf(step.getValue().getType()).getIntOrFloatBitWidth();
  auto reject = [&](const Twine &expected) {
    return step.emitOpError()
           << "expected " << expected << " with " << attention.getSharing()
           << " warps that share rows, got " << attention.schedule;
  };
  MmaFamily family = attention.schedule.getValues().mma;
  bool sharesTiles = family == MmaFamily::Wgmma && readsValueInKey(attention) &&
                     !widensTiles(step);
  if (family != MmaFamily::MmaSync && !sharesTiles)
    return reject("mma = \"mma_sync\", or \"wgmma\" with values that are "
                  "columns of the keys,");
  if (attention.getTileDv() % (columns * attention.getSharing()) != 0)
    return reject("tile_dv to be a multiple of " +
                  Twine(columns * attention.getSharing()));
  return success();
}

/// The column of this warp's slice of O.
void ForwardKernelBuilder::takeColumns() {
  warpColumn = firstColumn;
  if (attention.getSharing() == 1)
    return;
  Location loc = attention.forall.getLoc();
  int64_t rowWarps =
      attention.schedule.getValues().warps / attention.getSharing();
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value slice = create<arith::DivUIOp>(thread, constant(32 * rowWarps));
  // Addresses of wgmma's operands are those of a warp.
  if (getFamily(attention.schedule.getValues().mma).hasRoles())
    slice = tile::UniformOp::create(builder, loc, slice);
  warpColumn = create<arith::MulIOp>(slice, constant(getWarpColumns()));
  if (firstColumn)
    warpColumn = create<arith::AddIOp>(warpColumn, firstColumn);
}

LogicalResult ForwardKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(name);
  if (failed(kernel))
    return failure();
  kernel->setForward(true);
  if (int64_t sharing = attention.getSharing(); sharing > 1)
    kernel->setSharing(sharing);
  addWorkspaces(*kernel);
  if (attention.schedule.getValues().queryPrologue == QueryPrologue::Fused &&
      !getFusedRows(attention.first))
    return attention.first.emitOpError()
           << "expected an attn.rotary or attn.qk_norm of the query with "
              "query_prologue = \"fused\"";
  if (attention.getClusterCtas() > 1 && attention.first.hasMaskMod())
    return attention.first.emitOpError()
           << "expected no mask_mod with cluster_m="
           << attention.getClusterCtas()
           << ": the CTAs of a cluster read the same keys";
  if (attention.getClusterCtas() > 1 &&
      (transposesValue(attention.first) || widensTiles(attention.first)))
    return attention.first.emitOpError()
           << "expected cluster_m=1 with values of "
           << getElementTypeOrSelf(attention.first.getValue().getType())
           << ", got " << attention.getClusterCtas()
           << ": each CTA rewrites its tiles";
  Schedule schedule = attention.schedule.getValues();
  if (schedule.warps < 1 || schedule.getRowsPerWarp() % 16 != 0)
    return attention.first.emitOpError()
           << "expected tile_m to be a multiple of 16 rows for each of "
           << schedule.warps << " warps, got " << schedule.tileM;
  if (attention.getSharing() > 1 && failed(checkSharing()))
    return failure();
  if (std::string obstacle =
          KeyStorage::of(attention.first).findTmaObstacle(schedule.tileN);
      getFamily(schedule.mma).loadsByTma(schedule) && !obstacle.empty())
    return attention.first.emitOpError()
           << "expected mma = \"mma_sync\" without producer_warps, got "
           << attention.schedule << ": " << obstacle;
  if (failed(takeTiles()))
    return failure();
  takeColumns();
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
  return ForwardKernelBuilder(builder, attention).build(name);
}
