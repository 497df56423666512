//===- SinkWaits.cpp - Waits where tiles are read ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-sink-waits: tiles and vectors are waited for where
// they are first read, so that the first products, and what consumers compute
// of them, begin while the producer copies what later ones read.
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"
#include "ProductRole.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace attn::tile {
#define GEN_PASS_DEF_SINKWAITSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

//===----------------------------------------------------------------------===//
// Tiles that are loaded once
//===----------------------------------------------------------------------===//

namespace {
/// The tiles whose copies complete the phases of a barrier.
using TilesOfBarriers = llvm::MapVector<Value, SmallVector<Value>>;
} // namespace

static TilesOfBarriers findTiles(Region &producer) {
  TilesOfBarriers tiles;
  producer.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyTmaOp>(op))
      tiles[copy.getBarrier()].push_back(getWhole(copy.getTile()));
    else if (auto copy = dyn_cast<CopyBulkOp>(op))
      tiles[copy.getBarrier()].push_back(getWhole(copy.getTile()));
  });
  return tiles;
}

/// True if `op`, or one in it, has one of `tiles` for an operand.
static bool reads(Operation &op, ArrayRef<Value> tiles) {
  return op
      .walk([&](Operation *inner) {
        bool isRead = llvm::any_of(inner->getOperands(), [&](Value operand) {
          return isa<SharedType>(operand.getType()) &&
                 llvm::is_contained(tiles, getWhole(operand));
        });
        return isRead ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The first op from `op` on that reads one of `tiles`, or null.
static Operation *findReader(Operation *op, ArrayRef<Value> tiles) {
  while (op && !reads(*op, tiles))
    op = op->getNextNode();
  return op;
}

/// A step's products that begin in front of the loops are in a branch if there
/// may be no step; then nothing else reads the tiles. What is not read at all
/// has to come before the CTA ends.
static void sink(MbarrierWaitOp wait, ArrayRef<Value> tiles) {
  Block *block = wait->getBlock();
  Operation *reader = findReader(wait->getNextNode(), tiles);
  if (auto branch = dyn_cast_if_present<scf::IfOp>(reader);
      branch && !branch.thenBlock()->getOps<MmaTensorOp>().empty())
    reader = findReader(&branch.thenBlock()->front(), tiles);
  if (reader)
    wait->moveBefore(reader);
  else
    wait->moveBefore(block, block->end());
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

namespace {
/// Waits of consumers for the vectors of a ring's next stage: in front of the
/// loops for those of the first step, and in each step for those of the next.
class AheadWaits {
public:
  AheadWaits(Value barrier, ArrayRef<Value> tiles)
      : barrier(barrier), tiles(tiles) {}

  /// False if there are others in `consumer`, or none.
  bool match(Region &consumer);
  /// Waits in each step for its own.
  void sink();

private:
  static Operation *findVectorReader(scf::ForOp loop, ArrayRef<Value> tiles);

  Value barrier;
  ArrayRef<Value> tiles;
  SmallVector<MbarrierWaitOp> first;
  llvm::MapVector<Operation *, MbarrierWaitOp> next; ///< by their loops
};
} // namespace

/// What names the stage reads nothing of it.
Operation *AheadWaits::findVectorReader(scf::ForOp loop,
                                        ArrayRef<Value> tiles) {
  Operation *reader = findReader(&loop.getBody()->front(), tiles);
  while (reader && isa<StageOp>(reader))
    reader = findReader(reader->getNextNode(), tiles);
  return reader;
}

bool AheadWaits::match(Region &consumer) {
  WalkResult walk = consumer.walk([&](MbarrierWaitOp wait) {
    if (wait.getBarrier() != barrier)
      return WalkResult::advance();
    auto loop = wait->getParentOfType<scf::ForOp>();
    if (!loop)
      first.push_back(wait);
    else if (!isa<scf::IfOp>(wait->getParentOp()) || !findStepCounter(loop) ||
             !findVectorReader(loop, tiles) ||
             !next.insert({loop, wait}).second)
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !walk.wasInterrupted() && !next.empty();
}

void AheadWaits::sink() {
  for (auto [op, wait] : next) {
    auto loop = cast<scf::ForOp>(op);
    Value counter = loop.getRegionIterArg(*findStepCounter(loop));
    IRMapping mapping;
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    // The count of the next step stands for that of this one.
    options.filter = [&, loop = loop](Operation *inner) {
      bool isNext = matchPattern(
          inner, m_Op<arith::AddIOp>(matchers::m_Val(counter), m_One()));
      if (isNext)
        mapping.map(inner->getResult(0), counter);
      return !isNext && loop->isProperAncestor(inner);
    };
    (void)getBackwardSlice(wait.getOperation(), &slice, options);
    OpBuilder builder(findVectorReader(loop, tiles));
    for (Operation *inner : topologicalSort(slice))
      builder.clone(*inner, mapping);
    wait->erase();
  }
  for (MbarrierWaitOp wait : first)
    wait->erase();
}

namespace {
struct SinkWaitsPass
    : public attn::tile::impl::SinkWaitsPassBase<SinkWaitsPass> {
  using SinkWaitsPassBase::SinkWaitsPassBase;

  void runOnOperation() override {
    for (auto roles : getOperation().getBody().front().getOps<RolesOp>()) {
      Region *products = roles.getRole(RolesOp::kProducts);
      // A persistent kernel has these tiles for each of its own.
      if (!products || getTileLoop(*products))
        continue;
      TilesOfBarriers tiles = findTiles(roles.getProducer());
      for (Region *role : {products, &roles.getConsumer()})
        sinkWaits(role->front(), tiles);
      for (auto &[barrier, read] : tiles)
        if (AheadWaits waits(barrier, read); waits.match(roles.getConsumer()))
          waits.sink();
    }
  }

private:
  void sinkWaits(Block &block, const TilesOfBarriers &tilesOf) {
    // Those that move to the end are not met again.
    for (MbarrierWaitOp wait :
         SmallVector<MbarrierWaitOp>(block.getOps<MbarrierWaitOp>())) {
      SmallVector<Value> tiles = tilesOf.lookup(wait.getBarrier());
      bool isLoadedOnce =
          !tiles.empty() && llvm::none_of(tiles, [](Value tile) {
            return cast<SharedType>(tile.getType()).isRing();
          });
      if (!isLoadedOnce)
        continue;
      sink(wait, tiles);
      ++numWaits;
    }
  }
};
} // namespace
