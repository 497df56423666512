//===- Pipeline.cpp - Stage loads through shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "KeyStream.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attn::tile {
#define GEN_PASS_DEF_PIPELINEPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

/// One tile per step of the chain: the load in the first loop stands for the
/// corresponding loads of all loops.
struct StagedLoad {
  LoadOp load;
  Value ring; ///< null for a vector, which is read where it is
};

class Pipeliner {
public:
  Pipeliner(KernelOp kernel, int64_t stages)
      : kernel(kernel), builder(kernel.getContext()), stages(stages) {}

  LogicalResult run();
  int64_t getNumLoads() const { return numLoads; }

private:
  void stageOuterLoads();
  void buildPrologue();
  void rewriteLoop(unsigned position, Value &stage);
  void readInPlace(LoadOp load);
  void copyTile(Value count, Value stage);
  void copyGuarded(Value count, Value stage);
  void copyFirst(Value count);
  void copyAhead(scf::ForOp loop, Value current);
  Value nextStage(Value stage);
  /// How many tiles are under way before one is waited for. With one stage
  /// none, unless something is waited for before the loops.
  int64_t getAhead() const {
    return stages == 1 && firstReader ? 1 : stages - 1;
  }
  /// True if a tile's stage has to be known; else all have the one.
  bool hasRing() const { return stages > 1; }
  /// True if tiles are copied at the end of a step, to where it has read.
  bool copiesLate() const { return getAhead() == stages; }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, kernel.getLoc(), value);
  }

  KernelOp kernel;
  OpBuilder builder;
  int64_t stages;
  KeyStream chain;
  SmallVector<StagedLoad> staged;
  SmallVector<CopyAsyncOp> outerCopies; ///< that wait for the first tile's
  Operation *firstReader = nullptr;     ///< of a tile loaded outside the loops
  int64_t numLoads = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The most that a bound may be, if it is known.
static std::optional<int64_t> getMost(Value bound) {
  auto choice = bound.getDefiningOp<arith::SelectOp>();
  if (!choice)
    return getConstantIntValue(bound);
  std::optional<int64_t> a = getMost(choice.getTrueValue()),
                         b = getMost(choice.getFalseValue());
  return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
}

/// True if a loop over columns goes past those of the source: those of another
/// load are more.
static bool exceedsColumns(LoadOp load) {
  auto loop = load->getParentOfType<scf::ForOp>();
  if (!loop || load.getIndices().back() != loop.getInductionVar() ||
      load.getIndices().size() != load.getSource().getType().getShape().size())
    return false;
  std::optional<int64_t> most = getMost(loop.getUpperBound());
  return most && *most > load.getSource().getType().getShape().back();
}

/// True if every tile at multiples of its rows and columns lies inside the
/// source.
static bool tilesExactly(LoadOp load) {
  auto divides = [](int64_t part, int64_t all) {
    return !ShapedType::isDynamic(all) && all % part == 0;
  };
  ArrayRef<int64_t> sizes = load.getSource().getType().getShape().take_back(2);
  SharedType tile = load.getTile().getType();
  if (load.getRows() || load.getTable())
    return false;
  return divides(tile.getRows() / load.getHeads(), sizes[0]) &&
         divides(tile.getCols(), sizes[1]) && !exceedsColumns(load);
}

