//===- PageBuilder.cpp - Where the keys of a batch are ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/PageBuilder.h"

#include "attn/Dialect/Attn/Utils/LengthBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// How many entries there are, of all batches.
static Value countEntries(OpBuilder &builder, Location loc, PagedOp view) {
  return getValueOrCreateConstantIndexOp(
      builder, loc,
      tensor::getMixedSize(builder, loc, view.getTable(), /*dim=*/0));
}

Value attn::readEntry(OpBuilder &builder, Location loc, PagedOp view,
                      Value batch, Value column) {
  SmallVector<Value> at = {batch, column};
  if (Value offsets = view.getOffsets()) {
    Value first = readOffset(builder, loc, offsets, batch, 0);
    Value last = countEntries(builder, loc, view);
    last = arith::SubIOp::create(builder, loc, last,
                                 constantIndex(builder, loc, 1));
    Value place = arith::AddIOp::create(builder, loc, first, column);
    at = {arith::MinUIOp::create(builder, loc, place, last)};
  }
  Value entry = tensor::ExtractOp::create(builder, loc, view.getTable(), at);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    entry);
}

Value attn::buildCapacity(OpBuilder &builder, Location loc, PagedOp view,
                          Value batch, Value all) {
  Value offsets = view ? view.getOffsets() : Value();
  if (!offsets)
    return all;
  Value zero = constantIndex(builder, loc, 0);
  Value first = arith::MaxSIOp::create(
      builder, loc, readOffset(builder, loc, offsets, batch, 0), zero);
  Value end = readOffset(builder, loc, offsets, batch, 1);
  // Of two numbers that are not negative no difference wraps around, so that
  // the analysis of a mask knows what the length is.
  end = arith::MinSIOp::create(builder, loc, end,
                               countEntries(builder, loc, view));
  end = arith::MaxSIOp::create(builder, loc, end, zero);
  Value entries = arith::MaxSIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, end, first), zero);
  return arith::MulIOp::create(builder, loc, entries,
                               constantIndex(builder, loc, view.getPageSize()));
}
