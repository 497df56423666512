//===- Ragged.cpp - Sequences behind each other, in linalg ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ragged.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/LengthBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

static Value getSize(OpBuilder &b, Location loc, Value tensor, unsigned dim) {
  return getValueOrCreateConstantIndexOp(b, loc, getDim(b, loc, tensor, dim));
}

Value attn::emitElements(
    OpBuilder &builder, Location loc, RankedTensorType type,
    ArrayRef<OpFoldResult> sizes,
    function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  unsigned rank = type.getRank();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto emit = [&](OpBuilder &b, Location l, ValueRange) {
    SmallVector<Value> at;
    for (unsigned loop = 0; loop < rank; ++loop)
      at.push_back(linalg::IndexOp::create(b, l, loop));
    body(b, l, at);
  };
  Value result = linalg::GenericOp::create(
                     builder, loc, TypeRange(init.getType()), ValueRange(),
                     ValueRange(init),
                     ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(rank)},
                     loops, emit)
                     .getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(builder, loc, type, result);
  return result;
}

Value attn::emitRagged(OpBuilder &builder, RaggedOp op) {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(builder, shapes);
  Value rows = getSize(builder, op.getLoc(), op.getPacked(), 0);
  return emitElements(
      builder, op.getLoc(), cast<RankedTensorType>(op.getResult().getType()),
      shapes.front(), [&](OpBuilder &b, Location l, ValueRange at) {
        Value begin = readOffset(b, l, op.getOffsets(), at[kBatch], 0);
        Value row = arith::AddIOp::create(b, l, begin, at[kSequence]);
        Value one = arith::ConstantIndexOp::create(b, l, 1);
        Value last = arith::SubIOp::create(b, l, rows, one);
        row = arith::MinUIOp::create(b, l, row, last);
        Value element = tensor::ExtractOp::create(
            b, l, op.getPacked(), ValueRange{row, at[kHead], at[kHeadDim]});
        linalg::YieldOp::create(b, l, element);
      });
}

Value attn::emitSequenceLengths(OpBuilder &builder, SequenceLengthsOp op) {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(builder, shapes);
  auto type = cast<RankedTensorType>(op.getLengths().getType());
  return emitElements(
      builder, op.getLoc(), type, shapes.front(),
      [&](OpBuilder &b, Location l, ValueRange at) {
        Value one = arith::ConstantIndexOp::create(b, l, 1);
        Value next = arith::AddIOp::create(b, l, at[0], one);
        Value end = tensor::ExtractOp::create(b, l, op.getOffsets(), next);
        Value begin = tensor::ExtractOp::create(b, l, op.getOffsets(), at[0]);
        linalg::YieldOp::create(
            b, l, arith::SubIOp::create(b, l, end, begin).getResult());
      });
}

/// `into` with row `row` of all heads of `batch`, at row `to`.
static Value emitRow(OpBuilder &b, PackOp op, Value into, Value batch,
                     Value row, Value to) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> at = {batch, zero, row};
  SmallVector<OpFoldResult> sizes = {one, getDim(b, loc, op.getSource(), kHead),
                                     one};
  SmallVector<int64_t> shape = {type.getDimSize(kHead)};
  SmallVector<OpFoldResult> place = {zero, zero}, extents = {sizes[kHead], one};
  place[op.getRowDim()] = to;
  if (op.getRowDim() == 0)
    std::swap(extents[0], extents[1]);
  if (type.getRank() == 4) {
    OpFoldResult columns = getDim(b, loc, op.getSource(), kHeadDim);
    shape.push_back(type.getDimSize(kHeadDim));
    for (SmallVectorImpl<OpFoldResult> *offsets : {&at, &place})
      offsets->push_back(zero);
    for (SmallVectorImpl<OpFoldResult> *all : {&sizes, &extents})
      all->push_back(columns);
  }
  Value values = tensor::ExtractSliceOp::create(
      b, loc, type.clone(shape), op.getSource(), at, sizes,
      SmallVector<OpFoldResult>(at.size(), one));
  return tensor::InsertSliceOp::create(
      b, loc, values, into, place, extents,
      SmallVector<OpFoldResult>(place.size(), one));
}

Value attn::emitPack(OpBuilder &builder, PackOp op) {
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value batches = getSize(builder, loc, op.getSource(), kBatch);
  Value room = getSize(builder, loc, op.getSource(), kSequence);
  Value rows = getSize(builder, loc, op.getInit(), op.getRowDim());
  auto emitSequence = [&](OpBuilder &b, Location, Value batch,
                          ValueRange state) {
    // Nothing is written in front of the destination or behind it.
    auto readClamped = [&](int64_t next) -> Value {
      Value offset = readOffset(b, loc, op.getOffsets(), batch, next);
      offset = arith::MaxSIOp::create(b, loc, offset, zero);
      return arith::MinSIOp::create(b, loc, offset, rows);
    };
    Value begin = readClamped(0), end = readClamped(1);
    Value length = arith::SubIOp::create(b, loc, end, begin);
    length = arith::MinSIOp::create(b, loc, length, room);
    auto loop = scf::ForOp::create(
        b, loc, zero, length, one, state,
        [&](OpBuilder &inner, Location, Value row, ValueRange into) {
          Value to = arith::AddIOp::create(inner, loc, begin, row);
          scf::YieldOp::create(
              inner, loc, emitRow(inner, op, into.front(), batch, row, to));
        });
    scf::YieldOp::create(b, loc, loop.getResults());
  };
  return scf::ForOp::create(builder, loc, zero, batches, one, op.getInit(),
                            emitSequence)
      .getResult(0);
}
