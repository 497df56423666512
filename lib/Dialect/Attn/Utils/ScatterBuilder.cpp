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

/// The element that the number at `at` of the tile belongs to. Indices of what
/// is 0 may be anything: it belongs to the first one.
static SmallVector<Value> getElement(OpBuilder &b, Location loc,
                                     BackwardScatterOp op, Value number,
                                     ValueRange at) {
  size_t rank = op.getIndices().size();
  if (rank == 0)
    return {};
  Value zero =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(number.getType(), 0));
  Value isAny =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, number, zero);
  SmallVector<Type> types(rank, b.getIndexType());
  auto choice =
      scf::IfOp::create(b, loc, types, isAny, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  Value first = arith::ConstantIndexOp::create(b, loc, 0);
  scf::YieldOp::create(b, loc, SmallVector<Value>(rank, first));
  b.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> position, element;
  for (auto [offset, coordinate] : llvm::zip_equal(op.getOffsets(), at))
    position.push_back(arith::AddIOp::create(b, loc, offset, coordinate));
  for (Region &region : op.getIndices())
    element.push_back(inlineIndex(b, region, position));
  scf::YieldOp::create(b, loc, element);
  return choice.getResults();
}

/// Adds the number at `at` of the tile.
static Value addTo(OpBuilder &b, Location loc, BackwardScatterOp op,
                   ValueRange at, Value table) {
  Value number = tensor::ExtractOp::create(b, loc, op.getScores(), at);
  SmallVector<Value> element = getElement(b, loc, op, number, at);
  Value old = tensor::ExtractOp::create(b, loc, table, element);
  Value sum = arith::AddFOp::create(b, loc, old, number);
  return tensor::InsertOp::create(b, loc, sum, table, element);
}

/// `size`, or 0 if the table has no element.
static Value unlessEmpty(OpBuilder &b, Location loc, Value size, Value table) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (OpFoldResult extent : tensor::getMixedSizes(b, loc, table)) {
    Value isEmpty = b.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq,
        getValueOrCreateConstantIndexOp(b, loc, extent), zero);
    size = b.createOrFold<arith::SelectOp>(loc, isEmpty, zero, size);
  }
  return size;
}

Value attn::buildScatters(OpBuilder &builder,
                          ArrayRef<BackwardScatterOp> scatters) {
  BackwardScatterOp first = scatters.front();
  Location loc = first.getLoc();
  SmallVector<Value> lower, upper, step;
  for (OpFoldResult size :
       tensor::getMixedSizes(builder, loc, first.getScores())) {
    lower.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    upper.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
    step.push_back(arith::ConstantIndexOp::create(builder, loc, 1));
  }
  upper.front() = unlessEmpty(builder, loc, upper.front(), first.getInto());
  auto body = [&](OpBuilder &b, Location l, ValueRange at,
                  ValueRange tables) -> scf::ValueVector {
    Value table = tables.front();
    for (BackwardScatterOp op : scatters)
      table = addTo(b, l, op, at, table);
    return {table};
  };
  return scf::buildLoopNest(builder, loc, lower, upper, step,
                            ValueRange(first.getInto()), body)
      .results[0];
}

Value attn::buildScatter(OpBuilder &builder, BackwardScatterOp op) {
  return buildScatters(builder, op);
}
