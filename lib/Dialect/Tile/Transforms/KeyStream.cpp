//===- KeyStream.cpp - The key loops of a kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn::tile;

scf::ForOp attn::tile::getTileLoop(Region &region) {
  for (auto loop : region.front().getOps<scf::ForOp>())
    if (loop.getStep().getDefiningOp<gpu::GridDimOp>())
      return loop;
  return {};
}

Block &attn::tile::getTileBlock(Region &region) {
  scf::ForOp tiles = getTileLoop(region);
  return tiles ? *tiles.getBody() : region.front();
}

/// True if the kernel holds one of these ops.
template <typename... OpTy>
static bool holds(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<OpTy...>(op) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

bool attn::tile::streamsNothing(KernelOp kernel) {
  return holds<InsertOp, cf::AssertOp>(kernel) ||
         (holds<StoreOp>(kernel) && !holds<LoadOp>(kernel));
}

FailureOr<int64_t> attn::tile::getStages(KernelOp kernel, int64_t given) {
  int64_t stages = given ? given : getScheduleOf(kernel).stages;
  auto emitError = [&] { return kernel.emitOpError(); };
  if (failed(MbarrierType::verify(emitError, stages, /*arrivals=*/1)))
    return failure();
  return stages;
}

/// Gives each tile that is transposed a load of its own, if it is read as it
/// is, too.
static void separateTransposed(KernelOp kernel) {
  SmallVector<TransposeBytesOp> ops;
  kernel.walk([&](TransposeBytesOp op) { ops.push_back(op); });
  for (TransposeBytesOp op : ops) {
    auto load = op.getTile().getDefiningOp<LoadOp>();
    if (!load || load.getTile().hasOneUse())
      continue;
    OpBuilder builder(load);
    op.getTileMutable().assign(cast<LoadOp>(builder.clone(*load)).getTile());
  }
}

void attn::tile::separateLoads(KernelOp kernel) {
  if (!kernel.getForward())
    return separateTransposed(kernel);
  for (auto loop : getTileBlock(kernel.getBody()).getOps<scf::ForOp>()) {
    SmallPtrSet<Operation *, 4> taken;
    for (MmaOp op : loop.getOps<MmaOp>()) {
      Operation *source = op.getB().getDefiningOp();
      OpOperand &tile = isa_and_present<TransposeBytesOp, WidenBytesOp>(source)
                            ? source->getOpOperand(0)
                            : op.getBMutable();
      auto load = tile.get().getDefiningOp<LoadOp>();
      if (!load || taken.insert(load).second)
        continue;
      OpBuilder builder(load);
      tile.set(cast<LoadOp>(builder.clone(*load)).getTile());
    }
  }
}

/// Collects the loops with loads and checks that they follow each other.
LogicalResult KeyStream::findLoops(KernelOp kernel) {
  for (auto loop : getTileBlock(kernel.getBody()).getOps<scf::ForOp>())
    if (!loop.getBody()->getOps<LoadOp>().empty())
      loops.push_back(loop);
  if (loops.empty())
    return kernel.emitOpError() << "expected key loops with attn_tile.load";
  for (unsigned i = 1; i < loops.size(); ++i)
    if (loops[i].getLowerBound() != loops[i - 1].getUpperBound())
      return loops[i].emitOpError()
             << "expected to start where the loop before it ends";
  return success();
}

/// True if `value` is computed outside the loop.
static bool isOutside(Value value, scf::ForOp loop) {
  return !loop.getRegion().isAncestor(value.getParentRegion());
}

/// True if `value` can be computed for any value of the induction variable;
/// `depends` is set if it depends on it.
static bool isScalarOf(Value value, scf::ForOp loop, bool &depends) {
  if (isOutside(value, loop))
    return true;
  if (value == loop.getInductionVar())
    return depends = true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isScalarOf(operand, loop, depends);
         });
}

/// The indices of a load, its `rows` and its `first` if it has any.
static SmallVector<Value> getPlace(LoadOp load) {
  SmallVector<Value> place(load.getIndices());
  if (load.getRows())
    place.push_back(load.getRows());
  if (load.getFirst())
    place.push_back(load.getFirst());
  return place;
}

/// True if each index of `load` comes from outside the loop or is computed from
/// its induction variable, as at least one is.
static bool isStreamed(LoadOp load, scf::ForOp loop) {
  bool depends = false;
  return llvm::all_of(
             getPlace(load),
             [&](Value index) { return isScalarOf(index, loop, depends); }) &&
         depends;
}

