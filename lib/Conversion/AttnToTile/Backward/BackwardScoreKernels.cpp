//===- BackwardScoreKernels.cpp - Tiles and vectors of score gradients ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each CTA adds up the gradients of the scores of its tiles in registers, then
// writes them, or their sums over rows of the fragment. Products are those of
// mma.sync on every target.
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardScores.h"
#include "Backward/BackwardStep.h"
#include "Kernel/ExactSum.h"
#include "Kernel/Fragments.h"
#include "Kernel/KernelScope.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

namespace {
class ScoreKernelBuilder : KernelScope {
public:
  ScoreKernelBuilder(OpBuilder &builder, TiledBackward &backward,
                     ScoreNest &nest)
      : KernelScope(builder, nest.attention), backward(backward), nest(nest),
        loc(attention.forall.getLoc()) {}

  LogicalResult build();

private:
  void mapGrid();
  LogicalResult convertOp(Operation *op);
  LogicalResult convertBlock(Block &block);
  LogicalResult convertLoop(scf::ForOp loop);
  LogicalResult convertSlice(tensor::ExtractSliceOp slice);
  LogicalResult convertLoopOfCtas(scf::ForOp loop);
  LogicalResult convertLoopOfScatters(scf::ForOp loop);
  LogicalResult convertStep(BackwardStepOp step);
  LogicalResult convertScatter(BackwardScatterOp scatter);
  LogicalResult scatterElement(BackwardScatterOp scatter, ValueRange offsets,
                               ValueRange element);
  Value getScores(Value tensor);
  Value toI64(Value index);
  FailureOr<Value> loadOperand(BackwardStepOp step, Value tile);
  Value loadRows(Value workspace, ValueRange at);
  void store(Value scores);

  TiledBackward &backward;
  ScoreNest &nest;
  Location loc;
  SmallVector<Value> views; ///< the own workspaces
};
} // namespace

//===----------------------------------------------------------------------===//
// Tiles and steps
//===----------------------------------------------------------------------===//

/// A number for each row of the fragments.
Value ScoreKernelBuilder::loadRows(Value workspace, ValueRange at) {
  tile::FragmentType type = getRowType(builder, nest.getTileM());
  return tile::LoadRowOp::create(builder, loc, type, workspace, at);
}

/// The operand `tile` of a step: in shared memory, but for numbers of rows that
/// are rows of the fragments, too.
FailureOr<Value> ScoreKernelBuilder::loadOperand(BackwardStepOp step,
                                                 Value tile) {
  SmallVector<Value> at;
  SmallVector<OpFoldResult> offsets = getSlice(tile).getMixedOffsets();
  for (OpFoldResult offset : ArrayRef(offsets).take_front(3)) {
    if (std::optional<int64_t> number = getConstantIntValue(offset)) {
      at.push_back(constant(*number));
      continue;
    }
    FailureOr<Value> index = materialize(cast<Value>(offset));
    if (failed(index))
      return failure();
    at.push_back(*index);
  }
  if (tile == step.getLse() || tile == step.getDelta()) {
    Value workspace = tile == step.getLse() ? views.end()[-2] : views.back();
    return nest.keysAreRows() ? loadTile(workspace, at, 1, nest.getTileM())
                              : loadRows(workspace, at);
  }
  auto type = cast<RankedTensorType>(tile.getType());
  return loadTile(values.lookup(getSource(tile)), at,
                  type.getDimSize(kSequence),
                  llvm::alignTo(type.getDimSize(kHeadDim), 16));
}

/// Slices that are operands of steps are loaded where they are; those of the
/// bias are read element by element.
LogicalResult ScoreKernelBuilder::convertSlice(tensor::ExtractSliceOp slice) {
  Value tile = slice.getResult();
  for (Operation *user : slice->getUsers())
    if (isa<tensor::PadOp>(user))
      tile = user->getResult(0);
  for (BackwardStepOp step : nest.steps) {
    if (tile == step.getBias()) {
      values.map(tile, values.lookup(slice.getSource()));
      return success();
    }
    if (!llvm::is_contained({step.getQuery(), step.getKey(), step.getValue(),
                             step.getDOutput(), step.getLse(), step.getDelta()},
                            tile))
      continue;
    FailureOr<Value> loaded = loadOperand(step, tile);
    if (failed(loaded))
      return failure();
    values.map(tile, *loaded);
    return success();
  }
  return success();
}

