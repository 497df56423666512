//===- AppendKernel.cpp - The kernel that appends to a cache ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.append: a warp for each new row of a head, whose lanes share out its
// columns, and turn or normalise it where the graph does. Slots and places in
// pools are computed in 64 bits: a pool may have more rows than an index
// counts.
//
//===----------------------------------------------------------------------===//

#include "Kernel/Fragments.h"
#include "Kernel/RowBuilder.h"
#include "Launch/ElementKernel.h"
#include "Launch/PrologueKernels.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"

using namespace mlir;
using namespace attn;

namespace {
class AppendKernelBuilder : ElementKernel {
public:
  AppendKernelBuilder(OpBuilder &builder, TiledAttention &attention,
                      AppendOp op)
      : ElementKernel(builder, attention, op.getLoc()), op(op) {}

  LogicalResult build(StringRef name);

private:
  void findRow(Value number);
  void findPlace();
  Value readDescale(Value descale);
  Value readElement(Value rows, Value column);
  void storeElement(Value element, Value pool, Value descale, Value column);
  Value findLargest(Value rows, int64_t columns);
  Value storeScale(Value largest, Value pool, Value scales);
  void copyRow(Value rows, Value pool, Value descale, Value scales);
  void changeRow(Operation *last, Value pool, Value descale, Value scales);

  AppendOp op;
  Value lane, head;
  SmallVector<Value> token;    ///< the index of the slot
  Value slot, page, rowInPage; ///< i64
};
} // namespace

/// Splits the number into the head and the token, whose slot is read.
void AppendKernelBuilder::findRow(Value number) {
  Value heads = getSize(op.getPools().front(), kHead);
  head = create<arith::RemUIOp>(number, heads);
  Value slots = values.lookup(op.getSlots());
  auto type = cast<tile::GlobalType>(slots.getType());
  token =
      getIndices(create<arith::DivUIOp>(number, heads), slots, type.getRank());
  slot = tile::ExtractOp::create(
      builder, loc, type.getElementType(), slots,
      llvm::map_to_vector(token, [&](Value index) { return toI64(index); }));
  if (!slot.getType().isInteger(64))
    slot = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), slot);
}

/// The page of the slot, and the row in it.
void AppendKernelBuilder::findPlace() {
  Value rows = toI64(getSize(op.getPools().front(), kSequence));
  page = create<arith::DivUIOp>(slot, rows);
  rowInPage = create<arith::RemUIOp>(slot, rows);
}

/// Of the row's batch and head; null for null.
Value AppendKernelBuilder::readDescale(Value descale) {
  if (!descale)
    return Value();
  Value memory = values.lookup(descale);
  SmallVector<Value> indices = {toI64(constant(0))};
  if (cast<tile::GlobalType>(memory.getType()).getRank() == 2)
    indices = {toI64(token.front()), toI64(head)};
  return tile::ExtractOp::create(builder, loc, builder.getF32Type(), memory,
                                 indices);
}

/// Of the row of the token and head.
Value AppendKernelBuilder::readElement(Value rows, Value column) {
  auto type = cast<tile::GlobalType>(rows.getType());
  SmallVector<Value> source(type.getRank());
  for (auto [dim, index] : llvm::enumerate(token))
    source[AppendOp::getRowDim(dim)] = toI64(index);
  source[AppendOp::kRowHead] = toI64(head);
  source.back() = toI64(column);
  return tile::ExtractOp::create(builder, loc, type.getElementType(), rows,
                                 source);
}

/// Rounded once: f32 holds what the narrower types do.
void AppendKernelBuilder::storeElement(Value element, Value pool, Value descale,
                                       Value column) {
  Type to = cast<tile::GlobalType>(pool.getType()).getElementType();
  Type f32 = builder.getF32Type();
  if (element.getType() != to && element.getType() != f32)
    element = arith::ExtFOp::create(builder, loc, f32, element);
  if (descale)
    element = quantize(builder, loc, element, descale, to);
  else if (element.getType() != to)
    element = arith::TruncFOp::create(builder, loc, to, element);
  tile::InsertOp::create(
      builder, loc, element, pool,
      ValueRange{page, toI64(head), rowInPage, toI64(column)});
}