/// Each load of a loop must have its like in every loop.
LogicalResult KeyStream::findLoads() {
  for (scf::ForOp loop : loops) {
    SmallVector<LoadOp> found(loop.getBody()->getOps<LoadOp>());
    for (LoadOp load : found)
      if (!isStreamed(load, loop))
        return load.emitOpError() << "expected indices that are computed from "
                                     "the loop's induction variable, or "
                                     "invariant, and not all of them invariant";
    if (loop == loops.front())
      loads = found;
    if (found.size() != loads.size())
      return loop.emitOpError()
             << "expected " << loads.size()
             << " loads as in the first loop, got " << found.size();
    for (auto [load, like] : llvm::zip_equal(found, loads))
      if (load.getSource() != like.getSource() ||
          load.getTable() != like.getTable() ||
          getPlace(load).size() != getPlace(like).size() ||
          !load.getFirst() != !like.getFirst() ||
          load.getTile().getType() != like.getTile().getType())
        return load.emitOpError() << "expected the same tile as in the first "
                                     "loop";
    loadsOfLoops.push_back(found);
  }
  return success();
}

/// Computes `value`, an index of a load in `loop`, for another value of the
/// induction variable.
static Value cloneAt(OpBuilder &builder, Value value, scf::ForOp loop,
                     IRMapping &mapping) {
  if (isOutside(value, loop) || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneAt(builder, operand, loop, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

SmallVector<SmallVector<Value>>
KeyStream::buildIndices(OpBuilder &builder, Value count,
                        const IRMapping &outside) {
  SmallVector<SmallVector<Value>> results(loads.size());
  for (auto [streamLoop, loopLoads] :
       llvm::reverse(llvm::zip_equal(loops, loadsOfLoops))) {
    scf::ForOp loop = streamLoop; // a binding cannot be captured
    IRMapping mapping(outside);
    mapping.map(loop.getInductionVar(), count);
    Value isHere;
    // Loads that share an index share its choice between loops.
    DenseMap<std::pair<Value, Value>, Value> choices;
    auto choose = [&](Value here, Value later) {
      if (here == later)
        return here;
      if (!isHere)
        isHere = arith::CmpIOp::create(
            builder, loop.getLoc(), arith::CmpIPredicate::slt, count,
            outside.lookupOrDefault(loop.getUpperBound()));
      Value &choice = choices[{here, later}];
      if (!choice)
        choice = arith::SelectOp::create(builder, loop.getLoc(), isHere, here,
                                         later);
      return choice;
    };
    for (auto [load, result] : llvm::zip_equal(loopLoads, results)) {
      SmallVector<Value> indices;
      for (Value index : getPlace(load))
        indices.push_back(cloneAt(builder, index, loop, mapping));
      if (!result.empty())
        for (auto [index, later] : llvm::zip_equal(indices, result))
          index = choose(index, later);
      result = indices;
    }
  }
  return results;
}

FailureOr<KeyStream> KeyStream::find(KernelOp kernel) {
  KeyStream stream;
  if (failed(stream.findLoops(kernel)) || failed(stream.findLoads()))
    return failure();
  return stream;
}

std::optional<unsigned> attn::tile::findStepCounter(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [number, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto next = yield->getOperand(number).getDefiningOp<arith::AddIOp>();
    if (next && next.getLhs() == arg && matchPattern(next.getRhs(), m_One()))
      return number;
  }
  return std::nullopt;
}

void attn::tile::cloneForStep(OpBuilder &builder, scf::ForOp loop,
                              ArrayRef<Operation *> ops, unsigned counter,
                              Value step) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody();
  };
  for (Operation *op : ops)
    (void)getBackwardSlice(op, &slice, options);
  IRMapping mapping;
  mapping.map(loop.getRegionIterArg(counter), step);
  for (Operation &op : *loop.getBody())
    if (slice.contains(&op))
      builder.clone(op, mapping);
}

Value attn::tile::addMbarrier(KernelOp kernel, int64_t stages,
                              int64_t arrivals) {
  auto init = *kernel.getBody().front().getOps<InitMbarriersOp>().begin();
  OpBuilder builder(init);
  auto type = MbarrierType::get(kernel.getContext(), stages, arrivals);
  Value barrier =
      AllocMbarrierOp::create(builder, init.getLoc(), type, IntegerAttr());
  init.getBarriersMutable().append(barrier);
  return barrier;
}

attn::Schedule attn::tile::getScheduleOf(KernelOp kernel) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  return schedule ? schedule.getValues() : attn::Schedule();
}
