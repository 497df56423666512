//===- Pipeline.cpp - Stage loads through shared memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attn::tile {
#define GEN_PASS_DEF_PIPELINEPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

/// The key loops of a kernel, first to last: they walk one stream of tiles.
struct LoopChain {
  SmallVector<scf::ForOp> loops;

  Value lowerBound() { return loops.front().getLowerBound(); }
  Value upperBound() { return loops.back().getUpperBound(); }
  Value step() { return loops.front().getStep(); }
};

/// One tile per step of the chain: the load in the first loop stands for the
/// corresponding loads of all loops.
struct StagedLoad {
  LoadOp load;
  unsigned streamIndex; ///< which index is the loop's induction variable
  Value ring;
};

class Pipeliner {
public:
  Pipeliner(KernelOp kernel, int64_t stages)
      : kernel(kernel), builder(kernel.getContext()), stages(stages) {}

  LogicalResult run();
  int64_t getNumLoads() const { return numLoads; }

private:
  LogicalResult findChain();
  LogicalResult findStagedLoads();
  void stageOuterLoads();
  void buildPrologue();
  void rewriteLoop(unsigned position, Value &stage);
  void copyTile(Value position, Value stage);
  void copyGuarded(Value position, Value stage);
  Value nextStage(Value stage);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, kernel.getLoc(), value);
  }

  KernelOp kernel;
  OpBuilder builder;
  int64_t stages;
  LoopChain chain;
  SmallVector<StagedLoad> staged;
  Operation *firstReader = nullptr; ///< of a tile loaded outside the loops
  int64_t numLoads = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

/// Collects the loops with loads and checks that they follow each other.
LogicalResult Pipeliner::findChain() {
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>())
    if (!loop.getBody()->getOps<LoadOp>().empty())
      chain.loops.push_back(loop);
  for (unsigned i = 1; i < chain.loops.size(); ++i)
    if (chain.loops[i].getLowerBound() != chain.loops[i - 1].getUpperBound())
      return chain.loops[i].emitOpError()
             << "expected to start where the loop before it ends";
  return success();
}

/// True if `value` is computed outside the loop.
static bool isOutside(Value value, scf::ForOp loop) {
  return !loop.getRegion().isAncestor(value.getParentRegion());
}

/// The index of `load` that is the loop's induction variable, if it is the row
/// or the column and all others come from outside.
static std::optional<unsigned> getStreamIndex(LoadOp load, scf::ForOp loop) {
  std::optional<unsigned> stream;
  unsigned row = load.getSource().getType().getRank() - 2;
  for (auto [i, index] : llvm::enumerate(load.getIndices())) {
    if (index == loop.getInductionVar() && i >= row && !stream)
      stream = i;
    else if (!isOutside(index, loop))
      return std::nullopt;
  }
  return stream;
}

/// Each load of a loop must have its like in every loop: same tensor and tile,
/// row or column = induction variable, other indices from outside.
LogicalResult Pipeliner::findStagedLoads() {
  for (scf::ForOp loop : chain.loops) {
    SmallVector<LoadOp> loads(loop.getBody()->getOps<LoadOp>());
    for (LoadOp load : loads) {
      std::optional<unsigned> stream = getStreamIndex(load, loop);
      if (!stream)
        return load.emitOpError() << "expected the row or the column to be the "
                                     "loop's induction variable and the other "
                                     "indices to be invariant";
      if (loop == chain.loops.front())
        staged.push_back({load, *stream, Value()});
    }
    if (loads.size() != staged.size())
      return loop.emitOpError()
             << "expected " << staged.size()
             << " loads as in the first loop, got " << loads.size();
    for (auto [load, like] : llvm::zip_equal(loads, staged))
      if (load.getSource() != like.load.getSource() ||
          load.getTile().getType() != like.load.getTile().getType() ||
          getStreamIndex(load, loop) != like.streamIndex)
        return load.emitOpError() << "expected the same tile as in the first "
                                     "loop";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// True if every tile at multiples of its rows and columns lies inside the
/// source.
static bool tilesExactly(LoadOp load) {
  auto divides = [](int64_t part, int64_t all) {
    return !ShapedType::isDynamic(all) && all % part == 0;
  };
  ArrayRef<int64_t> sizes = load.getSource().getType().getShape().take_back(2);
  SharedType tile = load.getTile().getType();
  return divides(tile.getRows(), sizes[0]) && divides(tile.getCols(), sizes[1]);
}

/// Loads outside the loops: one buffer each, in the first group.
void Pipeliner::stageOuterLoads() {
  SmallVector<LoadOp> loads(kernel.getBody().front().getOps<LoadOp>());
  for (LoadOp load : loads) {
    builder.setInsertionPoint(load);
    Value buffer =
        AllocOp::create(builder, load.getLoc(), load.getTile().getType(),
                        /*offset=*/IntegerAttr());
    CopyAsyncOp::create(builder, load.getLoc(), load.getSource(),
                        load.getIndices(), buffer, tilesExactly(load));
    CommitGroupOp::create(builder, load.getLoc());
    // What is read before the key loops is waited for there, after the first
    // key tiles are under way; what is only read inside them has arrived with
    // the first of those.
    for (Operation *user : load->getUsers())
      if (auto reader = dyn_cast<LoadOperandOp>(user);
          reader && isa<KernelOp>(reader->getParentOp())) {
        reader->moveBefore(chain.loops.front());
        if (!firstReader)
          firstReader = reader;
      }
    load.getTile().replaceAllUsesWith(buffer);
    load.erase();
    ++numLoads;
  }
}

/// Starts the copies of the tiles at `position` into `stage`.
void Pipeliner::copyTile(Value position, Value stage) {
  for (StagedLoad &entry : staged) {
    LoadOp load = entry.load;
    SmallVector<Value> indices(load.getIndices());
    indices[entry.streamIndex] = position;
    Value tile = StageOp::create(builder, load.getLoc(), entry.ring, stage);
    CopyAsyncOp::create(builder, load.getLoc(), load.getSource(), indices, tile,
                        tilesExactly(load));
  }
}

/// As copyTile, if the stream has a tile at `position`. A group is committed in
/// any case, so that the number of open groups says which tile has arrived.
void Pipeliner::copyGuarded(Value position, Value stage) {
  Location loc = kernel.getLoc();
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       position, chain.upperBound());
  auto guarded = scf::IfOp::create(builder, loc, exists);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    copyTile(position, stage);
  }
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

/// Rings and the first stages - 1 tiles, before anything waits.
void Pipeliner::buildPrologue() {
  Location loc = kernel.getLoc();
  builder.setInsertionPoint(firstReader ? firstReader : chain.loops.front());
  for (StagedLoad &entry : staged) {
    SharedType tile = entry.load.getTile().getType();
    SmallVector<int64_t> shape(tile.getShape());
    shape.insert(shape.begin(), stages);
    auto ring = SharedType::get(builder.getContext(), shape,
                                tile.getElementType(), tile.getSwizzle());
    entry.ring = AllocOp::create(builder, loc, ring, /*offset=*/IntegerAttr());
  }
  Value position = chain.lowerBound();
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    copyGuarded(position, constant(stage));
    position = arith::AddIOp::create(builder, loc, position, chain.step());
  }
  if (!firstReader)
    return;
  WaitGroupOp::create(builder, loc, stages - 1);
  gpu::BarrierOp::create(builder, loc);
}

