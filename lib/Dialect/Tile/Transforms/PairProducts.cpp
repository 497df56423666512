//===- PairProducts.cpp - Two CTAs that multiply together -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-pair-products: the CTAs of a cluster of two, which
// stream the same tiles, become a pair (PTX ISA, tcgen05, "CTA Pair"). The
// right operand of a product of both is half in the one's and half in the
// other's shared memory, at the same place. Which half a CTA has of a tile
// depends on how a product reads it: of [n, k] some rows, of [k, n] some
// columns. A tile that is read in both ways is there as both halves.
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"
#include "MissedRemark.h"
#include "ProductRole.h"
#include "TensorMaps.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace attn::tile {
#define GEN_PASS_DEF_PAIRPRODUCTSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

static constexpr int64_t kCtas = 2;

namespace {
/// A ring of tiles that both CTAs stream, and a CTA's halves of it, each null
/// if no product reads it.
struct SharedRing {
  CopyTmaOp copy;
  TypedValue<SharedType> ring, rows, columns;
  bool readsRows = false, readsColumns = false;
};

class CtaPair {
public:
  CtaPair(KernelOp kernel, RolesOp roles, Region &products)
      : kernel(kernel), roles(roles), products(products) {}

  /// Why the CTAs cannot be a pair, or empty if they can.
  StringRef findObstacle();
  void build();

private:
  void findRings();
  bool hasSteps() const;
  bool giveBackShared();
  bool isHalved(SharedRing &ring) const;
  SharedRing *findRing(Value tile);

  Value getRank(Region &role);
  Value addColumnsMap(const SharedRing &ring);
  static TypedValue<SharedType> allocateHalf(const SharedRing &ring,
                                             int64_t rows, int64_t columns,
                                             int64_t swizzle);
  void halve(SharedRing &ring, Value rank);
  void copyHalf(SharedRing &ring, Value half, Value map, unsigned index,
                Value first);
  void readHalf(MmaTensorOp product);
  void tellFirst();
  void commitToBoth();
  SetVector<Value> guardCommits();
  void guardWaits(const SetVector<Value> &sums);
  void waitWithoutSteps(OpBuilder &builder, Location loc);
  void waitBehindLoops();
  void startInFirst();
  void freeTogether();

  KernelOp kernel;
  RolesOp roles;
  Region &products;
  SmallVector<SharedRing> rings;
};
} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

void CtaPair::findRings() {
  roles.getProducer().walk([&](CopyTmaOp copy) {
    if (copy.getCtas() == kCtas)
      rings.push_back({copy,
                       cast<TypedValue<SharedType>>(getWhole(copy.getTile())),
                       /*rows=*/{},
                       /*columns=*/{}});
  });
}

SharedRing *CtaPair::findRing(Value tile) {
  auto *ring = llvm::find_if(
      rings, [&](const SharedRing &one) { return one.ring == getWhole(tile); });
  return ring == rings.end() ? nullptr : ring;
}

/// The steps of all loops of a role, or null where they are not counted.
static Value countSteps(Region &role) {
  Value count;
  for (auto loop : role.front().getOps<scf::ForOp>())
    if (std::optional<unsigned> counter = findStepCounter(loop))
      count = loop.getResult(*counter);
  return count;
}

/// True if it is known that each loop has a step.
bool CtaPair::hasSteps() const {
  WalkResult walk = products.walk([](scf::ForOp loop) {
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
    return lower && upper && *lower < *upper ? WalkResult::advance()
                                             : WalkResult::interrupt();
  });
  return !walk.wasInterrupted();
}

/// The widest swizzle whose panels half of the columns are, or 0.
static int64_t getHalfSwizzle(SharedType type) {
  for (int64_t swizzle : {128, 64, 32})
    if (type.getCols() * type.getElementBytes() % (kCtas * swizzle) == 0)
      return swizzle;
  return 0;
}

/// True if nobody but products, as a right operand, reads the tiles, and halves
/// are of whole panels and patterns of a swizzle.
bool CtaPair::isHalved(SharedRing &ring) const {
  SharedType type = ring.ring.getType();
  if (!type.isRing() || type.getRows() % (8 * kCtas) != 0 ||
      getHalfSwizzle(type) == 0)
    return false;
  for (Operation *user : ring.ring.getUsers()) {
    auto stage = dyn_cast<StageOp>(user);
    if (!stage)
      return false;
    for (OpOperand &use : stage.getTile().getUses()) {
      if (use.getOwner() == ring.copy)
        continue;
      auto product = dyn_cast<MmaTensorOp>(use.getOwner());
      if (!product || product.getB() != use.get() ||
          product.getA() == use.get())
        return false;
      (product.getTransposeB() ? ring.readsRows : ring.readsColumns) = true;
    }
  }
  return ring.readsRows || ring.readsColumns;
}

