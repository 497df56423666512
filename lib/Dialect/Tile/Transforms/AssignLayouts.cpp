//===- AssignLayouts.cpp - A row in each lane -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-assign-layouts: classes of fragments that have to have
// one layout, and what stands against one of them having rows in lanes.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn::tile {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

static FragmentType getFragment(Value value) {
  return dyn_cast<FragmentType>(value.getType());
}

/// Whether a map of a matrix reads memory for its elements.
static bool readsElements(MapOp map) {
  return llvm::any_of(map.getBody().front(),
                      [](Operation &op) { return !isPure(&op); }) &&
         !map.getResult().getType().isVector();
}

namespace {

class LayoutAssignment {
public:
  explicit LayoutAssignment(KernelOp kernel) : kernel(kernel) {}

  void run();
  int64_t countLaneRows() const { return laneRows; }
  int64_t countConverted() const { return converted; }

private:
  /// A row fragment that is used with a matrix.
  struct RowUse {
    OpOperand *rows;
    Value matrix;
  };
  /// What a class of fragments is.
  struct Class {
    bool isPinned = false;    ///< as it is
    bool isLoaded = false;    ///< from tensor memory
    bool hasLaneUser = false; ///< of rows: a matrix with rows in lanes
  };

  void numberFragments();
  void visit(Operation *op);
  void visitMap(MapOp map);
  void visitBranch(Operation *op);
  void tie(Value a, Value b);
  void tieAll(ValueRange as, ValueRange bs);
  void pin(Value value);
  void pinAll(Operation *op);
  Class &classOf(Value value) { return classes[ids[numbers.lookup(value)]]; }
  bool pinReduced();
  bool isLaneRow(Value value);
  void assign();
  void convertRows();

  KernelOp kernel;
  SmallVector<Value> fragments;
  DenseMap<Value, unsigned> numbers;
  llvm::IntEqClasses ids;
  SmallVector<Value> pinned, loaded;
  SmallVector<RowUse> uses;
  SmallVector<std::pair<Value, Value>> reduced; ///< matrices and their rows
  SmallVector<Class> classes;
  int64_t laneRows = 0, converted = 0;
};

} // namespace

void LayoutAssignment::numberFragments() {
  auto number = [&](Value value) {
    if (!getFragment(value))
      return;
    numbers[value] = fragments.size();
    fragments.push_back(value);
  };
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Block *block) {
    llvm::for_each(block->getArguments(), number);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), number);
  });
  ids.grow(fragments.size());
}

void LayoutAssignment::tie(Value a, Value b) {
  if (getFragment(a))
    ids.join(numbers.lookup(a), numbers.lookup(b));
}

void LayoutAssignment::tieAll(ValueRange as, ValueRange bs) {
  for (auto [a, b] : llvm::zip_equal(as, bs))
    tie(a, b);
}

void LayoutAssignment::pin(Value value) {
  if (getFragment(value))
    pinned.push_back(value);
}

void LayoutAssignment::pinAll(Operation *op) {
  for (Value operand : op->getOperands())
    pin(operand);
  for (Value result : op->getResults())
    pin(result);
  for (Region &region : op->getRegions())
    for (Value argument : region.getArguments())
      pin(argument);
}

/// Of a matrix its rows may have another layout before the map.
void LayoutAssignment::visitMap(MapOp map) {
  Value result = map.getResult();
  for (OpOperand &input : map.getInputsMutable()) {
    FragmentType type = getFragment(input.get());
    if (type.isColumn())
      pin(result);
    else if (type.isVector() && !getFragment(result).isVector())
      uses.push_back({&input, result});
    else
      tie(input.get(), result);
  }
  if (readsElements(map))
    pin(result);
}

/// What a loop carries, and what a branch gives.
void LayoutAssignment::visitBranch(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    tieAll(loop.getInitArgs(), loop.getResults());
    tieAll(loop.getRegionIterArgs(), loop.getResults());
    tieAll(loop.getYieldedValues(), loop.getResults());
    return;
  }
  auto choice = cast<scf::IfOp>(op);
  if (choice.getNumResults() == 0)
    return;
  tieAll(choice.thenYield().getResults(), choice.getResults());
  tieAll(choice.elseYield().getResults(), choice.getResults());
}

