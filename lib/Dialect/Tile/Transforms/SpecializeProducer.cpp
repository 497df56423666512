//===- SpecializeProducer.cpp - What the producer warps do ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The producer's side of --attn-tile-specialize-warps: copies by TMA that run
// ahead of the consumers, and what becomes of 8-bit tiles.
//
//===----------------------------------------------------------------------===//

#include "SpecializeWarps.h"
#include "TensorMaps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <limits>

using namespace mlir;
using namespace attn::tile;

static constexpr int64_t kWarpThreads = 32;

bool attn::tile::isOfConsumers(Operation *op) {
  auto isTile = [](Type type) { return isa<SharedType, FragmentType>(type); };
  // A store may be in a branch.
  WalkResult result = op->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperandTypes(), isTile) ||
                   llvm::any_of(inner->getResultTypes(), isTile)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Starts the copy of a tile outside the key loops. `round` counts the tiles of
/// the CTA.
void Specializer::copyOuter(const Channel &channel, Value round,
                            IRMapping &mapping) {
  Location loc = kernel.getLoc();
  const Buffer &to = channel.copied;
  if (to.empty) {
    Value stage = constant(0);
    MbarrierWaitOp::create(builder, loc, to.empty, stage,
                           getPhaseBefore(getParity(round)));
  }
  LoadOp load = channel.load;
  SmallVector<Value> place = getMappedIndices(
      builder, mapping.lookupOrDefault<Value>(load.getSource()),
      lookup(load.getIndices(), mapping));
  CopyTmaOp::create(builder, loc, channel.map, place, /*pages=*/ValueRange(),
                    to.ring, to.full, constant(0),
                    /*evict_first=*/true, /*evict_last=*/false, /*ctas=*/1);
}

/// The copies that are started in front of the key stream.
void Specializer::copyOuter(Value round, IRMapping &mapping) {
  for (const Channel &channel : outer)
    if (!comesWithStream(channel))
      copyOuter(channel, round, mapping);
}

/// The number of the first tile of the stream that a tile outside of it is
/// multiplied with, or of all tiles if there is none.
static unsigned findPartner(LoadOp outer, ArrayRef<LoadOp> loads) {
  SmallVector<Value> operands = {outer.getTile()};
  for (Operation *user : outer->getUsers())
    if (auto operand = dyn_cast<LoadOperandOp>(user))
      operands.push_back(operand.getOperand());
  for (auto [number, load] : llvm::enumerate(loads))
    for (Operation *user : LoadOp(load)->getUsers())
      if (auto mma = dyn_cast<MmaOp>(user);
          mma && llvm::is_contained(operands, mma.getA()))
        return number;
  return loads.size();
}

/// True for what is multiplied with another tile than the stream's first: that
/// one is copied before, so that its product begins while this comes, where a
/// thread waits for nothing else (--attn-tile-sink-waits).
bool Specializer::comesWithStream(const Channel &channel) {
  unsigned partner = findPartner(channel.load, stream.loads);
  return family.facts.tensorColumns > 0 && !tiles && !rewrites() &&
         partner > 0 && partner < stream.loads.size();
}

/// Starts the copies that come with tile `number` of the stream, in front of
/// that of its channel `with`.
void Specializer::copyPartners(unsigned with, Value number,
                               IRMapping &mapping) {
  Location loc = kernel.getLoc();
  for (const Channel &channel : outer) {
    if (!comesWithStream(channel) ||
        findPartner(channel.load, stream.loads) != with)
      continue;
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, number, constant(0));
    auto guarded = scf::IfOp::create(builder, loc, isFirst);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    copyOuter(channel, /*round=*/constant(0), mapping);
  }
}

/// Without a step there is no tile that others could come with.
void Specializer::copyWithoutStream(IRMapping &mapping) {
  if (llvm::none_of(outer, [&](auto &c) { return comesWithStream(c); }))
    return;
  Location loc = kernel.getLoc();
  Value isEmpty =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                            mapping.lookupOrDefault(stream.lowerBound()),
                            mapping.lookupOrDefault(stream.upperBound()));
  auto guarded = scf::IfOp::create(builder, loc, isEmpty);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  for (const Channel &channel : outer)
    if (comesWithStream(channel))
      copyOuter(channel, /*round=*/constant(0), mapping);
}

