//===- StartAhead.cpp - The next step's products, started early -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-start-ahead: of a kernel with products in tensor
// memory, what a step of the key loops multiplies first is started behind the
// last product of the step before, so that the tensor cores go from one to the
// other while nobody waits for either (as FlashAttention-4's warp that starts
// all products does).
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn::tile {
#define GEN_PASS_DEF_STARTAHEADPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {
/// A key loop, whose steps begin with products of tiles.
struct StepLoop {
  scf::ForOp loop;
  unsigned counter; ///< of the step, among the loop's values
  MmaTensorOp last; ///< product of the step
  /// Those products that a step begins with, and waits for their tiles.
  SmallVector<Operation *> starts;

  /// Nothing if the next step's products cannot begin behind the last one.
  static std::optional<StepLoop> match(scf::ForOp loop);

  Value getCounter() const {
    return scf::ForOp(loop).getRegionIterArg(counter);
  }
  bool startsInto(Value tile) const {
    return llvm::any_of(starts, [&](Operation *op) {
      auto mma = dyn_cast<MmaTensorOp>(op);
      return mma && mma.getTile() == tile;
    });
  }

private:
  void findStarts();
  bool startsAreFree() const;
};
} // namespace

/// Up to the wait for the first of them. Those that add to a sum, or before
/// which warps meet, are made of what the step computes. The place of a tile
/// that has one may be given back at the end of the step alone.
void StepLoop::findStarts() {
  SmallVector<Operation *> waits;
  for (Operation &op : *loop.getBody()) {
    if (auto mma = dyn_cast<MmaTensorOp>(op)) {
      if (mma.getAccumulate() || mma.getMeet() ||
          !isa<SharedType>(mma.getA().getType()))
        return;
      starts.append(waits);
      starts.push_back(mma);
      waits.clear();
    } else if (auto wait = dyn_cast<MbarrierWaitOp>(op)) {
      auto isOfStart = [&](Operation *start) {
        auto mma = dyn_cast<MmaTensorOp>(start);
        return mma && mma.getBarrier() == wait.getBarrier();
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

/// Behind the last product of a step nothing reads or writes what the next
/// step's products write, and the warps have met since they did.
bool StepLoop::startsAreFree() const {
  bool haveMet = true;
  for (Operation &op : *scf::ForOp(loop).getBody()) {
    if (llvm::is_contained(starts, &op))
      continue;
    if (auto mma = dyn_cast<MmaTensorOp>(op); mma && mma.getMeet())
      haveMet = true;
    WalkResult touches = op.walk([&](Operation *inner) {
      auto load = dyn_cast<LoadTensorOp>(inner);
      return load && startsInto(load.getTile()) ? WalkResult::interrupt()
                                                : WalkResult::advance();
    });
    if (touches.wasInterrupted()) {
      if (!op.isBeforeInBlock(last))
        return false;
      haveMet = false;
    }
    bool isLate = last->isBeforeInBlock(&op);
    if (isLate &&
        !isa<MbarrierWaitOp, MbarrierArriveOp, SyncWarpOp, LoadTensorOp,
             scf::YieldOp>(op) &&
        !isMemoryEffectFree(&op))
      return false;
  }
  return haveMet;
}

std::optional<StepLoop> StepLoop::match(scf::ForOp loop) {
  StepLoop of;
  of.loop = loop;
  std::optional<unsigned> counter = findStepCounter(loop);
  if (!counter)
    return std::nullopt;
  of.counter = *counter;
  of.findStarts();
  for (auto mma : loop.getOps<MmaTensorOp>())
    of.last = mma;
  // A step of nothing but such products would start in itself.
  if (of.starts.empty() || llvm::is_contained(of.starts, of.last) ||
      !of.startsAreFree())
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
  void startStep(const StepLoop &from, Value step);

  SmallVector<StepLoop> loops;
  OpBuilder builder;
  Value end; ///< the counter behind the last step of all loops
};
} // namespace

/// True if all loops write what they start to the same tiles.
bool Starter::haveSameStarts() const {
  ArrayRef<Operation *> first = loops.front().starts;
  auto isSame = [](Operation *a, Operation *b) {
    if (a->getName() != b->getName())
      return false;
    auto one = dyn_cast<MmaTensorOp>(a), other = dyn_cast<MmaTensorOp>(b);
    return !one || (one.getTile() == other.getTile() &&
                    one.getBarrier() == other.getBarrier());
  };
  return llvm::all_of(loops, [&](const StepLoop &loop) {
    return loop.starts.size() == first.size() &&
           llvm::all_of(llvm::zip(loop.starts, first), [&](auto pair) {
             return isSame(std::get<0>(pair), std::get<1>(pair));
           });
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
/// is such a step.
void Starter::startStep(const StepLoop &from, Value step) {
  scf::ForOp loop = from.loop;
  Location loc = loop.getLoc();
  Value exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, step, end);
  auto guarded = scf::IfOp::create(builder, loc, exists);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody();
  };
  for (Operation *op : from.starts)
    (void)getBackwardSlice(op, &slice, options);
  IRMapping mapping;
  mapping.map(from.getCounter(), step);
  for (Operation &op : *loop.getBody())
    if (slice.contains(&op))
      builder.clone(op, mapping);
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
  startStep(loops.front(), begin);
  for (const StepLoop &of : loops) {
    builder.setInsertionPointAfter(of.last);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    startStep(of, arith::AddIOp::create(builder, loc, of.getCounter(), one));
    for (Operation *op : of.starts)
      op->erase();
  }
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