/// What reads the tile of `load` outside the loops, and what is made of that,
/// in the order of `block`.
static SmallVector<Operation *> findReaders(LoadOp load, Block &block) {
  ForwardSliceOptions options([&](Operation *op) {
    return op->getBlock() == &block && !isa<scf::ForOp>(op);
  });
  options.inclusive = true;
  SetVector<Operation *> slice;
  for (Operation *user : load->getUsers())
    if (isa<LoadOperandOp, ChangeRowsOp, NarrowRowsOp>(user))
      getForwardSlice(user, &slice, options);
  SmallVector<Operation *> readers(slice.begin(), slice.end());
  llvm::sort(readers,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return readers;
}

/// Loads of a CTA's tile outside the loops: one buffer each, in the first
/// groups. A forward kernel's are its rows of the query: keys are asked for
/// before them, where it asks for any in front of the loops.
void Pipeliner::stageOuterLoads() {
  Block &tile = getTileBlock(kernel.getBody());
  SmallVector<LoadOp> loads(tile.getOps<LoadOp>());
  for (LoadOp load : loads) {
    builder.setInsertionPoint(load);
    Value buffer =
        AllocOp::create(builder, load.getLoc(), load.getTile().getType(),
                        /*offset=*/IntegerAttr());
    outerCopies.push_back(CopyAsyncOp::create(
        builder, load.getLoc(), load.getSource(), load.getIndices(),
        load.getTable(), load.getRows(), load.getFirst(), buffer,
        tilesExactly(load), load.getHeads()));
    // What is read before the key loops is waited for there, after the first
    // key tiles are under way; what is only read inside them has arrived with
    // the first of those.
    SmallVector<Operation *> readers = findReaders(load, tile);
    for (Operation *reader : readers) {
      reader->moveBefore(chain.loops.front());
      if (!firstReader)
        firstReader = reader;
    }
    load.getTile().replaceAllUsesWith(buffer);
    load.erase();
    ++numLoads;
  }
  if (kernel.getForward() && getAhead() > 0)
    return;
  for (CopyAsyncOp copy : outerCopies) {
    builder.setInsertionPointAfter(copy);
    CommitGroupOp::create(builder, copy.getLoc());
  }
  outerCopies.clear();
}

/// Starts the copies of the tiles at `count` into `stage`.
void Pipeliner::copyTile(Value count, Value stage) {
  SmallVector<SmallVector<Value>> places = chain.buildIndices(builder, count);
  for (auto [entry, indices] : llvm::zip_equal(staged, places)) {
    LoadOp load = entry.load;
    if (!entry.ring)
      continue;
    Value tile = StageOp::create(builder, load.getLoc(), entry.ring, stage);
    Value first = load.getFirst() ? indices.pop_back_val() : Value();
    Value rows = load.getRows() ? indices.pop_back_val() : Value();
    CopyAsyncOp::create(builder, load.getLoc(), load.getSource(), indices,
                        load.getTable(), rows, first, tile, tilesExactly(load));
  }
}

/// As copyTile, if the stream has a tile at `count`. A group is committed in
/// any case, so that the number of open groups says which tile has arrived.
void Pipeliner::copyGuarded(Value count, Value stage) {
  Location loc = kernel.getLoc();
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       count, chain.upperBound());
  auto guarded = scf::IfOp::create(builder, loc, exists);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    copyTile(count, stage);
  }
  CommitGroupOp::create(builder, loc);
}

/// As copyGuarded for the first tile, at `count`. What is loaded outside the
/// loops is copied behind the first part of the tile, in one group with it: a
/// kernel's first request is for its keys, and it need not wait for the rest.
void Pipeliner::copyFirst(Value count) {
  if (outerCopies.empty())
    return copyGuarded(count, constant(0));
  Location loc = kernel.getLoc();
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       count, chain.upperBound());
  auto guarded =
      scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.elseBlock());
  for (CopyAsyncOp copy : outerCopies)
    builder.clone(*copy);
  CommitGroupOp::create(builder, loc);
  builder.setInsertionPointToStart(guarded.thenBlock());
  copyTile(count, constant(0));
  Operation *last = *guarded.thenBlock()->getOps<CopyAsyncOp>().begin();
  for (CopyAsyncOp copy : outerCopies) {
    copy->moveAfter(last);
    last = copy;
  }
  builder.setInsertionPointAfter(last);
  CommitGroupOp::create(builder, loc);
  builder.setInsertionPointAfter(guarded);
  CommitGroupOp::create(builder, loc);
}

/// (stage + 1) mod stages.
Value Pipeliner::nextStage(Value stage) {
  Location loc = kernel.getLoc();
  Value next = arith::AddIOp::create(builder, loc, stage, constant(1));
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      next, constant(stages));
  return arith::SelectOp::create(builder, loc, wraps, constant(0), next);
}

//===----------------------------------------------------------------------===//
// Prologue and loops
//===----------------------------------------------------------------------===//

/// Rings and the first tiles, before anything waits.
void Pipeliner::buildPrologue() {
  Location loc = kernel.getLoc();
  builder.setInsertionPoint(firstReader ? firstReader : chain.loops.front());
  for (StagedLoad &entry : staged) {
    SharedType tile = entry.load.getTile().getType();
    if (tile.isVector())
      continue;
    SmallVector<int64_t> shape(tile.getShape());
    shape.insert(shape.begin(), stages);
    auto ring = SharedType::get(builder.getContext(), shape,
                                tile.getElementType(), tile.getSwizzle());
    entry.ring = AllocOp::create(builder, loc, ring, /*offset=*/IntegerAttr());
  }
  Value count = chain.lowerBound();
  for (int64_t stage = 0; stage < getAhead(); ++stage) {
    if (stage == 0)
      copyFirst(count);
    else
      copyGuarded(count, constant(stage));
    count = arith::AddIOp::create(builder, loc, count, chain.step());
  }
  if (!firstReader)
    return;
  WaitGroupOp::create(builder, loc, getAhead());
  gpu::BarrierOp::create(builder, loc);
}

