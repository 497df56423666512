//===- MaskBounds.cpp - Fewer comparisons in a mask -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/MaskBounds.h"

#include "attn/Dialect/Attn/IR/ModRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

Value attn::boundColumn(OpBuilder &builder, Value visible, Value col,
                        Value last) {
  Location loc = visible.getLoc();
  if (auto both = visible.getDefiningOp<arith::AndIOp>()) {
    for (auto [one, other] : {std::pair(both.getLhs(), both.getRhs()),
                              std::pair(both.getRhs(), both.getLhs())})
      if (Value bounded = boundColumn(builder, one, col, last))
        return arith::AndIOp::create(builder, loc, bounded, other);
    return Value();
  }
  auto compare = visible.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return Value();
  Value bound;
  if (compare.getLhs() == col &&
      compare.getPredicate() == arith::CmpIPredicate::sle)
    bound = compare.getRhs();
  if (compare.getRhs() == col &&
      compare.getPredicate() == arith::CmpIPredicate::sge)
    bound = compare.getLhs();
  if (!bound)
    return Value();
  return arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sle, col,
      arith::MinSIOp::create(builder, loc, bound, last));
}

//===----------------------------------------------------------------------===//
// Conditions of rows
//===----------------------------------------------------------------------===//

/// The values in the body of a map that may depend on its argument `source`.
static DenseSet<Value> findDependent(Value source) {
  DenseSet<Value> found = {source};
  for (Operation &op : *source.getParentBlock()) {
    auto depends = [&](Value operand) { return found.contains(operand); };
    if (op.getNumRegions() != 0 || llvm::any_of(op.getOperands(), depends))
      found.insert(op.result_begin(), op.result_end());
  }
  return found;
}

/// `compare`, a comparison of `position` with a bound, where `holds`, else
/// false: by a bound that no position keeps. Null if it is none.
static Value boundWhere(OpBuilder &builder, Value holds, Value compare,
                        Value position) {
  using Predicate = arith::CmpIPredicate;
  auto op = compare.getDefiningOp<arith::CmpIOp>();
  if (!op || (op.getLhs() == position) == (op.getRhs() == position))
    return Value();
  bool isLeft = op.getLhs() == position;
  Predicate predicate = op.getPredicate();
  bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  if (!isLess && predicate != Predicate::sgt && predicate != Predicate::sge)
    return Value();
  Location loc = op.getLoc();
  Value bound = isLeft ? op.getRhs() : op.getLhs();
  using Limits = std::numeric_limits<int32_t>;
  Value none = arith::ConstantIntOp::create(builder, loc, bound.getType(),
                                            isLess == isLeft ? Limits::min()
                                                             : Limits::max());
  bound = arith::SelectOp::create(builder, loc, holds, bound, none);
  return arith::CmpIOp::create(builder, loc, predicate,
                               isLeft ? position : bound,
                               isLeft ? bound : position);
}

Value attn::boundByRow(OpBuilder &builder, Value visible, Value col,
                       Value inTile) {
  DenseSet<Value> dependent = findDependent(inTile);
  SmallVector<Value> ofRow, others;
  for (Value condition : getConjuncts(visible))
    (dependent.contains(condition) ? others : ofRow).push_back(condition);
  if (ofRow.empty())
    return visible;
  auto join = [&](ArrayRef<Value> conditions) {
    Value joined = conditions.front();
    for (Value next : conditions.drop_front())
      joined = arith::AndIOp::create(builder, visible.getLoc(), joined, next);
    return joined;
  };
  Value holds = join(ofRow);
  for (Value &condition : others)
    if (Value bounded = boundWhere(builder, holds, condition, col)) {
      condition = bounded;
      return join(others);
    }
  return visible;
}
