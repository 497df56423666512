//===- BackwardLoads.cpp - What kernels of the backward pass read ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardKernelBuilder.h"

#include "Kernel/Fragments.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// Slices are loaded where steps use them, but for tiles of the whole kernel
/// and those that are only read where they are.
LogicalResult
BackwardKernelBuilder::convertSlice(tensor::ExtractSliceOp slice) {
  // What is cut off a ragged result: the store does that by itself.
  if (Value fragment = values.lookupOrNull(slice.getSource());
      fragment && isa<tile::FragmentType>(fragment.getType())) {
    values.map(slice.getResult(), fragment);
    return success();
  }
  Value tile = slice.getResult();
  for (Operation *user : slice->getUsers())
    if (isa<tensor::PadOp>(user))
      tile = user->getResult(0);
  BackwardStepOp step = nest.steps.front();
  bool isKept = nest.keysAreRows()
                    ? tile == step.getKey() ||
                          (tile == step.getValue() && nest.needsScoreGradient())
                    : tile == step.getQuery() || tile == step.getDOutput();
  if (!isKept) {
    // delta of the first kernel is no operand.
    if (Value source = values.lookupOrNull(slice.getSource()))
      values.map(tile, source);
    return success();
  }
  FailureOr<Value> loaded = loadFactor(tile);
  if (failed(loaded))
    return failure();
  values.map(tile, *loaded);
  return success();
}

/// Where a tile begins, without its column.
FailureOr<SmallVector<Value>> BackwardKernelBuilder::getIndices(Value tile) {
  SmallVector<Value> indices;
  SmallVector<OpFoldResult> offsets = getSlice(tile).getMixedOffsets();
  for (OpFoldResult offset : ArrayRef(offsets).take_front(3)) {
    FailureOr<Value> index = materialize(cast<Value>(offset));
    if (failed(index))
      return failure();
    indices.push_back(*index);
  }
  return indices;
}

/// A tile that a product takes; one of the whole kernel is there already.
FailureOr<Value> BackwardKernelBuilder::loadFactor(Value tile) {
  if (Value loaded = values.lookupOrNull(tile);
      loaded && isa<tile::SharedType>(loaded.getType()))
    return loaded;
  FailureOr<SmallVector<Value>> indices = getIndices(tile);
  if (failed(indices))
    return failure();
  auto type = cast<RankedTensorType>(tile.getType());
  return loadTile(values.lookup(getSource(tile)), *indices,
                  type.getDimSize(kSequence),
                  llvm::alignTo(type.getDimSize(kHeadDim), 16));
}

/// The columns of a tile that give the columns of the gradient: those of the
/// tile that is there as a `whole`, or of a slice.
FailureOr<Value> BackwardKernelBuilder::loadGradientFactor(Value tile,
                                                           Value whole) {
  if (!firstColumn)
    return whole;
  FailureOr<SmallVector<Value>> indices = getIndices(tile);
  if (failed(indices))
    return failure();
  indices->push_back(firstColumn);
  return loadTile(values.lookup(getSource(tile)), *indices,
                  cast<ShapedType>(tile.getType()).getDimSize(kSequence),
                  nest.getTileColumns());
}

/// The part of a workspace that belongs to the rows of `tile`.
FailureOr<Value> BackwardKernelBuilder::loadRowValues(Value tile,
                                                      Value workspace) {
  FailureOr<SmallVector<Value>> indices = getIndices(tile);
  if (failed(indices))
    return failure();
  return loadTile(workspace, *indices, /*rows=*/1, nest.getTileM());
}

/// In the order in which they are needed; rows come with what belongs to them.
FailureOr<BackwardTiles> BackwardKernelBuilder::loadTiles(BackwardStepOp step) {
  BackwardTiles tiles;
  tiles.keys = values.lookup(getSource(step.getKey()));
  FailureOr<Value> query = loadFactor(step.getQuery());
  FailureOr<Value> key = loadFactor(step.getKey());
  if (failed(query) || failed(key))
    return failure();
  tiles.query = *query;
  tiles.key = *key;
  tiles.lse = rowValues.lse;
  tiles.delta = rowValues.delta;
  bool loadsRowValues = nest.keysAreRows() && step.getLse();
  if (loadsRowValues) {
    FailureOr<Value> lse = loadRowValues(step.getLse(), workspaces.lse);
    if (failed(lse))
      return failure();
    tiles.lse = *lse;
  }
  FailureOr<Value> dOutput = loadFactor(step.getDOutput());
  if (failed(dOutput))
    return failure();
  tiles.dOutput = *dOutput;
  tiles.startsFromDelta = backward.startsFromDelta();
  if (!nest.needsScoreGradient())
    return tiles;
  if (loadsRowValues) {
    FailureOr<Value> delta = loadRowValues(step.getDelta(), workspaces.delta);
    if (failed(delta))
      return failure();
    tiles.delta = *delta;
  }
  FailureOr<Value> value = loadFactor(step.getValue());
  if (failed(value))
    return failure();
  tiles.value = *value;
  return tiles;
}
