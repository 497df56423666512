//===- BackwardSmallCache.cpp - Small-cache kernels of a backward ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// delta and LSE of the rows; a CTA for each tile of scores, which sums S and dP
// over slices of the head dimensions and writes P and dS; then dQ = dS K,
// dK = dS^T Q and dV = P^T dO, a CTA for each tile of a gradient. The nests of
// --attn-tile-backward say which tiles there are.
//
//===----------------------------------------------------------------------===//

#include "BackwardSmallCache.h"

#include "BackwardStep.h"
#include "Fragments.h"
#include "KernelScope.h"
#include "Prologue.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

namespace {
/// Positions that a loop nest visits: the bounds of its loops, of which each
/// begins where the one before ends.
struct Bounds {
  Value lower, upper;
};

/// What the kernels share: parameters, row tiles, bounds.
class ChunkKernelBuilder : protected KernelScope {
public:
  ChunkKernelBuilder(OpBuilder &builder, TiledBackward &backward,
                     BackwardNest &nest, small_cache::Kernel number)
      : KernelScope(builder, nest.attention), backward(backward), nest(nest),
        queries(backward.nests.front()), number(number), chunks(queries),
        loc(attention.forall.getLoc()) {}

protected:
  LogicalResult begin();
  void mapRowTile();
  FailureOr<Bounds> buildBounds(BackwardNest &of, ValueRange at);
  FailureOr<SmallVector<Value>> getIndices(Value tile);
  SmallVector<Value> getTileIndices() {
    return llvm::map_to_vector(attention.forall.getInductionVars(),
                               [&](Value iv) { return values.lookup(iv); });
  }
  Value getTensor(Value tile) { return values.lookup(getSource(tile)); }

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  template <typename OpTy>
  Value compute(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  /// `n` in tiles of `tile`, rounded up.
  Value countTiles(Value n, int64_t tile) {
    return compute<arith::DivUIOp>(
        compute<arith::AddIOp>(n, constant(tile - 1)), constant(tile));
  }
  Value getRows() {
    return tile::DimOp::create(
        builder, loc, getTensor(queries.steps.front().getQuery()), kSequence);
  }

  TiledBackward &backward;
  BackwardNest &nest, &queries;
  small_cache::Kernel number;
  BackwardChunks chunks;
  Location loc;
  SmallVector<Value> workspaces; ///< by small_cache::Workspace
  Value firstTile;               ///< of the round
};

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

/// A tile of dQ.
class QueryGradientBuilder : ChunkKernelBuilder {
public:
  using ChunkKernelBuilder::ChunkKernelBuilder;
  LogicalResult build();
};

/// A tile of dK or dV.
class KeyGradientBuilder : ChunkKernelBuilder {
public:
  using ChunkKernelBuilder::ChunkKernelBuilder;
  LogicalResult build();

private:
  bool isKey() const { return number == small_cache::kKeyGradient; }
  int64_t getColumns() const {
    return chunks.getColumns(isKey() ? chunks.headDim : chunks.valueDim);
  }
  void mapKeyTile();
  Value countBefore(Value tile);
  FailureOr<Value> buildRows(Value batch, Value head, Value row);
  LogicalResult buildLoopBody(scf::ForOp loop);
  Value buildInit();
  void buildStores(Value sum);

