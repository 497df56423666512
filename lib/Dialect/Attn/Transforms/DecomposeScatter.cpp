//===- DecomposeScatter.cpp - attn.backward_scatter in loops --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecomposeScatter.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn;

namespace {
class ScatterEmitter {
public:
  explicit ScatterEmitter(BackwardScatterOp op)
      : op(op), b(op.getLoc(), op), zero(index(0)) {}

  Value emit();

private:
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, number);
  }
  Value emitLoop(int64_t count, Value init,
                 llvm::function_ref<Value(Value, Value)> body);
  Value emitIndex(Region &region, ValueRange at);
  Value emitElement(Value row, Value key, Value table);
  Value addTo(Value table, Value number, Value row, Value key);

  BackwardScatterOp op;
  ImplicitLocOpBuilder b;
  Value zero;
};
} // namespace

/// Carries a table through `count` turns.
Value ScatterEmitter::emitLoop(int64_t count, Value init,
                               llvm::function_ref<Value(Value, Value)> body) {
  auto loop =
      scf::ForOp::create(b, zero, index(count), index(1), ValueRange(init));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      b, body(loop.getInductionVar(), loop.getRegionIterArgs()[0]));
  return loop.getResult(0);
}

Value ScatterEmitter::emitIndex(Region &region, ValueRange at) {
  IRMapping mapping;
  mapping.map(region.getArguments(), at);
  for (Operation &inner : region.front().without_terminator())
    b.clone(inner, mapping);
  return mapping.lookupOrDefault(
      cast<YieldOp>(region.front().getTerminator()).getValue());
}

/// Adds a number at a place of the tile to its element.
Value ScatterEmitter::addTo(Value table, Value number, Value row, Value key) {
  SmallVector<Value> at(op.getOffsets());
  at[kLoopM] = arith::AddIOp::create(b, at[kLoopM], row);
  at[kLoopN] = arith::AddIOp::create(b, at[kLoopN], key);
  SmallVector<Value> element;
  for (Region &region : op.getIndices())
    element.push_back(emitIndex(region, at));
  Value old = tensor::ExtractOp::create(b, table, element);
  Value sum = arith::AddFOp::create(b, old, number);
  return tensor::InsertOp::create(b, sum, table, element);
}

/// Indices of what is 0 may be anything.
Value ScatterEmitter::emitElement(Value row, Value key, Value table) {
  Value number = tensor::ExtractOp::create(b, op.getScores(),
                                           ValueRange{zero, zero, row, key});
  Value none =
      arith::ConstantOp::create(b, b.getFloatAttr(number.getType(), 0));
  Value isAny =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, number, none);
  auto choice = scf::IfOp::create(b, TypeRange(table.getType()), isAny,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, table);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, addTo(table, number, row, key));
  return choice.getResult(0);
}

Value ScatterEmitter::emit() {
  auto type = cast<RankedTensorType>(op.getScores().getType());
  return emitLoop(type.getDimSize(2), op.getInto(), [&](Value row, Value rows) {
    return emitLoop(type.getDimSize(3), rows, [&](Value key, Value table) {
      return emitElement(row, key, table);
    });
  });
}

Value attn::decomposeScatter(BackwardScatterOp op) {
  return ScatterEmitter(op).emit();
}
