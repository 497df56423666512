//===- BackwardSmallCache.cpp - Small-cache kernels of a backward ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// delta and LSE of the rows; then a CTA for each tile of scores, which sums S
// and dP over slices of the head dimensions and writes P and dS; then the
// gradients (ChunkGradients.cpp). The nests of --attn-tile-backward say which
// tiles there are.
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardSmallCache.h"

#include "Backward/BackwardStep.h"
#include "Backward/ChunkKernel.h"
#include "Kernel/Fragments.h"
#include "Launch/PrologueKernels.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// Columns of O and dO that delta reads at once.
static constexpr int64_t kColumnsAtOnce = 16;

namespace {
/// log2(e) LSE and delta of a row tile.
class RowValuesKernelBuilder : ChunkKernelBuilder {
public:
  using ChunkKernelBuilder::ChunkKernelBuilder;
  LogicalResult build();
};

/// P and dS of a tile of scores.
class ScoresKernelBuilder : ChunkKernelBuilder {
public:
  using ChunkKernelBuilder::ChunkKernelBuilder;
  LogicalResult build();

private:
  struct Products {
    Value scores, dProbabilities;
  };
  FailureOr<Products> buildProducts(Value isVisible);
  FailureOr<Value> buildProbabilities(const BackwardTiles &tiles, Value scores);
  LogicalResult buildScores(const Products &products);
  Value loadRow(small_cache::Workspace workspace);

  Value firstKey;
};
} // namespace

//===----------------------------------------------------------------------===//
// lse and delta
//===----------------------------------------------------------------------===//

LogicalResult RowValuesKernelBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin()))
    return failure();
  mapRowTile();
  BackwardStepOp step = nest.steps.front();
  BackwardDeltaOp delta = backward.delta;
  SmallVector<Value> at = getTileIndices();
  RowValues rows =
      RowValuesBuilder(builder, loc, at, RowUnits::get(step), kColumnsAtOnce)
          .build(chunks.tileM, chunks.valueDim, getTensor(step.getLse()),
                 getTensor(delta.getOutput()), getTensor(delta.getDOutput()),
                 delta.getDLse() ? getTensor(delta.getDLse()) : Value());
  tile::StoreOp::create(builder, loc, rows.lse, workspaces[small_cache::kLse],
                        at);
  tile::StoreOp::create(builder, loc, rows.delta,
                        workspaces[small_cache::kDelta], at);
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// P and dS
//===----------------------------------------------------------------------===//

/// S and dP of the tile, slice by slice side by side: what one of the head
/// dimensions lacks reads as 0. Nothing is read if the tile is not visible.
FailureOr<ScoresKernelBuilder::Products>
ScoresKernelBuilder::buildProducts(Value isVisible) {
  BackwardStepOp step = nest.steps.front();
  struct Factor {
    Value tile;
    int64_t rows;
    SmallVector<Value> at = {};
  };
  Factor factors[] = {{step.getQuery(), chunks.tileM},
                      {step.getKey(), chunks.tileN},
                      {step.getDOutput(), chunks.tileM},
                      {step.getValue(), chunks.tileN}};
  for (Factor &factor : factors) {
    FailureOr<SmallVector<Value>> indices = getIndices(factor.tile);
    if (failed(indices))
      return failure();
    factor.at = *indices;
  }
  Value end = constant(std::max(chunks.headDim, chunks.valueDim));
  end = arith::SelectOp::create(builder, loc, isVisible, end, constant(0));
  Value zero =
      createFill(builder, loc,
                 getAccumulatorType(builder, chunks.tileM, chunks.tileN), 0.0f);
  Value begin = constant(0);
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, constant(chunks.slice), ValueRange{zero, zero});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> loaded;
  for (Factor &factor : factors) {
    factor.at.push_back(loop.getInductionVar());
    loaded.push_back(
        loadTile(getTensor(factor.tile), factor.at, factor.rows, chunks.slice));
  }
  SmallVector<Value> sums;
  for (auto [i, sum] : llvm::enumerate(loop.getRegionIterArgs()))
    sums.push_back(tile::MmaOp::create(builder, loc, loaded[2 * i],
                                       loaded[2 * i + 1], /*transposeB=*/true,
                                       sum));
  scf::YieldOp::create(builder, loc, sums);
  return Products{loop.getResult(0), loop.getResult(1)};
}