  Value group;            ///< query heads of a key head
  Value tilesPerHead;     ///< row tiles
  Value groupTiles;       ///< of a group
  Value firstOfGroup;     ///< row tile of the group with which the round begins
  Value endOfGroup;       ///< and that before which it ends
  Value firstVisited;     ///< row tile of a head that sees the keys
  Value visited, divisor; ///< how many do, and at least 1
  Value firstColumn, sums;
};
} // namespace

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

LogicalResult ChunkKernelBuilder::begin() {
  ArrayRef<LaunchPlan::Kernel> kernels =
      ArrayRef(backward.plan.kernels).take_back(small_cache::kNumKernels);
  bool isFirst = number == small_cache::kRowValues;
  FailureOr<tile::KernelOp> kernel =
      beginKernel(kernels[number].entry,
                  isFirst ? buildManifest(attention, backward.plan)
                          : buildScheduleManifest(attention),
                  kernels[number].warps);
  if (failed(kernel))
    return failure();
  Block &body = kernel->getBody().front();
  for (const WorkspaceView &view : ArrayRef(backward.plan.workspaces)
                                       .take_back(small_cache::kNumWorkspaces))
    workspaces.push_back(body.addArgument(view.type, loc));
  Value parameter = body.addArgument(builder.getI32Type(), loc);
  firstTile = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         parameter);
  return materializeOutside(queries.attention.forall);
}

/// Grid: x = row tiles of the round, the last first.
void ChunkKernelBuilder::mapRowTile() {
  Value query = getTensor(queries.steps.front().getQuery());
  Value heads = tile::DimOp::create(builder, loc, query, kHead);
  Value tilesPerHead = countTiles(getRows(), chunks.tileM);
  Value tile = compute<arith::AddIOp>(firstTile, getReversedBlockId());
  Value row = compute<arith::MulIOp>(
      compute<arith::RemUIOp>(tile, tilesPerHead), constant(chunks.tileM));
  Value head = compute<arith::DivUIOp>(tile, tilesPerHead);
  values.map(attention.forall.getInductionVars(),
             SmallVector<Value>{compute<arith::DivUIOp>(head, heads),
                                compute<arith::RemUIOp>(head, heads), row});
}

/// The positions that nest `of` visits for the tile `at` that stays.
FailureOr<Bounds> ChunkKernelBuilder::buildBounds(BackwardNest &of,
                                                  ValueRange at) {
  values.map(of.attention.forall.getInductionVars(), at);
  for (Operation &op : *of.attention.forall.getBody())
    if (isScalarOp(&op) && failed(copyScalar(&op)))
      return failure();
  auto first = of.steps.front()->getParentOfType<scf::ForOp>();
  auto last = of.steps.back()->getParentOfType<scf::ForOp>();
  return Bounds{values.lookup(first.getLowerBound()),
                values.lookup(last.getUpperBound())};
}

/// Where a tile begins, without its column.
FailureOr<SmallVector<Value>> ChunkKernelBuilder::getIndices(Value tile) {
  SmallVector<Value> indices;
  for (OpFoldResult offset :
       ArrayRef<OpFoldResult>(getSlice(tile).getMixedOffsets())
           .take_front(kSequence + 1)) {
    FailureOr<Value> index = materialize(cast<Value>(offset));
    if (failed(index))
      return failure();
    indices.push_back(*index);
  }
  return indices;
}

LogicalResult RowValuesKernelBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin()))
    return failure();
  mapRowTile();
  BackwardStepOp step = nest.steps.front();
  BackwardDeltaOp delta = backward.delta;
  SmallVector<Value> at = getTileIndices();
  RowValues rows =
      RowValuesBuilder(builder, loc, at, step.getScaleValue())
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
  Value end = arith::SelectOp::create(
      builder, loc, isVisible,
      constant(std::max(chunks.headDim, chunks.valueDim)), constant(0));
  Value zero =
      createFill(builder, loc,
                 getAccumulatorType(builder, chunks.tileM, chunks.tileN), 0.0f);
  auto loop =
      scf::ForOp::create(builder, loc, constant(0), end, constant(chunks.slice),
                         ValueRange{zero, zero});
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
                                       loaded[2 * i + 1], /*transpose_b=*/true,
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
  Value isFull =
      compute<arith::AndIOp>(compare(arith::CmpIPredicate::sge, firstKey,
                                     values.lookup(loop.getLowerBound())),
                             compare(arith::CmpIPredicate::slt, firstKey,
                                     values.lookup(loop.getUpperBound())));
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
  Value row = tile::LoadRowOp::create(builder, loc, type, workspaces[workspace],
                                      getTileIndices());
  return tile::RowAllReduceOp::create(builder, loc, type, tile::Reduction::max,
                                      row);
}

