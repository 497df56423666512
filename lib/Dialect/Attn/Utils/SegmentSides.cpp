//===- SegmentSides.cpp - Packed sequences, asked from one side -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/SegmentSides.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

using namespace mlir;
using namespace attn;

namespace {
/// Something that a mask says: smaller < larger, or smaller <= larger.
struct Order {
  Value smaller, larger;
  bool isStrict;
};
} // namespace

static std::optional<Order> readOrder(Value value) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  Value left = compare.getLhs(), right = compare.getRhs();
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return Order{left, right, true};
  case arith::CmpIPredicate::sle:
    return Order{left, right, false};
  case arith::CmpIPredicate::sgt:
    return Order{right, left, true};
  case arith::CmpIPredicate::sge:
    return Order{right, left, false};
  default:
    return std::nullopt;
  }
}

namespace {
/// A mask, and what it says.
class Sides {
public:
  Sides(OpBuilder &outside, Region &maskMod, unsigned position)
      : outside(outside), yield(maskMod.front().getTerminator()),
        row(maskMod.getArgument(kLoopM)), key(maskMod.getArgument(kLoopN)),
        stays(position == kLoopM ? row : key),
        streams(position == kLoopM ? key : row) {
    for (Value condition : getConjuncts(yield->getOperand(0)))
      if (std::optional<Order> order = readOrder(condition))
        orders.push_back(*order);
  }

  void rewriteComparison(arith::CmpIOp compare);
  void rewriteSearch(SegmentOp segment);

private:
  bool says(llvm::function_ref<bool(const Order &)> holds) const {
    return llvm::any_of(orders, holds);
  }
  bool isCausal() const {
    return says([&](const Order &order) {
      return order.smaller == key && order.larger == row;
    });
  }
  bool isInSegment(SegmentOp segment) const;
  Value createEnd(ImplicitLocOpBuilder &b, SegmentOp segment);
  Value createIsInSegment(ImplicitLocOpBuilder &b, SegmentOp segment);

  OpBuilder &outside;
  Operation *yield;
  Value row, key, stays, streams;
  SmallVector<Order> orders;
};
} // namespace

/// True if `value` is T[s + distance].
static bool isEntry(Value value, SegmentOp segment, int64_t distance) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto read = value.getDefiningOp<tensor::ExtractOp>();
  if (!read || read.getTensor() != segment.getOffsets())
    return false;
  Value at = read.getIndices().front();
  if (distance == 0)
    return at == segment.getResult();
  auto sum = at.getDefiningOp<arith::AddIOp>();
  return sum && sum.getLhs() == segment.getResult() &&
         getConstantIntValue(sum.getRhs()) == distance;
}

/// Whether the mask says that the key lies in the row's segment.
bool Sides::isInSegment(SegmentOp segment) const {
  bool isBehind = says([&](const Order &order) {
    return isEntry(order.smaller, segment, 0) && order.larger == key &&
           !order.isStrict;
  });
  bool isBefore = says([&](const Order &order) {
    return order.smaller == key && order.isStrict &&
           isEntry(order.larger, segment, 1);
  });
  return segment.getPosition() == row && isBehind && (isBefore || isCausal());
}

static Value readEntry(ImplicitLocOpBuilder &b, SegmentOp segment, Value at) {
  Value entry = tensor::ExtractOp::create(b, segment.getOffsets(), at);
  return arith::IndexCastOp::create(b, b.getIndexType(), entry);
}

/// T[s + 1], but of the last segment the largest number that T may have.
Value Sides::createEnd(ImplicitLocOpBuilder &b, SegmentOp segment) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  Value entries = outside.createOrFold<tensor::DimOp>(
      segment.getLoc(), segment.getOffsets(), int64_t(0));
  Value next = arith::AddIOp::create(b, segment, constant(1));
  Value afterNext = arith::AddIOp::create(b, segment, constant(2));
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, afterNext, entries);
  Value none = constant(std::numeric_limits<int32_t>::max());
  return arith::SelectOp::create(b, isLast, none, readEntry(b, segment, next));
}

/// What the mask does not say yet of what streams lying in `segment`, which is
/// looked up at what stays; null if it says it all. One bound follows from j <=
/// i.
Value Sides::createIsInSegment(ImplicitLocOpBuilder &b, SegmentOp segment) {
  Value isBehind, isBefore;
  if (stays == row || !isCausal())
    isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, streams,
                                     readEntry(b, segment, segment));
  bool endsBefore = says([&](const Order &order) {
    return order.smaller == streams && order.isStrict &&
           isEntry(order.larger, segment, 1);
  });
  if (!endsBefore && (stays == key || !isCausal()))
    isBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, streams,
                                     createEnd(b, segment));
  if (isBehind && isBefore)
    return arith::AndIOp::create(b, isBehind, isBefore);
  return isBehind ? isBehind : isBefore;
}

/// segment(T, i) == segment(T, j).
void Sides::rewriteComparison(arith::CmpIOp compare) {
  auto left = compare.getLhs().getDefiningOp<SegmentOp>();
  auto right = compare.getRhs().getDefiningOp<SegmentOp>();
  if (compare.getPredicate() != arith::CmpIPredicate::eq || !left || !right ||
      left.getOffsets() != right.getOffsets())
    return;
  if (left.getPosition() != stays)
    std::swap(left, right);
  if (left.getPosition() != stays || right.getPosition() != streams)
    return;
  ImplicitLocOpBuilder b(compare.getLoc(), compare);
  Value isIn = createIsInSegment(b, left);
  compare.replaceAllUsesWith(
      isIn ? isIn : arith::ConstantIntOp::create(b, 1, 1).getResult());
  compare.erase();
  if (right->use_empty())
    right.erase();
}

/// A search for the row where keys stay.
void Sides::rewriteSearch(SegmentOp segment) {
  if (stays != key || !isInSegment(segment))
    return;
  segment.getPositionMutable().assign(key);
  ImplicitLocOpBuilder b(segment.getLoc(), yield);
  if (Value isIn = createIsInSegment(b, segment))
    yield->setOperand(0, arith::AndIOp::create(b, yield->getOperand(0), isIn));
  // T[t] <= j always holds.
  for (Operation *user : llvm::make_early_inc_range(key.getUsers())) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    std::optional<Order> order =
        compare ? readOrder(compare) : std::optional<Order>();
    if (!order || order->isStrict || order->larger != key ||
        !isEntry(order->smaller, segment, 0))
      continue;
    for (Operation *use : llvm::make_early_inc_range(compare->getUsers()))
      if (auto both = dyn_cast<arith::AndIOp>(use))
        both.replaceAllUsesWith(both.getLhs() == compare ? both.getRhs()
                                                         : both.getLhs());
  }
}

void attn::askSegmentsFrom(OpBuilder &builder, Region &maskMod,
                           unsigned position) {
  if (maskMod.empty())
    return;
  Block &block = maskMod.front();
  for (auto compare : llvm::make_early_inc_range(block.getOps<arith::CmpIOp>()))
    Sides(builder, maskMod, position).rewriteComparison(compare);
  for (SegmentOp segment : block.getOps<SegmentOp>())
    Sides(builder, maskMod, position).rewriteSearch(segment);
}
