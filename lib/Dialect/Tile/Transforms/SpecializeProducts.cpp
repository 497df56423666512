//===- SpecializeProducts.cpp - A role that starts products ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-specialize-products: one thread of a producer warp
// starts the products in tensor memory of all warpgroups, as FlashAttention-4's
// warp for them does. The consumers tell it what they have stored there.
//
//===----------------------------------------------------------------------===//

#include "MissedRemark.h"
#include "ProductRole.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn::tile {
#define GEN_PASS_DEF_SPECIALIZEPRODUCTSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

static constexpr int64_t kGroupWarps = 4;

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// The shared tiles that a product reads, whole.
static SmallVector<Value> getSharedOperands(MmaTensorOp product) {
  SmallVector<Value> tiles = {getWhole(product.getB())};
  if (isa<SharedType>(product.getA().getType()))
    tiles.push_back(getWhole(product.getA()));
  return tiles;
}

/// True if consumers write an operand other than V's missing rows, before whose
/// product the warps meet: nothing would tell the products' thread. Behind the
/// loops outputs may go through a tile's place.
static bool writesOperands(Region &consumer) {
  auto isStep = [](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    return loop && !loop.getOps<MmaTensorOp>().empty();
  };
  return consumer
      .walk([&](Operation *op) {
        bool writes = isa<ChangeRowsOp, NarrowRowsOp>(op) ||
                      (isa<StoreSharedOp>(op) && isStep(op));
        return writes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// A kernel's products, and the barriers by which they are told of.
class Products {
public:
  Products(KernelOp kernel, RolesOp roles)
      : kernel(kernel), roles(roles),
        init(*kernel.getBody().front().getOps<InitMbarriersOp>().begin()) {
    roles.getConsumer().walk(
        [&](MmaTensorOp product) { products.push_back(product); });
  }

  /// Why a role of one thread cannot start them, or empty if it can.
  StringRef findObstacle();
  /// False, and nothing is changed, if it would need to know what only they
  /// compute.
  bool specialize();
  bool empty() const { return products.empty(); }

private:
  bool matchLoops();
  void findOperandBarriers();
  void createBarriers();
  void giveTilesBack();
  void tellRole(MmaTensorOp product);
  void stripConsumer();

  KernelOp kernel;
  RolesOp roles;
  InitMbarriersOp init;
  SmallVector<MmaTensorOp> products;
  /// Which the consumers arrive at, when operands and sums of the product into
  /// a tile are there.
  ReadyBarriers ready;
  /// Barriers of the tiles that products read, with those tiles.
  llvm::MapVector<Value, SmallVector<Value>> operands;
};
} // namespace

/// In each key loop the warps meet before the same products, each once: a step
/// is a phase of the barriers.
bool Products::matchLoops() {
  SmallVector<SmallVector<Value>> tiles;
  WalkResult walk = roles.getConsumer().walk([&](scf::ForOp loop) {
    SmallVector<Value> met;
    for (auto product : loop.getOps<MmaTensorOp>())
      if (product.getMeet())
        met.push_back(product.getTile());
    if (met.empty())
      return WalkResult::advance();
    tiles.push_back(met);
    return findStepCounter(loop) ? WalkResult::advance()
                                 : WalkResult::interrupt();
  });
  if (walk.wasInterrupted() || tiles.empty() || !llvm::all_equal(tiles))
    return false;
  for (Value tile : tiles.front())
    if (!ready.insert({tile, Value()}).second)
      return false;
  return llvm::all_of(products, [](MmaTensorOp product) {
    return !product.getMeet() || isa<scf::ForOp>(product->getParentOp());
  });
}

StringRef Products::findObstacle() {
  if (roles.getAll() ||
      roles.getProducers().size() >= kernel.getProducerWarps().value_or(0))
    return "all producer warps are at work";
  if (writesOperands(roles.getConsumer()))
    return "consumers write what they multiply";
  if (!matchLoops())
    return "warps do not meet once for each tile in counted steps";
  return "";
}

void Products::findOperandBarriers() {
  SetVector<Value> read;
  for (MmaTensorOp product : products)
    read.insert_range(getSharedOperands(product));
  auto add = [&](Value barrier, Value tile) {
    operands[barrier].push_back(getWhole(tile));
  };
  roles.getProducer().walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyTmaOp>(op))
      add(copy.getBarrier(), copy.getTile());
    else if (auto copy = dyn_cast<CopyBulkOp>(op))
      add(copy.getBarrier(), copy.getTile());
  });
  operands.remove_if([&](auto &entry) {
    return llvm::none_of(entry.second,
                         [&](Value tile) { return read.contains(tile); });
  });
}

//===----------------------------------------------------------------------===//
// The change
//===----------------------------------------------------------------------===//

/// One for each product before which warps meet; each warp of a warpgroup
/// arrives.
void Products::createBarriers() {
  OpBuilder builder(init);
  auto type = MbarrierType::get(builder.getContext(),
                                kernel.getWarps() / kGroupWarps, kGroupWarps);
  for (auto &[tile, barrier] : ready) {
    barrier = AllocMbarrierOp::create(builder, init.getLoc(), type,
                                      /*offset=*/IntegerAttr());
  }
}

