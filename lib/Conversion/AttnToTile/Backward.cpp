//===- Backward.cpp - Kernels of the backward pass ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each loop nest of --attn-tile-backward becomes a kernel, its scf.forall the
// grid. Tiles are copied where they are sliced and waited for by the step that
// reads them; nothing is in flight while a step computes.
//
//===----------------------------------------------------------------------===//

#include "Backward.h"

#include "BackwardStep.h"
#include "Fragments.h"
#include "KernelScope.h"
#include "TiledBackward.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

namespace {
/// Builds one of the kernels.
class BackwardKernelBuilder : KernelScope {
public:
  BackwardKernelBuilder(OpBuilder &builder, TiledBackward &backward,
                        bool keysAreRows)
      : KernelScope(builder, keysAreRows ? backward.keys : backward.queries),
        backward(backward), keysAreRows(keysAreRows),
        loc(attention.forall.getLoc()) {}

  LogicalResult build(StringRef name, DictionaryAttr manifest);

private:
  LogicalResult convertBlock(Block &block);
  LogicalResult convertOp(Operation *op);
  LogicalResult convertLoop(scf::ForOp loop);
  LogicalResult convertBranch(scf::IfOp branch);
  LogicalResult convertSlice(tensor::ExtractSliceOp slice);
  LogicalResult convertStep(BackwardStepOp step);
  void convertDelta(BackwardDeltaOp op);
  void convertFill(linalg::FillOp fill);
  void convertStores(scf::InParallelOp op);
  SmallVector<Value> lookupAll(ValueRange outside) {
    return llvm::map_to_vector(outside,
                               [&](Value v) { return values.lookup(v); });
  }