/// Copies the tile that `loop` is ahead by: to the stage before the current
/// one, which all warps have left.
void Pipeliner::copyAhead(scf::ForOp loop, Value current) {
  Location loc = loop.getLoc();
  Value ahead =
      arith::MulIOp::create(builder, loc, chain.step(), constant(getAhead()));
  Value count =
      arith::AddIOp::create(builder, loc, loop.getInductionVar(), ahead);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        current, constant(0));
  Value before = arith::SubIOp::create(builder, loc, current, constant(1));
  Value free = arith::SelectOp::create(builder, loc, isFirst,
                                       constant(stages - 1), before);
  copyGuarded(count, free);
}

/// Lets the readers of a vector read global memory.
void Pipeliner::readInPlace(LoadOp load) {
  OpBuilder::InsertionGuard guard(builder);
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    auto column = cast<LoadColumnOp>(user);
    builder.setInsertionPoint(column);
    Value read = LoadColumnOp::create(builder, column.getLoc(),
                                      column.getResult().getType(),
                                      load.getSource(), load.getIndices());
    column.getResult().replaceAllUsesWith(read);
    column.erase();
  }
}

/// Gives a loop the stage of its first tile, and returns that of the tile after
/// its last one.
void Pipeliner::rewriteLoop(unsigned number, Value &stage) {
  scf::ForOp loop = chain.loops[number];
  Location loc = loop.getLoc();
  builder.setInsertionPoint(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  if (hasRing())
    inits.push_back(stage);
  auto staging =
      scf::ForOp::create(builder, loc, loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  Block *body = staging.getBody();
  body->clear(); // a loop without values is made with its end
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  loop.getInductionVar().replaceAllUsesWith(staging.getInductionVar());
  for (auto [from, to] :
       llvm::zip(loop.getRegionIterArgs(), staging.getRegionIterArgs()))
    from.replaceAllUsesWith(to);
  for (auto [from, to] : llvm::zip(loop.getResults(), staging.getResults()))
    from.replaceAllUsesWith(to);
  chain.loops[number] = staging;

  builder.setInsertionPointToStart(body);
  Value current = hasRing() ? Value(staging.getRegionIterArgs().back()) : stage;
  if (getAhead() > 0)
    WaitGroupOp::create(builder, loc, getAhead() - 1);
  gpu::BarrierOp::create(builder, loc);
  if (!copiesLate())
    copyAhead(staging, current);
  if (getAhead() == 0) {
    // This copy is the tile of this iteration.
    WaitGroupOp::create(builder, loc, 0);
    gpu::BarrierOp::create(builder, loc);
  }
  SmallVector<LoadOp> loads(body->getOps<LoadOp>());
  for (unsigned i = 0; i < loads.size(); ++i) {
    if (!staged[i].ring) {
      readInPlace(loads[i]);
      continue;
    }
    Value tile =
        StageOp::create(builder, loads[i].getLoc(), staged[i].ring, current);
    loads[i].getTile().replaceAllUsesWith(tile);
    ++numLoads;
  }
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  builder.setInsertionPoint(yield);
  if (copiesLate()) {
    gpu::BarrierOp::create(builder, loc);
    copyAhead(staging, current);
  }
  if (hasRing()) {
    yield.getResultsMutable().append(nextStage(current));
    stage = staging.getResults().back();
  }
  loop.erase();
}

LogicalResult Pipeliner::run() {
  FailureOr<KeyStream> stream = KeyStream::find(kernel);
  if (failed(stream))
    return failure();
  chain = *stream;
  for (LoadOp load : chain.loads)
    staged.push_back({load, Value()});
  stageOuterLoads();
  buildPrologue();
  builder.setInsertionPoint(chain.loops.front());
  Value stage = constant(0);
  for (unsigned i = 0; i < chain.loops.size(); ++i)
    rewriteLoop(i, stage);
  kernel.walk([](LoadOp load) { load.erase(); });
  // Nothing may stay in flight when the kernel ends.
  builder.setInsertionPointAfter(chain.loops.back());
  WaitGroupOp::create(builder, kernel.getLoc(), 0);
  // The next tile of a CTA is copied to where this one is read.
  if (scf::ForOp tiles = getTileLoop(kernel.getBody())) {
    builder.setInsertionPoint(tiles.getBody()->getTerminator());
    gpu::BarrierOp::create(builder, kernel.getLoc());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PipelinePass : public attn::tile::impl::PipelinePassBase<PipelinePass> {
  using PipelinePassBase::PipelinePassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (streamsNothing(kernel))
      return;
    if (kernel.getProducerWarps())
      return; // --attn-tile-specialize-warps has staged the loads.
    FailureOr<int64_t> count = getStages(kernel, stages);
    if (failed(count))
      return signalPassFailure();
    Pipeliner pipeliner(kernel, *count);
    if (failed(pipeliner.run()))
      return signalPassFailure();
    numLoads += pipeliner.getNumLoads();
  }
};
} // namespace
