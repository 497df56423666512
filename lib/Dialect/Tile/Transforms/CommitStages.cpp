//===- CommitStages.cpp - Stages given back by products -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-commit-stages: what consumers wait for in each step
// only to give a stage back, the products that read it, arrive at the stage's
// mbarrier themselves (as FlashAttention-4's warp for products lets them).
//
//===----------------------------------------------------------------------===//

#include "ProductRole.h"
#include "TensorProducts.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn::tile {
#define GEN_PASS_DEF_COMMITSTAGESPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {
/// A product of a step that reads a stage of a ring.
struct Reader {
  MmaTensorOp product;
  Value stage;
};

/// Stages that products read, in each key loop.
struct Channel {
  MbarrierWaitOp free;      ///< of the producer, for a stage
  SmallVector<Value> rings; ///< of the tile, and of its vectors
  SmallVector<Reader> last; ///< of a step of each loop
  /// Of the consumers, of each loop.
  SmallVector<MbarrierArriveOp> arrivals;

  TypedValue<MbarrierType> getEmpty() const {
    return MbarrierWaitOp(free).getBarrier();
  }
  /// That have copies of the tiles.
  int64_t getCtas() const {
    return MbarrierArriveOp(arrivals.front()).getCtas();
  }
};

class StageCommitter {
public:
  StageCommitter(RolesOp roles, Region &products)
      : roles(roles), products(products) {}

  /// False if consumers need the sums in a step, or their wait orders more than
  /// that stages are given back, or costs nothing.
  bool match();
  void commit();

private:
  void findLoops();
  bool findSums();
  bool startsEarly(scf::ForOp loop) const;
  bool matchWait(scf::ForOp loop);
  bool usesSums(scf::ForOp loop) const;
  bool isWaitedFor(Operation *access, Operation *use, scf::ForOp loop) const;
  bool isOrdered(StoreTensorOp store) const;
  bool isOrdered(MbarrierArriveOp arrival) const;
  bool areOrdered(scf::ForOp loop) const;
  void findChannels();
  bool matchChannel(Channel &channel);
  void commitChannel(Channel &channel);
  void waitForOthers(Channel &channel);
  void commitSums();
  void dropClusterBarrier();

  RolesOp roles;
  Region &products;
  SmallVector<scf::ForOp> steps;         ///< of the products' thread
  SmallVector<scf::ForOp> consumerSteps; ///< the same, of the consumers
  llvm::SmallSetVector<Value, 2> sums;   ///< tiles in tensor memory
  Value complete;                        ///< their barrier
  SmallVector<MbarrierWaitOp> waits;     ///< for it, one of each loop
  SmallVector<Channel> channels;
};
} // namespace

/// The stage of `ring` that `product` reads, or null.
static Value getStageOf(MmaTensorOp product, Value ring) {
  for (Value tile : {Value(product.getA()), Value(product.getB())}) {
    if (!isa<SharedType>(tile.getType()) || getWhole(tile) != ring)
      continue;
    while (auto columns = tile.getDefiningOp<ColumnsOp>())
      tile = columns.getSource();
    if (auto stage = tile.getDefiningOp<StageOp>())
      return stage.getIndex();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Loops and sums
//===----------------------------------------------------------------------===//

void StageCommitter::findLoops() {
  for (auto loop : products.front().getOps<scf::ForOp>())
    if (!loop.getOps<MmaTensorOp>().empty())
      steps.push_back(loop);
  for (auto loop : roles.getConsumer().front().getOps<scf::ForOp>())
    if (!loop.getOps<LoadTensorOp>().empty())
      consumerSteps.push_back(loop);
}

bool StageCommitter::findSums() {
  for (scf::ForOp loop : steps)
    for (auto product : loop.getOps<MmaTensorOp>()) {
      if (!product.getAccumulate())
        continue;
      sums.insert(product.getTile());
      Value barrier = product.getBarrier();
      if (barrier && complete && barrier != complete)
        return false;
      if (barrier)
        complete = barrier;
    }
  return static_cast<bool>(complete);
}

/// True if a product of the next step is started before the sums are complete:
/// otherwise consumers wait for that one as long.
bool StageCommitter::startsEarly(scf::ForOp loop) const {
  for (Operation &op : *loop.getBody()) {
    auto product = dyn_cast<MmaTensorOp>(op);
    if (product && product.getBarrier() == complete)
      return false;
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && !branch.thenBlock()->getOps<MmaTensorOp>().empty())
      return true;
  }
  return false;
}

/// At the end of the step, where nothing but stages is given back or waited
/// for behind it.
bool StageCommitter::matchWait(scf::ForOp loop) {
  MbarrierWaitOp wait;
  for (auto op : loop.getOps<MbarrierWaitOp>())
    if (op.getBarrier() == complete)
      wait = op;
  if (!wait)
    return false;
  auto onlyWaits = [](Operation &op) {
    return isMemoryEffectFree(&op) || isa<MbarrierWaitOp>(op);
  };
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
    auto branch = dyn_cast<scf::IfOp>(op);
    bool isOfStages = isa<SyncWarpOp, MbarrierArriveOp, scf::YieldOp>(op) ||
                      onlyWaits(*op) ||
                      (branch && !branch.elseBlock() &&
                       llvm::all_of(*branch.thenBlock(), onlyWaits));
    if (!isOfStages)
      return false;
  }
  waits.push_back(wait);
  return true;
}