LogicalResult ScoresKernelBuilder::buildScores(const Products &products) {
  BackwardTiles tiles;
  tiles.queries = getTensor(nest.steps.front().getQuery());
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
  firstKey = compute<arith::AddIOp>(
      keys->lower, compute<arith::MulIOp>(getBlockId(gpu::Dimension::y),
                                          constant(chunks.tileN)));
  for (BackwardStepOp step : nest.steps)
    values.map(step->getParentOfType<scf::ForOp>().getInductionVar(), firstKey);
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
// dQ
//===----------------------------------------------------------------------===//

/// Grid: y = slices of the columns.
LogicalResult QueryGradientBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin()))
    return failure();
  mapRowTile();
  SmallVector<Value> at = getTileIndices();
  FailureOr<Bounds> keys = buildBounds(nest, at);
  if (failed(keys))
    return failure();
  int64_t columns = chunks.getColumns(chunks.headDim);
  Value firstColumn;
  if (chunks.getSlices(chunks.headDim) > 1)
    firstColumn = compute<arith::MulIOp>(getBlockId(gpu::Dimension::y),
                                         constant(columns));
  BackwardStepOp step = nest.steps.front();
  values.map(step->getParentOfType<scf::ForOp>().getInductionVar(),
             keys->lower);
  FailureOr<SmallVector<Value>> keyAt = getIndices(step.getKey());
  if (failed(keyAt))
    return failure();
  Value zero = createFill(
      builder, loc, getAccumulatorType(builder, chunks.tileM, columns), 0.0f);
  auto loop = scf::ForOp::create(builder, loc, keys->lower, keys->upper,
                                 constant(chunks.tileN), zero);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> scoreAt = at;
    scoreAt.push_back(loop.getInductionVar());
    keyAt->back() = loop.getInductionVar();
    if (firstColumn)
      keyAt->push_back(firstColumn);
    Value dScores = loadTile(workspaces[small_cache::kDScores], scoreAt,
                             chunks.tileM, chunks.tileN);
    Value key =
        loadTile(getTensor(step.getKey()), *keyAt, chunks.tileN, columns);
    Value sum = tile::MmaOp::create(builder, loc, dScores, key,
                                    /*transpose_b=*/false,
                                    loop.getRegionIterArgs().front());
    scf::YieldOp::create(builder, loc, sum);
  }
  if (firstColumn)
    at.push_back(firstColumn);
  tile::StoreOp::create(builder, loc, loop.getResult(0),
                        values.lookup(attention.getOutput("d_query")), at);
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// dK and dV
//===----------------------------------------------------------------------===//

/// Grid: x = tiles of keys, y = slices of the columns, z = groups of the round.
void KeyGradientBuilder::mapKeyTile() {
  BackwardStepOp step = nest.steps.front();
  auto getHeads = [&](Value tile) -> Value {
    return tile::DimOp::create(builder, loc, getTensor(tile), kHead);
  };
  Value keyHeads = getHeads(step.getKey());
  group = compute<arith::DivUIOp>(getHeads(step.getQuery()), keyHeads);
  tilesPerHead = countTiles(getRows(), chunks.tileM);
  groupTiles = compute<arith::MulIOp>(group, tilesPerHead);
  // As the plan counts: without rows a group has a tile, of none.
  Value counted = compute<arith::MaxUIOp>(groupTiles, constant(1));
  Value number =
      compute<arith::AddIOp>(compute<arith::DivUIOp>(firstTile, counted),
                             getBlockId(gpu::Dimension::z));
  Value skipped = compute<arith::SubIOp>(
      firstTile, compute<arith::MulIOp>(number, counted));
  firstOfGroup = compute<arith::MaxSIOp>(skipped, constant(0));
  endOfGroup = compute<arith::MinSIOp>(
      compute<arith::AddIOp>(firstOfGroup, constant(chunks.chunkTiles)),
      groupTiles);
  Value key = compute<arith::MulIOp>(getBlockId(gpu::Dimension::x),
                                     constant(chunks.tileN));
  values.map(attention.forall.getInductionVars(),
             SmallVector<Value>{compute<arith::DivUIOp>(number, keyHeads),
                                compute<arith::RemUIOp>(number, keyHeads),
                                key});
  firstColumn = compute<arith::MulIOp>(getBlockId(gpu::Dimension::y),
                                       constant(getColumns()));
  sums = workspaces[isKey() ? small_cache::kKeySums : small_cache::kValueSums];
}

