//===- RowTerms.cpp - What a region computes once per row -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/RowTerms.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attn;

/// Ops that cost more than keeping their result.
static bool isCostly(Operation *op) {
  return isa<tensor::ExtractOp, SegmentOp, BlockListedOp, arith::DivSIOp,
             arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
}

SmallVector<Value> attn::findRowTerms(Region &region, unsigned position,
                                      bool ofRowsOnly, IndexRanges &ranges) {
  if (region.empty())
    return {};
  Block &block = region.front();
  unsigned firstCoordinate = block.getNumArguments() - 4;
  Value ownPosition = block.getArgument(firstCoordinate + position);
  llvm::SmallPtrSet<Operation *, 16> ofRow, varying, costly;
  for (Operation &op : block.without_terminator()) {
    auto isOfRow = [&](Value value) {
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getOwner() == &block) {
        unsigned number = argument.getArgNumber();
        return number >= firstCoordinate &&
               (number < firstCoordinate + kLoopM ||
                number == firstCoordinate + position);
      }
      Operation *producer = value.getDefiningOp();
      return !producer || producer->getBlock() != &block ||
             ofRow.contains(producer);
    };
    auto isOfCostly = [&](Value value) {
      return value.getDefiningOp() && costly.contains(value.getDefiningOp());
    };
    if (op.getNumRegions() != 0 || !llvm::all_of(op.getOperands(), isOfRow))
      continue;
    ofRow.insert(&op);
    bool varies = llvm::any_of(op.getOperands(), [&](Value value) {
      return value == ownPosition ||
             (value.getDefiningOp() && varying.contains(value.getDefiningOp()));
    });
    if (varies)
      varying.insert(&op);
    if (isCostly(&op) || llvm::any_of(op.getOperands(), isOfCostly))
      costly.insert(&op);
  }
  auto isOwn = [&](Operation *user) { return ofRow.contains(user); };
  // True if one register of 32 bits will do.
  auto fitsRegister = [&](Value value) {
    Type type = value.getType();
    if (!type.isIndex())
      return type.isF32() || type.isInteger(32) || type.isInteger(1);
    return ranges.fits32Bits(value) || ranges.isComparedOnly(value, isOwn);
  };
  SmallVector<Value> terms;
  for (Operation &op : block.without_terminator())
    if (costly.contains(&op) && (varying.contains(&op) || !ofRowsOnly) &&
        fitsRegister(op.getResult(0)) && !llvm::all_of(op.getUsers(), isOwn))
      terms.push_back(op.getResult(0));
  return terms;
}

llvm::SetVector<Operation *>
attn::getProducers(Region &region, Value value,
                   llvm::function_ref<bool(Value)> isKnown) {
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || op->getParentRegion() != &region || isKnown(next) ||
        !needed.insert(op).second)
      continue;
    llvm::append_range(worklist, op->getOperands());
  }
  llvm::SetVector<Operation *> ordered;
  for (Operation &op : region.front())
    if (needed.contains(&op))
      ordered.insert(&op);
  return ordered;
}

/// True if `value` is there at `anchor`, an op of a block around or before it.
static bool isDefinedBefore(Value value, Operation *anchor) {
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return value.getParentRegion()->isAncestor(anchor->getParentRegion());
  if (producer->getBlock() == anchor->getBlock())
    return producer->isBeforeInBlock(anchor);
  return producer->getParentRegion()->isProperAncestor(
      anchor->getParentRegion());
}

/// Moves `op` before `anchor`, with what it is computed from; false if that
/// cannot all be there.
static bool moveBefore(Operation *op, Operation *anchor) {
  if (!isMemoryEffectFree(op))
    return false;
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used) {
    if (isDefinedBefore(value, anchor))
      continue;
    if (!value.getDefiningOp() || !moveBefore(value.getDefiningOp(), anchor))
      return false;
  }
  op->moveBefore(anchor);
  return true;
}

void attn::hoistReads(tile::MapOp map) {
  for (auto read : llvm::make_early_inc_range(
           map.getBody().front().getOps<tile::ExtractOp>()))
    moveBefore(read, map);
}

/// Key loops follow each other, and the passes behind this one move steps
/// between them: so what is invariant stands before the first of them.
void attn::hoistInvariant(Operation *op) {
  while (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
    auto loops = loop->getBlock()->getOps<scf::ForOp>();
    if (!moveBefore(op, *loops.begin()))
      return;
  }
}