LogicalResult ScoreKernelBuilder::convertStep(BackwardStepOp step) {
  auto lookup = [&](Value tile) { return tile ? values.lookup(tile) : tile; };
  BackwardTiles tiles{lookup(step.getQuery()),
                      lookup(step.getKey()),
                      lookup(step.getValue()),
                      lookup(step.getDOutput()),
                      lookup(step.getLse()),
                      lookup(step.getDelta()),
                      lookup(getSource(step.getQuery()))};
  FailureOr<BackwardStepBuilder::Scores> scores =
      BackwardStepBuilder(mods, step, tiles, nest.keysAreRows()).build();
  if (failed(scores))
    return failure();
  Fragments fragments(builder, loc);
  Value sum = getScores(step.getDScores());
  values.map(step.getDScoresResult(),
             fragments.map(sum.getType(), {sum, scores->gradient},
                           [&](ValueRange args) {
                             return fragments.add(args[0], args[1]);
                           }));
  return success();
}

Value ScoreKernelBuilder::toI64(Value index) {
  Type type = index.getType(), i64 = builder.getI64Type();
  if (type == i64)
    return index;
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, index);
  return arith::ExtSIOp::create(builder, loc, i64, index);
}

/// Adds (number, row, column) of a tile to the element that it belongs to.
LogicalResult ScoreKernelBuilder::scatterElement(BackwardScatterOp scatter,
                                                 ValueRange offsets,
                                                 ValueRange element) {
  Value number = element[0];
  Value isAny =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, number,
                            Fragments(builder, loc).constant(0));
  auto guarded = scf::IfOp::create(builder, loc, isAny);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  SmallVector<Value> at(offsets);
  at[kLoopM] = arith::AddIOp::create(builder, loc, at[kLoopM], element[1]);
  at[kLoopN] = arith::AddIOp::create(builder, loc, at[kLoopN], element[2]);
  SmallVector<Value> indices;
  for (Region &region : scatter.getIndices()) {
    FailureOr<Value> index = mods.inlineRegion(region, Value(), at);
    if (failed(index))
      return failure();
    indices.push_back(toI64(*index));
  }
  ExactSum(builder, loc, views[nest.view]).add(number, indices);
  return success();
}

