//===- ChunkGradients.cpp - Gradients of P and dS in memory ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dQ = dS K, dK = dS^T Q and dV = P^T dO: a CTA for each tile of a gradient.
//
//===----------------------------------------------------------------------===//

#include "Backward/ChunkKernel.h"
#include "Kernel/Fragments.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

namespace {
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
  FailureOr<Value> isWritten(Value batch, Value head, Value row);
  Value buildProduct(Value isThere, Value scores, Value factor, Value sum);
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
  if (chunks.getSlices(chunks.headDim) > 1) {
    firstColumn = getBlockId(gpu::Dimension::y);
    firstColumn = compute<arith::MulIOp>(firstColumn, constant(columns));
  }
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
                                    /*transposeB=*/false,
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
  Value number = compute<arith::DivUIOp>(firstTile, counted);
  number = compute<arith::AddIOp>(number, getBlockId(gpu::Dimension::z));
  Value skipped = compute<arith::SubIOp>(
      firstTile, compute<arith::MulIOp>(number, counted));
  firstOfGroup = compute<arith::MaxSIOp>(skipped, constant(0));
  endOfGroup = compute<arith::MinSIOp>(
      compute<arith::AddIOp>(firstOfGroup, constant(chunks.chunkTiles)),
      groupTiles);
  Value key = getBlockId(gpu::Dimension::x);
  key = compute<arith::MulIOp>(key, constant(chunks.tileN));
  values.map(attention.forall.getInductionVars(),
             SmallVector<Value>{compute<arith::DivUIOp>(number, keyHeads),
                                compute<arith::RemUIOp>(number, keyHeads),
                                key});
  firstColumn = getBlockId(gpu::Dimension::y);
  firstColumn = compute<arith::MulIOp>(firstColumn, constant(getColumns()));
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

/// True if the nest over rows visits the keys: else nobody has written the
/// tile. The bounds of a mask from its two sides may differ.
FailureOr<Value> KeyGradientBuilder::isWritten(Value batch, Value head,
                                               Value row) {
  FailureOr<Bounds> keys = buildBounds(queries, {batch, head, row});
  if (failed(keys))
    return failure();
  Value key = getTileIndices().back();
  Value isBehind = compare(arith::CmpIPredicate::sge, key, keys->lower);
  Value isBefore = compare(arith::CmpIPredicate::slt, key, keys->upper);
  return compute<arith::AndIOp>(isBehind, isBefore);
}

/// sum + scores^T factor, if there is one.
Value KeyGradientBuilder::buildProduct(Value isThere, Value scores,
                                       Value factor, Value sum) {
  auto choice = scf::IfOp::create(builder, loc, TypeRange{sum.getType()},
                                  isThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, sum);
  builder.setInsertionPointToStart(choice.thenBlock());
  auto operandType = tile::FragmentType::getOperandA(
      {chunks.tileN, chunks.tileM},
      cast<tile::SharedType>(scores.getType()).getElementType());
  Value operand = tile::LoadOperandOp::create(builder, loc, operandType, scores,
                                              /*transpose=*/true);
  sum = tile::MmaOp::create(builder, loc, operand, factor,
                            /*transposeB=*/false, sum);
  scf::YieldOp::create(builder, loc, sum);
  return choice.getResult(0);
}

/// One of the row tiles that see the keys.
LogicalResult KeyGradientBuilder::buildLoopBody(scf::ForOp loop) {
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at = getTileIndices();
  Value count = loop.getInductionVar();
  Value head = compute<arith::MulIOp>(at[kHead], group);
  head = compute<arith::AddIOp>(head, compute<arith::DivUIOp>(count, divisor));
  Value tile = compute<arith::AddIOp>(compute<arith::RemUIOp>(count, divisor),
                                      firstVisited);
  Value row = compute<arith::MulIOp>(tile, constant(chunks.tileM));
  FailureOr<Value> isThere = isWritten(at[kBatch], head, row);
  if (failed(isThere))
    return failure();
  BackwardStepOp step = nest.steps.front();
  Value scores = loadTile(
      workspaces[isKey() ? small_cache::kDScores : small_cache::kProbabilities],
      {at[kBatch], head, row, at.back()}, chunks.tileM, chunks.tileN);
  Value factor = loadTile(
      getTensor(isKey() ? step.getQuery() : step.getDOutput()),
      {at[kBatch], head, row, firstColumn}, chunks.tileM, getColumns());
  scf::YieldOp::create(
      builder, loc,
      buildProduct(*isThere, scores, factor, loop.getRegionIterArgs().front()));
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
  visited = compute<arith::SubIOp>(rows->upper, rows->lower);
  visited = compute<arith::MaxSIOp>(visited, constant(0));
  visited = countTiles(visited, chunks.tileM);
  divisor = compute<arith::MaxUIOp>(visited, constant(1));
  Value begin = countBefore(firstOfGroup), end = countBefore(endOfGroup);
  Value one = constant(1);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one, buildInit());
  {
    OpBuilder::InsertionGuard inner(builder);
    if (failed(buildLoopBody(loop)))
      return failure();
  }
  buildStores(loop.getResult(0));
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

LogicalResult attn::buildQueryGradientKernel(OpBuilder &builder,
                                             TiledBackward &backward) {
  return QueryGradientBuilder(builder, backward, backward.nests[0],
                              small_cache::kQueryGradient)
      .build();
}

LogicalResult attn::buildKeyGradientKernel(OpBuilder &builder,
                                           TiledBackward &backward,
                                           small_cache::Kernel number) {
  return KeyGradientBuilder(builder, backward, backward.nests[1], number)
      .build();
}