/// True if consumers read, or change, a sum in a step.
bool StageCommitter::usesSums(scf::ForOp loop) const {
  return loop
      .walk([&](Operation *op) {
        bool isUse = isa<LoadTensorOp, StoreTensorOp, ScaleTensorOp>(op) &&
                     llvm::any_of(op->getOperands(), [&](Value operand) {
                       return isa<TensorTileType>(operand.getType()) &&
                              sums.contains(getPlace(operand));
                     });
        return isUse ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// What else the wait orders
//===----------------------------------------------------------------------===//

/// True if the consumers, before `access`, wait for a product that the thread
/// starts behind `use` of the step before, of the same warpgroup: when that is
/// complete, so are all before it. A product in a branch of `loop` is of the
/// next step, one in its body of this one.
bool StageCommitter::isWaitedFor(Operation *access, Operation *use,
                                 scf::ForOp loop) const {
  auto groupOf = [](Operation *op) {
    Value group = isa<MmaTensorOp>(op) ? cast<MmaTensorOp>(op).getWarpgroup()
                                       : cast<MbarrierWaitOp>(op).getStage();
    return getConstantIntValue(group);
  };
  auto isBehindUse = [&](MmaTensorOp product) {
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*product);
    return groupOf(product) == groupOf(use) &&
           (inBody == product || use->isBeforeInBlock(inBody));
  };
  for (auto wait : access->getBlock()->getOps<MbarrierWaitOp>()) {
    if (!wait->isBeforeInBlock(access))
      break;
    WalkResult walk = loop.walk([&](MmaTensorOp product) {
      return product.getBarrier() == wait.getBarrier() && isBehindUse(product)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return true;
  }
  return false;
}

/// What is stored takes no place of what a product of the step before reads.
bool StageCommitter::isOrdered(StoreTensorOp store) const {
  return llvm::all_of(steps, [&](scf::ForOp loop) {
    return llvm::all_of(loop.getOps<MmaTensorOp>(), [&](MmaTensorOp product) {
      return getPlace(product.getA()) != getPlace(store.getTile()) ||
             isWaitedFor(store, product, loop);
    });
  });
}

/// No warp tells the thread of a step before it has waited for the one before.
bool StageCommitter::isOrdered(MbarrierArriveOp arrival) const {
  return llvm::all_of(steps, [&](scf::ForOp loop) {
    return llvm::all_of(loop.getOps<MbarrierWaitOp>(), [&](MbarrierWaitOp op) {
      return op.getBarrier() != arrival.getBarrier() ||
             isWaitedFor(arrival, op, loop);
    });
  });
}

bool StageCommitter::areOrdered(scf::ForOp loop) const {
  auto isOne = [&](auto op) { return isOrdered(op); };
  WalkResult nested = loop.walk([&](Operation *op) {
    return isa<StoreTensorOp>(op) && op->getParentOp() != loop
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !nested.wasInterrupted() &&
         llvm::all_of(loop.getOps<StoreTensorOp>(), isOne) &&
         llvm::all_of(loop.getOps<MbarrierArriveOp>(), isOne);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The producer waits for a stage, and fills it.
void StageCommitter::findChannels() {
  roles.getProducer().walk([&](Operation *op) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(op))
      channels.push_back({wait, {}, {}, {}});
    else if (auto copy = dyn_cast<CopyTmaOp>(op); copy && !channels.empty())
      channels.back().rings.push_back(getWhole(copy.getTile()));
    else if (auto copy = dyn_cast<CopyBulkOp>(op); copy && !channels.empty())
      channels.back().rings.push_back(getWhole(copy.getTile()));
  });
}

/// True if products read the channel's tile in the body of each loop, and
/// consumers give it back once in each step.
bool StageCommitter::matchChannel(Channel &channel) {
  for (scf::ForOp loop : steps) {
    Reader reader;
    for (auto product : loop.getOps<MmaTensorOp>())
      for (Value ring : channel.rings)
        if (Value stage = getStageOf(product, ring))
          reader = {product, stage};
    if (reader.product)
      channel.last.push_back(reader);
  }
  for (scf::ForOp loop : consumerSteps)
    for (auto arrival : loop.getOps<MbarrierArriveOp>())
      if (arrival.getBarrier() == channel.getEmpty())
        channel.arrivals.push_back(arrival);
  return channel.last.size() == steps.size() &&
         channel.arrivals.size() == consumerSteps.size();
}

bool StageCommitter::match() {
  findLoops();
  if (steps.empty() || steps.size() != consumerSteps.size() || !findSums())
    return false;
  if (!llvm::all_of(steps, [&](auto loop) { return startsEarly(loop); }))
    return false;
  for (scf::ForOp loop : consumerSteps)
    if (!matchWait(loop) || usesSums(loop) || !areOrdered(loop))
      return false;
  findChannels();
  llvm::erase_if(channels,
                 [&](Channel &channel) { return !matchChannel(channel); });
  // What is behind the wait is given back by a commit.
  for (MbarrierWaitOp wait : waits)
    for (Operation *op = wait->getNextNode(); op; op = op->getNextNode())
      if (isa<MbarrierArriveOp>(op) &&
          llvm::none_of(channels, [&](const Channel &channel) {
            return llvm::is_contained(channel.arrivals, op);
          }))
        return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The change
//===----------------------------------------------------------------------===//

/// Consumers arrive for what they read themselves: vectors, which each CTA has
/// for itself.
void StageCommitter::commitChannel(Channel &channel) {
  int64_t ctas = channel.getCtas();
  for (const Reader &reader : channel.last) {
    OpBuilder builder(reader.product->getContext());
    builder.setInsertionPointAfter(reader.product);
    CommitTensorsOp::create(builder, reader.product->getLoc(),
                            channel.getEmpty(), reader.stage, ctas);
  }
  bool isReadHere = llvm::any_of(channel.rings, [&](Value ring) {
    return llvm::any_of(ring.getUsers(), [&](Operation *user) {
      return roles.getConsumer().isAncestor(user->getParentRegion());
    });
  });
  MbarrierType type = channel.getEmpty().getType();
  int64_t warps = isReadHere ? type.getArrivals() / ctas : 0;
  channel.getEmpty().setType(
      MbarrierType::get(type.getContext(), type.getStages(), warps + ctas));
  for (MbarrierArriveOp arrival : channel.arrivals) {
    arrival.setCtas(1);
    if (isReadHere)
      continue;
    if (auto sync = dyn_cast<SyncWarpOp>(arrival->getPrevNode()))
      sync->erase();
    arrival->erase();
  }
}

/// The producer, which ends last, waits until all stages are free: what the
/// products of the cluster's other CTAs tell of comes to a CTA that is there.
void StageCommitter::waitForOthers(Channel &channel) {
  auto loop = channel.free->getParentOfType<scf::ForOp>();
  unsigned counter = *findStepCounter(loop);
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  for (int64_t i = 0; i < channel.getEmpty().getType().getStages(); ++i) {
    Location loc = loop.getLoc();
    Value number =
        arith::AddIOp::create(builder, loc, loop.getResult(counter),
                              arith::ConstantIndexOp::create(builder, loc, i));
    cloneForStep(builder, loop, {channel.free}, counter, number);
  }
}

/// Behind the loops, where consumers wait for them once.
void StageCommitter::commitSums() {
  for (scf::ForOp loop : steps)
    for (auto product : loop.getOps<MmaTensorOp>())
      if (product.getBarrier() == complete)
        product.getBarrierMutable().clear();
  Location loc = roles.getLoc();
  auto builder = OpBuilder::atBlockEnd(&products.front());
  for (int64_t group = 0,
               groups = cast<MbarrierType>(complete.getType()).getStages();
       group < groups; ++group)
    CommitTensorsOp::create(
        builder, loc, complete,
        arith::ConstantIndexOp::create(builder, loc, group));
  builder.setInsertionPointAfter(consumerSteps.back());
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  MbarrierWaitOp::create(builder, loc, complete, roles.getWarpgroup(), first);
  for (MbarrierWaitOp wait : waits)
    wait->erase();
}

void StageCommitter::commit() {
  for (Channel &channel : channels) {
    if (channel.getCtas() > 1)
      waitForOthers(channel);
    commitChannel(channel);
  }
  commitSums();
  dropClusterBarrier();
}

/// Who arrives nowhere but in the own CTA need not meet before it ends.
void StageCommitter::dropClusterBarrier() {
  WalkResult walk = roles.getConsumer().walk([](MbarrierArriveOp arrival) {
    return arrival.getCtas() > 1 ? WalkResult::interrupt()
                                 : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return;
  for (auto barrier : llvm::make_early_inc_range(
           roles.getConsumer().front().getOps<ClusterBarrierOp>()))
    barrier->erase();
}

namespace {
struct CommitStagesPass
    : public attn::tile::impl::CommitStagesPassBase<CommitStagesPass> {
  using CommitStagesPassBase::CommitStagesPassBase;

  void runOnOperation() override {
    for (auto roles : getOperation().getBody().front().getOps<RolesOp>()) {
      Region *products = roles.getRole(RolesOp::kProducts);
      // The phases of a persistent kernel's sums go on from tile to tile.
      if (!products || getTileLoop(*products))
        continue;
      StageCommitter committer(roles, *products);
      if (!committer.match())
        continue;
      committer.commit();
      ++numKernels;
    }
  }
};
} // namespace
