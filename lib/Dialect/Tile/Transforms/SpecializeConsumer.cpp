//===- SpecializeConsumer.cpp - What the consumer warps do ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The consumers' side of --attn-tile-specialize-warps: waits for stages that
// are full, products, and stages that are given back.
//
//===----------------------------------------------------------------------===//

#include "SpecializeWarps.h"

using namespace mlir;
using namespace attn::tile;

/// Loops after each other through which ptxas 13.0 sees that the lanes of a
/// warp agree on the number of a key tile; through three only if their bounds
/// are known to divide.
static constexpr size_t kFollowedLoops = 2;

/// What consumers read of a load.
static TypedValue<SharedType> getReadTile(LoadOp load) {
  Operation *rewriting = getRewriting(load);
  return rewriting ? cast<TypedValue<SharedType>>(rewriting->getResult(0))
                   : load.getTile();
}

/// Waits for the tile of `channel`, and its vectors, before the first op that
/// reads one of them, and gives the stage back after the last one.
void Specializer::guardStage(const Channel &channel, ArrayRef<LoadOp> loads,
                             const Ring &ring) {
  Location loc = kernel.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Operation *> readers(
      getReadTile(loads[channel.number]).getUsers());
  for (const VectorRing &vector : channel.vectors)
    llvm::append_range(readers, loads[vector.number]->getUsers());
  // Values that are columns of the keys.
  for (Operation *reader : SmallVector<Operation *>(readers))
    if (isa<ColumnsOp>(reader))
      llvm::append_range(readers, reader->getUsers());
  auto isBefore = [](Operation *a, Operation *b) {
    return a->isBeforeInBlock(b);
  };
  auto [first, last] =
      std::minmax_element(readers.begin(), readers.end(), isBefore);
  builder.setInsertionPoint(*first);
  MbarrierWaitOp::create(builder, loc, channel.read.full, ring.stage,
                         ring.parity);
  // The lanes of a warp read vectors each for itself, and with mma.sync tiles,
  // too; one of them gives the stage back.
  builder.setInsertionPointAfter(*last);
  if (!channel.vectors.empty() || !family.hasRoles())
    SyncWarpOp::create(builder, loc);
  MbarrierArriveOp::create(builder, loc, channel.read.empty, ring.stage,
                           clusterCtas);
  auto useStage = [&](LoadOp load, Value loadRing) {
    for (OpOperand &use :
         llvm::make_early_inc_range(getReadTile(load).getUses())) {
      builder.setInsertionPoint(use.getOwner());
      use.set(StageOp::create(builder, loc, loadRing, ring.stage));
    }
  };
  useStage(loads[channel.number], channel.read.ring);
  for (const VectorRing &vector : channel.vectors)
    useStage(loads[vector.number], vector.ring);
}

/// Clears what a product sums over that does not exist. Of other products it
/// makes columns of their own, which the kernel's masks select away.
void Specializer::clearMissingRows(MmaOp op) {
  Value tile = op.getB();
  if (auto columns = tile.getDefiningOp<ColumnsOp>())
    tile = columns.getSource();
  auto load = tile.getDefiningOp<LoadOp>();
  if (!load || !load.getRows() || op.getTransposeB())
    return;
  bool isFromStart = !load.getFirst() || isConstantIntValue(load.getFirst(), 0);
  if (isFromStart &&
      getConstantIntValue(load.getRows()) == load.getTile().getType().getRows())
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  ClearRowsOp::create(builder, op.getLoc(), load.getTile(), load.getRows(),
                      load.getFirst());
}

/// Multiplies, and waits for the product.
void Specializer::convertMma(MmaOp op) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value product = MmaAsyncOp::create(
      builder, loc, op.getResult().getType(), op.getA(),
      isa<SharedType>(op.getA().getType()) ? warpgroup : Value(),
      op.getTransposeA(), op.getB(), op.getTransposeB(),
      isZero(op.getAcc()) ? Value() : op.getAcc());
  Value result = MmaWaitOp::create(builder, loc, /*pending=*/0, product);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

/// As `locate`, where ptxas may lose sight of a number: that comes from another
/// loop.
Ring Specializer::locateTogether(Value number, int64_t ringStages) {
  Ring ring = locate(number, ringStages);
  if (tiles || stream.loops.size() > kFollowedLoops)
    ring.stage = agree(ring.stage);
  return ring;
}

