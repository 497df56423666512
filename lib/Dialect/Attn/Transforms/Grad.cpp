//===- Grad.cpp - Backward functions ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-grad.
//
//===----------------------------------------------------------------------===//

#include "GradScope.h"

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {
#define GEN_PASS_DEF_GRADPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct Grad : public attn::impl::GradPassBase<Grad> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<std::pair<func::FuncOp, Operation *>> functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Operation *> found;
      function.walk([&](Operation *op) {
        if (isa<AttentionOp, LinearAttentionOp>(op))
          found.push_back(op);
      });
      if (function.isPrivate() || found.empty())
        continue;
      if (failed(checkFunction(function, found)))
        return signalPassFailure();
      functions.push_back({function, found.front()});
    }
    if (functions.empty()) {
      getOperation().emitError() << "expected a public function with an "
                                    "attn.attention or attn.linear_attention";
      return signalPassFailure();
    }
    for (auto [function, attention] : functions) {
      if (failed(build(function, attention)))
        return signalPassFailure();
      ++numFunctions;
    }
  }

private:
  LogicalResult build(func::FuncOp function, Operation *op) {
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention)
      return buildAttentionGrad(function, attention, recompute, lseGradient);
    if (lseGradient)
      return op->emitOpError()
             << "expected no option lse-gradient with a linear attention, "
                "which has no LSE";
    return buildLinearGrad(function, cast<LinearAttentionOp>(op));
  }

  LogicalResult checkFunction(func::FuncOp function,
                              ArrayRef<Operation *> found) {
    if (found.size() != 1) {
      InFlightDiagnostic diag = function.emitOpError()
                                << "expected one attention in @"
                                << function.getName() << ", got "
                                << found.size();
      for (Operation *op : found)
        diag.attachNote(op->getLoc()) << "an attention";
      return diag;
    }
    Operation *op = found.front();
    if (op->getParentOp() != function)
      return op->emitOpError()
             << "expected to be at the top level of @" << function.getName();
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention && attention.hasLengths())
      return op->emitOpError()
             << "expected no lengths, with which there is no backward";
    std::string name = (function.getName() + "_grad").str();
    if (getOperation().lookupSymbol(name))
      return function.emitOpError()
             << "expected no symbol @" << name << ", got one";
    return success();
  }
};
} // namespace
