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

#include "BackwardScores.h"
#include "BackwardStep.h"
#include "Fragments.h"
#include "KernelScope.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

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
  LogicalResult convertBlock(Block &block);
  LogicalResult convertLoop(scf::ForOp loop);
  LogicalResult convertSlice(tensor::ExtractSliceOp slice);
  LogicalResult convertStep(BackwardStepOp step);
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
  Value loaded = tile::LoadRowOp::create(builder, loc, type, workspace, at);
  return tile::RowAllReduceOp::create(builder, loc, type, tile::Reduction::max,
                                      loaded);
}

/// The operand `tile` of a step: in shared memory, but for numbers of rows that
/// are rows of the fragments, too.
FailureOr<Value> ScoreKernelBuilder::loadOperand(BackwardStepOp step,
                                                 Value tile) {
  SmallVector<Value> at;
  for (OpFoldResult offset :
       ArrayRef<OpFoldResult>(getSlice(tile).getMixedOffsets()).take_front(3)) {
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
  auto lookup = [&](Value tile) { return values.lookup(tile); };
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
  Value sum = lookup(step.getDScores());
  values.map(step.getDScoresResult(),
             fragments.map(sum.getType(), {sum, scores->gradient},
                           [&](ValueRange args) {
                             return fragments.add(args[0], args[1]);
                           }));
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The one value that goes around is the sum.
LogicalResult ScoreKernelBuilder::convertLoop(scf::ForOp loop) {
  Value init = values.lookupOrNull(loop.getInitArgs().front());
  bool isTransposed = nest.keysAreRows();
  int64_t m = nest.getTileM(), n = nest.getTileN();
  if (!init)
    init = createFill(
        builder, loc,
        getAccumulatorType(builder, isTransposed ? n : m, isTransposed ? m : n),
        0.0f);
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

/// Whatever is no scalar and no operand of a step is about the sum's tensor.
LogicalResult ScoreKernelBuilder::convertBlock(Block &block) {
  for (Operation &op : block) {
    LogicalResult converted = success();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      converted = convertLoop(loop);
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      converted = convertSlice(slice);
    else if (auto step = dyn_cast<BackwardStepOp>(op))
      converted = convertStep(step);
    else if (isScalarOp(&op) && op.getResult(0).getType().isIntOrIndex())
      converted = copyScalar(&op);
    if (failed(converted))
      return failure();
  }
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
  if (nest.sum) {
    at = {z, y,
          times(x, nest.keysAreRows() ? nest.getTileN() : nest.getTileM())};
  } else {
    Value gradient = values.lookup(attention.forall.getRegionIterArgs()[0]);
    int64_t rank = attention.forall.getRank();
    at.assign(rank, z);
    at[rank - 1] = times(x, nest.getTileN());
    at[rank - 2] = times(y, nest.getTileM());
    // z counts the elements of all other dimensions.
    for (int64_t dim = rank - 3; dim >= 0; --dim) {
      Value size = tile::DimOp::create(builder, loc, gradient, dim);
      at[dim] =
          dim ? arith::RemUIOp::create(builder, loc, z, size).getResult() : z;
      z = arith::DivUIOp::create(builder, loc, z, size);
    }
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
  FailureOr<tile::KernelOp> kernel =
      beginKernel(nest.entry, buildManifest(attention, backward.plan));
  if (failed(kernel))
    return failure();
  views = backward.addOwnViews(*kernel);
  mapGrid();
  if (failed(convertBlock(*attention.forall.getBody())))
    return failure();
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
    if (failed(ScoreKernelBuilder(builder, backward, nest).build()))
      return failure();
  for (SumKernel &sum : backward.sums)
    if (failed(buildSumKernel(builder, backward, sum)))
      return failure();
  return success();
}
