//===- BackwardStores.cpp - What kernels of the backward pass write -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardKernelBuilder.h"

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

void BackwardKernelBuilder::convertStores(scf::InParallelOp op) {
  for (Operation &yielding : op.getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(yielding);
    Value source = values.lookupOrNull(insert.getSource());
    if (!source || !isa<tile::FragmentType>(source.getType()))
      continue; // delta, which is there.
    SmallVector<Value> at = lookupAll(attention.forall.getInductionVars());
    Value destination = values.lookup(insert.getDest());
    if (cast<tile::FragmentType>(source.getType()).isRow()) {
      storeMaxima(source, destination, at);
      continue;
    }
    if (Value factor = getFactorOf(insert.getDest()))
      source = Fragments(builder, loc).multiply(source, factor);
    if (firstColumn)
      at.push_back(firstColumn);
    tile::StoreOp::create(builder, insert.getLoc(), source, destination, at);
  }
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
