//===- ChunkKernel.cpp - Kernels of a small-cache backward ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/ChunkKernel.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

LogicalResult ChunkKernelBuilder::begin() {
  const LaunchProgram &program = *backward.program;
  bool keysStay = number == small_cache::kKeyGradient ||
                  number == small_cache::kValueGradient;
  FailureOr<tile::KernelOp> kernel = beginKernel(
      program.getKernels().take_back(small_cache::kNumKernels)[number].entry,
      keysStay ? chunks.keyWarps : chunks.rowWarps);
  if (failed(kernel))
    return failure();
  workspaces = backward.addOwnViews(*kernel);
  Block &body = kernel->getBody().front();
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
  Value row = compute<arith::RemUIOp>(tile, tilesPerHead);
  row = compute<arith::MulIOp>(row, constant(chunks.tileM));
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
  SmallVector<OpFoldResult> offsets = getSlice(tile).getMixedOffsets();
  for (OpFoldResult offset : ArrayRef(offsets).take_front(kSequence + 1)) {
    FailureOr<Value> index = materialize(cast<Value>(offset));
    if (failed(index))
      return failure();
    indices.push_back(*index);
  }
  return indices;
}
