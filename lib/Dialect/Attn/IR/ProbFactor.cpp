//===- ProbFactor.cpp - Maps of probabilities that are factors ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ProbFactor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace attn;

namespace {
/// What a value of the region is, as a function of p.
enum class Part { Zero, Constant, Factor, Other };

class Classifier {
public:
  explicit Classifier(Region &mod) : mod(mod) {}

  Part get(Value value) {
    auto [it, isNew] = known.try_emplace(value, Part::Other);
    if (isNew)
      known[value] = compute(value);
    return known[value];
  }

private:
  Part compute(Value value);

  Region &mod;
  llvm::DenseMap<Value, Part> known;
};
} // namespace

static bool isConstant(Part part) {
  return part == Part::Constant || part == Part::Zero;
}

static bool isFactor(Part part) {
  return part == Part::Factor || part == Part::Zero;
}

Part Classifier::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &mod.front())
    return argument.getArgNumber() == 0 ? Part::Factor : Part::Constant;
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentRegion() != &mod)
    return Part::Constant; // From outside.
  if (matchPattern(value, m_AnyZeroFloat()))
    return Part::Zero;
  auto parts =
      llvm::map_to_vector(op->getOperands(), [&](Value v) { return get(v); });
  if (llvm::all_of(parts, isConstant))
    return Part::Constant;
  bool areFactors = llvm::all_of(parts, isFactor);
  bool isLinear =
      (isa<arith::NegFOp, arith::AddFOp, arith::SubFOp>(op) && areFactors) ||
      (isa<arith::MulFOp>(op) && llvm::any_of(parts, isConstant) &&
       llvm::any_of(parts, isFactor)) ||
      (isa<arith::DivFOp>(op) && isFactor(parts[0]) && isConstant(parts[1])) ||
      (isa<arith::SelectOp>(op) && isConstant(parts[0]) && isFactor(parts[1]) &&
       isFactor(parts[2]));
  return isLinear ? Part::Factor : Part::Other;
}

bool attn::isProbFactor(Region &probMod) {
  return isFactor(
      Classifier(probMod).get(probMod.front().getTerminator()->getOperand(0)));
}