void LayoutAssignment::visit(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](MapOp map) { visitMap(map); })
      .Case<scf::ForOp, scf::IfOp>([&](auto branch) { visitBranch(branch); })
      .Case([&](scf::YieldOp yield) {
        if (!isa<scf::ForOp, scf::IfOp>(yield->getParentOp()))
          pinAll(yield);
      })
      .Case([&](RowReduceOp reduce) {
        tie(reduce.getInit(), reduce.getResult());
        reduced.emplace_back(reduce.getSource(), reduce.getResult());
      })
      .Case([&](UpdateRowsOp update) {
        tie(update.getSource(), update.getResult());
        uses.push_back({&update.getRowsMutable(), update.getResult()});
      })
      .Case<RowAllReduceOp, FragmentColumnsOp>(
          [&](auto same) { tie(same.getSource(), same.getResult()); })
      .Case([&](ToOperandOp convert) {
        tie(convert.getSource(), convert.getOperand());
      })
      .Case([&](LoadTensorOp load) {
        if (load.getAcc())
          tie(load.getAcc(), load.getResult());
        loaded.push_back(load.getResult());
      })
      .Case([&](StoreOp store) {
        if (!store.getSource().getType().isVector())
          pin(store.getSource());
      })
      .Case<StoreTensorOp, ScaleTensorOp, AnyOp, FillOp, LoadRowOp,
            LoadSharedRowsOp, StoreSharedRowsOp>([](auto) {})
      .Default([&](Operation *other) { pinAll(other); });
}

bool LayoutAssignment::isLaneRow(Value value) {
  const Class &of = classOf(value);
  return !of.isPinned && (of.isLoaded || of.hasLaneUser);
}

/// A matrix and the rows that it is reduced to have one layout. Returns true if
/// that pins one more class.
bool LayoutAssignment::pinReduced() {
  bool changed = false;
  for (auto [matrix, rows] : reduced) {
    bool stays = !isLaneRow(matrix) || classOf(rows).isPinned;
    for (Value value : {matrix, rows}) {
      changed |= stays && !classOf(value).isPinned;
      classOf(value).isPinned |= stays;
    }
  }
  return changed;
}

/// What is in memory or in registers otherwise keeps its lanes.
void LayoutAssignment::assign() {
  for (Value value : fragments) {
    if (!isLaneRow(value))
      continue;
    FragmentType type = getFragment(value);
    value.setType(FragmentType::get(
        type.getContext(), type.getShape(), type.getElementType(),
        FragmentLayoutAttr::getLaneRow(type.getContext())));
    ++laneRows;
  }
}

/// Behind what gives the rows, once for each layout.
void LayoutAssignment::convertRows() {
  DenseMap<Value, Value> conversions;
  for (auto [rows, matrix] : uses) {
    Value value = rows->get();
    FragmentType wanted =
        getFragment(matrix).getRowType(getFragment(value).getElementType());
    if (value.getType() == wanted)
      continue;
    // There are two layouts.
    Value &conversion = conversions[value];
    if (!conversion) {
      OpBuilder builder(kernel.getContext());
      builder.setInsertionPointAfterValue(value);
      conversion =
          ConvertLayoutOp::create(builder, value.getLoc(), wanted, value);
      ++converted;
    }
    rows->set(conversion);
  }
}

void LayoutAssignment::run() {
  numberFragments();
  kernel.getBody().walk([&](Operation *op) { visit(op); });
  ids.compress();
  classes.resize(ids.getNumClasses());
  for (Value value : pinned)
    classOf(value).isPinned = true;
  for (Value value : loaded)
    classOf(value).isLoaded = true;
  while (pinReduced())
    ;
  for (RowUse use : uses)
    classOf(use.rows->get()).hasLaneUser |= isLaneRow(use.matrix);
  for (auto [matrix, rows] : reduced)
    classOf(rows).hasLaneUser |= isLaneRow(matrix);
  assign();
  convertRows();
}

namespace {
struct AssignLayoutsPass
    : public attn::tile::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  using AssignLayoutsPassBase::AssignLayoutsPassBase;

  void runOnOperation() override {
    LayoutAssignment assignment(getOperation());
    assignment.run();
    numLaneRows += assignment.countLaneRows();
    numConverted += assignment.countConverted();
  }
};
} // namespace