/// The page in `column` of row `batch` of `table`. What is no number of 31 bits
/// is none of a pool's.
Value Specializer::readEntry(Value table, Value batch, Value column) {
  Location loc = kernel.getLoc();
  auto type = cast<GlobalType>(table.getType()).getElementType();
  SmallVector<Value> at;
  for (Value index : {batch, column})
    at.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index));
  Value entry = ExtractOp::create(builder, loc, type, table, at);
  if (type.isInteger(64))
    entry = arith::MinUIOp::create(
        builder, loc, entry,
        arith::ConstantIntOp::create(builder, loc,
                                     std::numeric_limits<int32_t>::max(), 64));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    entry);
}

/// The boxes of the tile at `place`, the indices of `load`, its `rows` and its
/// `first`. TMA brings whole tiles, of which consumers know what exists; but of
/// a page without a row that does, the entry is not read, and the box has
/// zeros.
Specializer::Boxes Specializer::findBoxes(LoadOp load, ArrayRef<Value> place,
                                          IRMapping &mapping) {
  if (!load.getTable())
    return {getMappedIndices(builder,
                             mapping.lookupOrDefault<Value>(load.getSource()),
                             place.take_front(load.getIndices().size())),
            {}};
  Value table = mapping.lookupOrDefault<Value>(load.getTable());
  Location loc = load.getLoc();
  int64_t page = getPage(load), rows = load.getTile().getType().getRows();
  size_t indices = load.getIndices().size();
  Value batch = place[0], head = place[1], row = place[2],
        count = place[indices];
  ArrayRef<Value> column = place.slice(3, indices - 3);
  Value entry = builder.createOrFold<arith::DivUIOp>(loc, row, constant(page));
  Boxes boxes;
  if (rows <= page || !load.getFirst())
    boxes.pages.push_back(readEntry(table, batch, entry));
  if (rows <= page) {
    row = builder.createOrFold<arith::RemUIOp>(loc, row, constant(page));
    boxes.indices = {head, row};
    llvm::append_range(boxes.indices, column);
    return boxes;
  }
  boxes.indices = {head, constant(0)};
  llvm::append_range(boxes.indices, column);
  // The nearest page with a row stands for one without.
  Value last = arith::SubIOp::create(builder, loc, count, constant(1));
  last = builder.createOrFold<arith::DivUIOp>(loc, last, constant(page));
  Value first;
  if (load.getFirst())
    first = builder.createOrFold<arith::DivUIOp>(loc, place[indices + 1],
                                                 constant(page));
  for (auto i = static_cast<int64_t>(boxes.pages.size()); i < rows / page;
       ++i) {
    Value number = constant(i), inTile = number;
    if (first)
      inTile = arith::MaxUIOp::create(builder, loc, inTile, first);
    inTile = arith::MinUIOp::create(builder, loc, inTile, last);
    Value at = arith::AddIOp::create(builder, loc, entry, inTile);
    Value exists =
        first ? arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      inTile, number)
              : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                                      count, constant(i * page));
    Value named = readEntry(table, batch, at);
    boxes.pages.push_back(
        arith::SelectOp::create(builder, loc, exists, named, constant(-1)));
  }
  return boxes;
}

/// Starts the copies of tile `number` of the key stream, which is at `count`,
/// each as soon as its stage is free.
void Specializer::copyTiles(Value number, Value count, IRMapping &mapping) {
  Location loc = kernel.getLoc();
  SmallVector<SmallVector<Value>> places =
      stream.buildIndices(builder, count, mapping);
  for (Channel &channel : streamed) {
    copyPartners(channel.number, number, mapping);
    // A table is read before the wait.
    Boxes boxes = findBoxes(channel.load, places[channel.number], mapping);
    const Buffer &to = channel.copied;
    Ring ring = locate(number, to.stages);
    MbarrierWaitOp::create(builder, loc, to.empty, ring.stage,
                           getPhaseBefore(ring.parity));
    Value tile = StageOp::create(builder, loc, to.ring, ring.stage);
    CopyTmaOp::create(builder, loc, channel.map, boxes.indices, boxes.pages,
                      tile, to.full, ring.stage, /*evict_first=*/false,
                      /*evict_last=*/true, clusterCtas);
    for (const VectorRing &vector : channel.vectors)
      CopyBulkOp::create(builder, loc, vector.source, places[vector.number],
                         StageOp::create(builder, loc, vector.ring, ring.stage),
                         to.full, ring.stage);
  }
}

