//===- CommitQuery.cpp - The query given back by its products -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-commit-query: the place of a persistent CTA's query is
// free behind the last product that reads it, a step and an output before the
// consumers get there.
//
//===----------------------------------------------------------------------===//

#include "ProductRole.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::tile {
#define GEN_PASS_DEF_COMMITQUERYPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

/// The products' thread starts products with the query in branches: those of
/// step `step`, if there is one, of `count` in all.
struct Branch {
  scf::IfOp op;
  Value step, count;
  int64_t group = 0; ///< whose products they are
};

class QueryCommitter {
public:
  QueryCommitter(RolesOp roles, Region &products)
      : roles(roles), tiles(getTileLoop(products)), products(products) {}

  /// False if anybody but products and copies has to do with the query, or it
  /// is not known which product is the last.
  bool match();
  void commit();

private:
  bool matchBarriers();
  bool matchCopies();
  bool matchConsumer();
  bool matchReaders();
  bool matchBranches();
  CopyTmaOp findCopyOfHalves();
  void split(CopyTmaOp copy);
  void splitCopy(CopyTmaOp copy);
  void copyHalves(OpBuilder &builder, CopyTmaOp copy);
  void copyHalvesAt(OpBuilder &builder, CopyTmaOp copy, Value step,
                    Value first);
  void splitWait();
  void giveBackBehind(Branch branch);
  void giveBackWithoutKeys(Branch branch);

  RolesOp roles;
  scf::ForOp tiles; ///< of the products' thread
  Region &products;
  MbarrierWaitOp wait;      ///< of that thread, for the query
  MbarrierArriveOp arrival; ///< and what it tells at once
  llvm::SmallSetVector<Value, 2> queries;
  MbarrierWaitOp consumerWait; ///< the same of the consumers
  MbarrierArriveOp consumerArrival;
  SmallVector<Branch> branches;          ///< the last of each block
  SmallVector<Branch> all;               ///< of all warpgroups
  SmallVector<MbarrierWaitOp> copyWaits; ///< of the producer
  int64_t halves = 1;
};

} // namespace

/// The branch over `product` that runs where another step is to come.
static std::optional<Branch> getBranch(MmaTensorOp product) {
  auto branch = dyn_cast<scf::IfOp>(product->getParentOp());
  auto compare = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>()
                        : arith::CmpIOp();
  if (!compare || branch.elseBlock() ||
      compare.getPredicate() != arith::CmpIPredicate::ult)
    return std::nullopt;
  std::optional<int64_t> group = getConstantIntValue(product.getWarpgroup());
  if (!group)
    return std::nullopt;
  return Branch{branch, compare.getLhs(), compare.getRhs(), *group};
}

/// A wait for the query, behind which the thread arrives.
bool QueryCommitter::matchBarriers() {
  for (auto op : tiles.getOps<MbarrierArriveOp>()) {
    auto before = dyn_cast_if_present<MbarrierWaitOp>(op->getPrevNode());
    if (!op.getOneThread() || !before || arrival)
      return false;
    wait = before;
    arrival = op;
  }
  return static_cast<bool>(arrival);
}

/// What the wait is for.
bool QueryCommitter::matchCopies() {
  WalkResult walk = roles.getProducer().walk([&](Operation *op) {
    bool waits = llvm::is_contained(op->getOperands(), wait.getBarrier());
    auto copy = dyn_cast<CopyTmaOp>(op);
    if (waits && !copy)
      return WalkResult::interrupt();
    if (waits)
      queries.insert(copy.getTile());
    return WalkResult::advance();
  });
  return !walk.wasInterrupted() && !queries.empty();
}

/// The consumers wait once in a tile, and arrive once.
bool QueryCommitter::matchConsumer() {
  Block &block = getTileBlock(roles.getConsumer());
  WalkResult walk = roles.getConsumer().walk([&](Operation *op) {
    for (Value barrier :
         {Value(wait.getBarrier()), Value(arrival.getBarrier())})
      if (llvm::is_contained(op->getOperands(), barrier) &&
          op->getBlock() != &block)
        return WalkResult::interrupt();
    if (auto other = dyn_cast<MbarrierWaitOp>(op);
        other && other.getBarrier() == wait.getBarrier()) {
      if (consumerWait)
        return WalkResult::interrupt();
      consumerWait = other;
    }
    if (auto other = dyn_cast<MbarrierArriveOp>(op);
        other && other.getBarrier() == arrival.getBarrier()) {
      if (consumerArrival)
        return WalkResult::interrupt();
      consumerArrival = other;
    }
    return WalkResult::advance();
  });
  return !walk.wasInterrupted() && consumerWait && consumerArrival;
}

