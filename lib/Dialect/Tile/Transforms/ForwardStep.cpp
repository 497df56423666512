//===- ForwardStep.cpp - The parts of a forward's key loop ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardStep.h"

using namespace mlir;
using namespace attn::tile;

std::optional<Product> Product::match(MmaAsyncOp mma) {
  Product product;
  product.mma = mma;
  product.stage = mma.getB().getDefiningOp<StageOp>();
  if (!mma.getResult().hasOneUse() || !product.stage)
    return std::nullopt;
  product.wait = dyn_cast<MmaWaitOp>(*mma.getResult().user_begin());
  for (Operation *op = mma; op && !product.full; op = op->getPrevNode()) {
    product.full = dyn_cast<MbarrierWaitOp>(op);
    if (auto clear = dyn_cast<ClearRowsOp>(op))
      product.clear = clear;
  }
  for (Operation *op = mma; op && !product.done; op = op->getNextNode())
    product.done = dyn_cast<MbarrierArriveOp>(op);
  if (!product.wait || !product.full || !product.done)
    return std::nullopt;
  return product;
}

static bool hasFragment(Operation *op) {
  auto isFragment = [](Type type) { return isa<FragmentType>(type); };
  return llvm::any_of(op->getOperandTypes(), isFragment) ||
         llvm::any_of(op->getResultTypes(), isFragment);
}

/// Finds what each part of the loop's state is; an error if there is not one
/// accumulator and one number.
LogicalResult ForwardStep::findState() {
  unsigned accs = 0, numbers = 0;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    auto fragment = dyn_cast<FragmentType>(state(i).getType());
    if (!fragment)
      number = i, ++numbers;
    else if (yielded(i) ==
             (promotion ? promotion : output.wait.getOperation())->getResult(0))
      acc = i, ++accs;
    else if (fragment.isRow())
      rows.push_back(i);
    else
      return failure();
  }
  return success(accs == 1 && numbers == 1);
}

/// Puts `op` into the list it belongs to; `isWeight` turns true at the first
/// reduction.
LogicalResult ForwardStep::classify(Operation &op, bool &isWeight) {
  if (scores.contains(&op) || output.contains(&op) || &op == promotion)
    return success();
  if (!hasFragment(&op)) {
    scalars.push_back(&op);
    return success(isMemoryEffectFree(&op));
  }
  auto isAcc = [&](Value value) {
    return value == state(acc) ||
           llvm::is_contained(rescale, value.getDefiningOp());
  };
  // The change may be in a branch.
  bool changesAcc = op.walk([&](Operation *inner) {
                        return llvm::any_of(inner->getOperands(), isAcc)
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      }).wasInterrupted();
  if (auto reduce = dyn_cast<RowReduceOp>(op); reduce && !isWeight) {
    isWeight = true;
    finalScores = reduce.getSource();
  }
  if (changesAcc)
    rescale.push_back(&op);
  else if (output.mma.getA() == op.getResult(0))
    operand.push_back(&op);
  else
    (isWeight ? weights : mods).push_back(&op);
  return success();
}

/// What dropout keeps depends on where the keys are; weights may take a factor
/// of the scores, too.
void ForwardStep::findPlaces() {
  auto isOfScores = [&](Value value) {
    return value != finalScores &&
           llvm::is_contained(mods, value.getDefiningOp());
  };
  for (Operation *op : weights)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand == loop.getInductionVar() || isOfScores(operand) ||
            llvm::is_contained(scalars, operand.getDefiningOp()))
          places.push_back(operand);
    });
}

/// A product that starts from nothing is added by the map that reads it, and of
/// the step nothing else but what a row's sum is rescaled by; null if another
/// does.
static MapOp findPromotion(Product &output) {
  Value product = output.wait.getResult();
  auto map =
      product.hasOneUse() ? dyn_cast<MapOp>(*product.user_begin()) : MapOp();
  if (!map || map->getBlock() != output.mma->getBlock())
    return MapOp();
  unsigned decays = 0;
  for (Value input : map.getInputs()) {
    bool isDecay = cast<FragmentType>(input.getType()).isRow();
    decays += isDecay;
    if (!isDecay && input != product && !isa<BlockArgument>(input))
      return MapOp();
  }
  return decays <= 1 ? map : MapOp();
}

Value ForwardStep::getLateDecay() {
  if (promotion)
    for (Value input : promotion.getInputs())
      if (cast<FragmentType>(input.getType()).isRow())
        return input;
  return Value();
}

FailureOr<ForwardStep> ForwardStep::match(scf::ForOp loop) {
  ForwardStep step;
  step.loop = loop;
  unsigned products = 0;
  for (MmaAsyncOp mma : loop.getOps<MmaAsyncOp>()) {
    std::optional<Product> product = Product::match(mma);
    if (!product)
      return failure();
    (products == 0 ? step.scores : step.output) = *product;
    ++products;
  }
  if (products != 2 || step.scores.mma.getAcc())
    return failure();
  if (!step.output.mma.getAcc()) {
    step.promotion = findPromotion(step.output);
    if (!step.promotion)
      return failure();
  }
  if (failed(step.findState()))
    return failure();
  bool isWeight = false;
  for (Operation &op : loop.getBody()->without_terminator())
    if (failed(step.classify(op, isWeight)))
      return failure();
  // Without a reduction scores become weights where they become an operand.
  if (!isWeight && step.operand.size() == 1)
    step.finalScores = step.operand.front()->getOperand(0);
  if (!step.finalScores)
    return failure();
  step.findPlaces();
  return step;
}
