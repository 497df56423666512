//===- Append.cpp - New rows of a cache, in linalg ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Append.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/GenericBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// `rows` in the element type of a pool, rounded once.
static Value emitRounded(OpBuilder &b, Location loc, Value rows, Type element) {
  auto type = cast<RankedTensorType>(rows.getType());
  unsigned from = type.getElementTypeBitWidth();
  unsigned to = element.getIntOrFloatBitWidth();
  if (type.getElementType() == element)
    return rows;
  // Of f16 and bf16 neither holds the other.
  if (from == to)
    rows = arith::ExtFOp::create(b, loc, type.clone(b.getF32Type()), rows);
  if (from < to)
    return arith::ExtFOp::create(b, loc, type.clone(element), rows);
  return arith::TruncFOp::create(b, loc, type.clone(element), rows);
}

namespace {
/// Appends to one pool, and its scales if it has such.
class PoolAppender {
public:
  PoolAppender(OpBuilder &builder, AppendOp op, unsigned number)
      : builder(builder), op(op), loc(op.getLoc()), rows(op.getRows()[number]),
        pool(op.getPools()[number]), descale(op.getDescale(number)),
        scales(op.getScale(number)),
        slotRank(cast<ShapedType>(op.getSlots().getType()).getRank()) {}

  /// The pool, and the scales.
  SmallVector<Value> emit() {
    SmallVector<Value> into = {pool};
    if (scales)
      into.push_back(scales);
    return emitLoops(builder, into, {});
  }

private:
  SmallVector<Value> emitLoops(OpBuilder &b, ValueRange into,
                               SmallVector<Value> token);
  SmallVector<Value> emitToken(OpBuilder &b, ValueRange into, ValueRange token);
  Value sliceRow(OpBuilder &b, ValueRange token);
  Value emitScales(OpBuilder &b, Value row);
  Value emitQuantized(OpBuilder &b, Value row, Value divisors,
                      ArrayRef<Value> fixed, bool isOfHeads);
  Value emitDescaled(OpBuilder &b, Value row, ValueRange token);
  Value getSize(OpBuilder &b, Value tensor, unsigned dim) {
    return getValueOrCreateConstantIndexOp(b, loc, getDim(b, loc, tensor, dim));
  }

  OpBuilder &builder;
  AppendOp op;
  Location loc;
  Value rows, pool, descale, scales;
  size_t slotRank;
};
} // namespace

/// The new row of all heads, [Hkv, D], of `token`.
Value PoolAppender::sliceRow(OpBuilder &b, ValueRange token) {
  auto type = cast<RankedTensorType>(rows.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(getDim(b, loc, rows, dim));
  for (auto [dim, index] : llvm::enumerate(token)) {
    offsets[AppendOp::getRowDim(dim)] = index;
    sizes[AppendOp::getRowDim(dim)] = b.getIndexAttr(1);
  }
  auto row = RankedTensorType::get(
      {type.getDimSize(AppendOp::kRowHead), type.getShape().back()},
      type.getElementType());
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, row, rows, offsets, sizes,
                                        ones);
}

/// What each head of `row`, [Hkv, D], is divided by, [Hkv].
Value PoolAppender::emitScales(OpBuilder &b, Value row) {
  ImplicitLocOpBuilder builder(loc, b);
  Type f32 = b.getF32Type(), to = getElementTypeOrSelf(pool.getType());
  SmallVector<OpFoldResult> heads = {getDim(b, loc, row, 0)};
  Value zero = arith::ConstantOp::create(builder, b.getF32FloatAttr(0));
  Value init = linalg::FillOp::create(
                   builder, zero,
                   tensor::EmptyOp::create(builder, heads, f32).getResult())
                   .getResult(0);
  Value largest = buildGeneric(
      builder, row, {{0, 1}}, init, {0}, [&](ValueRange in) -> Value {
        Value element = in[0];
        if (element.getType() != f32)
          element = arith::ExtFOp::create(builder, f32, element);
        return arith::MaximumFOp::create(
            builder, in[1], math::AbsFOp::create(builder, element));
      });
  Value empty = tensor::EmptyOp::create(builder, heads, f32);
  return buildGeneric(builder, largest, {{0}}, empty, {0}, [&](ValueRange in) {
    return buildTokenScale(builder, loc, in.front(), to);
  });
}