/// True if stages are given back in both CTAs: by the products that read them,
/// or by consumers, who have waited for these.
bool CtaPair::giveBackShared() {
  bool give = false;
  products.walk(
      [&](CommitTensorsOp commit) { give |= commit.getCtas() == kCtas; });
  roles.getConsumer().walk(
      [&](MbarrierArriveOp arrival) { give |= arrival.getCtas() == kCtas; });
  return give;
}

StringRef CtaPair::findObstacle() {
  findRings();
  if (kernel.getClusterCtas() != kCtas || rings.empty())
    return "the CTAs share no tiles in clusters of two";
  if (getTileLoop(products))
    return "a CTA has more than one tile";
  if (!hasSteps() && !(countSteps(products) && countSteps(roles.getConsumer())))
    return "steps are not counted, of which there may be none";
  if (!giveBackShared())
    return "neither products nor consumers give back what is shared";
  WalkResult others = products.walk([&](MmaTensorOp product) {
    return findRing(product.getB()) ? WalkResult::advance()
                                    : WalkResult::interrupt();
  });
  if (others.wasInterrupted())
    return "products read what is not shared";
  bool areHalved =
      llvm::all_of(rings, [&](SharedRing &ring) { return isHalved(ring); });
  return areHalved ? "" : "products do not read halves of what is shared";
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

/// Which of the two CTAs runs the role: neighbours in x are a pair.
Value CtaPair::getRank(Region &role) {
  auto builder = OpBuilder::atBlockBegin(&role.front());
  Location loc = roles.getLoc();
  Value number = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value one = arith::ConstantIndexOp::create(builder, loc, kCtas - 1);
  return arith::AndIOp::create(builder, loc, number, one);
}

/// Copies what is at the tile's indices, of which number `index` is larger by
/// `first`.
void CtaPair::copyHalf(SharedRing &ring, Value half, Value map, unsigned index,
                       Value first) {
  CopyTmaOp copy = ring.copy;
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  SmallVector<Value> indices(copy.getIndices());
  if (index == indices.size())
    indices.push_back(first);
  else
    indices[index] = arith::AddIOp::create(builder, loc, indices[index], first);
  Value number = copy.getTile().getDefiningOp<StageOp>().getIndex();
  CopyTmaOp::create(builder, loc, map, indices, /*pages=*/ValueRange(),
                    StageOp::create(builder, loc, half, number),
                    copy.getBarrier(), copy.getStage(), copy.getEvictFirst(),
                    copy.getEvictLast(), /*ctas=*/1, /*first_cta=*/true);
}

/// A map of the ring's tensor in boxes of all rows of half of the columns.
Value CtaPair::addColumnsMap(const SharedRing &ring) {
  ArrayRef<int64_t> mapped = *kernel.getMapped();
  auto map = cast<BlockArgument>(CopyTmaOp(ring.copy).getSource());
  size_t first = kernel.getBody().getNumArguments() - mapped.size();
  Value tensor =
      kernel.getBody().getArgument(mapped[map.getArgNumber() - first]);
  return addTensorMap(kernel, tensor, ring.columns.getType(),
                      ring.columns.getType().getRows());
}

/// A ring of as many stages, of a half of each tile.
TypedValue<SharedType> CtaPair::allocateHalf(const SharedRing &ring,
                                             int64_t rows, int64_t columns,
                                             int64_t swizzle) {
  SharedType type = ring.ring.getType();
  OpBuilder builder(ring.ring.getDefiningOp());
  auto half = SharedType::get(builder.getContext(),
                              {type.getShape().front(), rows, columns},
                              type.getElementType(), swizzle);
  auto alloc = AllocOp::create(builder, ring.ring.getLoc(), half,
                               /*offset=*/IntegerAttr());
  return cast<TypedValue<SharedType>>(alloc.getResult());
}

/// Boxes of the multicast have half of the rows already. Each copy is an
/// arrival.
void CtaPair::halve(SharedRing &ring, Value rank) {
  constexpr unsigned rowIndex = 2, columnIndex = 3;
  SharedType type = ring.ring.getType();
  int64_t rows = type.getRows(), columns = type.getCols();
  OpBuilder builder(ring.copy);
  auto firstOf = [&](int64_t half) {
    Location loc = ring.copy.getLoc();
    Value size = arith::ConstantIndexOp::create(builder, loc, half);
    return arith::MulIOp::create(builder, loc, rank, size);
  };
  if (ring.readsRows) {
    ring.rows = allocateHalf(ring, rows / kCtas, columns, type.getSwizzle());
    copyHalf(ring, ring.rows, ring.copy.getSource(), rowIndex,
             firstOf(rows / kCtas));
  }
  if (ring.readsColumns) {
    ring.columns =
        allocateHalf(ring, rows, columns / kCtas, getHalfSwizzle(type));
    copyHalf(ring, ring.columns, addColumnsMap(ring), columnIndex,
             firstOf(columns / kCtas));
  }
  TypedValue<MbarrierType> full = ring.copy.getBarrier();
  MbarrierType barrier = full.getType();
  full.setType(MbarrierType::get(builder.getContext(), barrier.getStages(),
                                 barrier.getArrivals() - 1 + ring.readsRows +
                                     ring.readsColumns));
  ring.copy.erase();
}

void CtaPair::readHalf(MmaTensorOp product) {
  SharedRing *ring = findRing(product.getB());
  OpBuilder builder(product);
  Value half = product.getTransposeB() ? ring->rows : ring->columns;
  Value number = product.getB().getDefiningOp<StageOp>().getIndex();
  product.getBMutable().assign(
      StageOp::create(builder, product.getLoc(), half, number));
}

//===----------------------------------------------------------------------===//
// Who tells whom
//===----------------------------------------------------------------------===//

/// Warps of both CTAs arrive at what the first one's products wait for, and
/// what a CTA has for itself is waited for there, too.
void CtaPair::tellFirst() {
  SetVector<Value> awaited;
  products.walk(
      [&](MbarrierWaitOp wait) { awaited.insert(wait.getBarrier()); });
  SetVector<Value> told;
  roles.getConsumer().walk([&](MbarrierArriveOp arrival) {
    if (!awaited.contains(arrival.getBarrier()))
      return;
    arrival.setFirstCta(true);
    told.insert(arrival.getBarrier());
  });
  for (Value barrier : told) {
    auto type = cast<MbarrierType>(barrier.getType());
    barrier.setType(MbarrierType::get(type.getContext(), type.getStages(),
                                      type.getArrivals() * kCtas));
  }
  roles.getProducer().walk([&](CopyTmaOp copy) { copy.setFirstCta(true); });
}

/// A stage is given back by one commit, no longer by that of each CTA, and by
/// the CTA's own warps: who has waited for a product knows that it is complete
/// in both.
void CtaPair::commitToBoth() {
  llvm::MapVector<Value, int64_t> fewer;
  products.walk([&](CommitTensorsOp commit) {
    if (commit.getCtas() == kCtas)
      fewer[commit.getBarrier()] = kCtas - 1;
    commit.setCtas(kCtas);
  });
  roles.getConsumer().walk([&](MbarrierArriveOp arrival) {
    if (arrival.getCtas() != kCtas)
      return;
    auto type = cast<MbarrierType>(arrival.getBarrier().getType());
    fewer[arrival.getBarrier()] = type.getArrivals() / kCtas;
    arrival.setCtas(1);
  });
  for (auto [empty, arrivals] : fewer) {
    auto type = cast<MbarrierType>(empty.getType());
    empty.setType(MbarrierType::get(type.getContext(), type.getStages(),
                                    type.getArrivals() - arrivals));
  }
}

/// What a CTA has for itself is there in both, where no product says so.
void CtaPair::waitWithoutSteps(OpBuilder &builder, Location loc) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SetVector<Value> barriers;
  roles.getProducer().walk([&](CopyTmaOp copy) {
    if (!copy.getTile().getDefiningOp<StageOp>())
      barriers.insert(copy.getBarrier());
  });
  for (Value barrier : barriers)
    MbarrierWaitOp::create(builder, loc, barrier, zero, zero);
  ClusterBarrierOp::create(builder, loc);
}

