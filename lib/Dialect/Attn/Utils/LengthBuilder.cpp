//===- LengthBuilder.cpp - Which keys and rows exist ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/LengthBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Utils/PageBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace attn;

Value attn::readOffset(OpBuilder &builder, Location loc, Value offsets,
                       Value batch, int64_t next) {
  if (next != 0) {
    Value step = arith::ConstantIndexOp::create(builder, loc, next);
    batch = arith::AddIOp::create(builder, loc, batch, step);
  }
  Value entry = tensor::ExtractOp::create(builder, loc, offsets, batch);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    entry);
}

Value attn::readLength(OpBuilder &builder, Location loc, Value lengths,
                       Value batch) {
  auto sequences = lengths.getDefiningOp<SequenceLengthsOp>();
  if (!sequences)
    return readOffset(builder, loc, lengths, batch, 0);
  Value offsets = sequences.getOffsets();
  Value end = readOffset(builder, loc, offsets, batch, 1);
  Value begin = readOffset(builder, loc, offsets, batch, 0);
  return arith::SubIOp::create(builder, loc, end, begin);
}

Value attn::buildLength(OpBuilder &builder, Location loc, Value lengths,
                        Value batch, Value capacity) {
  Value length = readLength(builder, loc, lengths, batch);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  // The maximum is last: no range of the capacity is needed to see that a
  // length is not negative.
  length = arith::MinSIOp::create(builder, loc, length, capacity);
  return arith::MaxSIOp::create(builder, loc, length, zero);
}

/// The lengths of a sequence; null if all of it exists.
static Value getLengths(AttentionOp op, Sequence sequence) {
  return sequence == Sequence::query ? op.getQueryLengths()
                                     : op.getKeyLengths();
}

/// M or N, before `op`.
static Value getCapacity(AttentionOp op, Sequence sequence) {
  OpBuilder builder(op);
  Value source = sequence == Sequence::query ? op.getQuery() : op.getKey();
  return getValueOrCreateConstantIndexOp(
      builder, op.getLoc(), getDim(builder, op.getLoc(), source, kSequence));
}

Value attn::buildKeyLength(OpBuilder &builder, Location loc, Value key,
                           Value value, Value lengths, Value batch,
                           Value capacity) {
  for (Value operand : {key, value})
    if (PagedOp pages = getPages(operand); pages && pages.getOffsets()) {
      Value held = buildCapacity(builder, loc, pages, batch, capacity);
      capacity = arith::MinSIOp::create(builder, loc, capacity, held);
    }
  return buildLength(builder, loc, lengths, batch, capacity);
}

void attn::resolveLengths(OpBuilder &builder, AttentionOp op) {
  OpBuilder::InsertionGuard guard(builder);
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod(), &op.getProbMod()})
    for (LengthOp length :
         llvm::make_early_inc_range(region->getOps<LengthOp>())) {
      Value lengths = getLengths(op, length.getSequence());
      if (!lengths)
        continue;
      Value batch = region->getArgument(region->getNumArguments() - 4 + kLoopB);
      Value capacity = getCapacity(op, length.getSequence());
      builder.setInsertionPoint(length);
      Location loc = length.getLoc();
      length.replaceAllUsesWith(
          length.getSequence() == Sequence::query
              ? buildLength(builder, loc, lengths, batch, capacity)
              : buildKeyLength(builder, loc, op.getKey(), op.getValue(),
                               lengths, batch, capacity));
      length.erase();
    }
}

void attn::hideBehind(OpBuilder &builder, Location loc, Region &maskMod,
                      Sequence sequence, Value lengths) {
  OpBuilder::InsertionGuard guard(builder);
  if (maskMod.empty()) {
    addMaskModBlock(builder, loc, maskMod);
    Value yes =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    YieldOp::create(builder, loc, yes);
  }
  auto yield = cast<YieldOp>(maskMod.front().getTerminator());
  builder.setInsertionPoint(yield);
  Value length = readLength(builder, loc, lengths, maskMod.getArgument(kLoopB));
  unsigned loop = sequence == Sequence::query ? kLoopM : kLoopN;
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       maskMod.getArgument(loop), length);
  yield->setOperand(
      0, builder.createOrFold<arith::AndIOp>(loc, yield.getValue(), exists));
}
