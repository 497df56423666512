//===- KeyStream.cpp - The key loops of a kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

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

bool attn::tile::isScalarKernel(KernelOp kernel) {
  return kernel.walk([](InsertOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void attn::tile::separateLoads(KernelOp kernel) {
  for (auto loop : getTileBlock(kernel.getBody()).getOps<scf::ForOp>()) {
    SmallPtrSet<Operation *, 4> taken;
    for (MmaOp op : loop.getOps<MmaOp>()) {
      auto load = op.getB().getDefiningOp<LoadOp>();
      if (!load || taken.insert(load).second)
        continue;
      OpBuilder builder(load);
      auto copy = cast<LoadOp>(builder.clone(*load));
      op.getBMutable().set(copy.getTile());
    }
  }
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

/// True if `value` can be computed for any value of the induction variable;
/// `depends` is set if it depends on it.
static bool isScalarOf(Value value, scf::ForOp loop, bool &depends) {
  if (isOutside(value, loop))
    return true;
  if (value == loop.getInductionVar())
    return depends = true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isScalarOf(operand, loop, depends);
         });
}

/// True for the induction variable, and for scalars that the body computes
/// from it.
static bool isPosition(Value value, scf::ForOp loop) {
  bool depends = false;
  return isScalarOf(value, loop, depends) && depends;
}

/// The index of `load` that is a position in the loop, if it is the row or the
/// column and all others come from outside.
static std::optional<unsigned> getStreamIndex(LoadOp load, scf::ForOp loop) {
  std::optional<unsigned> stream;
  unsigned row = load.getSource().getType().getRank() - 2;
  for (auto [i, index] : llvm::enumerate(load.getIndices())) {
    if (isOutside(index, loop))
      continue;
    if (i < row || stream || !isPosition(index, loop))
      return std::nullopt;
    stream = i;
  }
  return stream;
}

/// Each load of a loop must have its like in every loop: same tensor and tile,
/// row or column = position, other indices from outside.
LogicalResult KeyStream::findLoads() {
  for (scf::ForOp loop : loops) {
    SmallVector<LoadOp> found(loop.getBody()->getOps<LoadOp>());
    for (LoadOp load : found) {
      std::optional<unsigned> index = getStreamIndex(load, loop);
      if (!index)
        return load.emitOpError() << "expected the row or the column to be "
                                     "computed from the loop's induction "
                                     "variable and the other indices to be "
                                     "invariant";
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
          getStreamIndex(load, loop) != like.streamIndex ||
          load.getIndices()[like.streamIndex] !=
              found.front().getIndices()[loads.front().streamIndex])
        return load.emitOpError() << "expected the same tile as in the first "
                                     "loop";
  }
  return success();
}

Value KeyStream::getPosition(scf::ForOp loop) {
  LoadOp load = *loop.getBody()->getOps<LoadOp>().begin();
  return load.getIndices()[loads.front().streamIndex];
}

/// Computes `value`, a position in `loop`, for another value of the induction
/// variable.
static Value cloneAt(OpBuilder &builder, Value value, scf::ForOp loop,
                     IRMapping &mapping) {
  if (isOutside(value, loop) || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneAt(builder, operand, loop, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

Value KeyStream::buildPosition(OpBuilder &builder, Value count,
                               const IRMapping &outside) {
  Value result;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    IRMapping mapping(outside);
    mapping.map(loop.getInductionVar(), count);
    Value position = cloneAt(builder, getPosition(loop), loop, mapping);
    if (!result || position == result) {
      result = position;
      continue;
    }
    Value isHere = arith::CmpIOp::create(
        builder, loop.getLoc(), arith::CmpIPredicate::slt, count,
        outside.lookupOrDefault(loop.getUpperBound()));
    result = arith::SelectOp::create(builder, loop.getLoc(), isHere, position,
                                     result);
  }
  return result;
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
