//===- TensorMaps.cpp - Tensor maps as kernel parameters -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"

#include "attn/Schedule/Constraints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn::tile;

static SequenceOp getSequence(Value tensor) {
  return tensor.getDefiningOp<SequenceOp>();
}

Value attn::tile::getMappedTensor(Value tensor) {
  if (SequenceOp sequence = getSequence(tensor))
    tensor = sequence.getPacked();
  return isa<BlockArgument>(tensor) ? tensor : Value();
}

SmallVector<Value> attn::tile::getMappedIndices(OpBuilder &builder,
                                                Value tensor,
                                                ValueRange indices) {
  SmallVector<Value> places(indices);
  if (SequenceOp sequence = getSequence(tensor)) {
    Location loc = sequence.getLoc();
    places[0] = arith::ConstantIndexOp::create(builder, loc, 0);
    places[2] =
        arith::AddIOp::create(builder, loc, sequence.getFirst(), places[2]);
  }
  return places;
}

Value attn::tile::addTensorMap(KernelOp kernel, Value tensor, SharedType tile,
                               int64_t rows, int64_t heads) {
  auto mapped =
      llvm::to_vector(kernel.getMapped().value_or(ArrayRef<int64_t>()));
  auto mappedHeads =
      llvm::to_vector(kernel.getMappedHeads().value_or(ArrayRef<int64_t>()));
  Value parameter = getMappedTensor(tensor);
  mapped.push_back(cast<BlockArgument>(parameter).getArgNumber());
  mappedHeads.push_back(heads);
  kernel.setMapped(mapped);
  kernel.setMappedHeads(mappedHeads);
  return kernel.getBody().addArgument(TensorMapType::getFor(tile, rows),
                                      tensor.getLoc());
}

int64_t attn::tile::getPage(LoadOp load) {
  return load.getSource().getType().getShape()[2];
}

int64_t attn::tile::getBoxRows(LoadOp load) {
  int64_t rows = load.getTile().getType().getRows();
  return load.getTable() ? std::min(rows, getPage(load)) : rows;
}

std::string attn::tile::findTmaObstacle(LoadOp load, bool isWhole) {
  int64_t rows = load.getTile().getType().getRows();
  if (load.getSource().getType().getRank() != 4 ||
      (isWhole && load.getIndices().size() != 3) ||
      !getMappedTensor(load.getSource()) || rows > 256)
    return std::string("expected tiles of at most 256 ") +
           (isWhole ? "whole " : "") + "rows of 4-dimensional operands";
  if (load.getTable() && !attn::fitsPages(rows, getPage(load)))
    return "expected tiles of " + std::to_string(rows) +
           " rows to be up to 8 pages of a multiple of 8 rows, or a part of "
           "one, got pages of " +
           std::to_string(getPage(load));
  return "";
}
