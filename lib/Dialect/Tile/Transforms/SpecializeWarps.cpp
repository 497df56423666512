//===- SpecializeWarps.cpp - Producer and consumer warps -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-specialize-warps: loads become TMA copies of a
// producer warpgroup, which runs ahead of the consumers by the stages of rings
// with full and empty barriers; products become wgmma, or tcgen05.mma.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "SpecializeWarps.h"
#include "TensorMaps.h"

#include "mlir/IR/Builders.h"

namespace attn::tile {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn;
using namespace attn::tile;

/// Of every chip whose kernels have roles.
static constexpr int64_t kRegistersPerSm = 65536;
/// Tiles that are copied while another one is rewritten, and that one
/// (lib/Schedule/SharedMemoryModel.cpp counts them).
static constexpr int64_t kRewriteStages = 2;
/// Loops after each other through which ptxas 13.0 sees that the lanes of a
/// warp agree on the number of a key tile; through three only if their bounds
/// are known to divide.
static constexpr size_t kFollowedLoops = 2;

//===----------------------------------------------------------------------===//
// Rings and barriers
//===----------------------------------------------------------------------===//

/// What the producer makes of a loaded tile, which then has no other reader;
/// null if that is read as it is.
static Operation *getRewriting(LoadOp load) {
  for (Operation *user : load->getUsers())
    if (isa<TransposeBytesOp, WidenBytesOp>(user))
      return user;
  return nullptr;
}

/// What consumers read of a load.
static TypedValue<SharedType> getReadTile(LoadOp load) {
  Operation *rewriting = getRewriting(load);
  return rewriting ? cast<TypedValue<SharedType>>(rewriting->getResult(0))
                   : load.getTile();
}

/// A ring of `stages` stages, or with 0 a single tile.
Value Specializer::createRing(Location loc, SharedType tile, int64_t stages) {
  SmallVector<int64_t> shape(tile.getShape());
  if (stages > 0)
    shape.insert(shape.begin(), stages);
  return AllocOp::create(builder, loc,
                         SharedType::get(kernel.getContext(), shape,
                                         tile.getElementType(),
                                         tile.getSwizzle()),
                         /*offset=*/IntegerAttr());
}

Value Specializer::createBarrier(Location loc, int64_t stages,
                                 int64_t arrivals) {
  return AllocMbarrierOp::create(builder, loc,
                                 MbarrierType::get(kernel.getContext(),
                                                   std::max<int64_t>(stages, 1),
                                                   arrivals),
                                 /*offset=*/IntegerAttr());
}

/// A ring that `writers` and `readers` arrive at; without readers it is written
/// once.
Buffer Specializer::createBuffer(Location loc, SharedType tile, int64_t stages,
                                 int64_t writers, int64_t readers) {
  Buffer buffer;
  buffer.stages = stages;
  buffer.ring = createRing(loc, tile, stages);
  buffer.full = createBarrier(loc, stages, writers);
  if (readers > 0)
    buffer.empty = createBarrier(loc, stages, readers);
  return buffer;
}

/// The channel of load `number`, and of the vectors that are loaded after it,
/// which `ctas` CTAs share.
Channel Specializer::createChannel(ArrayRef<LoadOp> loads, unsigned number,
                                   int64_t stages, int64_t ctas) {
  LoadOp load = loads[number];
  Location loc = load.getLoc();
  SharedType tile = load.getTile().getType();
  Channel channel;
  channel.number = number;
  channel.load = load;
  channel.map = addTensorMap(kernel, load.getSource(), tile,
                             getBoxRows(load) / ctas, load.getHeads());
  for (unsigned i = number + 1; i < loads.size(); ++i) {
    LoadOp vector = loads[i];
    SharedType type = vector.getTile().getType();
    if (!type.isVector())
      break;
    channel.vectors.push_back(
        {i, vector.getSource(), createRing(vector.getLoc(), type, stages)});
  }
  int64_t writers = 1 + channel.vectors.size();
  int64_t readers = stages > 0 || tiles ? kernel.getWarps() * ctas : 0;
  Operation *rewriting = getRewriting(load);
  if (!rewriting) {
    channel.read = channel.copied =
        createBuffer(loc, tile, stages, writers, readers);
    return channel;
  }
  // The warps of the producer read what is copied, and write what is read.
  int64_t warps = family.facts.producerWarps;
  channel.widens = isa<WidenBytesOp>(rewriting);
  channel.copied = createBuffer(loc, tile, kRewriteStages, writers, warps);
  channel.read =
      createBuffer(loc, cast<SharedType>(rewriting->getResult(0).getType()),
                   stages, warps, readers);
  return channel;
}

/// One channel for each tile that is loaded, and tensor memory for the
/// products; then all threads may use them.
LogicalResult Specializer::createChannels() {
  for (LoadOp load : llvm::make_early_inc_range(
           getTileBlock(kernel.getBody()).getOps<LoadOp>()))
    outer.push_back(
        createChannel(load, /*number=*/0, /*stages=*/0, /*ctas=*/1));
  for (auto [number, load] : llvm::enumerate(stream.loads))
    if (!load.getTile().getType().isVector())
      streamed.push_back(
          createChannel(stream.loads, number, stages, clusterCtas));
  SmallVector<Value> barriers;
  auto add = [&](const Buffer &buffer) {
    barriers.push_back(buffer.full);
    if (buffer.empty)
      barriers.push_back(buffer.empty);
  };
  for (Channel &channel : llvm::concat<Channel>(outer, streamed)) {
    add(channel.copied);
    if (channel.isRewritten())
      add(channel.read);
  }
  if (family.facts.tensorColumns &&
      failed(products.create(builder, kernel, stream.loops, barriers)))
    return failure();
  InitMbarriersOp::create(builder, kernel.getLoc(), barriers);
  if (clusterCtas > 1)
    ClusterBarrierOp::create(builder, kernel.getLoc());
  return success();
}

/// The stage of tile number `number` in a ring, and the parity of the phase in
/// which it becomes full.
Ring Specializer::locate(Value number, int64_t ringStages) {
  Location loc = kernel.getLoc();
  Value count = constant(ringStages);
  Value stage = builder.createOrFold<arith::RemUIOp>(loc, number, count);
  Value round = builder.createOrFold<arith::DivUIOp>(loc, number, count);
  return {stage, getParity(round)};
}

Value Specializer::getParity(Value round) {
  return builder.createOrFold<arith::AndIOp>(kernel.getLoc(), round,
                                             constant(1));
}

/// The phase before the first one counts as complete: a ring starts empty.
Value Specializer::getPhaseBefore(Value parity) {
  return builder.createOrFold<arith::XOrIOp>(kernel.getLoc(), parity,
                                             constant(1));
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

RolesOp Specializer::createRoles() {
  auto [producer, consumer] = family.splitRegisters(
      kernel.getWarps() / family.facts.unitWarps, kRegistersPerSm,
      /*producerComputes=*/rewrites() || looksUpPages());
  auto roles = RolesOp::create(builder, kernel.getLoc(), {RolesOp::kProducer},
                               producer, /*all=*/rewrites(), consumer);
  roles.getProducer().emplaceBlock();
  Block &block = roles.getConsumer().emplaceBlock();
  warpgroup = block.addArgument(builder.getIndexType(), kernel.getLoc());
  return roles;
}

/// Scalar code stays before the roles, for both, but that of a loop over tiles.
void Specializer::moveToConsumer(RolesOp roles) {
  Block &consumer = roles.getConsumer().front();
  if (tiles)
    return tiles->moveBefore(&consumer, consumer.end());
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front()))
    if (!isa<AllocOp, RolesOp>(op) && isOfConsumers(&op))
      op.moveBefore(&consumer, consumer.end());
}