/// Products of the thread read the query, and nothing else does: it is a tile
/// of its own, whose place no output takes.
bool QueryCommitter::matchReaders() {
  for (Value query : queries) {
    if (!query.getDefiningOp<AllocOp>())
      return false;
    for (Operation *user : query.getUsers()) {
      auto product = dyn_cast<MmaTensorOp>(user);
      if (!isa<CopyTmaOp>(user) &&
          !(product && products.isAncestor(product->getParentRegion())))
        return false;
      if (!product)
        continue;
      std::optional<Branch> branch = getBranch(product);
      if (!branch)
        return false;
      branches.push_back(*branch);
    }
  }
  return true;
}

/// All of the same steps, some of them in front of the key loops.
bool QueryCommitter::matchBranches() {
  llvm::MapVector<Block *, Branch> last;
  for (Branch branch : branches) {
    auto [entry, isNew] = last.insert({branch.op->getBlock(), branch});
    if (!isNew && entry->second.op->isBeforeInBlock(branch.op))
      entry->second = branch;
  }
  all = branches;
  branches.clear();
  for (auto &[block, branch] : last) {
    branches.push_back(branch);
    Operation *parent = block->getParentOp();
    if (parent != tiles && parent->getParentOp() != tiles)
      return false;
  }
  return llvm::all_of(branches,
                      [&](const Branch &branch) {
                        return branch.count == branches.front().count;
                      }) &&
         last.contains(tiles.getBody());
}

bool QueryCommitter::match() {
  return matchBarriers() && matchCopies() && matchConsumer() &&
         matchReaders() && matchBranches();
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

/// The heads that a box of a tensor map, one of the last parameters, has.
static int64_t getMappedHeads(KernelOp kernel, BlockArgument map) {
  ArrayRef<int64_t> heads = *kernel.getMappedHeads();
  size_t first = kernel.getBody().getNumArguments() - heads.size();
  return heads[map.getArgNumber() - first];
}

/// The copy of a query of which each of two warpgroups multiplies a half, if
/// nothing else is copied by its tensor map, whose boxes become halves.
CopyTmaOp QueryCommitter::findCopyOfHalves() {
  auto kernel = cast<KernelOp>(roles->getParentOp());
  if (queries.size() != 1 || kernel.getWarps() != 2 * RolesOp::kWarpgroupWarps)
    return {};
  CopyTmaOp copy;
  for (Operation *user : queries.front().getUsers())
    if (auto other = dyn_cast<CopyTmaOp>(user)) {
      if (copy)
        return {};
      copy = other;
    }
  auto map = dyn_cast<BlockArgument>(copy.getSource());
  bool isWhole = copy.getCtas() == 1 && !copy.getFirstCta() &&
                 copy.getPages().empty() && !copy.getRows();
  if (!map || !map.hasOneUse() || getMappedHeads(kernel, map) != 1 || !isWhole)
    return {};
  return copy;
}

/// Starts the copies of the halves, each as soon as its place is free.
void QueryCommitter::copyHalves(OpBuilder &builder, CopyTmaOp copy) {
  int64_t rows = copy.getTile().getType().getRows() / halves;
  for (int64_t half = 0; half < halves; ++half) {
    Value stage = arith::ConstantIndexOp::create(builder, copy.getLoc(), half);
    for (MbarrierWaitOp wait : copyWaits)
      MbarrierWaitOp::create(builder, wait.getLoc(), wait.getBarrier(), stage,
                             wait.getParity());
    auto part = cast<CopyTmaOp>(builder.clone(*copy));
    part.getStageMutable().assign(stage);
    part.setRows({{half * rows, (half + 1) * rows}});
  }
}

/// As copyHalves, where the steps have come no further than `first`.
void QueryCommitter::copyHalvesAt(OpBuilder &builder, CopyTmaOp copy,
                                  Value step, Value first) {
  Location loc = copy.getLoc();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        step, first);
  auto branch = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  copyHalves(builder, copy);
}

/// The place of the tile's first keys is free before that of the query: they
/// come first. Without keys the query comes alone.
void QueryCommitter::splitCopy(CopyTmaOp copy) {
  SharedType tile = copy.getTile().getType();
  copy.getSource().setType(
      TensorMapType::getFor(tile, tile.getRows() / halves));
  for (Operation *user : arrival.getBarrier().getUsers())
    if (auto wait = dyn_cast<MbarrierWaitOp>(user))
      copyWaits.push_back(wait);
  SmallVector<scf::ForOp> loops(copy->getBlock()->getOps<scf::ForOp>());
  bool areCounted = llvm::all_of(loops, [](scf::ForOp loop) {
    return findStepCounter(loop) && !loop.getOps<CopyTmaOp>().empty();
  });
  OpBuilder builder(copy);
  if (loops.empty() || !areCounted) {
    copyHalves(builder, copy);
  } else {
    Value first = loops.front().getInitArgs()[*findStepCounter(loops.front())];
    for (scf::ForOp loop : loops) {
      builder.setInsertionPointAfter(*loop.getOps<CopyTmaOp>().begin());
      copyHalvesAt(builder, copy, loop.getRegionIterArg(*findStepCounter(loop)),
                   first);
    }
    scf::ForOp last = loops.back();
    builder.setInsertionPointAfter(last);
    copyHalvesAt(builder, copy, last.getResult(*findStepCounter(last)), first);
  }
  for (MbarrierWaitOp wait : copyWaits)
    wait.erase();
  copy.erase();
}

