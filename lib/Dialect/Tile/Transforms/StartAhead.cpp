//===- StartAhead.cpp - The next step's products, started early -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-start-ahead: of a kernel with products in tensor
// memory, what a step of the key loops multiplies first is started behind the
// product of the step before that reads its place, or the last one, so that the
// tensor cores go from one to the other while nobody waits for either (as
// FlashAttention-4's warp that starts all products does).
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"
#include "TensorProducts.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

#include <utility>

namespace attn::tile {
#define GEN_PASS_DEF_STARTAHEADPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {
/// A product that a step begins with, behind waits for its tiles.
struct Start {
  SmallVector<MbarrierWaitOp> waits;
  MmaTensorOp product;
  /// Behind which the one of the next step is started.
  MmaTensorOp behind;
};

/// A key loop, whose steps begin with products of tiles.
struct StepLoop {
  scf::ForOp loop;
  unsigned counter; ///< of the step, among the loop's values
  SmallVector<Start> starts;

  /// Nothing if the next step's products cannot begin in this one.
  static std::optional<StepLoop> match(scf::ForOp loop);

  Value getCounter() const {
    return scf::ForOp(loop).getRegionIterArg(counter);
  }

private:
  void findStarts();
  void findPlaces();
  bool isFree(const Start &start) const;
};
} // namespace

/// Up to the wait for the first of them. Those that add to a sum, or before
/// which warps meet, are made of what the step computes. The place of a tile
/// that has one may be given back at the end of the step alone.
void StepLoop::findStarts() {
  SmallVector<MbarrierWaitOp> waits;
  for (Operation &op : *loop.getBody()) {
    if (auto mma = dyn_cast<MmaTensorOp>(op)) {
      if (mma.getAccumulate() || mma.getMeet() ||
          !isa<SharedType>(mma.getA().getType()))
        return;
      starts.push_back({std::exchange(waits, {}), mma, {}});
    } else if (auto wait = dyn_cast<MbarrierWaitOp>(op)) {
      auto isOfStart = [&](const Start &start) {
        return MmaTensorOp(start.product).getBarrier() == wait.getBarrier();
      };
      if (wait.getAfter() || llvm::any_of(starts, isOfStart) ||
          wait.getBarrier().getType().getStages() < 2)
        return;
      waits.push_back(wait);
    } else if (!isMemoryEffectFree(&op) || op.getNumRegions() > 0) {
      return;
    }
  }
}

/// The product that reads an operand in the place of a start's tile is the last
/// to need it; without one the step's last product is.
void StepLoop::findPlaces() {
  for (Start &start : starts) {
    for (auto mma : loop.getOps<MmaTensorOp>())
      start.behind = mma;
    for (auto mma : loop.getOps<MmaTensorOp>()) {
      auto place = mma.getA().getDefiningOp<NarrowTensorOp>();
      if (place && place.getTile() == start.product.getTile())
        start.behind = mma;
    }
  }
}

/// Behind that product nothing reads or writes the place, and the warps have
/// met since they did.
bool StepLoop::isFree(const Start &start) const {
  MmaTensorOp behind = start.behind;
  bool haveMet = true;
  for (Operation &op : *scf::ForOp(loop).getBody()) {
    auto mma = dyn_cast<MmaTensorOp>(op);
    if (mma && mma.getMeet())
      haveMet = true;
    bool isLate = behind->isBeforeInBlock(&op);
    if (touchesPlace(&op, MmaTensorOp(start.product).getTile())) {
      if (isLate)
        return false;
      haveMet = false;
    }
    if (&op == behind && !haveMet)
      return false;
  }
  return true;
}

std::optional<StepLoop> StepLoop::match(scf::ForOp loop) {
  StepLoop of;
  of.loop = loop;
  std::optional<unsigned> counter = findStepCounter(loop);
  if (!counter)
    return std::nullopt;
  of.counter = *counter;
  of.findStarts();
  of.findPlaces();
  // A step of nothing but such products would start in itself.
  auto isStart = [&](MmaTensorOp mma) {
    return llvm::any_of(
        of.starts, [&](const Start &start) { return start.product == mma; });
  };
  bool canStart = llvm::all_of(of.starts, [&](const Start &start) {
    return !isStart(start.behind) && of.isFree(start);
  });
  if (of.starts.empty() || !canStart)
    return std::nullopt;
  return of;
}