//===----------------------------------------------------------------------===//
// The consumer
//===----------------------------------------------------------------------===//

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
  // The lanes of a warp read vectors each for itself, one of them gives the
  // stage back.
  builder.setInsertionPointAfter(*last);
  if (!channel.vectors.empty())
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
  Ring ring = locate(counting.getRegionIterArgs().back(), stages);
  // ptxas loses sight of a number that comes from another loop.
  if (tiles || stream.loops.size() > kFollowedLoops)
    ring.stage = agree(ring.stage);
  for (MmaOp op : counting.getOps<MmaOp>())
    clearMissingRows(op);
  // The loads of each loop are in the order of the channels.
  SmallVector<LoadOp> loads(counting.getOps<LoadOp>());
  for (const Channel &channel : streamed)
    guardStage(channel, loads, ring);
  if (family.facts.tensorColumns) {
    Value step = counting.getRegionIterArgs().back();
    products.convert(builder, counting, warpgroup, getParity(step));
  }
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

/// Waits for a tile outside the key loops; in a persistent kernel, gives it
/// back after them, or at the end if the output goes through its place.
void Specializer::useOuter(Channel &channel, Value round) {
  Location loc = kernel.getLoc();
  Value stage = constant(0);
  MbarrierWaitOp::create(builder, loc, channel.copied.full, stage,
                         getParity(round));
  // wgmma reads A from shared memory as fast as from registers.
  for (Operation *user : llvm::make_early_inc_range(channel.load->getUsers()))
    if (auto operand = dyn_cast<LoadOperandOp>(user)) {
      operand.getOperand().replaceAllUsesWith(operand.getTile());
      operand.erase();
    } else if (auto change = dyn_cast<ChangeRowsOp>(user)) {
      change.getWarpgroupMutable().assign(warpgroup);
    }
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

LogicalResult Specializer::run() {
  kernel.setProducerWarps(family.facts.producerWarps);
  if (clusterCtas > 1)
    kernel.setClusterCtas(clusterCtas);
  builder.setInsertionPoint(tiles ? tiles
                                  : kernel.getBody().front().getTerminator());
  if (failed(createChannels()))
    return failure();
  RolesOp roles = createRoles();
  buildProducer(roles);
  moveToConsumer(roles);
  buildConsumer();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Why the kernel cannot be made of the family's products and TMA, or empty if
/// it can.
static std::string findObstacle(KernelOp kernel, const Family &family) {
  std::string reason;
  llvm::raw_string_ostream text(reason);
  int64_t warps = kernel.getWarps(), rowWarps = kernel.getRowWarps();
  const Family::Facts &facts = family.facts;
  if (warps % facts.unitWarps != 0 || warps > facts.maxUnits * facts.unitWarps)
    text << "expected warps to be " << facts.unitWarps << " for each of up to "
         << facts.maxUnits << " warpgroups, got " << warps;
  kernel.walk([&](Operation *op) {
    if (!reason.empty())
      return WalkResult::interrupt();
    if (auto mma = dyn_cast<MmaOp>(op)) {
      FragmentType acc = mma.getAcc().getType();
      if (acc.getRows() * facts.unitWarps != rowWarps * facts.unitRows)
        text << "expected " << facts.unitRows << " rows for each "
             << facts.unitWarps << " warps, got " << acc.getRows() << " for "
             << rowWarps;
      else if (acc.getShape()[1] > facts.maxColumns)
        text << "expected at most 256 columns in a product, got "
             << acc.getShape()[1];
    }
    if (auto load = dyn_cast<LoadOp>(op);
        load && !load.getTile().getType().isVector())
      text << findTmaObstacle(load);
    return WalkResult::advance();
  });
  return reason;
}

namespace {
struct SpecializeWarpsPass
    : public attn::tile::impl::SpecializeWarpsPassBase<SpecializeWarpsPass> {
  using SpecializeWarpsPassBase::SpecializeWarpsPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (streamsNothing(kernel))
      return;
    if (!kernel.getScheduleAttr()) {
      kernel.emitOpError() << "expected a schedule, whose mma says what "
                              "products are made of, got none";
      return signalPassFailure();
    }
    Schedule schedule = getScheduleOf(kernel);
    if (!getFamily(schedule.mma).hasRoles())
      return;
    separateLoads(kernel);
    FailureOr<KeyStream> stream = KeyStream::find(kernel);
    if (failed(stream))
      return signalPassFailure();
    std::string obstacle = findObstacle(kernel, getFamily(schedule.mma));
    if (!obstacle.empty()) {
      kernel.emitOpError() << "cannot be made of "
                           << attn::getName(schedule.mma)
                           << " and TMA: " << obstacle;
      return signalPassFailure();
    }
    FailureOr<int64_t> count = getStages(kernel, stages);
    if (failed(count) ||
        failed(Specializer(kernel, *stream, schedule, *count).run()))
      return signalPassFailure();
    ++numKernels;
  }
};
} // namespace
