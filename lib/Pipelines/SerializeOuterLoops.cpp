//===- SerializeOuterLoops.cpp - One level of parallel loops ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-serialize-outer-loops.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_SERIALIZEOUTERLOOPSPASS
#include "attn/Pipelines/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Whether a parallel loop is in the body, or may be in what it calls.
static bool hasParallelLoop(Operation *loop) {
  return loop
      ->walk([&](Operation *op) {
        bool isInner = op != loop && isa<scf::ForallOp, scf::ParallelOp>(op);
        return isInner || isa<CallOpInterface>(op) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static LogicalResult serialize(RewriterBase &rewriter, Operation *loop) {
  rewriter.setInsertionPoint(loop);
  if (auto forall = dyn_cast<scf::ForallOp>(loop))
    return scf::forallToForLoop(rewriter, forall);
  return scf::parallelForToNestedFors(rewriter, cast<scf::ParallelOp>(loop));
}

namespace {
struct SerializeOuterLoops
    : attn::impl::SerializeOuterLoopsPassBase<SerializeOuterLoops> {
  void runOnOperation() override {
    SmallVector<Operation *> outer;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<scf::ForallOp, scf::ParallelOp>(op) && hasParallelLoop(op))
        outer.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    // Inner loops first: a loop's own is copied into what replaces it.
    for (Operation *loop : llvm::reverse(outer)) {
      Location loc = loop->getLoc();
      if (failed(serialize(rewriter, loop))) {
        emitError(loc) << "expected a parallel loop without reductions around "
                          "other parallel loops";
        return signalPassFailure();
      }
      ++numLoops;
    }
  }
};
} // namespace
