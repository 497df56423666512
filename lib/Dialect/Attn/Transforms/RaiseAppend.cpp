//===- RaiseAppend.cpp - A cache that a graph updates -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-raise-append: a decode step of a static cache inserts a
// slice (JAX's dynamic_update_slice), and hides the keys behind it by a mask.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace attn {
#define GEN_PASS_DEF_RAISEAPPENDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// A vector or matrix of i64, element by element.
static Value
generate(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes,
         llvm::function_ref<Value(OpBuilder &, ArrayRef<Value>)> element) {
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getI64Type());
  auto identity = builder.getMultiDimIdentityMap(sizes.size());
  SmallVector<utils::IteratorType> loops(sizes.size(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location l, ValueRange) {
    SmallVector<Value> at;
    for (unsigned loop = 0; loop < sizes.size(); ++loop)
      at.push_back(linalg::IndexOp::create(b, l, loop));
    Value number =
        arith::IndexCastOp::create(b, l, b.getI64Type(), element(b, at));
    linalg::YieldOp::create(b, l, number);
  };
  return linalg::GenericOp::create(builder, loc, TypeRange(init.getType()),
                                   ValueRange(), ValueRange(init),
                                   ArrayRef<AffineMap>{identity}, loops, body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The update that `cache` is: rows of all batches and heads, into an argument
/// that nothing else reads. A slice into a tensor that was made for it pads or
/// concatenates.
static tensor::InsertSliceOp findUpdate(Value cache) {
  auto update = cache.getDefiningOp<tensor::InsertSliceOp>();
  if (!update || !update.hasUnitStride() ||
      !isa<BlockArgument>(update.getDest()) ||
      update.getSourceType().getRank() != 4)
    return nullptr;
  for (unsigned dim : {kBatch, kHead, kHeadDim}) {
    int64_t size = update.getType().getDimSize(dim);
    if (ShapedType::isDynamic(size) ||
        update.getSourceType().getDimSize(dim) != size)
      return nullptr;
  }
  for (Operation *user : update.getDest().getUsers())
    if (user != update && !isa<tensor::DimOp>(user))
      return nullptr;
  return update;
}

/// Of each batch and new row: a cache is a pool with a page for each batch.
static Value emitSlots(OpBuilder &builder, tensor::InsertSliceOp update) {
  Location loc = update.getLoc();
  SmallVector<OpFoldResult> sizes = update.getMixedSizes();
  Value start = getValueOrCreateConstantIndexOp(
      builder, loc, update.getMixedOffsets()[kSequence]);
  Value page = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, update.getDest(), kSequence));
  return generate(builder, loc, {sizes[kBatch], sizes[kSequence]},
                  [&](OpBuilder &b, ArrayRef<Value> at) -> Value {
                    Value first = arith::MulIOp::create(b, loc, at[0], page);
                    Value row = arith::AddIOp::create(b, loc, start, at[1]);
                    return arith::AddIOp::create(b, loc, first, row);
                  });
}

/// Replaces updates of caches alike at one place by one attn.append.
static AppendOp raiseUpdates(ArrayRef<tensor::InsertSliceOp> updates) {
  tensor::InsertSliceOp last = updates.back();
  OpBuilder builder(last);
  SmallVector<Value> rows, pools;
  SmallVector<Type> types;
  for (tensor::InsertSliceOp update : updates) {
    rows.push_back(update.getSource());
    pools.push_back(update.getDest());
    types.push_back(update.getType());
  }
  auto append =
      AppendOp::create(builder, last.getLoc(), types, rows, pools,
                       /*scales=*/ValueRange(), emitSlots(builder, last),
                       /*descales=*/ValueRange());
  for (auto [number, result] : llvm::enumerate(append.getResults())) {
    tensor::InsertSliceOp update = updates[number];
    update.getResult().replaceAllUsesWith(result);
    update->erase();
  }
  return append;
}