  TiledBackward &backward;
  bool keysAreRows;
  Location loc;
  /// True while copies are under way that no step has waited for.
  bool isCopying = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult BackwardKernelBuilder::convertLoop(scf::ForOp loop) {
  auto copy = scf::ForOp::create(
      builder, loop.getLoc(), values.lookup(loop.getLowerBound()),
      values.lookup(loop.getUpperBound()), values.lookup(loop.getStep()),
      lookupAll(loop.getInitArgs()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  values.map(loop.getInductionVar(), copy.getInductionVar());
  values.map(ValueRange(loop.getRegionIterArgs()),
             ValueRange(copy.getRegionIterArgs()));
  isCopying = false; // The first step of the loop waits for all copies.
  if (failed(convertBlock(*loop.getBody())))
    return failure();
  scf::YieldOp::create(builder, loop.getLoc(),
                       lookupAll(loop.getYieldedValues()));
  values.map(loop.getResults(), copy.getResults());
  return success();
}

/// The condition is the same for all threads of a CTA: branches may hold
/// barriers.
LogicalResult BackwardKernelBuilder::convertBranch(scf::IfOp branch) {
  SmallVector<Value> otherwise = lookupAll(branch.elseYield().getOperands());
  auto copy = scf::IfOp::create(builder, branch.getLoc(), TypeRange(otherwise),
                                values.lookup(branch.getCondition()), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.elseBlock());
  scf::YieldOp::create(builder, branch.getLoc(), otherwise);
  builder.setInsertionPointToStart(copy.thenBlock());
  if (failed(convertBlock(*branch.thenBlock())))
    return failure();
  scf::YieldOp::create(builder, branch.getLoc(),
                       lookupAll(branch.thenYield().getOperands()));
  values.map(branch.getResults(), copy.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles and steps
//===----------------------------------------------------------------------===//

/// True if a step multiplies with the tile.
static bool isFactor(Value tile) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    auto step = dyn_cast<BackwardStepOp>(user);
    return step &&
           llvm::is_contained(ValueRange{step.getQuery(), step.getKey(),
                                         step.getValue(), step.getDOutput()},
                              tile);
  });
}

/// Starts the copy of a tile that a step multiplies with; other tiles are read
/// where they are.
LogicalResult
BackwardKernelBuilder::convertSlice(tensor::ExtractSliceOp slice) {
  // What is cut off a ragged result: the store does that by itself.
  if (Value fragment = values.lookupOrNull(slice.getSource());
      fragment && isa<tile::FragmentType>(fragment.getType())) {
    values.map(slice.getResult(), fragment);
    return success();
  }
  Value source = values.lookup(slice.getSource());
  Value tile = slice.getResult();
  for (Operation *user : slice->getUsers())
    if (isa<tensor::PadOp>(user))
      tile = user->getResult(0);
  if (!isFactor(tile)) {
    values.map(tile, source);
    return success();
  }
  SmallVector<Value> indices;
  for (OpFoldResult offset :
       ArrayRef<OpFoldResult>(slice.getMixedOffsets()).drop_back()) {
    FailureOr<Value> index = materialize(cast<Value>(offset));
    if (failed(index))
      return failure();
    indices.push_back(*index);
  }
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t cols = llvm::alignTo(type.getDimSize(kHeadDim), 16);
  auto shared = tile::SharedType::get(
      builder.getContext(), {type.getDimSize(kSequence), cols},
      type.getElementType(), tile::SharedType::getSwizzleFor(2 * cols));
  OpBuilder entry =
      OpBuilder::atBlockBegin(&builder.getBlock()
                                   ->getParent()
                                   ->getParentOfType<tile::KernelOp>()
                                   .getBody()
                                   .front());
  Value buffer =
      tile::AllocOp::create(entry, loc, shared, /*offset=*/IntegerAttr());
  // The step before has read what is overwritten now.
  if (!isCopying)
    gpu::BarrierOp::create(builder, loc);
  isCopying = true;
  tile::CopyAsyncOp::create(builder, loc, source, indices, buffer,
                            /*in_bounds=*/false);
  values.map(tile, buffer);
  return success();
}

LogicalResult BackwardKernelBuilder::convertStep(BackwardStepOp step) {
  tile::CommitGroupOp::create(builder, loc);
  tile::WaitGroupOp::create(builder, loc, 0);
  gpu::BarrierOp::create(builder, loc);
  isCopying = false;
  Value lse = values.lookup(getSource(step.getLse()));
  Value delta = keysAreRows ? values.lookup(getSource(step.getDelta()))
                            : values.lookup(step.getDelta());
  BackwardTiles tiles{values.lookup(step.getQuery()),
                      values.lookup(step.getKey()),
                      values.lookup(step.getValue()),
                      values.lookup(step.getDOutput()),
                      lse,
                      delta};
  FailureOr<BackwardStepBuilder::Operands> operands =
      BackwardStepBuilder(mods, step, tiles, keysAreRows).build();
  if (failed(operands))
    return failure();
  auto accumulate = [&](Value gradient, Value result, Value a, Value b) {
    values.map(result,
               tile::MmaOp::create(builder, loc, a, b, /*transpose_b=*/false,
                                   values.lookup(gradient))
                   .getResult());
  };
  if (keysAreRows) {
    accumulate(step.getDKey(), step.getDKeyResult(), operands->dScores,
               tiles.query);
    accumulate(step.getDValue(), step.getDValueResult(),
               operands->probabilities, tiles.dOutput);
  } else {
    accumulate(step.getDQuery(), step.getDQueryResult(), operands->dScores,
               tiles.key);
  }
  return success();
}

/// Each CTA writes delta of its rows, and reads it again from there.
void BackwardKernelBuilder::convertDelta(BackwardDeltaOp op) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  auto sourceOf = [&](Value tile) {
    return tile ? values.lookup(getSource(tile)) : tile;
  };
  SmallVector<Value> at = lookupAll(attention.forall.getInductionVars());
  Value delta = DeltaBuilder(builder, loc, at)
                    .build(type.getDimSize(kSequence),
                           type.getDimSize(kHeadDim), sourceOf(op.getOutput()),
                           sourceOf(op.getDOutput()), sourceOf(op.getDLse()));
  Value workspace = values.lookup(attention.forall.getRegionIterArgs()[1]);
  tile::StoreOp::create(builder, loc, delta, workspace, at);
  gpu::BarrierOp::create(builder, loc);
  values.map(op.getDelta(), workspace);
}

void BackwardKernelBuilder::convertFill(linalg::FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getResult(0).getType());
  Value zero = createFill(
      builder, loc,
      getAccumulatorType(builder, type.getDimSize(kSequence),
                         llvm::alignTo(type.getDimSize(kHeadDim), 16)),
      0.0f);
  values.map(fill.getResult(0), zero);
}

void BackwardKernelBuilder::convertStores(scf::InParallelOp op) {
  for (Operation &yielding : op.getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(yielding);
    Value source = values.lookup(insert.getSource());
    if (!isa<tile::FragmentType>(source.getType()))
      continue; // delta, which is there.
    tile::StoreOp::create(builder, insert.getLoc(), source,
                          values.lookup(insert.getDest()),
                          lookupAll(attention.forall.getInductionVars()));
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult BackwardKernelBuilder::convertOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return convertLoop(loop); })
      .Case([&](scf::IfOp branch) { return convertBranch(branch); })
      .Case([&](tensor::ExtractSliceOp slice) { return convertSlice(slice); })
      .Case([&](BackwardStepOp step) { return convertStep(step); })
      .Case([&](BackwardDeltaOp delta) {
        convertDelta(delta);
        return success();
      })
      .Case([&](linalg::FillOp fill) {
        convertFill(fill);
        return success();
      })
      .Case([&](scf::InParallelOp stores) {
        convertStores(stores);
        return success();
      })
      // The store rounds.
      .Case([&](arith::TruncFOp truncation) -> LogicalResult {
        if (!isa<RankedTensorType>(truncation.getType()))
          return copyScalar(truncation);
        values.map(truncation.getResult(), values.lookup(truncation.getIn()));
        return success();
      })
      .Case<tensor::EmptyOp, tensor::PadOp, scf::YieldOp>(
          [](Operation *) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        if (isScalarOp(other))
          return copyScalar(other);
        return other->emitOpError()
               << "expected only ops that --attn-tile-backward gives";
      });
}

