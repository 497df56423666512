//===- ScatterBuilder.cpp - attn.backward_scatter in loops ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/ScatterBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

/// The index that a region gives for a position.
static Value inlineIndex(OpBuilder &builder, Region &region,
                         ValueRange position) {
  IRMapping mapping;
  mapping.map(region.getArguments(), position);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(
      cast<YieldOp>(region.front().getTerminator()).getValue());
}

/// Adds the number at `at` of the tile to its element.
static Value addTo(OpBuilder &b, Location loc, BackwardScatterOp op,
                   Value number, ValueRange at, Value table) {
  SmallVector<Value> position;
  for (auto [offset, coordinate] : llvm::zip_equal(op.getOffsets(), at))
    position.push_back(arith::AddIOp::create(b, loc, offset, coordinate));
  SmallVector<Value> element;
  for (Region &region : op.getIndices())
    element.push_back(inlineIndex(b, region, position));
  Value old = tensor::ExtractOp::create(b, loc, table, element);
  Value sum = arith::AddFOp::create(b, loc, old, number);
  return tensor::InsertOp::create(b, loc, sum, table, element);
}

/// Indices of what is 0 may be anything.
static Value addUnlessZero(OpBuilder &b, Location loc, BackwardScatterOp op,
                           ValueRange at, Value table) {
  Value number = tensor::ExtractOp::create(b, loc, op.getScores(), at);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(number.getType(), 0));
  Value isAny =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, number, zero);
  auto choice = scf::IfOp::create(b, loc, TypeRange(table.getType()), isAny,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, table);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, addTo(b, loc, op, number, at, table));
  return choice.getResult(0);
}

Value attn::buildScatter(OpBuilder &builder, BackwardScatterOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> lower, upper, step;
  for (OpFoldResult size :
       tensor::getMixedSizes(builder, loc, op.getScores())) {
    lower.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    upper.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
    step.push_back(arith::ConstantIndexOp::create(builder, loc, 1));
  }
  auto body = [&](OpBuilder &b, Location l, ValueRange at,
                  ValueRange tables) -> scf::ValueVector {
    return {addUnlessZero(b, l, op, at, tables.front())};
  };
  return scf::buildLoopNest(builder, loc, lower, upper, step,
                            ValueRange(op.getInto()), body)
      .results[0];
}
