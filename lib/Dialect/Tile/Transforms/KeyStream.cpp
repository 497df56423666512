//===- KeyStream.cpp - The key loops of a kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace attn::tile;

scf::ForOp attn::tile::getTileLoop(Region &region) {
  for (auto loop : region.front().getOps<scf::ForOp>())
    if (loop.getStep().getDefiningOp<gpu::GridDimOp>())
      return loop;
  return {};
}

Block &attn::tile::getTileBlock(Region &region) {
  scf::ForOp tiles = getTileLoop(region);
  return tiles ? *tiles.getBody() : region.front();
}

/// Collects the loops with loads and checks that they follow each other.
LogicalResult KeyStream::findLoops(KernelOp kernel) {
  for (auto loop : getTileBlock(kernel.getBody()).getOps<scf::ForOp>())
    if (!loop.getBody()->getOps<LoadOp>().empty())
      loops.push_back(loop);
  if (loops.empty())
    return kernel.emitOpError() << "expected key loops with attn_tile.load";
  for (unsigned i = 1; i < loops.size(); ++i)
    if (loops[i].getLowerBound() != loops[i - 1].getUpperBound())
      return loops[i].emitOpError()
             << "expected to start where the loop before it ends";
  return success();
}

/// True if `value` is computed outside the loop.
static bool isOutside(Value value, scf::ForOp loop) {
  return !loop.getRegion().isAncestor(value.getParentRegion());
}

/// The index of `load` that is the loop's induction variable, if it is the row
/// or the column and all others come from outside.
static std::optional<unsigned> getStreamIndex(LoadOp load, scf::ForOp loop) {
  std::optional<unsigned> stream;
  unsigned row = load.getSource().getType().getRank() - 2;
  for (auto [i, index] : llvm::enumerate(load.getIndices())) {
    if (index == loop.getInductionVar() && i >= row && !stream)
      stream = i;
    else if (!isOutside(index, loop))
      return std::nullopt;
  }
  return stream;
}

/// Each load of a loop must have its like in every loop: same tensor and tile,
/// row or column = induction variable, other indices from outside.
LogicalResult KeyStream::findLoads() {
  for (scf::ForOp loop : loops) {
    SmallVector<LoadOp> found(loop.getBody()->getOps<LoadOp>());
    for (LoadOp load : found) {
      std::optional<unsigned> index = getStreamIndex(load, loop);
      if (!index)
        return load.emitOpError() << "expected the row or the column to be the "
                                     "loop's induction variable and the other "
                                     "indices to be invariant";
      if (loop == loops.front())
        loads.push_back({load, *index});
    }
    if (found.size() != loads.size())
      return loop.emitOpError()
             << "expected " << loads.size()
             << " loads as in the first loop, got " << found.size();
    for (auto [load, like] : llvm::zip_equal(found, loads))
      if (load.getSource() != like.load.getSource() ||
          load.getTile().getType() != like.load.getTile().getType() ||
          getStreamIndex(load, loop) != like.streamIndex)
        return load.emitOpError() << "expected the same tile as in the first "
                                     "loop";
  }
  return success();
}

FailureOr<KeyStream> KeyStream::find(KernelOp kernel) {
  KeyStream stream;
  if (failed(stream.findLoops(kernel)) || failed(stream.findLoads()))
    return failure();
  return stream;
}

template <typename AttrTy>
static AttrTy findScheduleField(KernelOp kernel, StringRef name) {
  DictionaryAttr manifest = kernel.getManifestAttr();
  auto schedule =
      manifest ? manifest.getAs<DictionaryAttr>("schedule") : DictionaryAttr();
  return schedule ? schedule.getAs<AttrTy>(name) : AttrTy();
}

int64_t attn::tile::getScheduleField(KernelOp kernel, StringRef name,
                                     int64_t otherwise) {
  auto field = findScheduleField<IntegerAttr>(kernel, name);
  return field ? field.getInt() : otherwise;
}

StringRef attn::tile::getScheduleText(KernelOp kernel, StringRef name,
                                      StringRef otherwise) {
  auto field = findScheduleField<StringAttr>(kernel, name);
  return field ? field.getValue() : otherwise;
}