/// Of the query and what else a persistent CTA has for a tile, consumers may
/// give the place back without a product: where there are no keys. The
/// products' thread, too, arrives when it has seen the tile, so that it misses
/// no phase of those that it waits for.
void Products::giveTilesBack() {
  llvm::DenseMap<Value, Value> places;
  Value place;
  for (Operation &op : getTileBlock(roles.getProducer())) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(op))
      place = wait.getBarrier();
    else if (auto copy = dyn_cast<CopyTmaOp>(op))
      places[copy.getBarrier()] = place;
  }
  scf::ForOp tiles = getTileLoop(*roles.getRole(RolesOp::kProducts));
  if (!tiles)
    return;
  for (auto wait : llvm::make_early_inc_range(tiles.getOps<MbarrierWaitOp>())) {
    auto empty = dyn_cast_if_present<TypedValue<MbarrierType>>(
        places.lookup(wait.getBarrier()));
    if (!empty)
      continue;
    MbarrierType type = empty.getType();
    empty.setType(MbarrierType::get(type.getContext(), type.getStages(),
                                    type.getArrivals() + 1));
    OpBuilder builder(wait->getContext());
    builder.setInsertionPointAfter(wait);
    MbarrierArriveOp::create(builder, wait.getLoc(), empty, wait.getStage(),
                             /*ctas=*/1, /*one_thread=*/true);
  }
}

/// What the lanes of a warp have read and written comes before its arrival.
void Products::tellRole(MmaTensorOp product) {
  OpBuilder builder(product);
  Location loc = product.getLoc();
  FenceTensorsOp::create(builder, loc, /*after=*/false);
  SyncWarpOp::create(builder, loc);
  MbarrierArriveOp::create(builder, loc, ready.lookup(product.getTile()),
                           product.getWarpgroup());
}

/// What consumers read of the next step's tiles they wait for when this step
/// is done.
static void waitLate(scf::IfOp branch) {
  bool onlyWaits = branch.getNumResults() == 0 && !branch.elseBlock() &&
                   llvm::all_of(*branch.thenBlock(), [](Operation &op) {
                     return isMemoryEffectFree(&op) || isa<MbarrierWaitOp>(op);
                   });
  if (onlyWaits && isa<scf::ForOp>(branch->getParentOp()))
    branch->moveBefore(branch->getBlock()->getTerminator());
}

/// Without products the consumers wait for no stages but those that they read
/// themselves: when a product is complete its operands have been there. A tile
/// outside the key loops they give back without any product, too, where there
/// are no keys.
void Products::stripConsumer() {
  Region &consumer = roles.getConsumer();
  llvm::SmallSetVector<scf::IfOp, 4> branches;
  for (MmaTensorOp product : products) {
    if (product.getMeet())
      tellRole(product);
    if (auto branch = dyn_cast<scf::IfOp>(product->getParentOp()))
      branches.insert(branch);
    product.erase();
  }
  IRRewriter rewriter(kernel.getContext());
  (void)runRegionDCE(rewriter, consumer);
  auto isReadHere = [&](Value tile) {
    return !cast<SharedType>(tile.getType()).isRing() ||
           llvm::any_of(tile.getUsers(), [&](Operation *user) {
             return consumer.isAncestor(user->getParentRegion());
           });
  };
  SmallVector<MbarrierWaitOp> idle;
  consumer.walk([&](MbarrierWaitOp wait) {
    auto entry = operands.find(wait.getBarrier());
    if (entry != operands.end() && llvm::none_of(entry->second, isReadHere))
      idle.push_back(wait);
  });
  for (MbarrierWaitOp wait : idle)
    wait.erase();
  for (scf::IfOp branch : branches)
    if (llvm::all_of(*branch.thenBlock(),
                     [](Operation &op) { return isMemoryEffectFree(&op); }))
      branch.erase();
    else
      waitLate(branch);
}

bool Products::specialize() {
  findOperandBarriers();
  createBarriers();
  SmallVector<Value> waitedFor(llvm::make_first_range(operands));
  Region role;
  if (!ProductRole(roles, kernel.getWarps() / kGroupWarps, ready, waitedFor)
           .build(role)) {
    role.dropAllReferences();
    for (auto [tile, barrier] : ready)
      barrier.getDefiningOp()->erase();
    return false;
  }
  for (auto [tile, barrier] : ready)
    init.getBarriersMutable().append(barrier);
  roles = roles.addRole(RolesOp::kProducts, role);
  giveTilesBack();
  stripConsumer();
  return true;
}

namespace {
struct SpecializeProductsPass
    : public attn::tile::impl::SpecializeProductsPassBase<
          SpecializeProductsPass> {
  using SpecializeProductsPassBase::SpecializeProductsPassBase;

  void runOnOperation() override {
    Block &body = getOperation().getBody().front();
    for (auto roles : llvm::make_early_inc_range(body.getOps<RolesOp>())) {
      Products products(getOperation(), roles);
      if (products.empty())
        continue;
      StringRef obstacle = products.findObstacle();
      if (obstacle.empty() && !products.specialize())
        obstacle = "they depend on what consumers compute";
      if (obstacle.empty())
        ++numKernels;
      else
        remarkMissed(getOperation(), getArgumentName(), "products-kept",
                     "consumers start their products themselves", obstacle);
    }
  }
};
} // namespace