/// Whether there was a step in the loops of a role.
static Value hasStepped(OpBuilder &builder, Region &role) {
  Value count = countSteps(role);
  Location loc = count.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, count,
                               zero);
}

/// Without a step there is no product, and a commit of none need not tell both
/// CTAs (flash-attention, AI/DEBUG_2CTA.md). Returns the sums' barriers.
SetVector<Value> CtaPair::guardCommits() {
  SmallVector<CommitTensorsOp> commits(products.getOps<CommitTensorsOp>());
  if (commits.empty())
    return {};
  auto builder = OpBuilder::atBlockEnd(&products.front());
  auto guarded =
      scf::IfOp::create(builder, roles.getLoc(), hasStepped(builder, products));
  SetVector<Value> sums;
  for (CommitTensorsOp commit : commits) {
    commit->moveBefore(guarded.thenBlock()->getTerminator());
    sums.insert(commit.getBarrier());
  }
  return sums;
}

/// Where a sum is waited for in each step.
void CtaPair::waitBehindLoops() {
  Region &consumer = roles.getConsumer();
  Operation *last = nullptr;
  for (auto loop : consumer.getOps<scf::ForOp>())
    last = loop;
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  Location loc = last->getLoc();
  auto branch = scf::IfOp::create(builder, loc, hasStepped(builder, consumer),
                                  /*withElse=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  waitWithoutSteps(builder, loc);
}

void CtaPair::guardWaits(const SetVector<Value> &sums) {
  Region &consumer = roles.getConsumer();
  if (sums.empty())
    return waitBehindLoops();
  for (auto wait :
       llvm::make_early_inc_range(consumer.getOps<MbarrierWaitOp>())) {
    if (!sums.contains(wait.getBarrier()))
      continue;
    OpBuilder builder(wait);
    auto branch =
        scf::IfOp::create(builder, wait.getLoc(), hasStepped(builder, consumer),
                          /*withElse=*/true);
    wait->moveBefore(branch.thenBlock()->getTerminator());
    builder.setInsertionPointToStart(branch.elseBlock());
    waitWithoutSteps(builder, wait.getLoc());
  }
}

