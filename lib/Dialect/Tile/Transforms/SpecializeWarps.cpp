//===- SpecializeWarps.cpp - Producer and consumer warps -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-specialize-warps: loads become TMA copies of a
// producer warpgroup, which runs ahead of the consumers by the stages of rings
// with full and empty barriers; products become wgmma.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "KeyStream.h"
#include "TensorMaps.h"

#include "mlir/IR/Builders.h"

namespace attn::tile {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

/// Warps of the producer: a warpgroup, the unit in which setmaxnreg counts.
constexpr int64_t kProducerWarps = 4;
constexpr int64_t kWarpgroupWarps = 4;

/// A tile that is loaded, once or for each step of the key stream.
struct Channel {
  LoadOp load; ///< of the first loop
  Value map;
  Value ring;  ///< the tile, or a ring of stages
  Value full;  ///< the tile is there
  Value empty; ///< all consumers are done with it (key stream only)
};

/// A place in the key stream: the number of the tile says which stage it is in,
/// and how often the ring has been filled before.
struct Ring {
  Value stage;
  Value parity; ///< of the phases of its barriers
};

class Specializer {
public:
  Specializer(KernelOp kernel, KeyStream stream, int64_t stages)
      : kernel(kernel), stream(stream), builder(kernel.getContext()),
        stages(stages) {}

  void run();

private:
  void createChannels();
  Channel createChannel(LoadOp load, int64_t stages, bool isStream);
  RolesOp createRoles();
  void buildProducer(RolesOp roles);
  void moveToConsumer(RolesOp roles);
  void buildConsumer();
  void convertLoop(scf::ForOp loop, Value &number);
  void convertMma(MmaOp op, const Channel *channel, const Ring &ring);
  Ring locate(Value number);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, kernel.getLoc(), value);
  }

  KernelOp kernel;
  KeyStream stream;
  IRRewriter builder;
  int64_t stages;
  SmallVector<Channel> outer, streamed;
  Value warpgroup;
};

} // namespace

//===----------------------------------------------------------------------===//
// Rings and barriers
//===----------------------------------------------------------------------===//

Channel Specializer::createChannel(LoadOp load, int64_t count, bool isStream) {
  Location loc = load.getLoc();
  MLIRContext *context = kernel.getContext();
  SharedType tile = load.getTile().getType();
  Channel channel;
  channel.load = load;
  channel.map = addTensorMap(kernel, load.getSource(), tile, tile.getRows());
  SmallVector<int64_t> shape(tile.getShape());
  if (isStream)
    shape.insert(shape.begin(), count);
  channel.ring = AllocOp::create(
      builder, loc,
      SharedType::get(context, shape, tile.getElementType(), tile.getSwizzle()),
      /*offset=*/IntegerAttr());
  auto createBarrier = [&](int64_t arrivals) -> Value {
    return AllocMbarrierOp::create(builder, loc,
                                   MbarrierType::get(context, count, arrivals),
                                   /*offset=*/IntegerAttr());
  };
  channel.full = createBarrier(1);
  if (isStream)
    channel.empty = createBarrier(kernel.getWarps());
  return channel;
}

/// One channel for each tile that is loaded; then all threads may use them.
void Specializer::createChannels() {
  for (LoadOp load :
       llvm::make_early_inc_range(kernel.getBody().front().getOps<LoadOp>()))
    outer.push_back(createChannel(load, /*stages=*/1, /*isStream=*/false));
  for (const StreamedLoad &entry : stream.loads)
    streamed.push_back(createChannel(entry.load, stages, /*isStream=*/true));
  SmallVector<Value> barriers;
  for (Channel &channel : outer)
    barriers.push_back(channel.full);
  for (Channel &channel : streamed)
    barriers.append({channel.full, channel.empty});
  InitMbarriersOp::create(builder, kernel.getLoc(), barriers);
}

