//===- StartNextTile.cpp - Scores of the next tile, early -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-start-next-tile: in a tile's last step the thread that
// starts products starts the first scores of the CTA's next tile, where in
// other steps it starts those of the next step.
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace attn::tile {
#define GEN_PASS_DEF_STARTNEXTTILEPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

class NextTileStarter {
public:
  explicit NextTileStarter(Region &products) : tiles(getTileLoop(products)) {}

  /// False if there is no next tile, or its query may wait for products of
  /// this one.
  bool match();
  void start();

private:
  bool matchFront();
  bool matchBranches();
  void addElse(scf::IfOp branch, ArrayRef<MbarrierWaitOp> waits);
  void startOnce();
  Value cloneForNext(OpBuilder &builder, Value value, Value step, Value next);

  scf::ForOp tiles;
  SmallVector<scf::IfOp> fronts; ///< the first step's scores
  Value base, count;    ///< of the tile's steps: the first one, and behind them
  unsigned counter = 0; ///< of tiles, among the loop's values
  SmallVector<MbarrierWaitOp> queries; ///< whole, or of each warpgroup
  SmallVector<scf::IfOp> branches;     ///< a next step's scores
};

} // namespace

static arith::CmpIOp getComparison(scf::IfOp branch) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  bool matches = compare && branch.getNumResults() == 0 &&
                 !branch.elseBlock() &&
                 compare.getPredicate() == arith::CmpIPredicate::ult &&
                 !branch.thenBlock()->getOps<MmaTensorOp>().empty();
  return matches ? compare : arith::CmpIOp();
}

/// The query is waited for in front of the first scores, and given back by a
/// commit behind the last ones (--attn-tile-commit-query).
bool NextTileStarter::matchFront() {
  std::optional<unsigned> number = findStepCounter(tiles);
  if (!number)
    return false;
  counter = *number;
  for (Operation &op : *tiles.getBody()) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(op))
      queries.push_back(wait);
    auto branch = dyn_cast<scf::IfOp>(op);
    arith::CmpIOp compare = branch ? getComparison(branch) : arith::CmpIOp();
    if (isa<MbarrierArriveOp>(op))
      return false;
    if (!compare)
      continue;
    if (!fronts.empty() &&
        (base != compare.getLhs() || count != compare.getRhs()))
      return false;
    fronts.push_back(branch);
    base = compare.getLhs();
    count = compare.getRhs();
  }
  if (queries.empty() || fronts.size() < queries.size() ||
      !llvm::is_contained(tiles.getRegionIterArgs(), base))
    return false;
  for (auto [wait, front] : llvm::zip(queries, fronts))
    if (!wait->isBeforeInBlock(front))
      return false;
  return fronts.back()
      ->walk([](CommitTensorsOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// In each key loop there is a branch for each warpgroup.
bool NextTileStarter::matchBranches() {
  for (auto loop : tiles.getOps<scf::ForOp>()) {
    std::optional<unsigned> steps = findStepCounter(loop);
    size_t before = branches.size();
    for (auto branch : loop.getOps<scf::IfOp>())
      if (arith::CmpIOp compare = getComparison(branch);
          compare && compare.getRhs() == count)
        branches.push_back(branch);
    if (!steps || branches.size() == before)
      return false;
  }
  return !branches.empty();
}

bool NextTileStarter::match() {
  return tiles && matchFront() && matchBranches();
}

/// `value` of this tile as it is for tile `next`, whose first step is `step`.
Value NextTileStarter::cloneForNext(OpBuilder &builder, Value value, Value step,
                                    Value next) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == tiles.getBody();
  };
  (void)getBackwardSlice(value, &slice, options);
  Location loc = value.getLoc();
  IRMapping mapping;
  mapping.map(tiles.getInductionVar(), next);
  mapping.map(base, step);
  Value number = tiles.getRegionIterArg(counter);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  mapping.map(number, arith::AddIOp::create(builder, loc, number, one));
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  return mapping.lookupOrDefault(value);
}