/// Gives a loop the stage of its first tile, and returns that of the tile after
/// its last one.
void Pipeliner::rewriteLoop(unsigned number, Value &stage) {
  scf::ForOp loop = chain.loops[number];
  Location loc = loop.getLoc();
  builder.setInsertionPoint(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(stage);
  auto staging =
      scf::ForOp::create(builder, loc, loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  Block *body = staging.getBody();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  loop.getInductionVar().replaceAllUsesWith(staging.getInductionVar());
  for (auto [from, to] :
       llvm::zip(loop.getRegionIterArgs(), staging.getRegionIterArgs()))
    from.replaceAllUsesWith(to);
  for (auto [from, to] : llvm::zip(loop.getResults(), staging.getResults()))
    from.replaceAllUsesWith(to);

  Value current = staging.getRegionIterArgs().back();
  builder.setInsertionPointToStart(body);
  if (stages > 1)
    WaitGroupOp::create(builder, loc, stages - 2);
  gpu::BarrierOp::create(builder, loc);
  // The stage before the current one, stages - 1 tiles ahead.
  Value ahead =
      arith::MulIOp::create(builder, loc, chain.step(), constant(stages - 1));
  Value position =
      arith::AddIOp::create(builder, loc, staging.getInductionVar(), ahead);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        current, constant(0));
  Value before = arith::SubIOp::create(builder, loc, current, constant(1));
  Value free = arith::SelectOp::create(builder, loc, isFirst,
                                       constant(stages - 1), before);
  copyGuarded(position, free);
  if (stages == 1) {
    // Nothing is ahead: this copy is the tile of this iteration.
    WaitGroupOp::create(builder, loc, 0);
    gpu::BarrierOp::create(builder, loc);
  }
  SmallVector<LoadOp> loads(body->getOps<LoadOp>());
  for (unsigned i = 0; i < loads.size(); ++i) {
    Value tile =
        StageOp::create(builder, loads[i].getLoc(), staged[i].ring, current);
    loads[i].getTile().replaceAllUsesWith(tile);
    ++numLoads;
  }
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  builder.setInsertionPoint(yield);
  yield.getResultsMutable().append(nextStage(current));
  stage = staging.getResults().back();
  loop.erase();
  chain.loops[number] = staging;
}

LogicalResult Pipeliner::run() {
  if (failed(findChain()))
    return failure();
  if (chain.loops.empty())
    return kernel.emitOpError() << "expected key loops with attn_tile.load";
  if (failed(findStagedLoads()))
    return failure();
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
    int64_t count = getStages(kernel);
    if (count < 1) {
      kernel.emitOpError() << "expected at least 1 stage, got " << count;
      return signalPassFailure();
    }
    Pipeliner pipeliner(kernel, count);
    if (failed(pipeliner.run()))
      return signalPassFailure();
    numLoads += pipeliner.getNumLoads();
  }

private:
  /// The option, or the schedule of the manifest, or 2.
  int64_t getStages(KernelOp kernel) {
    if (stages != 0)
      return stages;
    if (DictionaryAttr manifest = kernel.getManifestAttr())
      if (auto schedule = manifest.getAs<DictionaryAttr>("schedule"))
        if (auto number = schedule.getAs<IntegerAttr>("stages"))
          return number.getInt();
    return 2;
  }
};
} // namespace
