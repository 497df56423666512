//===- GradientMods.cpp - What follows gradients --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/GradientMods.h"

using namespace mlir;
using namespace attn;

SmallVector<OutputModOp> attn::getGradientMods(Value stored) {
  SmallVector<OutputModOp> mods;
  while (auto mod = stored.getDefiningOp<OutputModOp>()) {
    if (stored != mod.getResult())
      return {};
    mods.push_back(mod);
    stored = mod.getSource();
  }
  return {mods.rbegin(), mods.rend()};
}

/// Where a gradient with something behind it, or the maxima of that, are
/// stored.
static SmallVector<tensor::ParallelInsertSliceOp>
getInserts(BackwardNest &nest) {
  SmallVector<tensor::ParallelInsertSliceOp> inserts;
  scf::InParallelOp stores = nest.attention.forall.getTerminator();
  for (Operation &store : stores.getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(store);
    if (insert.getSource().getDefiningOp<OutputModOp>())
      inserts.push_back(insert);
  }
  return inserts;
}

static void addMaxima(TiledAttention &attention, BackwardNest &nest) {
  SmallVector<tensor::ParallelInsertSliceOp> inserts = getInserts(nest);
  auto findInsert = [&](Value tile) {
    return *llvm::find_if(inserts, [&](tensor::ParallelInsertSliceOp insert) {
      return insert.getSource() == tile;
    });
  };
  for (tensor::ParallelInsertSliceOp insert : inserts) {
    std::string name = ("amax_" + nest.getGradientName(insert.getDest())).str();
    unsigned number = 0;
    for (OutputModOp mod : getGradientMods(insert.getSource())) {
      if (!mod.getAmax())
        continue;
      Value maxima = findInsert(mod.getAmax()).getDest();
      attention.operands.push_back(
          {number ? name + std::to_string(number) : name, maxima,
           cast<RankedTensorType>(maxima.getType()), /*isOutput=*/true});
      ++number;
    }
  }
}

void attn::addGradientMaxima(TiledAttention &attention,
                             TiledBackward &backward) {
  for (BackwardNest &nest : backward.nests)
    addMaxima(attention, nest);
}

static LogicalResult checkMods(BackwardNest &nest) {
  for (tensor::ParallelInsertSliceOp insert : getInserts(nest)) {
    auto mod = insert.getSource().getDefiningOp<OutputModOp>();
    if (nest.attention.isSmallCache())
      return mod.emitOpError()
             << "expected a large-cache schedule of the backward whose "
                "gradient it changes, got kind = \"small_cache\"";
    if (mod.getAmax() && nest.getSlices() > 1)
      return mod.emitOpError()
             << "expected a CTA to have all columns of the gradient whose "
                "largest magnitudes it gives, got "
             << nest.getSlices() << " slices of " << nest.getTileColumns();
  }
  return success();
}

LogicalResult attn::checkGradientMods(TiledBackward &backward) {
  for (BackwardNest &nest : backward.nests)
    if (failed(checkMods(nest)))
      return failure();
  return success();
}