namespace {
class Starter {
public:
  explicit Starter(SmallVector<StepLoop> loops)
      : loops(std::move(loops)), builder(this->loops.front().loop) {}

  /// False if it is not known before the loops how many steps there are.
  bool run();

private:
  bool haveSameStarts() const;
  Value countSteps(scf::ForOp loop);
  void startStep(const StepLoop &from, Value step, MmaTensorOp behind);
  void startNext(const StepLoop &of);

  SmallVector<StepLoop> loops;
  OpBuilder builder;
  Value end; ///< the counter behind the last step of all loops
};
} // namespace

/// True if all loops write what they start to the same tiles.
bool Starter::haveSameStarts() const {
  auto isSame = [](auto pair) {
    MmaTensorOp one = std::get<0>(pair).product,
                other = std::get<1>(pair).product;
    return one.getTile() == other.getTile() &&
           one.getBarrier() == other.getBarrier();
  };
  ArrayRef<Start> first = loops.front().starts;
  return llvm::all_of(loops, [&](const StepLoop &loop) {
    return loop.starts.size() == first.size() &&
           llvm::all_of(llvm::zip(loop.starts, first), isSame);
  });
}

Value Starter::countSteps(scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value length = builder.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(),
                                                     loop.getLowerBound());
  length = builder.createOrFold<arith::MaxSIOp>(loc, length, zero);
  return builder.createOrFold<arith::CeilDivUIOp>(loc, length, loop.getStep());
}

/// Starts the products of `step`, as those of the step of `from` are, if there
/// is such a step: of all, or of those that are started behind `behind`.
void Starter::startStep(const StepLoop &from, Value step, MmaTensorOp behind) {
  scf::ForOp loop = from.loop;
  Location loc = loop.getLoc();
  Value exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, step, end);
  auto guarded = scf::IfOp::create(builder, loc, exists);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  SmallVector<Operation *> ops;
  for (const Start &start : from.starts) {
    if (behind && start.behind != behind)
      continue;
    llvm::append_range(ops, start.waits);
    ops.push_back(start.product);
  }
  cloneForStep(builder, loop, ops, from.counter, step);
}

void Starter::startNext(const StepLoop &of) {
  llvm::SmallSetVector<Operation *, 2> places;
  for (const Start &start : of.starts)
    places.insert(start.behind);
  for (Operation *place : places) {
    builder.setInsertionPointAfter(place);
    Value one = arith::ConstantIndexOp::create(builder, place->getLoc(), 1);
    Value next =
        arith::AddIOp::create(builder, place->getLoc(), of.getCounter(), one);
    startStep(of, next, cast<MmaTensorOp>(place));
  }
  for (const Start &start : of.starts) {
    for (MbarrierWaitOp wait : start.waits)
      wait->erase();
    MmaTensorOp(start.product)->erase();
  }
}

bool Starter::run() {
  if (!haveSameStarts())
    return false;
  scf::ForOp first = loops.front().loop;
  IRRewriter rewriter(first);
  for (const StepLoop &of : loops) {
    scf::ForOp loop = of.loop;
    if (failed(moveValueDefinitions(
            rewriter,
            {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
            first)))
      return false;
  }
  builder.setInsertionPoint(first);
  Location loc = first.getLoc();
  Value begin = first.getInitArgs()[loops.front().counter];
  end = begin;
  for (const StepLoop &of : loops)
    end = builder.createOrFold<arith::AddIOp>(loc, end, countSteps(of.loop));
  startStep(loops.front(), begin, /*behind=*/{});
  for (const StepLoop &of : loops)
    startNext(of);
  return true;
}

namespace {
struct StartAheadPass
    : public attn::tile::impl::StartAheadPassBase<StartAheadPass> {
  using StartAheadPassBase::StartAheadPassBase;

  void runOnOperation() override {
    for (auto roles : getOperation().getBody().front().getOps<RolesOp>())
      if (startAhead(getTileBlock(roles.getConsumer())))
        ++numKernels;
  }

private:
  /// Of the key loops of a tile, if each of them can.
  static bool startAhead(Block &tile) {
    SmallVector<StepLoop> loops;
    for (auto loop : tile.getOps<scf::ForOp>()) {
      if (loop.getOps<MmaTensorOp>().empty())
        continue;
      std::optional<StepLoop> of = StepLoop::match(loop);
      if (!of)
        return false;
      loops.push_back(std::move(*of));
    }
    return !loops.empty() && Starter(std::move(loops)).run();
  }
};
} // namespace
