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
/// Appends to one pool.
class PoolAppender {
public:
  PoolAppender(OpBuilder &builder, AppendOp op, unsigned number)
      : builder(builder), op(op), loc(op.getLoc()), rows(op.getRows()[number]),
        pool(op.getPools()[number]), descale(op.getDescale(number)),
        slotRank(cast<ShapedType>(op.getSlots().getType()).getRank()) {}

  Value emit() { return emitLoops(builder, pool, {}); }

private:
  Value emitLoops(OpBuilder &b, Value into, SmallVector<Value> token);
  Value emitToken(OpBuilder &b, Value into, ValueRange token);
  Value emitRow(OpBuilder &b, ValueRange token);
  Value emitQuantized(OpBuilder &b, Value row, ValueRange token, Type element);
  Value getSize(OpBuilder &b, Value tensor, unsigned dim) {
    return getValueOrCreateConstantIndexOp(b, loc, getDim(b, loc, tensor, dim));
  }

  OpBuilder &builder;
  AppendOp op;
  Location loc;
  Value rows, pool, descale;
  size_t slotRank;
};
} // namespace

/// The new row of all heads, [Hkv, D], of `token`.
Value PoolAppender::emitRow(OpBuilder &b, ValueRange token) {
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
  Value slice =
      tensor::ExtractSliceOp::create(b, loc, row, rows, offsets, sizes, ones);
  Type element = getElementTypeOrSelf(pool.getType());
  return descale ? emitQuantized(b, slice, token, element)
                 : emitRounded(b, loc, slice, element);
}

/// `row`, [Hkv, D], divided by the descale, in 8 bits.
Value PoolAppender::emitQuantized(OpBuilder &b, Value row, ValueRange token,
                                  Type element) {
  bool isOfHeads = cast<ShapedType>(descale.getType()).getRank() == 2;
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, row), element);
  ImplicitLocOpBuilder builder(loc, b);
  return buildGeneric(builder, row, {{0, 1}}, init, {0, 1}, [&](ValueRange in) {
    SmallVector<Value> at;
    if (isOfHeads)
      at = {token.front(), linalg::IndexOp::create(builder, 0)};
    else
      at = {arith::ConstantIndexOp::create(builder, 0)};
    Value divisor = tensor::ExtractOp::create(builder, descale, at);
    return quantize(builder, loc, in.front(), divisor, element);
  });
}

/// `into` with the row of `token`, if it has a slot in the pool. Negative
/// slots are large, as numbers without a sign.
Value PoolAppender::emitToken(OpBuilder &b, Value into, ValueRange token) {
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
    Value row = emitRow(then, token);
    OpFoldResult zero = then.getIndexAttr(0), one = then.getIndexAttr(1);
    Value next = tensor::InsertSliceOp::create(
        then, loc, row, into,
        ArrayRef<OpFoldResult>{number, zero, inPage, zero},
        ArrayRef<OpFoldResult>{one, getDim(then, loc, row, 0), one,
                               getDim(then, loc, row, 1)},
        ArrayRef<OpFoldResult>{one, one, one, one});
    scf::YieldOp::create(then, loc, next);
  };
  auto skip = [&](OpBuilder &otherwise, Location) {
    scf::YieldOp::create(otherwise, loc, into);
  };
  return scf::IfOp::create(b, loc, exists, append, skip).getResult(0);
}

/// A loop for each dimension of the slots that `token` has no index of.
Value PoolAppender::emitLoops(OpBuilder &b, Value into,
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
        scf::YieldOp::create(inner, loc, emitLoops(inner, state.front(), at));
      });
  return loop.getResult(0);
}

SmallVector<Value> attn::emitAppend(OpBuilder &builder, AppendOp op) {
  SmallVector<Value> pools;
  for (unsigned number = 0; number < op.getPools().size(); ++number)
    pools.push_back(PoolAppender(builder, op, number).emit());
  return pools;
}
