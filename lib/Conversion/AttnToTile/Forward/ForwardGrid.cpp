//===- ForwardGrid.cpp - The tiles that a CTA takes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the place of a CTA in the grid to the row tile, head, batch and split
// that it computes, or to a loop over several of them.
//
//===----------------------------------------------------------------------===//

#include "Forward/ForwardKernelBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Schedule/Family.h"

using namespace mlir;
using namespace attn;

/// Maps the tile that is number `tile` among the row tiles, and for each the
/// slices of V and O, of a head, or with pack_gqa of a group of heads.
void ForwardKernelBuilder::mapTile(Value tile, Value head, Value batch) {
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
FailureOr<Value> ForwardKernelBuilder::takeSplit(Value number) {
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
LogicalResult ForwardKernelBuilder::mapOrderedGrid(TileOrder order) {
  Location loc = attention.prologue[order.prologue].op->getLoc();
  auto divide = [&](Value a, Value b) {
    return std::pair<Value, Value>{arith::DivUIOp::create(builder, loc, a, b),
                                   arith::RemUIOp::create(builder, loc, a, b)};
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

/// A CTA for each tile, the last, which under causal masks are the longest,
/// first. Grid: x = tiles of a head; y = query heads, or groups of them; z =
/// batch and split of the keys. The CTAs of a cluster have tiles of one head.
LogicalResult ForwardKernelBuilder::mapGrid() {
  std::optional<TileOrder> order = getTileOrder(attention);
  if (order && !attention.onlyBelow)
    return mapOrderedGrid(*order);
  FailureOr<Value> batch = takeSplit(getBlockId(gpu::Dimension::z));
  if (failed(batch))
    return failure();
  Value row = attention.forall.getInductionVar(kLoopM);
  TileOfHead of = {getBlockId(gpu::Dimension::x),
                   getBlockId(gpu::Dimension::y)};
  if (attention.getClusterCtas() == 1 &&
      haveLoopsOfTheirPlace(attention.forall, row))
    of = getTileOfEachHead();
  mapTile(countFromLast(of.tile), of.head, *batch);
  return success();
}

/// Ends CTAs whose tile has no row with an LSE below the bound: each warp looks
/// at all of the tile's.
void ForwardKernelBuilder::exitUnlessNeeded() {
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
  int64_t tileM = attention.schedule.getValues().tileM;
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
void ForwardKernelBuilder::exitBehind(Value rows) {
  Value row = values.lookup(attention.forall.getInductionVar(kLoopM));
  tile::ExitOp::create(builder, attention.forall.getLoc(),
                       arith::CmpIOp::create(builder, attention.forall.getLoc(),
                                             arith::CmpIPredicate::sge, row,
                                             rows));
}

/// The rows [first, first + rows) of `packed` as a tensor of their own.
Value ForwardKernelBuilder::takeSequence(Value packed, Value first,
                                         Value rows) {
  auto type = cast<tile::GlobalType>(packed.getType());
  return tile::SequenceOp::create(builder, attention.forall.getLoc(),
                                  tile::SequenceOp::getViewType(type), packed,
                                  first, rows);
}

/// Makes the rows of the CTA's sequence and split those of the workspaces. Of
/// sequences that overlap some may have no room there.
void ForwardKernelBuilder::takePartials(Value packed, Value first, Value rows) {
  Location loc = attention.forall.getLoc();
  Value all = tile::DimOp::create(builder, loc, packed, /*dim=*/0);
  if (plansRanges(attention)) {
    first =
        readFirstState(values.lookup(attention.forall.getInductionVar(kLoopB)));
    all = rows;
  }
  Value ofSplit =
      create<arith::AddIOp>(create<arith::MulIOp>(split, all), first);
  for (Value out : attention.forall.getRegionIterArgs()) {
    Value partials = values.lookup(out), begin = ofSplit, taken = rows;
    if (plansRanges(attention)) {
      auto type = cast<tile::GlobalType>(partials.getType());
      Value room = tile::DimOp::create(builder, loc, partials,
                                       tile::SequenceOp::getRowDim(type));
      begin = create<arith::MinUIOp>(ofSplit, room);
      taken = create<arith::MinSIOp>(rows, create<arith::SubIOp>(room, begin));
    }
    values.map(out, takeSequence(partials, begin, taken));
  }
}

/// Makes the entries of the CTA's batch a table, of those that have all batches
/// behind each other.
void ForwardKernelBuilder::takeTables() {
  Value batch = values.lookup(attention.forall.getInductionVar(kLoopB));
  OnlineAttentionOp step = attention.first;
  for (Value operand : {step.getKey(), step.getValue()}) {
    PagedOp pages = getPages(operand);
    if (!pages || !pages.getOffsets())
      continue;
    Value entries = values.lookup(pages.getTable());
    if (tables.contains(entries))
      continue;
    Value all = tile::DimOp::create(builder, attention.forall.getLoc(), entries,
                                    /*dim=*/0);
    auto [first, count] =
        getSequence(values.lookup(pages.getOffsets()), batch, all);
    tables.map(entries, takeSequence(entries, first, count));
  }
}

/// Makes the sequence of the CTA's batch of each operand that has several, and
/// ends CTAs that have no row of the query. Offsets that do not ascend, or lead
/// out of the tensor, give fewer rows.
void ForwardKernelBuilder::takeSequences() {
  Location loc = attention.forall.getLoc();
  takeTables();
  Value batch = values.lookup(attention.forall.getInductionVar(kLoopB));
  for (const KernelOperand &operand : attention.operands) {
    if (!operand.offsets)
      continue;
    // Outputs are memory as it is, of inputs rows may have changed before.
    auto view = operand.batches.getDefiningOp<RaggedOp>();
    Value packed = values.lookup(view ? view.getPacked() : operand.tensor);
    auto type = cast<tile::GlobalType>(packed.getType());
    Value all = tile::DimOp::create(builder, loc, packed,
                                    tile::SequenceOp::getRowDim(type));
    auto [first, rows] =
        getSequence(values.lookup(operand.offsets), batch, all);
    int64_t room =
        cast<ShapedType>(operand.batches.getType()).getDimSize(kSequence);
    if (!ShapedType::isDynamic(room))
      rows = create<arith::MinSIOp>(rows, constant(room));
    values.map(operand.batches, takeSequence(packed, first, rows));
    if (operand.name != "query")
      continue;
    // A plan has tiles with rows only.
    if (!attention.worklist)
      exitBehind(rows);
    if (split)
      takePartials(packed, first, rows);
  }
}

/// A persistent grid: the builder is set into a loop over the tiles of a CTA,
/// which are the grid's size apart. Neighbours in the grid have neighbouring
/// tiles of a head, and share its keys and values in L2.
LogicalResult ForwardKernelBuilder::mapPersistentGrid() {
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
  Value tile =
      arith::RemUIOp::create(builder, loc, loop.getInductionVar(), rowTiles);
  Value headOfBatch = arith::RemUIOp::create(builder, loc, head, counts[1]);
  mapTile(tile, headOfBatch,
          arith::DivUIOp::create(builder, loc, head, counts[1]));
  return success();
}

/// The builder is set into a loop over a CTA's numbers below `total`, of which
/// each CTA takes one in turn, in every other round from the last CTA on: of
/// shares that get smaller, who had the largest of a round has the smallest of
/// the next. Returns the number.
Value ForwardKernelBuilder::walkInTurns(Value total) {
  Location loc = attention.forall.getLoc();
  Value ctas = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  Value cta = getBlockId(gpu::Dimension::x), one = constant(1);
  Value back = create<arith::SubIOp>(create<arith::SubIOp>(ctas, one), cta);
  auto getTurn = [&](Value round) -> Value {
    Value isForward =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              create<arith::AndIOp>(round, one), constant(0));
    return arith::SelectOp::create(builder, loc, isForward, cta, back);
  };
  // How much larger the number of a round is than the loop's. All rounds but
  // the last are whole, so that its number alone decides where the loop ends.
  auto getShift = [&](Value number) -> Value {
    Value round = create<arith::DivUIOp>(number, ctas);
    return create<arith::SubIOp>(getTurn(round), cta);
  };
  Value end = create<arith::SubIOp>(total, getShift(total));
  auto loop = scf::ForOp::create(builder, loc, cta, end, ctas);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  return create<arith::AddIOp>(number, getShift(number));
}

/// A grid that walks a worklist: the builder is set into a loop over the splits
/// that it has, and for each over the heads and, unless the list names one, the
/// row tiles of the batch. What CTAs take at a time has the same length, but
/// for the last splits of sequences, which are behind the others in the list,
/// the longest first.
LogicalResult ForwardKernelBuilder::mapPlannedGrid() {
  Location loc = attention.forall.getLoc();
  FailureOr<Value> rows = getExtent(kLoopM), heads = getExtent(kLoopH);
  if (failed(rows) || failed(heads))
    return failure();
  bool namesTiles = plansRowTiles(attention);
  Value rowTiles = constant(1);
  if (!namesTiles)
    rowTiles = create<arith::MulIOp>(
        arith::CeilDivUIOp::create(builder, loc, *rows,
                                   constant(attention.getTilePositions())),
        constant(attention.getDvSlices()));
  Value groups =
      create<arith::DivUIOp>(*heads, constant(attention.getTileHeads()));
  Value tiles = create<arith::MulIOp>(rowTiles, groups);
  FailureOr<Value> header = getWorklistHeader();
  if (failed(header))
    return failure();
  Value total =
      create<arith::MulIOp>(readWorklist(constant(kEntryCount)), tiles);
  Value number = walkInTurns(total);
  Value item = create<arith::DivUIOp>(number, tiles);
  Value tile = create<arith::RemUIOp>(number, tiles);
  Value entry = create<arith::AddIOp>(
      create<arith::MulIOp>(item, constant(getEntryWords(attention))), *header);
  auto readWord = [&](EntryWord word) {
    return readWorklist(arith::AddIOp::create(
        builder, attention.forall.getLoc(), entry, constant(word),
        arith::IntegerOverflowFlags::nsw));
  };
  Value batch = readWord(kEntryBatch);
  split = readWord(kEntrySplit);
  mapTile(namesTiles ? readWord(kEntryTile)
                     : create<arith::RemUIOp>(tile, rowTiles),
          create<arith::DivUIOp>(tile, rowTiles), batch);
  return success();
}

/// Which CTAs take several tiles.
LogicalResult ForwardKernelBuilder::checkGrid() {
  Schedule schedule = attention.schedule.getValues();
  bool hasRoles = getFamily(schedule.mma).hasRoles();
  if (attention.worklist && attention.getClusterCtas() > 1)
    return attention.first.emitOpError()
           << "expected cluster_m=1 with balance = \"plan\", got "
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

LogicalResult ForwardKernelBuilder::takeTiles() {
  if (failed(checkGrid()))
    return failure();
  if (attention.worklist)
    return mapPlannedGrid();
  return attention.schedule.getValues().persistentCtas > 0 ? mapPersistentGrid()
                                                           : mapGrid();
}