/// The products' thread waits for a half in front of the first product with it.
void QueryCommitter::splitWait() {
  SmallVector<Operation *> firsts(halves);
  for (Branch branch : all)
    if (Operation *&first = firsts[branch.group];
        branch.op->getParentOp() == tiles && !first)
      first = branch.op;
  for (auto [half, first] : llvm::enumerate(firsts)) {
    OpBuilder builder(first);
    Value stage = arith::ConstantIndexOp::create(builder, wait.getLoc(),
                                                 static_cast<int64_t>(half));
    MbarrierWaitOp::create(builder, wait.getLoc(), wait.getBarrier(), stage,
                           wait.getParity());
  }
}

/// Each warpgroup's half has a phase of its own.
void QueryCommitter::split(CopyTmaOp copy) {
  halves = 2;
  for (TypedValue<MbarrierType> barrier :
       {wait.getBarrier(), arrival.getBarrier()})
    barrier.setType(MbarrierType::get(barrier.getContext(), halves,
                                      barrier.getType().getArrivals()));
  splitCopy(copy);
  splitWait();
  wait.erase();
  branches = all;
}

//===----------------------------------------------------------------------===//
// The change
//===----------------------------------------------------------------------===//

/// Where the branch's step is the last one: its products are the last that
/// read the query, or the half that it has of it.
void QueryCommitter::giveBackBehind(Branch branch) {
  OpBuilder builder(branch.op.thenBlock()->getTerminator());
  Location loc = branch.op.getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value next = arith::AddIOp::create(builder, loc, branch.step, one);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       next, branch.count);
  auto last = scf::IfOp::create(builder, loc, isLast);
  builder.setInsertionPointToStart(last.thenBlock());
  Value half = arith::ConstantIndexOp::create(builder, loc,
                                              halves > 1 ? branch.group : 0);
  CommitTensorsOp::create(builder, loc, arrival.getBarrier(), half,
                          /*ctas=*/1);
}

void QueryCommitter::giveBackWithoutKeys(Branch branch) {
  OpBuilder builder(branch.op->getContext());
  builder.setInsertionPointAfter(branch.op);
  Location loc = branch.op.getLoc();
  Value isNone = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       branch.step, branch.count);
  auto none = scf::IfOp::create(builder, loc, isNone);
  builder.setInsertionPointToStart(none.thenBlock());
  Value half = arith::ConstantIndexOp::create(builder, loc,
                                              halves > 1 ? branch.group : 0);
  MbarrierArriveOp::create(builder, loc, arrival.getBarrier(), half,
                           /*ctas=*/1, /*one_thread=*/true);
}

/// Without the consumers' wait none of them can miss a phase, of which the next
/// query may complete one before a warp has seen the last.
void QueryCommitter::commit() {
  TypedValue<MbarrierType> empty = arrival.getBarrier();
  empty.setType(MbarrierType::get(empty.getContext(),
                                  empty.getType().getStages(),
                                  /*arrivals=*/1));
  if (CopyTmaOp copy = findCopyOfHalves())
    split(copy);
  for (Branch branch : branches) {
    giveBackBehind(branch);
    if (branch.op->getParentOp() == tiles)
      giveBackWithoutKeys(branch);
  }
  for (MbarrierArriveOp op : {arrival, consumerArrival}) {
    if (auto sync = dyn_cast_if_present<SyncWarpOp>(op->getPrevNode()))
      sync->erase();
    op->erase();
  }
  consumerWait->erase();
}

namespace {
struct CommitQueryPass
    : public attn::tile::impl::CommitQueryPassBase<CommitQueryPass> {
  using CommitQueryPassBase::CommitQueryPassBase;

  void runOnOperation() override {
    for (auto roles : getOperation().getBody().front().getOps<RolesOp>()) {
      Region *products = roles.getRole(RolesOp::kProducts);
      if (!products || !getTileLoop(*products))
        continue;
      QueryCommitter committer(roles, *products);
      if (!committer.match())
        continue;
      committer.commit();
      ++numKernels;
    }
  }
};
} // namespace