/// How many of the group's row tiles before `tile` see the keys.
Value KeyGradientBuilder::countBefore(Value tile) {
  Value perHead = compute<arith::MaxUIOp>(tilesPerHead, constant(1));
  Value heads = compute<arith::DivUIOp>(tile, perHead);
  Value inHead = compute<arith::SubIOp>(compute<arith::RemUIOp>(tile, perHead),
                                        firstVisited);
  inHead = compute<arith::MinSIOp>(compute<arith::MaxSIOp>(inHead, constant(0)),
                                   visited);
  return compute<arith::AddIOp>(compute<arith::MulIOp>(heads, visited), inHead);
}

/// `row`, or a row past the end, which reads as 0, if the nest over rows does
/// not visit the keys: then nobody has written the tile. The bounds of a mask
/// from its two sides may differ.
FailureOr<Value> KeyGradientBuilder::buildRows(Value batch, Value head,
                                               Value row) {
  FailureOr<Bounds> keys = buildBounds(queries, {batch, head, row});
  if (failed(keys))
    return failure();
  Value key = getTileIndices().back();
  Value isWritten = compute<arith::AndIOp>(
      compare(arith::CmpIPredicate::sge, key, keys->lower),
      compare(arith::CmpIPredicate::slt, key, keys->upper));
  return arith::SelectOp::create(builder, loc, isWritten, row, getRows())
      .getResult();
}

/// One of the row tiles that see the keys.
LogicalResult KeyGradientBuilder::buildLoopBody(scf::ForOp loop) {
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at = getTileIndices();
  Value count = loop.getInductionVar();
  Value head = compute<arith::AddIOp>(compute<arith::MulIOp>(at[kHead], group),
                                      compute<arith::DivUIOp>(count, divisor));
  Value tile = compute<arith::AddIOp>(compute<arith::RemUIOp>(count, divisor),
                                      firstVisited);
  FailureOr<Value> row = buildRows(
      at[kBatch], head, compute<arith::MulIOp>(tile, constant(chunks.tileM)));
  if (failed(row))
    return failure();
  BackwardStepOp step = nest.steps.front();
  Value scores = loadTile(
      workspaces[isKey() ? small_cache::kDScores : small_cache::kProbabilities],
      {at[kBatch], head, *row, at.back()}, chunks.tileM, chunks.tileN);
  Value factor = loadTile(
      getTensor(isKey() ? step.getQuery() : step.getDOutput()),
      {at[kBatch], head, *row, firstColumn}, chunks.tileM, getColumns());
  auto operandType = tile::FragmentType::get(
      builder.getContext(), {chunks.tileN, chunks.tileM},
      cast<tile::SharedType>(scores.getType()).getElementType(),
      tile::FragmentLayout::OperandA);
  Value operand = tile::LoadOperandOp::create(builder, loc, operandType, scores,
                                              /*transpose=*/true);
  Value sum = tile::MmaOp::create(builder, loc, operand, factor,
                                  /*transpose_b=*/false,
                                  loop.getRegionIterArgs().front());
  scf::YieldOp::create(builder, loc, sum);
  return success();
}