/// True if both updates can be made where `second` is.
static bool areTogether(tensor::InsertSliceOp first,
                        tensor::InsertSliceOp second) {
  auto shape = [](tensor::InsertSliceOp update) {
    return update.getType().getShape().drop_back();
  };
  return first != second && first->getBlock() == second->getBlock() &&
         first->isBeforeInBlock(second) && shape(first) == shape(second) &&
         first.getMixedOffsets()[kSequence] ==
             second.getMixedOffsets()[kSequence] &&
         first.getMixedSizes()[kSequence] ==
             second.getMixedSizes()[kSequence] &&
         llvm::all_of(first->getUsers(), [&](Operation *user) {
           Operation *ancestor =
               first->getBlock()->findAncestorOpInBlock(*user);
           return ancestor && second->isBeforeInBlock(ancestor);
         });
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// Of more rows the mask alone skips the same tiles, and not all families have
/// kernels with lengths.
static constexpr int64_t kMostRows = 16;

namespace {
/// j <= limit or j < limit, where the limit is computed of the batch, or is a
/// sum of such and the row.
struct Bound {
  arith::CmpIOp compare;
  bool isOfRow = false;
  llvm::SetVector<Operation *> ops; ///< that compute the limit, operands first
};
} // namespace

/// Adds the ops of a region that compute `value` of its batch, and with
/// `ofRow` of its row, to `ops`, operands first; fails where another coordinate
/// is needed, or what could not be computed elsewhere.
static LogicalResult addOps(Value value, Region &region, bool ofRow,
                            llvm::SetVector<Operation *> &ops) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return success(argument.getOwner()->getParent() != &region ||
                   argument == region.getArgument(kLoopB) ||
                   (ofRow && argument == region.getArgument(kLoopM)));
  Operation *op = value.getDefiningOp();
  if (op->getParentRegion() != &region)
    return success();
  bool isMovable = isa<tensor::ExtractOp>(op) || isSpeculatable(op);
  if (!isMovable || op->getNumRegions() != 0)
    return failure();
  for (Value operand : op->getOperands())
    if (failed(addOps(operand, region, ofRow, ops)))
      return failure();
  ops.insert(op);
  return success();
}

/// True if `value` is the row, once, and what does not depend on it.
static bool isSumWithRow(Value value, Region &mask) {
  if (value == mask.getArgument(kLoopM))
    return true;
  auto sum = value.getDefiningOp<arith::AddIOp>();
  auto isOther = [&](Value term) {
    llvm::SetVector<Operation *> ops;
    return succeeded(addOps(term, mask, /*ofRow=*/false, ops));
  };
  return sum && ((isSumWithRow(sum.getLhs(), mask) && isOther(sum.getRhs())) ||
                 (isOther(sum.getLhs()) && isSumWithRow(sum.getRhs(), mask)));
}

/// A bound among the conditions that a mask is all of.
static std::optional<Bound> findBound(Value condition, Region &mask) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    std::optional<Bound> found = findBound(both.getLhs(), mask);
    return found ? found : findBound(both.getRhs(), mask);
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  using Predicate = arith::CmpIPredicate;
  bool isBound = compare && compare.getLhs() == mask.getArgument(kLoopN) &&
                 llvm::is_contained({Predicate::sle, Predicate::slt},
                                    compare.getPredicate());
  if (!isBound)
    return std::nullopt;
  Bound bound{compare, isSumWithRow(compare.getRhs(), mask), {}};
  if (failed(addOps(compare.getRhs(), mask, bound.isOfRow, bound.ops)))
    return std::nullopt;
  return bound;
}

/// The keys that a batch has by a bound, of those that there is room for.
static Value emitLength(OpBuilder &b, Location loc, const Bound &bound,
                        Value batch, Value rows, Value capacity) {
  arith::CmpIOp compare = bound.compare;
  Region &mask = *compare->getParentRegion();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto getLimit = [&](Value row) {
    IRMapping map;
    map.map(mask.getArgument(kLoopB), batch);
    map.map(mask.getArgument(kLoopM), row);
    for (Operation *inner : bound.ops)
      b.clone(*inner, map);
    return map.lookupOrDefault(compare.getRhs());
  };
  auto isLess = [&](Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lhs, rhs);
  };
  // That of the last row, unless it wraps around.
  Value limit = getLimit(arith::SubIOp::create(b, loc, rows, one));
  if (bound.isOfRow)
    limit = arith::SelectOp::create(b, loc, isLess(limit, getLimit(zero)),
                                    capacity, limit);
  Value length = arith::MinSIOp::create(
      b, loc, arith::MaxSIOp::create(b, loc, limit, zero), capacity);
  if (compare.getPredicate() == arith::CmpIPredicate::slt)
    return length;
  // Of a limit below 0 no key, and of the largest number not none.
  Value last = arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, length, one), capacity);
  return arith::SelectOp::create(b, loc, isLess(limit, zero), zero, last);
}