LogicalResult ScoreKernelBuilder::convertScatter(BackwardScatterOp scatter) {
  SmallVector<Value> offsets =
      llvm::map_to_vector(scatter.getOffsets(), [&](Value offset) -> Value {
        return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                          values.lookup(offset));
      });
  Value scores = values.lookup(scatter.getScores());
  values.map(scatter.getResult(), views[nest.view]);
  auto map = tile::MapOp::create(builder, loc, scores.getType(), scores);
  OpBuilder::InsertionGuard guard(builder);
  Type i32 = builder.getI32Type();
  Block *block = builder.createBlock(
      &map.getBody(), {}, {builder.getF32Type(), i32, i32}, {loc, loc, loc});
  if (failed(scatterElement(scatter, offsets, block->getArguments())))
    return failure();
  tile::YieldOp::create(builder, loc, block->getArgument(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Each CTA has a turn of the loop that scatters: the sums do not depend on the
/// order.
LogicalResult ScoreKernelBuilder::convertLoopOfCtas(scf::ForOp loop) {
  values.map(loop.getInductionVar(), getBlockId(gpu::Dimension::x));
  values.map(loop.getRegionIterArgs().front(), views[nest.view]);
  return convertBlock(*loop.getBody());
}

/// A loop in which each turn scatters.
LogicalResult ScoreKernelBuilder::convertLoopOfScatters(scf::ForOp loop) {
  auto copy = scf::ForOp::create(
      builder, loc, values.lookup(loop.getLowerBound()),
      values.lookup(loop.getUpperBound()), values.lookup(loop.getStep()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  values.map(loop.getInductionVar(), copy.getInductionVar());
  values.map(loop.getRegionIterArgs().front(), views[nest.view]);
  values.map(loop.getResult(0), views[nest.view]);
  return convertBlock(*loop.getBody());
}

/// A sum of scores that is carried or, if there is none yet, 0.
Value ScoreKernelBuilder::getScores(Value tensor) {
  if (Value scores = values.lookupOrNull(tensor))
    return scores;
  bool isTransposed = nest.keysAreRows();
  int64_t m = nest.getTileM(), n = nest.getTileN();
  return createFill(
      builder, loc,
      getAccumulatorType(builder, isTransposed ? n : m, isTransposed ? m : n),
      0.0f);
}

static bool isFloatConstant(Operation *op) {
  return isa<arith::ConstantOp>(op) &&
         !op->getResult(0).getType().isIntOrIndex();
}

/// The one value that goes around is the sum.
LogicalResult ScoreKernelBuilder::convertLoop(scf::ForOp loop) {
  if (loop == nest.scatterLoop)
    return convertLoopOfCtas(loop);
  Value init = getScores(loop.getInitArgs().front());
  if (nest.scatterLoop && init == views[nest.view])
    return convertLoopOfScatters(loop);
  auto copy = scf::ForOp::create(
      builder, loc, values.lookup(loop.getLowerBound()),
      values.lookup(loop.getUpperBound()), values.lookup(loop.getStep()), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  values.map(loop.getInductionVar(), copy.getInductionVar());
  values.map(loop.getRegionIterArgs().front(),
             copy.getRegionIterArgs().front());
  if (failed(convertBlock(*loop.getBody())))
    return failure();
  scf::YieldOp::create(builder, loc,
                       values.lookup(loop.getYieldedValues().front()));
  values.map(loop.getResult(0), copy.getResult(0));
  return success();
}

LogicalResult ScoreKernelBuilder::convertOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return convertLoop(loop); })
      .Case([&](tensor::ExtractSliceOp slice) { return convertSlice(slice); })
      .Case([&](BackwardStepOp step) { return convertStep(step); })
      .Case([&](BackwardScatterOp scatter) { return convertScatter(scatter); })
      // What becomes of the sums: `store`.
      .Case<tensor::EmptyOp, tensor::PadOp, linalg::FillOp, linalg::ReduceOp,
            scf::InParallelOp, scf::YieldOp>(
          [](Operation *) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        if (isa<arith::TruncFOp>(other) || isFloatConstant(other))
          return success();
        if (isScalarOp(other))
          return copyScalar(other);
        return other->emitOpError()
               << "expected only ops that --attn-tile-backward gives";
      });
}

LogicalResult ScoreKernelBuilder::convertBlock(Block &block) {
  for (Operation &op : block)
    if (failed(convertOp(&op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void ScoreKernelBuilder::mapGrid() {
  auto times = [&](Value number, int64_t tile) -> Value {
    return arith::MulIOp::create(builder, loc, number, constant(tile));
  };
  Value x = getBlockId(gpu::Dimension::x), y = getBlockId(gpu::Dimension::y),
        z = getBlockId(gpu::Dimension::z);
  SmallVector<Value> at;
  if (nest.scatterLoop) {
    at = {constant(0)};
  } else if (nest.sum) {
    at = {z, y,
          times(x, nest.keysAreRows() ? nest.getTileN() : nest.getTileM())};
  } else {
    Value gradient = values.lookup(attention.forall.getRegionIterArgs()[0]);
    int64_t rank = attention.forall.getRank();
    at.resize(rank);
    at[rank - 1] = times(x, nest.getTileN());
    at[rank - 2] = times(y, nest.getTileM());
    llvm::copy(getIndices(z, gradient, rank - 2), at.begin());
  }
  values.map(attention.forall.getInductionVars(), at);
}

/// dS has the scale as a factor, which dQ and dK want.
void ScoreKernelBuilder::store(Value scores) {
  SmallVector<Value> at =
      llvm::map_to_vector(attention.forall.getInductionVars(),
                          [&](Value iv) { return values.lookup(iv); });
  Fragments fragments(builder, loc);
  if (nest.sum) {
    Value sums = fragments.reduce(tile::Reduction::sum, scores, 0.0f);
    tile::StoreOp::create(builder, loc, sums, views[nest.view], at);
    return;
  }
  double scale = nest.steps.front().getScaleValue();
  scores = fragments.map(scores.getType(), scores, [&](ValueRange args) {
    return fragments.mul(args[0], fragments.constant(1 / scale));
  });
  Value gradient = values.lookup(attention.forall.getRegionIterArgs()[0]);
  // Rows of any length have no pairs of columns at even addresses.
  tile::StoreOp::create(builder, loc, scores, gradient, at, /*heads=*/1,
                        /*single=*/true);
}

LogicalResult ScoreKernelBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(nest.entry);
  if (failed(kernel))
    return failure();
  views = backward.addOwnViews(*kernel);
  mapGrid();
  if (failed(convertBlock(*attention.forall.getBody())))
    return failure();
  if (nest.scatterLoop) {
    tile::ReturnOp::create(builder, loc);
    return success();
  }
  scf::ForOp last;
  for (auto loop : attention.forall.getBody()->getOps<scf::ForOp>())
    last = loop;
  store(values.lookup(last.getResult(0)));
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildScoreKernels(OpBuilder &builder,
                                      TiledBackward &backward) {
  for (ScoreNest &nest : backward.scoreNests)
    if (failed(buildClearingKernel(builder, backward, nest)) ||
        failed(ScoreKernelBuilder(builder, backward, nest).build()) ||
        failed(buildSumRoundingKernel(builder, backward, nest)))
      return failure();
  for (SumKernel &sum : backward.sums)
    if (failed(buildSumKernel(builder, backward, sum)))
      return failure();
  return success();
}
