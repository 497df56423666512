//===- SliceOutputs.cpp - Outputs by columns, to save registers -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-slice-outputs: what is loaded from tensor memory to be
// stored is a fragment of a few columns at a time, since a thread has not the
// registers for a row and what is computed of it.
//
//===----------------------------------------------------------------------===//

#include "FragmentSlices.h"
#include "KeyStream.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::tile {
#define GEN_PASS_DEF_SLICEOUTPUTSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

/// Columns at a time. Half as many where tensors are read for each element,
/// whose addresses and elements take registers, too, and where warps with fewer
/// registers store the output (--attn-tile-specialize-correction).
static constexpr int64_t kColumns = 64;

namespace {

/// What is computed of a fragment from tensor memory, up to where it is stored.
class OutputSlicer {
public:
  OutputSlicer(LoadTensorOp load, int64_t width)
      : load(load), builder(load), width(width) {}

  /// False if something else than elementwise ops, rows' reductions and stores
  /// uses the fragment.
  bool collect();
  void slice();

private:
  bool take(Operation *user);
  bool canLoadLate() const;
  bool canMove(RowReduceOp reduce) const;
  void cloneLoad(int64_t column, IRMapping &mapping);
  void clone(Operation *op, int64_t column, IRMapping &mapping);
  void cloneReduce(RowReduceOp op, IRMapping &mapping);
  void cloneStore(StoreOp op, int64_t column, IRMapping &mapping);
  void cloneStore(StoreSharedOp op, int64_t column, IRMapping &mapping);

  LoadTensorOp load;
  OpBuilder builder;
  SetVector<Operation *> ops; ///< in their order
  int64_t width, columns = 0;
  /// The rows of each reduction so far.
  DenseMap<Operation *, Value> rows;
};

} // namespace

/// True if elements of tensors are read in the region of a map.
static bool readsTensors(Operation *op) {
  auto map = dyn_cast<MapOp>(op);
  return map && !map.getBody().getOps<ExtractOp>().empty();
}

/// True if `user` can be done by columns; what it gives is followed.
bool OutputSlicer::take(Operation *user) {
  if (user->getBlock() != load->getBlock())
    return false;
  auto type = load.getResult().getType();
  auto isSliced = [&](Value value) {
    auto fragment = dyn_cast<FragmentType>(value.getType());
    return fragment && fragment.getShape() == type.getShape();
  };
  if (auto map = dyn_cast<MapOp>(user)) {
    auto result = cast<FragmentType>(map.getResult().getType());
    return result.getShape() == type.getShape() &&
           result.getLayout() == type.getLayout() &&
           llvm::all_of(map.getInputs(), [&](Value input) {
             return !isSliced(input) || input == load.getResult() ||
                    ops.contains(input.getDefiningOp());
           });
  }
  if (auto store = dyn_cast<StoreSharedOp>(user))
    return !store.getTranspose() && !store.getPairs();
  return isa<RowReduceOp, StoreOp>(user);
}

bool OutputSlicer::collect() {
  SmallVector<Value> values = {load.getResult()};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (ops.contains(user))
        continue;
      if (!take(user))
        return false;
      ops.insert(user);
      if (isa<MapOp>(user))
        values.push_back(user->getResult(0));
    }
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  ops.clear();
  ops.insert_range(sorted);
  if (llvm::any_of(ops, readsTensors))
    width /= 2;
  return !ops.empty() && canLoadLate() && llvm::all_of(ops, [&](Operation *op) {
    auto reduce = dyn_cast<RowReduceOp>(op);
    return !reduce || canMove(reduce);
  });
}