/// Makes the bound of a mask the lengths of the keys. One of a row stays as
/// what else is masked.
static void raiseLengths(AttentionOp op) {
  Region &mask = op.getMaskMod();
  if (mask.empty() || op.hasLengths() || !mask.getOps<LengthOp>().empty() ||
      !op.getScoreMod().getOps<LengthOp>().empty())
    return;
  Operation *end = mask.front().getTerminator();
  std::optional<Bound> bound = findBound(end->getOperand(0), mask);
  int64_t rows = AttentionDims::get(op).queryRows;
  bool isOfFewRows = !ShapedType::isDynamic(rows) && rows <= kMostRows;
  if (!bound || (bound->isOfRow && !isOfFewRows))
    return;
  OpBuilder builder(op);
  arith::CmpIOp compare = bound->compare;
  Location loc = compare.getLoc();
  auto getSize = [&](Value tensor) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, getDim(builder, loc, tensor, kSequence));
  };
  Value capacity = getSize(op.getKey()), numRows = getSize(op.getQuery());
  Value lengths =
      generate(builder, loc, {getDim(builder, loc, op.getQuery(), kBatch)},
               [&](OpBuilder &b, ArrayRef<Value> at) {
                 return emitLength(b, loc, *bound, at[0], numRows, capacity);
               });
  op.getKeyLengthsMutable().assign(lengths);
  if (bound->isOfRow)
    return;
  if (end->getOperand(0) == compare.getResult()) {
    mask.dropAllReferences();
    mask.getBlocks().clear();
    return;
  }
  builder.setInsertionPoint(compare);
  Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
  compare.getResult().replaceAllUsesWith(always);
}

/// The first rows of a cache, of all batches and heads, as keys or values; null
/// if `rows` are none.
static tensor::ExtractSliceOp findFirstRows(Value rows) {
  auto slice = rows.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSourceType().getRank() != 4 ||
      slice.getDroppedDims().any() || !slice.hasUnitStride() ||
      !slice.hasZeroOffset() ||
      !slice.getSource().getDefiningOp<tensor::InsertSliceOp>())
    return nullptr;
  for (unsigned dim : {kBatch, kHead, kHeadDim})
    if (ShapedType::isDynamic(slice.getSourceType().getDimSize(dim)) ||
        slice.getSourceType().getDimSize(dim) !=
            slice.getType().getDimSize(dim))
      return nullptr;
  return slice;
}

/// Makes keys and values that are as many rows of updated caches the caches,
/// and their number the lengths.
static void raiseFirstRows(AttentionOp op) {
  tensor::ExtractSliceOp key = findFirstRows(op.getKey());
  tensor::ExtractSliceOp value = findFirstRows(op.getValue());
  if (!key || !value || op.hasLengths() || op.getBias() ||
      op.getDropoutSeed() ||
      !isEqualConstantIntOrValue(key.getMixedSizes()[kSequence],
                                 value.getMixedSizes()[kSequence]))
    return;
  OpBuilder builder(op);
  Value number = getValueOrCreateConstantIndexOp(
      builder, op.getLoc(), key.getMixedSizes()[kSequence]);
  Value lengths =
      generate(builder, op.getLoc(),
               {getDim(builder, op.getLoc(), op.getQuery(), kBatch)},
               [&](OpBuilder &, ArrayRef<Value>) -> Value { return number; });
  op.getKeyMutable().assign(key.getSource());
  op.getValueMutable().assign(value.getSource());
  op.getKeyLengthsMutable().assign(lengths);
  if (value != key && value->use_empty())
    value->erase();
  if (key->use_empty())
    key->erase();
}

namespace {
struct RaiseAppend : public attn::impl::RaiseAppendPassBase<RaiseAppend> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<AttentionOp> attentions;
    getOperation().walk([&](AttentionOp op) { attentions.push_back(op); });
    for (AttentionOp op : attentions)
      raise(op);
  }

private:
  void raise(AttentionOp op) {
    raiseFirstRows(op);
    SmallVector<tensor::InsertSliceOp> updates;
    for (Value cache : {op.getKey(), op.getValue()})
      if (tensor::InsertSliceOp update = findUpdate(cache);
          update && !llvm::is_contained(updates, update))
        updates.push_back(update);
    if (updates.size() == 2 && areTogether(updates[1], updates[0]))
      std::swap(updates[0], updates[1]);
    if (updates.size() == 2 && areTogether(updates[0], updates[1])) {
      raiseUpdates(updates);
      ++numAppends;
    } else {
      for (tensor::InsertSliceOp update : updates)
        raiseUpdates(update);
      numAppends += updates.size();
    }
    if (op.getKey().getDefiningOp<AppendOp>())
      raiseLengths(op);
  }
};
} // namespace