/// P as the loop that visits the tile makes it: those with and without a mask
/// differ.
FailureOr<Value>
ScoresKernelBuilder::buildProbabilities(const BackwardTiles &tiles,
                                        Value scores) {
  BackwardStepOp masked, full;
  for (BackwardStepOp step : nest.steps)
    (step.hasMaskMod() ? masked : full) = step;
  auto build = [&](BackwardStepOp step) {
    return BackwardStepBuilder(mods, step, tiles, /*keysAreRows=*/false)
        .buildProbabilities(scores);
  };
  if (!masked || !full)
    return build(masked ? masked : full);
  auto loop = full->getParentOfType<scf::ForOp>();
  Value isBehind = compare(arith::CmpIPredicate::sge, firstKey,
                           values.lookup(loop.getLowerBound()));
  Value isBefore = compare(arith::CmpIPredicate::slt, firstKey,
                           values.lookup(loop.getUpperBound()));
  Value isFull = compute<arith::AndIOp>(isBehind, isBefore);
  auto choice = scf::IfOp::create(builder, loc, TypeRange{scores.getType()},
                                  isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, step] : {std::pair(choice.thenBlock(), full),
                             std::pair(choice.elseBlock(), masked)}) {
    builder.setInsertionPointToStart(block);
    FailureOr<Value> probabilities = build(step);
    if (failed(probabilities))
      return failure();
    scf::YieldOp::create(builder, loc, *probabilities);
  }
  return choice.getResult(0);
}

Value ScoresKernelBuilder::loadRow(small_cache::Workspace workspace) {
  Type type = getRowType(builder, chunks.tileM);
  return tile::LoadRowOp::create(builder, loc, type, workspaces[workspace],
                                 getTileIndices());
}

LogicalResult ScoresKernelBuilder::buildScores(const Products &products) {
  BackwardTiles tiles;
  tiles.lse = loadRow(small_cache::kLse);
  tiles.delta = loadRow(small_cache::kDelta);
  FailureOr<Value> probabilities = buildProbabilities(tiles, products.scores);
  if (failed(probabilities))
    return failure();
  // A mask also says that P may be 0 where dP is infinite.
  BackwardStepOp step = nest.steps.front();
  for (BackwardStepOp other : nest.steps)
    if (other.hasMaskMod())
      step = other;
  BackwardStepBuilder scores(mods, step, tiles, /*keysAreRows=*/false);
  Value dropped = scores.buildDropout(*probabilities);
  SmallVector<Value> at = getTileIndices();
  at.push_back(firstKey);
  tile::StoreOp::create(builder, loc, scores.buildKept(dropped),
                        workspaces[small_cache::kProbabilities], at);
  FailureOr<Value> gradient =
      scores.buildGradient(products.scores, dropped, products.dProbabilities);
  if (failed(gradient))
    return failure();
  tile::StoreOp::create(builder, loc, *gradient,
                        workspaces[small_cache::kDScores], at);
  return success();
}

/// Grid: y = tiles of keys, of which the row tile sees a part.
LogicalResult ScoresKernelBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin()))
    return failure();
  mapRowTile();
  FailureOr<Bounds> keys = buildBounds(nest, getTileIndices());
  if (failed(keys))
    return failure();
  firstKey = getBlockId(gpu::Dimension::y);
  firstKey = compute<arith::MulIOp>(firstKey, constant(chunks.tileN));
  firstKey = compute<arith::AddIOp>(keys->lower, firstKey);
  for (BackwardStepOp step : nest.steps) {
    values.map(step->getParentOfType<scf::ForOp>().getInductionVar(), firstKey);
    if (Value bias = step.getBias()) // read where it is
      values.map(bias, getTensor(bias));
  }
  Value isVisible = compare(arith::CmpIPredicate::slt, firstKey, keys->upper);
  FailureOr<Products> products = buildProducts(isVisible);
  if (failed(products))
    return failure();
  auto guarded = scf::IfOp::create(builder, loc, isVisible);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    if (failed(buildScores(*products)))
      return failure();
  }
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

FailureOr<int64_t> attn::buildSmallCacheBackward(OpBuilder &builder,
                                                 TiledBackward &backward,
                                                 StringRef name) {
  BackwardNest &queries = backward.nests.front();
  if (failed(checkBackwardChunks(queries)))
    return failure();
  buildSmallCacheProgram(builder, backward, name);
  using namespace small_cache;
  if (failed(buildPrologueKernels(builder, queries.attention, name)) ||
      failed(RowValuesKernelBuilder(builder, backward, queries, kRowValues)
                 .build()) ||
      failed(
          ScoresKernelBuilder(builder, backward, queries, kScores).build()) ||
      failed(buildQueryGradientKernel(builder, backward)) ||
      failed(buildKeyGradientKernel(builder, backward, kKeyGradient)) ||
      failed(buildKeyGradientKernel(builder, backward, kValueGradient)))
    return failure();
  return kNumKernels;
}
