//===- CorrectedOutput.cpp - What stores the output -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CorrectedOutput.h"

#include "KeyStream.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn::tile;

/// An op of the tile's block that uses the output, or its shared tile.
bool CorrectedOutput::take(Operation *op) {
  Operation *here = block->findAncestorOpInBlock(*op);
  if (!here || here->hasTrait<OpTrait::IsTerminator>() ||
      here->getNumRegions() > 1)
    return false;
  return !ops.insert(here) || takeUsers(here);
}

/// Of what is made of the output, and of the shared tile that it goes through.
/// That may have been the query's, which products have read.
bool CorrectedOutput::takeUsers(Operation *op) {
  SmallVector<Value> values(op->getResults());
  if (auto store = dyn_cast<StoreSharedOp>(op))
    values.push_back(store.getTile());
  for (Value value : values)
    for (Operation *user : value.getUsers())
      if (roles.getConsumer().isAncestor(user->getParentRegion()) &&
          !take(user))
        return false;
  return true;
}

/// True if `value` can be had elsewhere: it is there, is computed again, or is
/// told.
bool CorrectedOutput::needs(Value value) {
  Region &consumer = roles.getConsumer();
  Operation *op = value.getDefiningOp();
  if (!consumer.isAncestor(value.getParentRegion()) || copies.contains(op))
    return true;
  if (!op) {
    scf::ForOp tiles = getTileLoop(consumer);
    return value == roles.getWarpgroup() ||
           (tiles && value == tiles.getInductionVar());
  }
  auto fragment = dyn_cast<FragmentType>(value.getType());
  if (fragment && !isa<FillOp>(op)) {
    if (!fragment.isRow() || !fragment.getElementType().isF32())
      return false;
    rows.insert(value);
    return true;
  }
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op) ||
      !llvm::all_of(op->getOperands(), [&](Value v) { return needs(v); }))
    return false;
  copies.insert(op);
  return true;
}

/// True if `op` waits for what is copied to a tile before it is written, as a
/// query that nothing has read where there are no keys.
bool CorrectedOutput::isForPlace(Operation *op) const {
  auto wait = dyn_cast<MbarrierWaitOp>(op);
  return wait &&
         llvm::any_of(wait.getBarrier().getUsers(), [&](Operation *user) {
           auto copy = dyn_cast<CopyTmaOp>(user);
           return copy &&
                  llvm::any_of(copy.getTile().getUsers(), [&](Operation *at) {
                    return isa<StoreSharedOp>(at) && ops.contains(at);
                  });
         });
}

/// True if nobody else uses the shared tiles that are written: another tile's
/// query, say, that comes when consumers have ended this one.
bool CorrectedOutput::hasOwnTiles() const {
  return llvm::all_of(ops, [&](Operation *op) {
    auto store = dyn_cast<StoreSharedOp>(op);
    return !store ||
           llvm::all_of(store.getTile().getUsers(),
                        [&](Operation *user) { return ops.contains(user); });
  });
}

StringRef CorrectedOutput::collect(Value sum) {
  Region &consumer = roles.getConsumer();
  block = &getTileBlock(consumer);
  for (auto load : block->getOps<LoadTensorOp>())
    if (load.getTile() == sum && (load.getAcc() || !take(load)))
      return "the output is used otherwise than by what stores it";
  if (ops.empty())
    return "nothing stores the output";
  Operation *last = ops.front();
  for (Operation *op : ops)
    if (last->isBeforeInBlock(op))
      last = op;
  for (Operation &op : *block)
    if (op.isBeforeInBlock(last) && (isa<WaitStoresOp>(op) || isForPlace(&op)))
      ops.insert(&op);
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  ops.clear();
  ops.insert_range(sorted);
  if (getTileLoop(consumer) && !hasOwnTiles())
    return "the output goes through the next query's place";
  for (Operation *op : ops) {
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      if (!ops.contains(value.getDefiningOp()) && !needs(value))
        return "what stores the output needs more of the softmax than rows";
  }
  return "";
}

void CorrectedOutput::clone(OpBuilder &builder, IRMapping &mapping) const {
  for (Operation *op : copies)
    builder.clone(*op, mapping);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
}

void CorrectedOutput::erase() {
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}