/// Gives a loop the number of its first tile, and returns that of the tile
/// after its last one.
void Specializer::convertLoop(scf::ForOp loop, Value &number) {
  builder.setInsertionPoint(loop);
  auto increment = [](OpBuilder &inner, Location loc,
                      ArrayRef<BlockArgument> args) -> SmallVector<Value> {
    Value one = arith::ConstantIndexOp::create(inner, loc, 1);
    return {arith::AddIOp::create(inner, loc, args.front(), one)};
  };
  auto counting = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      builder, number, /*replaceInitOperandUsesInLoop=*/false, increment));
  number = counting.getResults().back();
  builder.setInsertionPointToStart(counting.getBody());
  llvm::SmallDenseMap<int64_t, Ring> places; // by the number of stages
  for (const Channel &channel : streamed) {
    auto [entry, isNew] = places.try_emplace(channel.read.stages);
    if (isNew)
      entry->second = locateTogether(counting.getRegionIterArgs().back(),
                                     channel.read.stages);
  }
  for (MmaOp op : counting.getOps<MmaOp>())
    clearMissingRows(op);
  // The loads of each loop are in the order of the channels.
  SmallVector<LoadOp> loads(counting.getOps<LoadOp>());
  for (const Channel &channel : streamed)
    guardStage(channel, loads, places.lookup(channel.read.stages));
  if (family.facts.tensorColumns) {
    Value step = counting.getRegionIterArgs().back();
    products.convert(builder, counting, warpgroup, getParity(step));
  }
  if (family.hasRoles())
    for (MmaOp op : llvm::make_early_inc_range(counting.getOps<MmaOp>()))
      convertMma(op);
  for (LoadOp load : loads) {
    if (Operation *rewriting = getRewriting(load))
      rewriting->erase();
    load.erase();
  }
}

/// Gives the loop over tiles the number of the next key tile and the count of
/// its rounds, and sets the builder into it. What it yields for the former is
/// set later.
void Specializer::countTiles(Value &number, Value &round) {
  auto increment = [](OpBuilder &inner, Location loc,
                      ArrayRef<BlockArgument> args) -> SmallVector<Value> {
    Value one = arith::ConstantIndexOp::create(inner, loc, 1);
    return {args[0], arith::AddIOp::create(inner, loc, args[1], one)};
  };
  tiles.setUpperBound(agree(tiles.getUpperBound()));
  tiles = cast<scf::ForOp>(*tiles.replaceWithAdditionalYields(
      builder, {number, round}, /*replaceInitOperandUsesInLoop=*/false,
      increment));
  builder.setInsertionPointToStart(tiles.getBody());
  number = tiles.getRegionIterArg(0);
  round = tiles.getRegionIterArg(1);
}

Value Specializer::agree(Value value) {
  return UniformOp::create(builder, kernel.getLoc(), value);
}

/// Lets ptxas know that the lanes of a warp agree on the bounds of key loops
/// that come from divisions of a tile's number: in a loop that could diverge it
/// has no uniform registers.
void Specializer::agreeOnBounds() {
  builder.setInsertionPoint(stream.loops.front());
  llvm::MapVector<Value, Value> agreed;
  auto get = [&](Value bound) {
    if (tiles.isDefinedOutsideOfLoop(bound))
      return bound;
    Value &result = agreed[bound];
    return result ? result : result = agree(bound);
  };
  for (scf::ForOp loop : stream.loops) {
    loop.setLowerBound(get(loop.getLowerBound()));
    loop.setUpperBound(get(loop.getUpperBound()));
  }
}

/// wgmma reads A from shared memory as fast as from registers.
void Specializer::readInPlace(LoadOp load) {
  for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
    if (auto operand = dyn_cast<LoadOperandOp>(user)) {
      operand.getOperand().replaceAllUsesWith(operand.getTile());
      operand.erase();
    } else if (auto change = dyn_cast<ChangeRowsOp>(user)) {
      change.getWarpgroupMutable().assign(warpgroup);
    }
}

/// Waits for a tile outside the key loops; in a persistent kernel, gives it
/// back after them, or at the end if the output goes through its place.
void Specializer::useOuter(Channel &channel, Value round) {
  Location loc = kernel.getLoc();
  Value stage = constant(0);
  MbarrierWaitOp::create(builder, loc, channel.copied.full, stage,
                         getParity(round));
  if (family.hasRoles())
    readInPlace(channel.load);
  channel.load.getTile().replaceAllUsesWith(channel.copied.ring);
  if (builder.getInsertionPoint() == channel.load->getIterator())
    builder.setInsertionPointAfter(channel.load);
  channel.load.erase();
  if (!channel.copied.empty)
    return;
  OpBuilder::InsertionGuard guard(builder);
  if (hasOutputTile)
    builder.setInsertionPointAfter(stream.loops.back());
  else
    builder.setInsertionPoint(tiles.getBody()->getTerminator());
  if (!family.hasRoles())
    SyncWarpOp::create(builder, loc);
  MbarrierArriveOp::create(builder, loc, channel.copied.empty, constant(0));
}

void Specializer::buildConsumer() {
  builder.setInsertionPointAfterValue(warpgroup);
  Value number = constant(0), round = number;
  if (tiles)
    countTiles(number, round);
  for (Channel &channel : outer)
    useOuter(channel, round);
  if (tiles)
    agreeOnBounds();
  for (scf::ForOp loop : stream.loops)
    convertLoop(loop, number);
  if (tiles)
    tiles.getBody()->getTerminator()->setOperand(0, number);
  if (family.facts.tensorColumns)
    products.finish(builder, warpgroup);
  if (clusterCtas > 1) {
    // Until here others may arrive at the barriers of this CTA.
    builder.setInsertionPointToEnd(warpgroup.getParentBlock());
    ClusterBarrierOp::create(builder, kernel.getLoc());
  }
}
