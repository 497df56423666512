//===- SpecializeWarps.cpp - Producer and consumer warps -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-specialize-warps: loads become TMA copies of producer
// warps, which run ahead of the consumers by the stages of rings with full and
// empty barriers; products become wgmma, or tcgen05.mma, or stay mma.sync.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "SpecializeWarps.h"
#include "TensorMaps.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

namespace attn::tile {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn;
using namespace attn::tile;

/// Tiles that are copied while another one is rewritten, and that one
/// (lib/Schedule/SharedMemoryModel.cpp counts them).
static constexpr int64_t kRewriteStages = 2;

//===----------------------------------------------------------------------===//
// Rings and barriers
//===----------------------------------------------------------------------===//

Operation *attn::tile::getRewriting(LoadOp load) {
  for (Operation *user : load->getUsers())
    if (isa<TransposeBytesOp, WidenBytesOp>(user))
      return user;
  return nullptr;
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
  int64_t warps = producerWarps;
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
      streamed.push_back(createChannel(stream.loads, number,
                                       number == 0 ? scoreStages : stages,
                                       clusterCtas));
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
  attn::RegisterSplit split = family.splitRegisters(
      kernel.getWarps() / family.facts.unitWarps, kRegistersPerSm,
      /*producerComputes=*/rewrites() || looksUpPages(),
      /*corrects=*/false);
  auto roles =
      RolesOp::create(builder, kernel.getLoc(), {RolesOp::kProducer},
                      split.producer, /*all=*/rewrites(), split.consumer);
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

LogicalResult Specializer::run() {
  kernel.setProducerWarps(producerWarps);
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

/// Why `op` cannot be a product of warpgroups, or empty if it can.
static std::string findObstacle(MmaOp op, int64_t rowWarps,
                                const Family::Facts &facts) {
  FragmentType acc = op.getAcc().getType();
  if (acc.getRows() * facts.unitWarps != rowWarps * facts.unitRows)
    return llvm::formatv("expected {0} rows for each {1} warps, got {2} for "
                         "{3}",
                         facts.unitRows, facts.unitWarps, acc.getRows(),
                         rowWarps);
  if (acc.getShape()[1] > facts.maxColumns)
    return llvm::formatv("expected at most 256 columns in a product, got {0}",
                         acc.getShape()[1]);
  return "";
}

/// Why the kernel cannot be made of the family's products and TMA, or empty if
/// it can.
static std::string findObstacle(KernelOp kernel, const Family &family) {
  int64_t warps = kernel.getWarps();
  const Family::Facts &facts = family.facts;
  if (family.hasRoles() && (warps % facts.unitWarps != 0 ||
                            warps > facts.maxUnits * facts.unitWarps))
    return llvm::formatv("expected warps to be {0} for each of up to {1} "
                         "warpgroups, got {2}",
                         facts.unitWarps, facts.maxUnits, warps);
  std::string reason;
  kernel.walk([&](Operation *op) {
    if (auto mma = dyn_cast<MmaOp>(op); mma && family.hasRoles())
      reason = findObstacle(mma, kernel.getRowWarps(), facts);
    if (isa<ChangeRowsOp, NarrowRowsOp>(op) && !family.hasRoles())
      reason = "expected a query that stays as it was loaded";
    if (auto load = dyn_cast<LoadOp>(op);
        load && !load.getTile().getType().isVector())
      reason = findTmaObstacle(load, /*isWhole=*/family.hasRoles());
    return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
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
    const Family &family = getFamily(schedule.mma);
    if (!family.loadsByTma(schedule))
      return;
    // Products that complete in order can read one tile.
    if (family.hasRoles())
      separateLoads(kernel);
    FailureOr<KeyStream> stream = KeyStream::find(kernel);
    if (failed(stream))
      return signalPassFailure();
    std::string obstacle = findObstacle(kernel, family);
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