/// The products' thread of the second CTA has nothing to do.
void CtaPair::startInFirst() {
  Block &block = products.front();
  SmallVector<Operation *> ops =
      llvm::map_to_vector(block, [](Operation &op) { return &op; });
  auto builder = OpBuilder::atBlockEnd(&block);
  Location loc = roles.getLoc();
  Value rank = getRank(products);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rank, zero);
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  for (Operation *op : ops)
    op->moveBefore(guarded.thenBlock()->getTerminator());
}

/// Tensor memory is given back when both have read theirs; then neither tells
/// the other anything.
void CtaPair::freeTogether() {
  Block &consumer = roles.getConsumer().front();
  for (auto barrier :
       llvm::make_early_inc_range(consumer.getOps<ClusterBarrierOp>()))
    barrier->erase();
  for (auto free : consumer.getOps<FreeTensorsOp>()) {
    OpBuilder builder(free);
    ClusterBarrierOp::create(builder, free.getLoc());
  }
}

void CtaPair::build() {
  kernel.setCtaPairs(true);
  Value rank = getRank(roles.getProducer());
  for (SharedRing &ring : rings)
    halve(ring, rank);
  products.walk([&](MmaTensorOp product) { readHalf(product); });
  for (SharedRing &ring : rings) {
    for (Operation *stage : llvm::make_early_inc_range(ring.ring.getUsers()))
      stage->erase();
    ring.ring.getDefiningOp()->erase();
  }
  tellFirst();
  commitToBoth();
  if (!hasSteps())
    guardWaits(guardCommits());
  startInFirst();
  freeTogether();
}

namespace {
struct PairProductsPass
    : public attn::tile::impl::PairProductsPassBase<PairProductsPass> {
  using PairProductsPassBase::PairProductsPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!getScheduleOf(kernel).ctaPair)
      return;
    for (auto roles : kernel.getBody().front().getOps<RolesOp>()) {
      Region *products = roles.getRole(RolesOp::kProducts);
      if (!products)
        return explain(kernel, "consumers start their products themselves");
      CtaPair pair(kernel, roles, *products);
      if (StringRef obstacle = pair.findObstacle(); !obstacle.empty())
        return explain(kernel, obstacle);
      pair.build();
      ++numKernels;
    }
  }

private:
  static void explain(KernelOp kernel, StringRef obstacle) {
    remarkMissed(kernel, getArgumentName(), "ctas-apart",
                 "CTAs multiply each for itself", obstacle);
  }
};
} // namespace