/// The stage of tile number `number`, and the parity of the phase in which it
/// becomes full.
Ring Specializer::locate(Value number) {
  Location loc = kernel.getLoc();
  Value count = constant(stages);
  Value stage = builder.createOrFold<arith::RemUIOp>(loc, number, count);
  Value round = builder.createOrFold<arith::DivUIOp>(loc, number, count);
  return {stage, builder.createOrFold<arith::AndIOp>(loc, round, constant(1))};
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// What a producer thread needs, and what that leaves for a consumer of a CTA
/// with `warpgroups` consumer warpgroups: together at most the register file,
/// and each a multiple of 8.
static std::pair<int64_t, int64_t> chooseRegisters(int64_t warpgroups) {
  if (warpgroups == 1)
    return {56, 256};
  if (warpgroups == 2)
    return {24, 240};
  return {32, 160};
}

RolesOp Specializer::createRoles() {
  auto [producer, consumer] =
      chooseRegisters(kernel.getWarps() / kWarpgroupWarps);
  auto roles = RolesOp::create(builder, kernel.getLoc(), producer, consumer);
  roles.getProducer().emplaceBlock();
  Block &block = roles.getConsumer().emplaceBlock();
  warpgroup = block.addArgument(builder.getIndexType(), kernel.getLoc());
  return roles;
}

/// Starts the copies of all tiles, each as soon as its stage is free.
void Specializer::buildProducer(RolesOp roles) {
  Location loc = kernel.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&roles.getProducer().front());
  for (Channel &channel : outer)
    CopyTmaOp::create(builder, loc, channel.map, channel.load.getIndices(),
                      channel.ring, channel.full, constant(0),
                      /*evict_first=*/true, /*evict_last=*/false);
  auto loop =
      scf::ForOp::create(builder, loc, stream.lowerBound(), stream.upperBound(),
                         stream.step(), constant(0));
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getRegionIterArg(0);
  Ring ring = locate(number);
  // The phase before the first one counts as complete: the ring starts empty.
  Value before =
      builder.createOrFold<arith::XOrIOp>(loc, ring.parity, constant(1));
  Value position = stream.buildPosition(builder, loop.getInductionVar());
  for (Channel &channel : streamed) {
    MbarrierWaitOp::create(builder, loc, channel.empty, ring.stage, before);
    SmallVector<Value> indices(channel.load.getIndices());
    indices.back() = position;
    Value tile = StageOp::create(builder, loc, channel.ring, ring.stage);
    CopyTmaOp::create(builder, loc, channel.map, indices, tile, channel.full,
                      ring.stage, /*evict_first=*/false, /*evict_last=*/true);
  }
  Value next = arith::AddIOp::create(builder, loc, number, constant(1));
  scf::YieldOp::create(builder, loc, next);
}

/// True for ops that only consumers run: those on tiles, and key loops.
static bool isConsumerOp(Operation *op) {
  auto isTile = [](Type type) { return isa<SharedType, FragmentType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

/// Scalar code stays before the roles, for both.
void Specializer::moveToConsumer(RolesOp roles) {
  Block &consumer = roles.getConsumer().front();
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front()))
    if (!isa<AllocOp>(op) && isConsumerOp(&op))
      op.moveBefore(&consumer, consumer.end());
}

//===----------------------------------------------------------------------===//
// The consumer
//===----------------------------------------------------------------------===//

static bool isZero(Value fragment) {
  auto fill = fragment.getDefiningOp<FillOp>();
  return fill && fill.getValue().isZero();
}

/// Waits for the tile that `op` reads from `channel`, if from one, multiplies,
/// and gives the tile back.
void Specializer::convertMma(MmaOp op, const Channel *channel,
                             const Ring &ring) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value b = op.getB();
  if (channel) {
    MbarrierWaitOp::create(builder, loc, channel->full, ring.stage,
                           ring.parity);
    b = StageOp::create(builder, loc, channel->ring, ring.stage);
  }
  Value product = MmaAsyncOp::create(
      builder, loc, op.getResult().getType(), op.getA(),
      isa<SharedType>(op.getA().getType()) ? warpgroup : Value(), b,
      op.getTransposeB(), isZero(op.getAcc()) ? Value() : op.getAcc());
  Value result = MmaWaitOp::create(builder, loc, /*pending=*/0, product);
  if (channel)
    MbarrierArriveOp::create(builder, loc, channel->empty, ring.stage);
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
  Ring ring = locate(counting.getRegionIterArgs().back());
  // The loads of each loop are in the order of the channels.
  SmallVector<LoadOp> loads(counting.getOps<LoadOp>());
  for (MmaOp op : llvm::make_early_inc_range(counting.getOps<MmaOp>())) {
    auto *load = llvm::find(loads, op.getB().getDefiningOp<LoadOp>());
    convertMma(op,
               load == loads.end() ? nullptr : &streamed[load - loads.begin()],
               ring);
  }
  for (LoadOp load : loads)
    load.erase();
}