/// The sum of the rounds before.
Value KeyGradientBuilder::buildInit() {
  auto type = getAccumulatorType(builder, chunks.tileN, getColumns());
  Value continues =
      compare(arith::CmpIPredicate::sgt, firstOfGroup, constant(0));
  auto choice = scf::IfOp::create(builder, loc, TypeRange{type}, continues,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, createFill(builder, loc, type, 0.0f));
  builder.setInsertionPointToStart(choice.thenBlock());
  Type i64 = builder.getI64Type();
  Value key =
      arith::IndexCastOp::create(builder, loc, i64, getTileIndices().back());
  Value column = arith::IndexCastOp::create(builder, loc, i64, firstColumn);
  Value loaded =
      Fragments(builder, loc).map(type, {}, [&](ValueRange) -> Value {
        Block *block = builder.getInsertionBlock();
        auto at = [&](Value first, unsigned argument) -> Value {
          return arith::AddIOp::create(
              builder, loc, first,
              arith::ExtUIOp::create(builder, loc, i64,
                                     block->getArgument(argument)));
        };
        return tile::ExtractOp::create(builder, loc, builder.getF32Type(), sums,
                                       ValueRange{at(key, 0), at(column, 1)});
      });
  scf::YieldOp::create(builder, loc, loaded);
  return choice.getResult(0);
}

/// The gradient, or what the next round adds to.
void KeyGradientBuilder::buildStores(Value sum) {
  Value isComplete = compare(arith::CmpIPredicate::eq, endOfGroup, groupTiles);
  auto choice =
      scf::IfOp::create(builder, loc, isComplete, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> at = getTileIndices();
  builder.setInsertionPointToStart(choice.elseBlock());
  tile::StoreOp::create(builder, loc, sum, sums,
                        ValueRange{at.back(), firstColumn});
  builder.setInsertionPointToStart(choice.thenBlock());
  at.push_back(firstColumn);
  StringRef output = isKey() ? "d_key" : "d_value";
  tile::StoreOp::create(builder, loc, sum,
                        values.lookup(attention.getOutput(output)), at);
}

LogicalResult KeyGradientBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(begin()))
    return failure();
  mapKeyTile();
  FailureOr<Bounds> rows = buildBounds(nest, getTileIndices());
  if (failed(rows))
    return failure();
  firstVisited = compute<arith::DivUIOp>(rows->lower, constant(chunks.tileM));
  visited = countTiles(
      compute<arith::MaxSIOp>(compute<arith::SubIOp>(rows->upper, rows->lower),
                              constant(0)),
      chunks.tileM);
  divisor = compute<arith::MaxUIOp>(visited, constant(1));
  Value begin = countBefore(firstOfGroup), end = countBefore(endOfGroup);
  auto loop =
      scf::ForOp::create(builder, loc, begin, end, constant(1), buildInit());
  {
    OpBuilder::InsertionGuard inner(builder);
    if (failed(buildLoopBody(loop)))
      return failure();
  }
  buildStores(loop.getResult(0));
  tile::ReturnOp::create(builder, loc);
  return success();
}

FailureOr<int64_t> attn::buildSmallCacheBackward(OpBuilder &builder,
                                                 TiledBackward &backward,
                                                 StringRef name) {
  BackwardNest &queries = backward.nests[0], &keys = backward.nests[1];
  if (failed(checkBackwardChunks(queries)))
    return failure();
  setSmallCachePlan(backward, name);
  using namespace small_cache;
  if (failed(buildPrologueKernels(builder, queries.attention, name)) ||
      failed(RowValuesKernelBuilder(builder, backward, queries, kRowValues)
                 .build()) ||
      failed(
          ScoresKernelBuilder(builder, backward, queries, kScores).build()) ||
      failed(QueryGradientBuilder(builder, backward, queries, kQueryGradient)
                 .build()))
    return failure();
  for (Kernel kernel : {kKeyGradient, kValueGradient})
    if (failed(KeyGradientBuilder(builder, backward, keys, kernel).build()))
      return failure();
  return kNumKernels;
}
