//===- HiddenSoftmax.cpp - A softmax behind an unknown op ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For diagnostics alone: a product whose weights are a softmax that some op
// between the two hides is a missed attention, and a plain projection is not.
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn::raise;

/// True if `op` gives exponentials.
static bool isExponential(Operation *op) {
  if (!op || isa<linalg::ExpOp, tosa::ExpOp>(op))
    return op != nullptr;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic->getNumResults() != 1)
    return false;
  Operation *last =
      generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return last && isa<math::ExpOp, math::Exp2Op>(last);
}

/// True if `op` is a softmax or the sum of exponentials in one.
static bool isOfSoftmax(Operation *op) {
  if (isa<linalg::SoftmaxOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  bool isReduction = isa<tosa::ReduceSumOp>(op) ||
                     (linalgOp && linalgOp.getNumReductionLoops() != 0);
  return isReduction && llvm::any_of(op->getOperands(), [](Value operand) {
           return isExponential(operand.getDefiningOp());
         });
}

/// True if there is a softmax between `op` and the contractions before it.
static bool hasSoftmaxBehind(ElementWalker &walker, Operation *op) {
  constexpr size_t kMaxOps = 256;
  llvm::SetVector<Operation *> ops;
  ops.insert(op);
  for (size_t next = 0; next < ops.size() && next < kMaxOps; ++next) {
    if (isOfSoftmax(ops[next]))
      return true;
    if (getContraction(walker, ops[next]))
      continue;
    for (Value operand : ops[next]->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        ops.insert(producer);
  }
  return false;
}

Operation *attn::raise::findHidingOp(ElementWalker &walker, ScalarRef weights) {
  llvm::SetVector<ScalarRef> scalars;
  scalars.insert(weights);
  for (size_t next = 0; next < scalars.size(); ++next) {
    ScalarRef scalar = scalars[next];
    if (scalar->kind == Scalar::Kind::Read && scalar->op &&
        hasSoftmaxBehind(walker, scalar->op))
      return scalar->op;
    scalars.insert(scalar->operands.begin(), scalar->operands.end());
  }
  return nullptr;
}

bool attn::raise::mixSoftmax(ElementWalker &walker, ScalarRef weights) {
  return weights->kind == Scalar::Kind::Contract &&
         llvm::any_of(weights->op->getOperands(), [&](Value operand) {
           Operation *producer = operand.getDefiningOp();
           return producer && hasSoftmaxBehind(walker, producer);
         });
}
