//===- Prologue.cpp - What is launched before an attention ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/Prologue.h"

#include "Kernel/RowChains.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

bool attn::isPrologueOp(Operation *op) {
  return isa_and_nonnull<CreateBlockMaskOp, KeyBoundsOp>(op);
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

/// A workspace of i32 in the shape of a tensor.
static WorkspaceView getView(std::string name, Type like) {
  auto tensor = cast<RankedTensorType>(like);
  return {std::move(name),
          tile::GlobalType::get(like.getContext(), tensor.getShape(),
                                tensor.getElementType())};
}

/// Workspaces of the four lists and the state of each block.
static SmallVector<WorkspaceView> getViews(CreateBlockMaskOp op,
                                           unsigned number) {
  auto view = [&](StringRef name, Value like) {
    return getView(getPrologueName(name, number), like.getType());
  };
  return {view("kv_num_blocks", op.getNumBlocks()),
          view("kv_indices", op.getIndices()),
          view("full_kv_num_blocks", op.getNumBlocks()),
          view("full_kv_indices", op.getIndices()),
          view("block_states", op.getIndices())};
}

/// The workspace of the bounds.
static SmallVector<WorkspaceView> getViews(KeyBoundsOp op, unsigned number) {
  return {getView(getPrologueName("key_bounds", number), op.getType())};
}

//===----------------------------------------------------------------------===//
// The order of the tiles of rows
//===----------------------------------------------------------------------===//

/// True if `op` has the keys of each tile that a CTA of `attention` takes, the
/// same for all heads.
static bool hasKeysOfTiles(const TiledAttention &attention, Operation *op) {
  if (!isPrologueOp(op))
    return false;
  auto lists = dyn_cast<CreateBlockMaskOp>(op);
  int64_t rows = lists ? lists.getBlock()[0] : cast<KeyBoundsOp>(op).getTile();
  Value heads = op->getOperand(kLoopH); // of both ops
  return rows == attention.getTilePositions() && isConstantIntValue(heads, 1);
}

std::optional<TileOrder> attn::getTileOrder(const TiledAttention &attention) {
  for (auto [number, prologue] : llvm::enumerate(attention.prologue))
    if (prologue.ordersTiles)
      return TileOrder{unsigned(number),
                       !isConstantIntValue(prologue.op->getOperand(kLoopB), 1)};
  return std::nullopt;
}

/// Makes the first op that can do so put the tiles in order, where each CTA
/// takes one.
static void orderTiles(TiledAttention &attention) {
  bool isForward = static_cast<bool>(attention.first);
  if (!isForward || attention.isSmallCache() ||
      attention.schedule.getValues().persistentCtas > 0)
    return;
  auto found = llvm::find_if(attention.prologue, [&](PrologueOp &prologue) {
    return hasKeysOfTiles(attention, prologue.op);
  });
  if (found == attention.prologue.end())
    return;
  auto type = RankedTensorType::get(
      {ShapedType::kDynamic}, IntegerType::get(found->op->getContext(), 32));
  found->views.push_back(getView("tile_order", type));
  found->ordersTiles = true;
}

/// Adds the prologue ops whose results `op` reads, each after those that it
/// reads itself.
static void addProducers(Operation *op, SetVector<Operation *> &ops) {
  op->walk([&](Operation *reader) {
    for (Value operand : reader->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!isPrologueOp(producer) || ops.contains(producer))
        continue;
      addProducers(producer, ops);
      ops.insert(producer);
    }
  });
}

void attn::findPrologue(TiledAttention &attention,
                        ArrayRef<scf::ForallOp> nests) {
  // What is read is checked before it is.
  SetVector<Operation *> ops;
  auto function = attention.forall->getParentOfType<FunctionOpInterface>();
  function->walk([&](DeviceAssertOp check) { ops.insert(check); });
  if (attention.first)
    function->walk([&](AppendOp append) { ops.insert(append); });
  for (scf::ForallOp nest : nests) {
    addProducers(nest, ops);
    findRowChains(nest, ops);
  }
  for (auto [number, op] : llvm::enumerate(ops)) {
    PrologueOp &prologue = attention.prologue.emplace_back();
    prologue.op = op;
    if (auto lists = dyn_cast<CreateBlockMaskOp>(op))
      prologue.views = getViews(lists, number);
    else if (auto bounds = dyn_cast<KeyBoundsOp>(op))
      prologue.views = getViews(bounds, number);
    else if (getRowSource(op))
      prologue.views = {getRowView(attention, op)};
  }
  orderTiles(attention);
}

LogicalResult attn::addWorklist(TiledAttention &attention) {
  Schedule schedule = attention.schedule.getValues();
  if (!schedule.isPlanned())
    return success();
  if (!attention.combine || schedule.splitKeys == 0 ||
      !attention.first.getKeyLengths() || schedule.persistentCtas == 0)
    return attention.first.emitOpError()
           << "expected split_keys, persistent_ctas and lengths of the keys "
              "with balance = \""
           << getName(schedule.balance) << "\", got " << attention.schedule;
  MLIRContext *context = attention.first.getContext();
  attention.worklist = {"worklist",
                        tile::GlobalType::get(context, {ShapedType::kDynamic},
                                              IntegerType::get(context, 32))};
  return success();
}

bool attn::plansRanges(const TiledAttention &attention) {
  return attention.schedule.getValues().balance == Balance::Share;
}

bool attn::plansRowTiles(const TiledAttention &attention) {
  OnlineAttentionOp step = attention.first;
  return static_cast<bool>(getRagged(step.getQuery()));
}
