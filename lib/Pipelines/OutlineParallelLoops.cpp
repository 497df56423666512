//===- OutlineParallelLoops.cpp - Parallel loops as functions ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-outline-parallel-loops.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_OUTLINEPARALLELLOOPSPASS
#include "attn/Pipelines/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The number of trips of each dimension of `loop`, from 0 on, before it.
static SmallVector<Value> buildTripCounts(OpBuilder &builder,
                                          scf::ParallelOp loop) {
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> counts;
  for (auto [lower, upper, step] : llvm::zip_equal(
           loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    Value length = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
    Value count = builder.createOrFold<arith::CeilDivSIOp>(loc, length, step);
    counts.push_back(builder.createOrFold<arith::MaxSIOp>(loc, count, zero));
  }
  return counts;
}

/// What the induction variables of `loop` are in trip `index` of all, the last
/// dimension innermost.
static SmallVector<Value> buildInductionVars(OpBuilder &builder,
                                             scf::ParallelOp loop,
                                             ArrayRef<Value> counts,
                                             Value index) {
  Location loc = loop.getLoc();
  SmallVector<Value> vars(counts.size());
  for (size_t d = counts.size(); d-- > 0;) {
    Value trip = index;
    if (d > 0) {
      trip = arith::RemUIOp::create(builder, loc, index, counts[d]);
      index = arith::DivUIOp::create(builder, loc, index, counts[d]);
    }
    Value distance = builder.createOrFold<arith::MulIOp>(
        loc, trip, Value(loop.getStep()[d]));
    vars[d] = builder.createOrFold<arith::AddIOp>(
        loc, distance, Value(loop.getLowerBound()[d]));
  }
  return vars;
}

/// Has the function read nothing from above: constants, which tell the bounds
/// of inner loops, are copied, and all other values become arguments. Returns
/// these values.
static SmallVector<Value> captureValues(func::FuncOp function) {
  Region &region = function.getBody();
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(region, used);
  SmallVector<Value> captured;
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    Value inner;
    if (op && op->hasTrait<OpTrait::ConstantLike>()) {
      inner = builder.clone(*op)->getResult(0);
    } else {
      inner = region.front().addArgument(value.getType(), value.getLoc());
      captured.push_back(value);
    }
    replaceAllUsesInRegionWith(value, inner, region);
  }
  return captured;
}

/// Moves the body of `loop` to an empty function that runs the trips from its
/// first argument on, up to the second. The values that it reads from above
/// are its other arguments, and are returned.
static SmallVector<Value> moveBody(IRRewriter &rewriter, scf::ParallelOp loop,
                                   ArrayRef<Value> counts,
                                   func::FuncOp function) {
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = loop.getLoc();
  Type index = rewriter.getIndexType();
  Block *entry =
      rewriter.createBlock(&function.getBody(), {}, {index, index}, {loc, loc});
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto trips = scf::ForOp::create(rewriter, loc, entry->getArgument(0),
                                  entry->getArgument(1), one);
  func::ReturnOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(trips.getBody());
  SmallVector<Value> vars =
      buildInductionVars(rewriter, loop, counts, trips.getInductionVar());
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), trips.getBody()->getTerminator(),
                             vars);
  SmallVector<Value> captured = captureValues(function);
  function.setFunctionType(
      rewriter.getFunctionType(entry->getArgumentTypes(), {}));
  return captured;
}

static void outline(scf::ParallelOp loop, SymbolTable &symbols) {
  IRRewriter rewriter(loop.getContext());
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> counts = buildTripCounts(rewriter, loop);
  Value all = counts.front();
  for (Value count : ArrayRef(counts).drop_front())
    all = rewriter.createOrFold<arith::MulIOp>(loc, all, count);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  SmallVector<Value> operands = {zero, all};
  auto parent = loop->getParentOfType<func::FuncOp>();
  // In the place of the loop for as long as it reads values from above.
  auto function =
      func::FuncOp::create(rewriter, loc, (parent.getName() + "_loop").str(),
                           rewriter.getFunctionType({}, {}));
  function.setPrivate();
  llvm::append_range(operands, moveBody(rewriter, loop, counts, function));
  function->remove();
  symbols.insert(function, parent->getIterator());
  auto call = func::CallOp::create(rewriter, loc, function, operands);
  call->setAttr(parallelAttrName, rewriter.getUnitAttr());
  rewriter.eraseOp(loop);
}

namespace {
struct OutlineParallelLoops
    : attn::impl::OutlineParallelLoopsPassBase<OutlineParallelLoops> {
  void runOnOperation() override {
    SmallVector<scf::ParallelOp> loops;
    getOperation()->walk([&](scf::ParallelOp loop) {
      if (loop.getInitVals().empty() && loop->getParentOfType<func::FuncOp>())
        loops.push_back(loop);
    });
    SymbolTable symbols(getOperation());
    for (scf::ParallelOp loop : loops) {
      outline(loop, symbols);
      ++numLoops;
    }
  }
};
} // namespace