/// Among the columns of the lane. One whose columns end before the row does
/// takes the last of all for its own.
Value AppendKernelBuilder::findLargest(Value rows, int64_t columns) {
  Fragments fragments(builder, loc);
  Value largest = fragments.constant(0);
  for (int64_t slice = 0; slice < columns; slice += kLanes) {
    Value column = create<arith::AddIOp>(lane, constant(slice));
    if (slice + kLanes > columns)
      column = create<arith::MinUIOp>(column, constant(columns - 1));
    Value element = readElement(rows, column);
    if (!element.getType().isF32())
      element =
          arith::ExtFOp::create(builder, loc, builder.getF32Type(), element);
    largest = create<arith::MaximumFOp>(largest, fragments.absolute(element));
  }
  return largest;
}

/// Stores what the row is divided by, of the largest magnitude in each lane,
/// and returns it.
Value AppendKernelBuilder::storeScale(Value largest, Value pool, Value scales) {
  Value scale =
      buildTokenScale(builder, loc, reduceMagnitudes(builder, loc, largest),
                      cast<tile::GlobalType>(pool.getType()).getElementType());
  onlyIf(isBelow(lane, constant(1)), [&] {
    tile::InsertOp::create(builder, loc, scale, scales,
                           ValueRange{page, toI64(head), rowInPage});
  });
  return scale;
}

/// `descale` or `scales`, or both, may be null.
void AppendKernelBuilder::copyRow(Value rows, Value pool, Value descale,
                                  Value scales) {
  int64_t columns = cast<tile::GlobalType>(pool.getType()).getShape()[kHeadDim];
  if (scales)
    descale = storeScale(findLargest(rows, columns), pool, scales);
  for (int64_t slice = 0; slice < columns; slice += kLanes) {
    Value column = create<arith::AddIOp>(lane, constant(slice));
    Value isThere = slice + kLanes <= columns
                        ? Value()
                        : isBelow(column, constant(columns));
    onlyIf(isThere, [&] {
      storeElement(readElement(rows, column), pool, descale, column);
    });
  }
}

/// By the chain that ends in `last`, whose results are rounded, as a tensor
/// between would be.
void AppendKernelBuilder::changeRow(Operation *last, Value pool, Value descale,
                                    Value scales) {
  RowChain chain = RowChain::get(last);
  Value rows = values.lookup(chain.source);
  auto measure = [&](size_t, Value largest) {
    descale = storeScale(largest, pool, scales);
  };
  RowBuilder(builder, loc, chain, values, lane)
      .build(
          {{toI64(token.front()), toI64(head), toI64(token.back())}},
          [&](size_t, Value column) { return readElement(rows, column); },
          [&](size_t, Value column, Value element) {
            storeElement(element, pool, descale, column);
          },
          scales ? RowBuilder::Measure(measure) : nullptr);
}

LogicalResult AppendKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(beginKernel(name, kPrologueWarps)))
    return failure();
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  lane = warp.lane;
  Value pool = op.getPools().front();
  Value count = getSize(pool, kHead);
  for (int64_t dim = 0,
               rank = cast<ShapedType>(op.getSlots().getType()).getRank();
       dim < rank; ++dim)
    count = create<arith::MulIOp>(count, getSize(op.getSlots(), dim));
  // The last CTA may have more warps than there are rows.
  onlyIf(isBelow(warp.number, count), [&] {
    findRow(warp.number);
    Value capacity = toI64(getSize(pool, kBatch));
    capacity = create<arith::MulIOp>(capacity, toI64(getSize(pool, kSequence)));
    // As a number without a sign, -1 is not below it.
    onlyIf(isBelow(slot, capacity), [&] {
      findPlace();
      for (auto [i, pool] : llvm::enumerate(op.getPools())) {
        Value rows = op.getRows()[i], memory = values.lookup(pool);
        Value descale = readDescale(op.getDescale(i));
        Value scales = values.lookupOrNull(op.getScale(i));
        if (Operation *last = getOnlyRowChain(rows))
          changeRow(last, memory, descale, scales);
        else
          copyRow(values.lookup(rows), memory, descale, scales);
      }
    });
  });
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildAppendKernel(OpBuilder &builder,
                                      TiledAttention &attention, AppendOp op,
                                      StringRef name) {
  return AppendKernelBuilder(builder, attention, op).build(name);
}
