//===- BackwardStores.cpp - What kernels of the backward pass write -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardKernelBuilder.h"
#include "Backward/GradientMods.h"

#include "Kernel/Fragments.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// dK and dV are stored; dQ has been added up.
void BackwardKernelBuilder::convertInsert(tensor::InsertSliceOp insert) {
  Value destination = values.lookup(insert.getDest());
  values.map(insert.getResult(), destination);
  Value source = values.lookupOrNull(insert.getSource());
  if (!source)
    return;
  bool isDKey =
      destination == values.lookup(attention.forall.getRegionIterArgs()[0]);
  if (isDKey && backward.startsFromDelta())
    source = Fragments(builder, loc)
                 .multiply(source, nest.steps.front().getScaleValue());
  SmallVector<Value> at = lookupAll(attention.forall.getInductionVars());
  at.push_back(position);
  tile::StoreOp::create(builder, insert.getLoc(), source, destination, at);
}

/// What tiles of a gradient, fragments as `tile`, are stored in.
static StoredTensor getStored(Value tile, Value destination) {
  int64_t columns =
      cast<tile::GlobalType>(destination.getType()).getShape()[kHeadDim];
  int64_t tileColumns = cast<tile::FragmentType>(tile.getType()).getShape()[1];
  return {destination, columns, columns % tileColumns != 0};
}

LogicalResult BackwardKernelBuilder::convertStores(scf::InParallelOp op) {
  for (Operation &yielding : op.getYieldingOps())
    if (failed(convertStore(cast<tensor::ParallelInsertSliceOp>(yielding))))
      return failure();
  return success();
}

LogicalResult
BackwardKernelBuilder::convertStore(tensor::ParallelInsertSliceOp insert) {
  SmallVector<OutputModOp> mods = getGradientMods(insert.getSource());
  Value source = values.lookupOrNull(mods.empty() ? insert.getSource()
                                                  : mods.front().getSource());
  if (!source || !isa<tile::FragmentType>(source.getType()))
    return success(); // delta, which is there.
  SmallVector<Value> at = lookupAll(attention.forall.getInductionVars());
  Value destination = values.lookup(insert.getDest());
  if (cast<tile::FragmentType>(source.getType()).isRow()) {
    // Those of a gradient are whole: they are there when it is stored.
    if (insert.getSource().getDefiningOp<OutputModOp>())
      tile::StoreOp::create(builder, insert.getLoc(), source, destination, at);
    else
      storeMaxima(source, destination, at);
    return success();
  }
  if (Value factor = getFactorOf(insert.getDest()))
    source = Fragments(builder, loc).multiply(source, factor);
  if (firstColumn)
    at.push_back(firstColumn);
  FailureOr<Value> stored =
      applyOutputMods(mods, source, at, getStored(source, destination));
  if (failed(stored))
    return failure();
  tile::StoreOp::create(builder, insert.getLoc(), *stored, destination, at);
  return success();
}

/// What the sums of a gradient are multiplied by; null if they are the
/// gradient.
Value BackwardKernelBuilder::getFactorOf(Value gradient) {
  if (!factors)
    return Value();
  bool isFirst = gradient == attention.forall.getRegionIterArgs().front();
  if (!nest.keysAreRows())
    return factors.dQuery;
  return nest.hasDKey() && isFirst ? factors.dKey : factors.dValue;
}

void BackwardKernelBuilder::storeMaxima(Value maxima, Value destination,
                                        ValueRange at) {
  maxima = tile::RowAllReduceOp::create(builder, loc, maxima.getType(),
                                        tile::Reduction::maximum, maxima);
  if (factors)
    maxima = Fragments(builder, loc).multiply(maxima, factors.amax);
  onlyInFirstSlice(
      [&] { tile::StoreOp::create(builder, loc, maxima, destination, at); });
}

/// The CTAs of all slices have the same numbers of their rows.
void BackwardKernelBuilder::onlyInFirstSlice(llvm::function_ref<void()> body) {
  if (!firstColumn)
    return body();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        firstColumn, constant(0));
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  body();
}