/// The tiles outside the loops are waited for first.
void Specializer::buildConsumer() {
  Location loc = kernel.getLoc();
  builder.setInsertionPointAfterValue(warpgroup);
  for (Channel &channel : outer) {
    MbarrierWaitOp::create(builder, loc, channel.full, constant(0),
                           constant(0));
    // wgmma reads A from shared memory as fast as from registers.
    for (Operation *user : llvm::make_early_inc_range(channel.load->getUsers()))
      if (auto operand = dyn_cast<LoadOperandOp>(user)) {
        operand.getOperand().replaceAllUsesWith(operand.getTile());
        operand.erase();
      }
    channel.load.getTile().replaceAllUsesWith(channel.ring);
    channel.load.erase();
  }
  Value number = constant(0);
  for (scf::ForOp loop : stream.loops)
    convertLoop(loop, number);
}

void Specializer::run() {
  kernel.setProducerWarps(kProducerWarps);
  setManifestThreads(kernel);
  builder.setInsertionPoint(kernel.getBody().front().getTerminator());
  createChannels();
  RolesOp roles = createRoles();
  buildProducer(roles);
  moveToConsumer(roles);
  buildConsumer();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Gives each product of a key loop a load of its own right operand. Where
/// keys and values are one tensor they share one, and its stage would be given
/// back twice.
static void separateLoads(KernelOp kernel) {
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>()) {
    SmallPtrSet<Operation *, 4> taken;
    for (MmaOp op : loop.getOps<MmaOp>()) {
      auto load = op.getB().getDefiningOp<LoadOp>();
      if (!load || taken.insert(load).second)
        continue;
      OpBuilder builder(load);
      auto copy = cast<LoadOp>(builder.clone(*load));
      op.getBMutable().set(copy.getTile());
    }
  }
}

/// Why the kernel cannot be made of wgmma and TMA, or empty if it can.
static std::string findObstacle(KernelOp kernel, const KeyStream &stream) {
  std::string reason;
  llvm::raw_string_ostream text(reason);
  int64_t warps = kernel.getWarps();
  if (warps % kWarpgroupWarps != 0 || warps > 3 * kWarpgroupWarps)
    text << "expected 4, 8 or 12 warps, got " << warps;
  kernel.walk([&](Operation *op) {
    if (!reason.empty())
      return WalkResult::interrupt();
    if (auto mma = dyn_cast<MmaOp>(op)) {
      FragmentType acc = mma.getAcc().getType();
      if (acc.getRows() != 16 * warps)
        text << "expected 64 rows for each 4 warps, got " << acc.getRows()
             << " for " << warps;
      else if (acc.getShape()[1] > 256)
        text << "expected at most 256 columns in a product, got "
             << acc.getShape()[1];
    }
    if (auto load = dyn_cast<LoadOp>(op))
      if (load.getSource().getType().getRank() != 4 ||
          load.getIndices().size() != 3 ||
          !isa<BlockArgument>(load.getSource()) ||
          load.getTile().getType().getRows() > 256)
        text << "expected tiles of at most 256 whole rows of 4-dimensional "
                "operands";
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
    if (getScheduleText(kernel, "mma", "wgmma") != "wgmma")
      return;
    separateLoads(kernel);
    FailureOr<KeyStream> stream = KeyStream::find(kernel);
    if (failed(stream))
      return signalPassFailure();
    std::string obstacle = findObstacle(kernel, *stream);
    if (!obstacle.empty()) {
      kernel.emitOpError() << "cannot be made of wgmma and TMA: " << obstacle;
      return signalPassFailure();
    }
    int64_t count = stages ? stages : getScheduleField(kernel, "stages", 2);
    if (count < 1) {
      kernel.emitOpError() << "expected at least 1 stage, got " << count;
      return signalPassFailure();
    }
    Specializer(kernel, *stream, count).run();
    ++numKernels;
  }
};
} // namespace
