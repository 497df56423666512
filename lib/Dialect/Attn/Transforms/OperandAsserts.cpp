//===- OperandAsserts.cpp - Checks of where operands are ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssertBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Utils/LengthBuilder.h"
#include "attn/Dialect/Attn/Utils/PageBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace attn;

int64_t OperandAsserts::checkLengths(Value lengths, Value source,
                                     StringRef name) {
  if (!lengths || lengths.getDefiningOp<SequenceLengthsOp>())
    return 0; // Of sequences the offsets are checked.
  Value capacity = getSize(source, kSequence);
  expect(builder.getLoc(), getSize(lengths, 0),
         "expected " + name + " lengths from 0 to the number of positions",
         [&](ValueRange point) {
           return compare(Predicate::ule, read(lengths, point), capacity);
         });
  return 1;
}

/// Of a table with offsets: the offsets, the lengths, of which pages of a batch
/// hold all keys, and the entries that these make used.
int64_t OperandAsserts::checkEntries(PagedOp paged, Value lengths) {
  Value table = paged.getTable(), offsets = paged.getOffsets();
  Value pages = getSize(paged.getPool(), 0);
  Value entries = getSize(table, 0);
  int64_t checks =
      checkOffsets(paged.getLoc(), offsets, entries, getSize(table, 0));
  Value page = constant(paged.getPageSize());
  expect(paged.getLoc(), getSize(lengths, 0),
         "expected key lengths of at most the pages of their batch",
         [&](ValueRange point) {
           Value all = getSize(paged.getResult(), kSequence);
           Value held =
               buildCapacity(builder, builder.getLoc(), paged, point[0], all);
           return compare(
               Predicate::ule,
               readLength(builder, builder.getLoc(), lengths, point[0]), held);
         });
  SmallVector<Value> points = {getSize(lengths, 0), getSize(table, 0)};
  expect(paged.getLoc(), points, "expected entries that are pages of the pool",
         [&](ValueRange point) {
           Value entry =
               readEntry(builder, builder.getLoc(), paged, point[0], point[1]);
           Value first = arith::MulIOp::create(builder, point[1], page);
           Value isBehind = compare(
               Predicate::sge, first,
               readLength(builder, builder.getLoc(), lengths, point[0]));
           return either(isBehind, compare(Predicate::ult, entry, pages));
         });
  return checks + 2;
}

int64_t OperandAsserts::checkTable(PagedOp paged, Value lengths) {
  if (paged.getOffsets())
    return checkEntries(paged, lengths);
  Value table = paged.getTable(), pages = getSize(paged.getPool(), 0);
  expect(paged.getLoc(), getSizes(table),
         "expected entries that are pages of the pool", [&](ValueRange point) {
           Value isPage = compare(Predicate::ult, read(table, point), pages);
           if (!lengths)
             return isPage;
           Value first = arith::MulIOp::create(builder, point[1],
                                               constant(paged.getPageSize()));
           Value isBehind = compare(
               Predicate::sge, first,
               readLength(builder, builder.getLoc(), lengths, point[0]));
           return either(isBehind, isPage);
         });
  return 1;
}

int64_t OperandAsserts::checkSequences(RaggedOp view) {
  Value rows = getSize(view.getPacked(), 0);
  return checkOffsets(view.getLoc(), view.getOffsets(), rows,
                      getSize(view.getResult(), kSequence));
}

/// Of sequences among `rows` rows, each of which has `room` at most.
int64_t OperandAsserts::checkOffsets(Location loc, Value offsets, Value rows,
                                     Value room) {
  expect(loc, getSize(offsets, 0),
         "expected offsets from 0 to the number of rows",
         [&](ValueRange point) {
           return compare(Predicate::ule, read(offsets, point), rows);
         });
  expect(loc, minus(getSize(offsets, 0), 1),
         "expected ascending offsets, of sequences with room in the view",
         [&](ValueRange point) {
           Value next = arith::AddIOp::create(builder, point[0], constant(1));
           Value length = read(offsets, next);
           length =
               arith::SubIOp::create(builder, length, read(offsets, point));
           return compare(Predicate::ule, length, room);
         });
  return 2;
}

int64_t OperandAsserts::checkHeads(Operation *op, Value map, Value whole,
                                   StringRef name) {
  Value heads = getSize(whole, kHead);
  expect(op->getLoc(), getSizes(map),
         "expected entries of the map that are heads of its " + name,
         [&](ValueRange point) {
           return compare(Predicate::ult, read(map, point), heads);
         });
  return 1;
}

int64_t OperandAsserts::checkPositions(RotaryOp op) {
  Value positions = op.getPositions();
  int64_t rank = cast<ShapedType>(op.getCos().getType()).getRank();
  Value rows = getSize(op.getCos(), rank - 2);
  expect(op.getLoc(), getSizes(positions),
         "expected positions that are rows of the tables",
         [&](ValueRange point) {
           return compare(Predicate::ult, read(positions, point), rows);
         });
  return 1;
}

int64_t OperandAsserts::checkSlots(AppendOp append) {
  Value slots = append.getSlots(), pool = append.getPools().front();
  SmallVector<Value> sizes = getSizes(slots);
  Value rows = getSize(pool, 0);
  rows = arith::MulIOp::create(builder, rows, getSize(pool, kSequence));
  expect(append.getLoc(), sizes,
         "expected slots that are -1 or rows of the pool",
         [&](ValueRange point) {
           Value slot = read(slots, point);
           Value isNone = compare(Predicate::eq, slot, constant(-1));
           return either(isNone, compare(Predicate::ult, slot, rows));
         });
  SmallVector<Value> pairs(sizes);
  llvm::append_range(pairs, sizes);
  expect(append.getLoc(), pairs, "expected slots that differ",
         [&](ValueRange point) {
           ValueRange one = point.take_front(sizes.size());
           ValueRange other = point.drop_front(sizes.size());
           Value slot = read(slots, one);
           Value isNone = compare(Predicate::slt, slot, constant(0));
           Value holds =
               either(isNone, compare(Predicate::ne, slot, read(slots, other)));
           Value isSame;
           for (auto [a, b] : llvm::zip_equal(one, other)) {
             Value same = compare(Predicate::eq, a, b);
             isSame = isSame ? both(isSame, same) : same;
           }
           return either(isSame, holds);
         });
  return 2;
}

int64_t OperandAsserts::checkDescale(Operation *op, Value descale,
                                     bool isDivisor) {
  if (!descale)
    return 0;
  auto bound = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  expect(op->getLoc(), getSizes(descale),
         isDivisor ? "expected finite descales above 0"
                   : "expected finite descales",
         [&](ValueRange point) {
           auto holds = [&](arith::CmpFPredicate predicate, double value) {
             Value entry = tensor::ExtractOp::create(builder, descale, point);
             return Value(arith::CmpFOp::create(builder, predicate, entry,
                                                bound(value)));
           };
           return both(
               holds(arith::CmpFPredicate::OGT, isDivisor ? 0 : -kInfinity),
               holds(arith::CmpFPredicate::OLT, kInfinity));
         });
  return 1;
}
