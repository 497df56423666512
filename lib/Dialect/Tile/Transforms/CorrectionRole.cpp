//===- CorrectionRole.cpp - What the role that corrects does ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of --attn-tile-specialize-correction: the loops of the products' thread, with
// what concerns the output in the place of products.
//
//===----------------------------------------------------------------------===//

#include "Corrector.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn::tile;

Value attn::tile::mapRows(OpBuilder &builder, Value rows,
                          function_ref<Value(Value)> compute) {
  Location loc = rows.getLoc();
  auto map = MapOp::create(builder, loc, rows.getType(), rows);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = map.getBody().emplaceBlock();
  Value number = body.addArgument(builder.getF32Type(), loc);
  body.addArgument(builder.getI32Type(), loc);
  builder.setInsertionPointToStart(&body);
  YieldOp::create(builder, loc, compute(number));
  return map.getResult();
}

/// 1 for each row whose factor is another number.
static Value flagFactors(OpBuilder &builder, Value factors) {
  Location loc = factors.getLoc();
  auto number = [&](float value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  };
  return mapRows(builder, factors, [&](Value factor) -> Value {
    Value one = number(1.0f), zero = number(0.0f);
    Value differs = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::UNE, factor, one);
    return arith::SelectOp::create(builder, loc, differs, one, zero);
  });
}

/// Where a row of the warp has risen, all of its rows are rescaled.
void Corrector::buildRescale(Value group) {
  Location loc = kernel.getLoc();
  auto as = AsWarpgroupOp::create(builder, loc, group);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
  MLIRContext *context = builder.getContext();
  auto rows = FragmentType::get(
      context, cast<TensorTileType>(sum.getType()).getRows(),
      builder.getF32Type(), FragmentLayoutAttr::getLaneRow(context));
  Value factors = LoadSharedRowsOp::create(builder, loc, rows, decays);
  Value any = AnyOp::create(builder, loc, flagFactors(builder, factors));
  auto branch = scf::IfOp::create(builder, loc, any);
  builder.setInsertionPointToStart(branch.thenBlock());
  ScaleTensorOp::create(builder, loc, sum, group, factors);
}

/// In a tile's first step the output is zeros still.
void Corrector::buildStep(Addition addition, Value firstStep) {
  builder.setInsertionPoint(addition.wait);
  Location loc = addition.wait.getLoc();
  scf::ForOp loop = addition.getLoop();
  Value group = constant(addition.group);
  Value step = loop.getRegionIterArg(*findStepCounter(loop));
  waitFor(told, getStepStage(loop, group), getStepParity(loop));
  Value isLater = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        step, firstStep);
  auto later = scf::IfOp::create(builder, loc, isLater);
  builder.setInsertionPointToStart(later.thenBlock());
  buildRescale(group);
  builder.setInsertionPointAfter(later);
  arriveBehindTensors(corrected, getStepStage(loop, group));
}

/// Zeros for the next tile's products of a warpgroup to be added to. What its
/// rows are may be told when all warps have said so.
void Corrector::buildZeros(Value group) {
  auto as = AsWarpgroupOp::create(builder, zeros.getLoc(), group);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
    IRMapping mapping;
    builder.clone(*zeros.getSource().getDefiningOp(), mapping);
    mapping.map(zeros.getWarpgroup(), group);
    builder.clone(*zeros, mapping);
  }
  arriveBehindTensors(ready, group);
  arrive(taken, group);
}

void Corrector::buildOutputs(Region &role) {
  scf::ForOp tiles = getTileLoop(role);
  if (tiles)
    builder.setInsertionPoint(tiles.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(&role.front());
  Location loc = kernel.getLoc();
  Value parity = getTileParity(role);

  for (int64_t group = 0; group < groups; ++group) {
    Value number = constant(group);
    waitFor(ended, number, parity);
    auto as = AsWarpgroupOp::create(builder, loc, number);
    builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
    IRMapping mapping;
    mapping.map(roles.getWarpgroup(), number);
    if (tiles)
      mapping.map(getTileLoop(consumer).getInductionVar(),
                  tiles.getInductionVar());
    for (auto [rows, vector] : llvm::zip_equal(output.getRows(), vectors))
      mapping.map(rows,
                  LoadSharedRowsOp::create(builder, loc, rows.getType(), vector)
                      .getResult());
    output.clone(builder, mapping);
    builder.setInsertionPointAfter(as);
    if (!tiles)
      continue;
    if (group == 0)
      waitFor(seen, constant(0), parity);
    buildZeros(number);
  }
}

/// The last that use shared and tensor memory give it back.
void Corrector::buildEnd(Region &role) {
  builder.setInsertionPointToEnd(&role.front());
  auto as = AsWarpgroupOp::create(builder, kernel.getLoc(), constant(0));
  builder.setInsertionPointToStart(&as.getBody().emplaceBlock());
  for (auto op : consumer.getOps<FreeTensorsOp>())
    builder.clone(*op);
  WaitStoresOp::create(builder, kernel.getLoc());
}

/// The loops of the products' thread, with what is done here in the place of
/// its products.
void Corrector::buildRole(Region &role) {
  IRMapping mapping;
  products.cloneInto(&role, mapping);
  SmallVector<Operation *> others;
  role.walk([&](Operation *op) {
    if (isa<MmaTensorOp, MbarrierWaitOp, MbarrierArriveOp, CommitTensorsOp,
            FenceTensorsOp>(op))
      others.push_back(op);
  });
  SmallVector<Addition> steps;
  for (Addition addition : additions)
    steps.push_back(
        {cast<MbarrierWaitOp>(mapping.lookup(addition.wait.getOperation())),
         addition.group});
  Value firstStep = steps.front().getFirstStep();
  for (Addition step : steps)
    buildStep(step, firstStep);
  for (Operation *op : others)
    op->erase();
  buildOutputs(role);
  builder.setInsertionPointToStart(&role.front());
  for (int64_t group = 0; group < groups; ++group)
    buildZeros(constant(group));
  buildEnd(role);
  IRRewriter rewriter(builder.getContext());
  (void)runRegionDCE(rewriter, role);
}