/// Transposes or widens the tile before number `numberAfter`, which is at
/// `count`, by all warps of the producer.
void Specializer::rewriteTiles(Value numberAfter, Value count,
                               IRMapping &mapping) {
  Location loc = kernel.getLoc();
  Value number = arith::SubIOp::create(builder, loc, numberAfter, constant(1));
  for (Channel &channel : streamed) {
    if (!channel.isRewritten())
      continue;
    const Buffer &from = channel.copied, &to = channel.read;
    Ring source = locate(number, from.stages);
    Ring target = locate(number, to.stages);
    MbarrierWaitOp::create(builder, loc, from.full, source.stage,
                           source.parity);
    MbarrierWaitOp::create(builder, loc, to.empty, target.stage,
                           getPhaseBefore(target.parity));
    LoadOp load = channel.load;
    Value rows, first;
    if (load.getRows()) {
      SmallVector<Value> place =
          stream.buildIndices(builder, count, mapping)[channel.number];
      if (load.getFirst())
        first = place.pop_back_val();
      rows = place.back();
    }
    Value copied = StageOp::create(builder, loc, from.ring, source.stage);
    Value read = StageOp::create(builder, loc, to.ring, target.stage);
    if (channel.widens)
      StoreWidenedOp::create(builder, loc, copied, rows, first, read);
    else
      StoreTransposedOp::create(builder, loc, copied, rows, first, read);
    // One lane arrives for what all of them have read and written.
    SyncWarpOp::create(builder, loc);
    MbarrierArriveOp::create(builder, loc, from.empty, source.stage);
    MbarrierArriveOp::create(builder, loc, to.full, target.stage);
  }
}

/// The first of the producer's threads runs what `build` builds, if all of them
/// run the role.
void Specializer::byOneThread(function_ref<void()> build) {
  if (!rewrites())
    return build();
  Location loc = kernel.getLoc();
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread,
                            constant(kWarpThreads * kernel.getWarps()));
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    build();
  }
  SyncWarpOp::create(builder, loc);
}

/// Brings the key stream from tile `number` on; returns the number of the tile
/// after the last one. A tile is rewritten when the copies of the next one are
/// on their way.
Value Specializer::copyStream(Value number, IRMapping &mapping) {
  Location loc = kernel.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  Value lower = mapping.lookupOrDefault(stream.lowerBound());
  Value upper = mapping.lookupOrDefault(stream.upperBound());
  SmallVector<Value> state = {number};
  if (rewrites())
    state.push_back(lower); // the count of the tile before
  auto loop = scf::ForOp::create(builder, loc, lower, upper,
                                 mapping.lookupOrDefault(stream.step()), state);
  builder.setInsertionPointToStart(loop.getBody());
  Value current = loop.getRegionIterArg(0), count = loop.getInductionVar();
  byOneThread([&] { copyTiles(current, count, mapping); });
  auto rewriteIf = [&](Value last, Value numberAfter, Value before) {
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, lower, last);
    OpBuilder::InsertionGuard inner(builder);
    auto guarded = scf::IfOp::create(builder, loc, exists);
    builder.setInsertionPointToStart(guarded.thenBlock());
    rewriteTiles(numberAfter, before, mapping);
  };
  if (rewrites())
    rewriteIf(count, current, loop.getRegionIterArg(1));
  state = {arith::AddIOp::create(builder, loc, current, constant(1))};
  if (rewrites())
    state.push_back(count);
  scf::YieldOp::create(builder, loc, state);
  builder.setInsertionPointAfter(loop);
  if (rewrites())
    rewriteIf(upper, loop.getResult(0), loop.getResult(1));
  return loop.getResult(0);
}

/// In a persistent kernel the producer has a loop over the tiles of its own,
/// and runs ahead of the consumers into the next tile.
void Specializer::buildProducer(RolesOp roles) {
  Location loc = kernel.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&roles.getProducer().front());
  IRMapping mapping;
  Value zero = constant(0);
  if (!tiles) {
    byOneThread([&] { copyOuter(zero, mapping); });
    copyStream(zero, mapping);
    copyWithoutStream(mapping);
    return;
  }
  auto loop = scf::ForOp::create(builder, loc, tiles.getLowerBound(),
                                 tiles.getUpperBound(), tiles.getStep(),
                                 ValueRange{zero, zero});
  builder.setInsertionPointToStart(loop.getBody());
  mapping.map(tiles.getInductionVar(), loop.getInductionVar());
  for (Operation &op : tiles.getBody()->without_terminator())
    if (!isOfConsumers(&op))
      builder.clone(op, mapping);
  Value round = loop.getRegionIterArg(1);
  byOneThread([&] { copyOuter(round, mapping); });
  Value number = copyStream(loop.getRegionIterArg(0), mapping);
  Value next = arith::AddIOp::create(builder, loc, round, constant(1));
  scf::YieldOp::create(builder, loc, ValueRange{number, next});
}