LogicalResult BackwardKernelBuilder::convertBlock(Block &block) {
  for (Operation &op : block)
    if (!isa<arith::ConstantOp>(op) || op.getResult(0).getType().isIntOrIndex())
      if (failed(convertOp(&op)))
        return failure();
  return success();
}

LogicalResult BackwardKernelBuilder::build(StringRef name,
                                           DictionaryAttr manifest) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(name, manifest);
  if (failed(kernel))
    return failure();
  Value delta = kernel->getBody().front().addArgument(
      backward.plan.workspaces[0].type, loc);
  scf::ForallOp first = backward.queries.forall;
  values.map(first.getRegionIterArgs()[1], delta);
  values.map(first.getResult(1), delta);
  int64_t tile = keysAreRows ? attention.schedule.getTileN()
                             : attention.schedule.getTileM();
  Value position =
      arith::MulIOp::create(builder, loc, getReversedBlockId(), constant(tile));
  values.map(attention.forall.getInductionVars(),
             SmallVector<Value>{getBlockId(gpu::Dimension::z),
                                getBlockId(gpu::Dimension::y), position});
  if (failed(convertBlock(*attention.forall.getBody())))
    return failure();
  tile::ReturnOp::create(builder, loc);
  return success();
}

//===----------------------------------------------------------------------===//
// Both kernels
//===----------------------------------------------------------------------===//

LogicalResult attn::buildBackwardKernels(OpBuilder &builder,
                                         Operation *function, StringRef name) {
  FailureOr<TiledBackward> backward = TiledBackward::find(function, name);
  if (failed(backward))
    return failure();
  if (failed(BackwardKernelBuilder(builder, *backward, /*keysAreRows=*/false)
                 .build(backward->plan.kernels[0].entry,
                        buildManifest(backward->queries, backward->plan))))
    return failure();
  return BackwardKernelBuilder(builder, *backward, /*keysAreRows=*/true)
      .build(backward->plan.kernels[1].entry,
             buildScheduleManifest(backward->keys));
}
