//===- ModRegion.cpp - What mask_mod and score_mod ask of positions -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ModRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attn;

bool attn::isDefinedBeyond(Region &region, unsigned loop) {
  if (region.empty())
    return true;
  Block &block = region.front();
  llvm::SmallPtrSet<Value, 16> ofPosition;
  ofPosition.insert(block.getArgument(block.getNumArguments() - 4 + loop));
  for (Operation &op : block.without_terminator()) {
    bool isOfPosition =
        op.getNumRegions() != 0 || llvm::any_of(op.getOperands(), [&](Value v) {
          return ofPosition.contains(v);
        });
    if (!isOfPosition)
      continue;
    bool readsTensor =
        llvm::any_of(op.getOperandTypes(), llvm::IsaPred<TensorType>);
    if (readsTensor || !isSpeculatable(&op))
      return false;
    ofPosition.insert(op.result_begin(), op.result_end());
  }
  return true;
}

bool attn::readsByTable(Region &region) {
  if (region.empty())
    return false;
  llvm::SmallPtrSet<Value, 16> ofKey, ofEntry;
  ofKey.insert(region.front().getArguments().back());
  for (Operation &op : region.front().without_terminator()) {
    auto isIn = [&](llvm::SmallPtrSet<Value, 16> &values) {
      return llvm::any_of(op.getOperands(),
                          [&](Value v) { return values.contains(v); });
    };
    bool reads = isa<tensor::ExtractOp>(op);
    if (isIn(ofEntry)) {
      if (reads)
        return true;
      ofEntry.insert(op.result_begin(), op.result_end());
    } else if (isIn(ofKey)) {
      (reads ? ofEntry : ofKey).insert(op.result_begin(), op.result_end());
    }
  }
  return false;
}

std::optional<int64_t> attn::getKeyBlock(Operation *op) {
  if (!isa_and_present<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op))
    return std::nullopt;
  auto position = dyn_cast<BlockArgument>(op->getOperand(0));
  std::optional<int64_t> keys = getConstantIntValue(op->getOperand(1));
  bool isOfKey = position && position.getOwner() == op->getBlock() &&
                 position == op->getBlock()->getArguments().back();
  return isOfKey && keys > 0 ? keys : std::nullopt;
}

SmallVector<Value> attn::getConjuncts(Value condition) {
  SetVector<Value> seen;
  SmallVector<Value> conjuncts;
  seen.insert(condition);
  for (size_t i = 0; i < seen.size(); ++i) {
    Value next = seen[i];
    if (auto both = next.getDefiningOp<arith::AndIOp>())
      seen.insert(both->operand_begin(), both->operand_end());
    else
      conjuncts.push_back(next);
  }
  return conjuncts;
}
