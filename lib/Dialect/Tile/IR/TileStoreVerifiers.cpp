//===- TileStoreVerifiers.cpp - Verifiers of what is written --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the ops in TileStoreOps.td.
//
//===----------------------------------------------------------------------===//

#include "TileVerifiers.h"

using namespace mlir;
using namespace attn::tile;

LogicalResult StoreOp::verify() {
  FragmentType source = getSource().getType();
  GlobalType destination = getDestination().getType();
  Type element = destination.getElementType();
  if ((source.isRow() && failed(verifyNoBytes(*this, element))) ||
      failed(verifyHeads(*this, getHeads(), source.getRows(),
                         getIndices().size())))
    return failure();
  if (source.isRow())
    return verifyEqual(*this, "the number of indices", destination.getRank(),
                       getIndices().size());
  if (!source.isAccumulator() && !source.isQuads())
    return emitOpError() << "expected a row fragment, an accumulator or quads, "
                            "got "
                         << source;
  return verifyMatrixIndices(*this, destination, source.getShape()[1],
                             getIndices().size());
}

/// A tile of a whole accumulator, or of its transpose.
static LogicalResult verifyTileOfFragment(Operation *op, FragmentType source,
                                          SharedType tile, bool transposed) {
  if (!source.isAccumulator())
    return op->emitOpError() << "expected an accumulator, got " << source;
  if (failed(verifyNoBytes(op, tile.getElementType())))
    return failure();
  int64_t rows = source.getRows(), cols = source.getShape()[1];
  if (transposed)
    std::swap(rows, cols);
  if (failed(verifyEqual(op, "rows", rows, tile.getRows())))
    return failure();
  return verifyEqual(op, "columns", cols, tile.getCols());
}

LogicalResult StoreSharedOp::verify() {
  if (getTranspose() && getPairs())
    return emitOpError() << "expected transpose or pairs, got both";
  FragmentType source = getSource().getType();
  SharedType tile = getTile().getType();
  bool isRows = !getTranspose() && !getPairs() && source.getShape().size() == 2;
  if (!isRows && getColumn() != 0)
    return emitOpError()
           << "expected all columns of the tile with transpose or "
              "pairs, got those from "
           << getColumn();
  if (!isRows)
    return verifyTileOfFragment(*this, source, tile, getTranspose());
  int64_t columns = source.getShape()[1], column = getColumn();
  if (column < 0 || column % 16 != 0 || column > tile.getCols() - columns)
    return emitOpError() << "expected at most " << tile.getCols()
                         << " columns, from a multiple of 16 on, got "
                         << columns << " from " << column;
  auto part = SharedType::get(getContext(), {tile.getRows(), columns},
                              tile.getElementType(), tile.getSwizzle());
  return verifyTileOfFragment(*this, source, part, /*transposed=*/false);
}

LogicalResult ShareOp::verify() {
  return verifyTileOfFragment(*this, getSource().getType(), getTile().getType(),
                              /*transposed=*/true);
}

/// A fragment of f32 that is added to one in a tensor of matrices.
template <typename OpTy>
static LogicalResult verifySum(OpTy op) {
  FragmentType source = op.getSource().getType();
  if (!source.isAccumulator())
    return op->emitOpError() << "expected an accumulator, got " << source;
  GlobalType destination = op.getDestination().getType();
  if (!destination.getElementType().isF32())
    return op->emitOpError() << "expected sums in f32, got " << destination;
  return verifyEqual(op, "the number of indices", destination.getRank() - 1,
                     op.getIndices().size());
}

LogicalResult AccumulateOp::verify() { return verifySum(*this); }

LogicalResult AccumulateBulkOp::verify() {
  if (failed(verifySum(*this)))
    return failure();
  SharedType staging = getStaging().getType();
  if (!staging.isVector() || staging.isRing() ||
      !staging.getElementType().isF32())
    return emitOpError() << "expected staging to be one row of f32, got "
                         << staging;
  ArrayRef<int64_t> shape = getSource().getType().getShape();
  return verifyEqual(*this, "columns of staging", shape[0] * shape[1],
                     staging.getCols());
}

LogicalResult StoreTmaOp::verify() {
  if (failed(verifyHeads(*this, getHeads(), getTile().getType().getRows(),
                         getIndices().size())))
    return failure();
  auto roles = (*this)->getParentOfType<RolesOp>();
  bool isAlone = roles && roles.hasOneThread(*this);
  if (isAlone && !getOneThread())
    return emitOpError("expected one_thread in a role of one thread");
  if (getOneThread() && !isAlone)
    return emitOpError("expected a role of one thread for one_thread");
  auto kernel = (*this)->getParentOfType<KernelOp>();
  int64_t warpgroups = kernel ? static_cast<int64_t>(kernel.getWarps()) / 4 : 1;
  int64_t rows =
      getTile().getType().getRows() / std::max<int64_t>(warpgroups, 1);
  auto expected = TensorMapType::getFor(getTile().getType(), rows);
  if (getDestination().getType() != expected)
    return emitOpError() << "expected a tensor map of " << rows
                         << " rows of the tile's panels, " << expected
                         << ", got " << getDestination().getType();
  if (auto column = static_cast<int64_t>(getColumn()); column < 0)
    return emitOpError() << "expected a column from 0 on, got " << column;
  return verifyEqual(*this, "the number of indices", 3, getIndices().size());
}

LogicalResult AtomicAddOp::verify() {
  return verifyElement(*this, getDestination().getType(), getIndices());
}