/// `row`, [Hkv, D], divided by `divisors` at `fixed` and, with `isOfHeads`, the
/// head, in 8 bits.
Value PoolAppender::emitQuantized(OpBuilder &b, Value row, Value divisors,
                                  ArrayRef<Value> fixed, bool isOfHeads) {
  Type element = getElementTypeOrSelf(pool.getType());
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, row), element);
  ImplicitLocOpBuilder builder(loc, b);
  return buildGeneric(builder, row, {{0, 1}}, init, {0, 1}, [&](ValueRange in) {
    SmallVector<Value> at(fixed);
    if (isOfHeads)
      at.push_back(linalg::IndexOp::create(builder, 0));
    Value divisor = tensor::ExtractOp::create(builder, divisors, at);
    return quantize(builder, loc, in.front(), divisor, element);
  });
}

/// `row` divided by its descale, if it has one.
Value PoolAppender::emitDescaled(OpBuilder &b, Value row, ValueRange token) {
  if (!descale)
    return emitRounded(b, loc, row, getElementTypeOrSelf(pool.getType()));
  bool isOfHeads = cast<ShapedType>(descale.getType()).getRank() == 2;
  Value first = isOfHeads
                    ? token.front()
                    : arith::ConstantIndexOp::create(b, loc, 0).getResult();
  return emitQuantized(b, row, descale, first, isOfHeads);
}

/// `into` with the row of `token`, if it has a slot in the pool. Negative
/// slots are large, as numbers without a sign.
SmallVector<Value> PoolAppender::emitToken(OpBuilder &b, ValueRange into,
                                           ValueRange token) {
  Value slot = tensor::ExtractOp::create(b, loc, op.getSlots(), token);
  slot = arith::IndexCastOp::create(b, loc, b.getIndexType(), slot);
  Value page = getSize(b, pool, kSequence);
  Value capacity =
      arith::MulIOp::create(b, loc, getSize(b, pool, kBatch), page);
  Value exists =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, slot, capacity);
  auto append = [&](OpBuilder &then, Location) {
    Value number = arith::DivUIOp::create(then, loc, slot, page);
    Value inPage = arith::RemUIOp::create(then, loc, slot, page);
    OpFoldResult zero = then.getIndexAttr(0), one = then.getIndexAttr(1);
    // The place of a row of all heads, and of the numbers that it has.
    auto insert = [&](Value part, Value whole) -> Value {
      OpFoldResult offsets[] = {number, zero, inPage, zero};
      OpFoldResult sizes[] = {one, getDim(then, loc, part, 0), one, one};
      SmallVector<OpFoldResult> ones(4, one);
      size_t rank = cast<ShapedType>(whole.getType()).getRank();
      if (rank == 4)
        sizes[kHeadDim] = getDim(then, loc, part, 1);
      return tensor::InsertSliceOp::create(
          then, loc, part, whole, ArrayRef(offsets).take_front(rank),
          ArrayRef(sizes).take_front(rank), ArrayRef(ones).take_front(rank));
    };
    Value row = sliceRow(then, token);
    SmallVector<Value> next;
    if (scales) {
      Value own = emitScales(then, row);
      row = emitQuantized(then, row, own, {}, /*isOfHeads=*/true);
      next = {insert(row, into[0]), insert(own, into[1])};
    } else {
      next = {insert(emitDescaled(then, row, token), into[0])};
    }
    scf::YieldOp::create(then, loc, next);
  };
  auto skip = [&](OpBuilder &otherwise, Location) {
    scf::YieldOp::create(otherwise, loc, into);
  };
  return llvm::to_vector_of<Value>(
      scf::IfOp::create(b, loc, exists, append, skip).getResults());
}

/// A loop for each dimension of the slots that `token` has no index of.
SmallVector<Value> PoolAppender::emitLoops(OpBuilder &b, ValueRange into,
                                           SmallVector<Value> token) {
  if (token.size() == slotRank)
    return emitToken(b, into, token);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(
      b, loc, zero, getSize(b, op.getSlots(), token.size()), one, into,
      [&](OpBuilder &inner, Location, Value index, ValueRange state) {
        SmallVector<Value> at(token);
        at.push_back(index);
        scf::YieldOp::create(inner, loc, emitLoops(inner, state, at));
      });
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> attn::emitAppend(OpBuilder &builder, AppendOp op) {
  SmallVector<Value> pools, scales;
  for (unsigned number = 0; number < op.getPools().size(); ++number) {
    SmallVector<Value> appended = PoolAppender(builder, op, number).emit();
    pools.push_back(appended.front());
    scales.append(appended.begin() + 1, appended.end());
  }
  llvm::append_range(pools, scales);
  return pools;
}