/// True if nothing writes tensor memory before the last of `ops`, where the
/// tile is loaded then.
bool OutputSlicer::canLoadLate() const {
  auto writes = [](Operation *op) {
    return isa<StoreTensorOp, MmaTensorOp, ScaleTensorOp, FreeTensorsOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  for (Operation *op = load->getNextNode(); op != ops.back();
       op = op->getNextNode())
    if (op->walk(writes).wasInterrupted())
      return false;
  return true;
}

/// True if nothing in front of the last of `ops` needs the rows but what
/// combines the lanes' parts, which can follow.
bool OutputSlicer::canMove(RowReduceOp reduce) const {
  Operation *end = ops.back();
  auto isBehind = [&](Operation *user) {
    return user->getBlock() == end->getBlock() && end->isBeforeInBlock(user);
  };
  return llvm::all_of(reduce->getUsers(), [&](Operation *user) {
    return isBehind(user) || (isa<RowAllReduceOp>(user) &&
                              llvm::all_of(user->getUsers(), isBehind));
  });
}

void OutputSlicer::cloneLoad(int64_t column, IRMapping &mapping) {
  auto slice = LoadTensorOp::create(
      builder, load.getLoc(), getSliceType(load.getResult().getType(), columns),
      load.getTile(), load.getWarpgroup(), /*acc=*/Value(), column);
  mapping.map(load.getResult(), slice.getResult());
}

void OutputSlicer::cloneReduce(RowReduceOp op, IRMapping &mapping) {
  Value &row = rows[op];
  row = RowReduceOp::create(builder, op.getLoc(), op.getKind(),
                            mapping.lookup(op.getSource()),
                            row ? row : op.getInit());
}

/// The index behind those of the row is that of its first column.
void OutputSlicer::cloneStore(StoreOp op, int64_t column, IRMapping &mapping) {
  SmallVector<Value> indices(op.getIndices());
  Value first = arith::ConstantIndexOp::create(builder, op.getLoc(), column);
  bool hasColumn = static_cast<int64_t>(indices.size()) ==
                   op.getDestination().getType().getRank();
  if (hasColumn)
    indices.back() =
        arith::AddIOp::create(builder, op.getLoc(), indices.back(), first);
  else
    indices.push_back(first);
  StoreOp::create(builder, op.getLoc(), mapping.lookup(op.getSource()),
                  op.getDestination(), indices, op.getHeads(), op.getSingle());
}

void OutputSlicer::cloneStore(StoreSharedOp op, int64_t column,
                              IRMapping &mapping) {
  auto copy = cast<StoreSharedOp>(builder.clone(*op, mapping));
  copy.setColumn(column);
}

void OutputSlicer::clone(Operation *op, int64_t column, IRMapping &mapping) {
  if (auto map = dyn_cast<MapOp>(op))
    cloneMapOfColumns(builder, map, column, columns, mapping);
  else if (auto reduce = dyn_cast<RowReduceOp>(op))
    cloneReduce(reduce, mapping);
  else if (auto store = dyn_cast<StoreOp>(op))
    cloneStore(store, column, mapping);
  else
    cloneStore(cast<StoreSharedOp>(op), column, mapping);
}

void OutputSlicer::slice() {
  Operation *end = ops.back();
  builder.setInsertionPoint(end);
  int64_t all = load.getResult().getType().getShape()[1];
  for (int64_t column = 0; column < all; column += width) {
    columns = std::min(width, all - column);
    IRMapping mapping;
    cloneLoad(column, mapping);
    for (Operation *op : ops)
      clone(op, column, mapping);
  }
  for (auto [op, row] : rows) {
    for (Operation *user : op->getUsers())
      if (!end->isBeforeInBlock(user))
        user->moveAfter(end);
    op->getResult(0).replaceAllUsesWith(row);
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  load.erase();
}

namespace {
struct SliceOutputsPass
    : public attn::tile::impl::SliceOutputsPassBase<SliceOutputsPass> {
  using SliceOutputsPassBase::SliceOutputsPassBase;

  void runOnOperation() override {
    bool corrects = getScheduleOf(getOperation()).correctionWarps > 0;
    int64_t width = corrects ? kColumns / 2 : kColumns;
    SmallVector<LoadTensorOp> loads;
    getOperation().walk([&](LoadTensorOp load) {
      int64_t columns = load.getResult().getType().getShape()[1];
      if (!load.getAcc() && columns > width)
        loads.push_back(load);
    });
    for (LoadTensorOp load : loads) {
      OutputSlicer slicer(load, width);
      if (!slicer.collect())
        continue;
      slicer.slice();
      ++numSliced;
    }
  }
};
} // namespace