/// Where no step follows in this tile: the next tile's first one, if there is
/// one.
void NextTileStarter::addElse(scf::IfOp branch,
                              ArrayRef<MbarrierWaitOp> waits) {
  OpBuilder builder(branch);
  Location loc = branch.getLoc();
  Value step = getComparison(branch).getLhs();
  auto both = scf::IfOp::create(builder, loc, branch.getCondition(),
                                /*withElseRegion=*/true);
  both.thenBlock()->erase();
  both.getThenRegion().takeBody(branch.getThenRegion());
  branch.erase();

  builder.setInsertionPointToStart(both.elseBlock());
  Value next = arith::AddIOp::create(builder, loc, tiles.getInductionVar(),
                                     tiles.getStep());
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       next, tiles.getUpperBound());
  auto follows = scf::IfOp::create(builder, loc, exists);
  builder.setInsertionPointToStart(follows.thenBlock());
  Value steps = cloneForNext(builder, count, step, next);
  Value hasSteps = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, step, steps);
  auto starts = scf::IfOp::create(builder, loc, hasSteps);
  builder.setInsertionPointToStart(starts.thenBlock());
  for (MbarrierWaitOp query : waits)
    MbarrierWaitOp::create(
        builder, loc, query.getBarrier(),
        cloneForNext(builder, query.getStage(), step, next),
        cloneForNext(builder, query.getParity(), step, next));
  IRMapping mapping;
  mapping.map(count, steps);
  for (Operation &op : both.thenBlock()->without_terminator())
    builder.clone(op, mapping);
}

/// A tile behind one with steps finds its first scores started. Its query must
/// not be waited for again, since the next one may have come to its place.
void NextTileStarter::startOnce() {
  IRRewriter rewriter(tiles.getContext());
  rewriter.setInsertionPoint(tiles);
  Location loc = tiles.getLoc();
  Value no = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  auto addYield = [&](OpBuilder &builder, Location where,
                      ArrayRef<BlockArgument>) -> SmallVector<Value> {
    return {arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ne,
                                  base, count)};
  };
  size_t number = tiles.getRegionIterArgs().size();
  unsigned position = cast<BlockArgument>(base).getArgNumber();
  auto loop = cast<scf::ForOp>(*tiles.replaceWithAdditionalYields(
      rewriter, no, /*replaceInitOperandUsesInLoop=*/false, addYield));
  tiles = loop;
  base = loop.getBody()->getArgument(position);
  Value started = loop.getRegionIterArg(number);
  rewriter.setInsertionPoint(fronts.front());
  Value yes = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  Value hasSteps = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, base, count);
  Value isStarted = arith::AndIOp::create(rewriter, loc, started, hasSteps);
  Value isLeft = arith::XOrIOp::create(rewriter, loc, isStarted, yes);
  for (auto [query, front] : llvm::zip(queries, fronts)) {
    rewriter.setInsertionPoint(front);
    auto branch = scf::IfOp::create(rewriter, loc, isLeft);
    rewriter.moveOpBefore(query, branch.thenBlock()->getTerminator());
  }
  for (scf::IfOp front : fronts) {
    rewriter.setInsertionPoint(front);
    front.getConditionMutable().assign(
        arith::AndIOp::create(rewriter, loc, front.getCondition(), isLeft));
  }
}

void NextTileStarter::start() {
  llvm::SmallDenseMap<Block *, size_t> seen;
  for (scf::IfOp branch : branches) {
    size_t number = seen[branch->getBlock()]++;
    ArrayRef<MbarrierWaitOp> waits = queries;
    addElse(branch, waits.slice(std::min(number, waits.size()),
                                number < waits.size() ? 1 : 0));
  }
  startOnce();
}

namespace {
struct StartNextTilePass
    : public attn::tile::impl::StartNextTilePassBase<StartNextTilePass> {
  using StartNextTilePassBase::StartNextTilePassBase;

  void runOnOperation() override {
    for (auto roles : getOperation().getBody().front().getOps<RolesOp>()) {
      Region *products = roles.getRole(RolesOp::kProducts);
      if (!products)
        continue;
      NextTileStarter starter(*products);
      if (!starter.match())
        continue;
      starter.start();
      ++numKernels;
    }
  }
};
} // namespace
