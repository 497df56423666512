//===- SliceSteps.cpp - Steps by columns, to save registers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-slice-steps: what a step of a backward computes of
// products in tensor memory is computed some columns at a time, so that wide
// tiles, of which shared memory reads the other operand less often, fit into
// the registers of a thread.
//
//===----------------------------------------------------------------------===//

#include "FragmentSlices.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Schedule/Family.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

namespace attn::tile {
#define GEN_PASS_DEF_SLICESTEPSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

static constexpr int64_t kStepColumns = attn::Family::kStepColumns,
                         kWholeStepColumns = attn::Family::kWholeStepColumns;

namespace {
/// Ops of a step that are done for some columns after the other, before `end`.
struct Group {
  SmallVector<Operation *> ops;
  /// What gives back places that they read, and comes behind them.
  SmallVector<Operation *> arrivals;
  Operation *end;
};

/// The body of a key loop.
class StepSlicer {
public:
  StepSlicer(Block &body, int64_t columns)
      : body(body), columns(columns), slices(columns / kStepColumns) {}

  /// False if something needs all columns at once.
  bool collect();
  void slice();

private:
  bool isWhole(Value value) const;
  bool isHere(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &body;
  }
  bool isSliced(Operation *op) const;
  bool isReadBehind(RowReduceOp reduce, Operation *end) const;
  void clone(OpBuilder &builder, Operation *op, int64_t number);
  void cloneReduce(OpBuilder &builder, RowReduceOp op, IRMapping &mapping);

  Block &body;
  int64_t columns;
  SmallVector<Group> groups;
  /// Of the columns of each slice.
  SmallVector<IRMapping> slices;
  DenseMap<Operation *, Value> rows; ///< of each reduction so far
};
} // namespace

/// True for a fragment of all columns.
bool StepSlicer::isWhole(Value value) const {
  auto type = dyn_cast<FragmentType>(value.getType());
  return type && !type.isRow() && type.getShape().back() == columns;
}

/// What a loop carries without looking at it is none of the step's.
bool StepSlicer::isSliced(Operation *op) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value v) { return isWhole(v) && isHere(v); }) ||
         llvm::any_of(op->getResults(),
                      [&](Value value) { return isWhole(value); });
}

/// True for what can be done for some columns.
static bool canSlice(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](LoadTensorOp load) { return !load.getAcc(); })
      .Case([](StoreTensorOp store) { return store.getColumn() == 0; })
      .Case([](LoadColumnOp load) {
        return load.getResult().getType().isColumn();
      })
      .Case<MapOp, ToOperandOp, RowReduceOp>([](auto) { return true; })
      .Default([](Operation *) { return false; });
}

/// True if nothing needs the rows before all columns are done.
bool StepSlicer::isReadBehind(RowReduceOp reduce, Operation *end) const {
  return llvm::all_of(reduce->getUsers(), [&](Operation *user) {
    Operation *inBody = body.findAncestorOpInBlock(*user);
    return inBody && (inBody == end || end->isBeforeInBlock(inBody));
  });
}

bool StepSlicer::collect() {
  Group group;
  for (Operation &op : body) {
    if (isOpTriviallyDead(&op))
      continue;
    if (isSliced(&op)) {
      bool isOfStep = llvm::all_of(op.getOperands(), [&](Value value) {
        return !isWhole(value) || isHere(value);
      });
      if (!isOfStep || !canSlice(&op))
        return false;
      group.ops.push_back(&op);
    } else if (op.getNumRegions() > 0 &&
               op.walk([&](Operation *inner) {
                   return isSliced(inner) ? WalkResult::interrupt()
                                          : WalkResult::advance();
                 }).wasInterrupted()) {
      return false;
    } else if (!group.ops.empty() && isa<SyncWarpOp, MbarrierArriveOp>(op)) {
      group.arrivals.push_back(&op);
    } else if (!group.ops.empty() && !isMemoryEffectFree(&op)) {
      group.end = &op;
      groups.push_back(std::move(group));
      group = {};
    }
  }
  return group.ops.empty() && llvm::all_of(groups, [&](const Group &group) {
           return llvm::all_of(group.ops, [&](Operation *op) {
             auto reduce = dyn_cast<RowReduceOp>(op);
             return !reduce || isReadBehind(reduce, group.end);
           });
         });
}

void StepSlicer::cloneReduce(OpBuilder &builder, RowReduceOp op,
                             IRMapping &mapping) {
  Value &row = rows[op];
  row = RowReduceOp::create(builder, op.getLoc(), op.getKind(),
                            mapping.lookup(op.getSource()),
                            row ? row : op.getInit());
}

/// `op` for the columns of slice `number`.
void StepSlicer::clone(OpBuilder &builder, Operation *op, int64_t number) {
  IRMapping &mapping = slices[number];
  int64_t column = number * kStepColumns;
  if (auto map = dyn_cast<MapOp>(op))
    return cloneMapOfColumns(builder, map, column, kStepColumns, mapping);
  if (auto reduce = dyn_cast<RowReduceOp>(op))
    return cloneReduce(builder, reduce, mapping);
  Operation *copy = builder.clone(*op, mapping);
  for (Value result : copy->getResults())
    result.setType(
        getSliceType(cast<FragmentType>(result.getType()), kStepColumns));
  llvm::TypeSwitch<Operation *>(copy)
      .Case<LoadTensorOp, StoreTensorOp, LoadColumnOp>(
          [&](auto part) { part.setColumn(column); });
  if (auto load = dyn_cast<LoadTensorOp>(copy))
    load.setFenced(number > 0);
  if (auto store = dyn_cast<StoreTensorOp>(copy))
    store.setPending(column + kStepColumns < columns);
}

void StepSlicer::slice() {
  for (Group &group : groups) {
    OpBuilder builder(group.end);
    for (int64_t number = 0; number < columns / kStepColumns; ++number)
      for (Operation *op : group.ops)
        clone(builder, op, number);
    for (Operation *arrival : group.arrivals)
      arrival->moveBefore(group.end);
  }
  for (auto [op, row] : rows)
    op->getResult(0).replaceAllUsesWith(row);
  for (Group &group : llvm::reverse(groups))
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
}

namespace {
struct SliceStepsPass
    : public attn::tile::impl::SliceStepsPassBase<SliceStepsPass> {
  using SliceStepsPassBase::SliceStepsPassBase;

  void runOnOperation() override {
    getOperation().walk([&](scf::ForOp loop) {
      int64_t columns = 0;
      for (auto load : loop.getOps<LoadTensorOp>())
        columns = std::max(columns, load.getResult().getType().getShape()[1]);
      if (columns <= kWholeStepColumns || columns % kStepColumns != 0)
        return;
      StepSlicer slicer(*loop.getBody(), columns);
      if (!slicer.collect())
        return;
      slicer.slice();
      ++numSliced;
    });
  }
};
} // namespace
