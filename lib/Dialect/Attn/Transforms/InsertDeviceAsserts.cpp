//===- InsertDeviceAsserts.cpp - Checks of what masks read ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conditions are those of lib/Interpreter/MaskChecks.cpp.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/LengthBuilder.h"
#include "attn/Dialect/Attn/Utils/PageBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/SetVector.h"

#include <limits>

namespace attn {
#define GEN_PASS_DEF_INSERTDEVICEASSERTSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Builds the checks of one mask, and of lengths, before their attention.
class AssertBuilder {
public:
  AssertBuilder(Operation *attention, Value query, Value key, Region &maskMod)
      : builder(attention->getLoc(), attention), query(query), key(key),
        maskMod(&maskMod) {}
  explicit AssertBuilder(AppendOp append)
      : builder(append.getLoc(), append), maskMod(nullptr) {}

  /// The number of conditions.
  int64_t build() {
    llvm::SmallPtrSet<Value, 2> checked;
    for (auto segment : maskMod->getOps<SegmentOp>()) {
      if (checked.insert(segment.getOffsets()).second)
        checkOffsets(segment);
      checkLastOffset(segment);
    }
    SmallVector<BlockListedOp> lists(maskMod->getOps<BlockListedOp>());
    for (auto [number, list] : llvm::enumerate(lists)) {
      checkSizes(list);
      checkEntries(list);
      for (BlockListedOp other : ArrayRef(lists).take_front(number))
        if (other.getBlock() == list.getBlock())
          checkDisjoint(list, other);
    }
    return count;
  }

  /// Lengths, if there are any, that `source` has positions for.
  int64_t checkLengths(Value lengths, Value source, StringRef name);

  /// Entries, of pages with keys that exist, that are pages of the pool.
  int64_t checkTable(PagedOp paged, Value lengths);

  /// Offsets that ascend, of sequences that `view` has room for.
  int64_t checkEntries(PagedOp paged, Value lengths);
  int64_t checkSequences(RaggedOp view);
  int64_t checkOffsets(Location loc, Value offsets, Value rows, Value room);

  /// Entries of the map of a view or sum `op` that are heads of `whole`, its
  /// source or destination.
  int64_t checkHeads(Operation *op, Value map, Value whole, StringRef name);

  /// Positions that are rows of the tables.
  int64_t checkPositions(RotaryOp op);

  /// Slots that are -1 or rows of the pools, and no two of them one row.
  int64_t checkSlots(AppendOp append);

  /// A descale, if there is one, that `op` multiplies by: finite; or divides
  /// by: positive, too.
  int64_t checkDescale(Operation *op, Value descale, bool isDivisor = false);

private:
  using Predicate = arith::CmpIPredicate;
  using Condition = llvm::function_ref<Value(ValueRange point)>;

  void expect(Location loc, ValueRange sizes, const Twine &message,
              Condition condition);
  void checkOffsets(SegmentOp op);
  void checkLastOffset(SegmentOp op);
  void checkSizes(BlockListedOp op);
  void checkEntries(BlockListedOp op);
  void checkDisjoint(BlockListedOp op, BlockListedOp other);
  std::optional<unsigned> getLoop(Value position);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  /// A size of a tensor, constant where it is static.
  Value getSize(Value tensor, int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        builder, builder.getLoc(),
        getDim(builder, builder.getLoc(), tensor, dim));
  }
  SmallVector<Value> getSizes(Value tensor) {
    return llvm::map_to_vector(
        llvm::seq(cast<ShapedType>(tensor.getType()).getRank()),
        [&](int64_t dim) { return getSize(tensor, dim); });
  }
  Value compare(Predicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, predicate, a, b);
  }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, a, b); }
  Value either(Value a, Value b) { return arith::OrIOp::create(builder, a, b); }
  Value minus(Value a, int64_t b) {
    return arith::SubIOp::create(builder, a, constant(b));
  }
  /// An entry, as an index.
  Value read(Value tensor, ValueRange at) {
    Value entry = tensor::ExtractOp::create(builder, tensor, at);
    return arith::IndexCastOp::create(builder, builder.getIndexType(), entry);
  }

  ImplicitLocOpBuilder builder;
  Value query, key;
  Region *maskMod; ///< null for an attn.append
  int64_t count = 0;
};

} // namespace

/// Expects the condition at all points of the index space of `sizes`; what it
/// takes of sizes of tensors is computed before.
void AssertBuilder::expect(Location loc, ValueRange sizes, const Twine &message,
                           Condition condition) {
  auto check = DeviceAssertOp::create(builder, loc, sizes, message.str());
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(sizes.size(), builder.getIndexType());
  Block *body = builder.createBlock(&check.getCondition(), {}, types,
                                    SmallVector<Location>(sizes.size(), loc));
  YieldOp::create(builder, condition(body->getArguments()));
  ++count;
}

/// The loop over rows or keys that a position is of, if it is one itself.
std::optional<unsigned> AssertBuilder::getLoop(Value position) {
  for (unsigned loop : {kLoopM, kLoopN})
    if (position == maskMod->getArgument(loop))
      return loop;
  return std::nullopt;
}

int64_t AssertBuilder::checkLengths(Value lengths, Value source,
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
int64_t AssertBuilder::checkEntries(PagedOp paged, Value lengths) {
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

int64_t AssertBuilder::checkTable(PagedOp paged, Value lengths) {
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

int64_t AssertBuilder::checkSequences(RaggedOp view) {
  Value rows = getSize(view.getPacked(), 0);
  return checkOffsets(view.getLoc(), view.getOffsets(), rows,
                      getSize(view.getResult(), kSequence));
}

/// Of sequences among `rows` rows, each of which has `room` at most.
int64_t AssertBuilder::checkOffsets(Location loc, Value offsets, Value rows,
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

int64_t AssertBuilder::checkHeads(Operation *op, Value map, Value whole,
                                  StringRef name) {
  Value heads = getSize(whole, kHead);
  expect(op->getLoc(), getSizes(map),
         "expected entries of the map that are heads of its " + name,
         [&](ValueRange point) {
           return compare(Predicate::ult, read(map, point), heads);
         });
  return 1;
}

int64_t AssertBuilder::checkPositions(RotaryOp op) {
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

int64_t AssertBuilder::checkSlots(AppendOp append) {
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

int64_t AssertBuilder::checkDescale(Operation *op, Value descale,
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

/// Offsets from 0 up.
void AssertBuilder::checkOffsets(SegmentOp op) {
  Value offsets = op.getOffsets();
  Value entries = getSize(offsets, 0);
  expect(op.getLoc(), {},
         "expected the offsets of at least one sequence: 2 entries",
         [&](ValueRange) {
           return compare(Predicate::sge, entries, constant(2));
         });
  expect(op.getLoc(), {}, "expected offsets[0] to be 0", [&](ValueRange) {
    Value first = read(offsets, constant(0));
    return compare(Predicate::eq, first, constant(0));
  });
  expect(op.getLoc(), minus(entries, 1),
         "expected offsets that do not decrease", [&](ValueRange point) {
           Value next = arith::AddIOp::create(builder, point[0], constant(1));
           Value begin = read(offsets, point);
           return compare(Predicate::sle, begin, read(offsets, next));
         });
}

/// Offsets not past the positions they are for, if they are rows or keys.
void AssertBuilder::checkLastOffset(SegmentOp op) {
  std::optional<unsigned> loop = getLoop(op.getPosition());
  if (!loop)
    return;
  Value offsets = op.getOffsets(), entries = getSize(offsets, 0);
  bool isRow = *loop == kLoopM;
  Value length = getSize(isRow ? query : key, kSequence);
  expect(op.getLoc(), {},
         Twine("expected offsets up to the number of ") +
             (isRow ? "query" : "key") + " positions",
         [&](ValueRange) {
           return compare(Predicate::sle, read(offsets, minus(entries, 1)),
                          length);
         });
}

/// As many rows of lists as there are batches, heads and row blocks.
void AssertBuilder::checkSizes(BlockListedOp op) {
  SmallVector<Value> counts = getSizes(op.getNumBlocks());
  SmallVector<Value> indices = getSizes(op.getIndices());
  SmallVector<Value> problem = getSizes(query);
  expect(op.getLoc(), {},
         "expected num_blocks and indices for the batches, heads and row "
         "blocks of the attention",
         [&](ValueRange) {
           Value block = constant(op.getBlock()[0]);
           Value rows =
               arith::CeilDivUIOp::create(builder, problem[kLoopM], block);
           Value fits = compare(Predicate::eq, counts[kLoopM], rows);
           for (unsigned dim : {kLoopB, kLoopH}) {
             Value isOne = compare(Predicate::eq, counts[dim], constant(1));
             Value isAll = compare(Predicate::eq, counts[dim], problem[dim]);
             fits = both(fits, either(isOne, isAll));
           }
           for (auto [a, b] : llvm::zip(counts, indices))
             fits = both(fits, compare(Predicate::eq, a, b));
           return fits;
         });
}

/// Entries that are blocks of keys, and ascend.
void AssertBuilder::checkEntries(BlockListedOp op) {
  Value numBlocks = op.getNumBlocks(), indices = op.getIndices();
  SmallVector<Value> sizes = getSizes(indices);
  Value keys = getSize(key, kSequence);
  expect(op.getLoc(), ArrayRef(sizes).drop_back(),
         "expected num_blocks from 0 to the room for indices",
         [&](ValueRange point) {
           return compare(Predicate::ule, read(numBlocks, point), sizes.back());
         });
  auto expectListed = [&](const Twine &message, Condition condition) {
    expect(op.getLoc(), sizes, message, [&](ValueRange point) {
      Value isBehind = compare(Predicate::sge, point.back(),
                               read(numBlocks, point.drop_back()));
      return either(isBehind, condition(point));
    });
  };
  expectListed("expected indices below the number of key blocks",
               [&](ValueRange point) {
                 Value blocks = arith::CeilDivUIOp::create(
                     builder, keys, constant(op.getBlock()[1]));
                 return compare(Predicate::ult, read(indices, point), blocks);
               });
  expectListed("expected indices to ascend", [&](ValueRange point) {
    Value isFirst = compare(Predicate::eq, point.back(), constant(0));
    SmallVector<Value> before(point);
    before.back() = minus(point.back(), 1);
    before.back() = arith::MaxSIOp::create(builder, before.back(), constant(0));
    Value lower = read(indices, before);
    return either(isFirst,
                  compare(Predicate::slt, lower, read(indices, point)));
  });
}

/// Blocks that are in one of two lists at most.
void AssertBuilder::checkDisjoint(BlockListedOp op, BlockListedOp other) {
  SmallVector<Value> sizes = getSizes(op.getIndices());
  SmallVector<Value> otherSizes = getSizes(other.getIndices());
  sizes.push_back(otherSizes.back());
  expect(
      op.getLoc(), sizes, "expected blocks that are in no other list",
      [&](ValueRange point) {
        Value slot = point[3], otherSlot = point[4];
        SmallVector<Value> row(point.take_front(3)), otherRow;
        // Dimensions of 1 are broadcast.
        for (auto [dim, at] : llvm::enumerate(row))
          otherRow.push_back(
              arith::MinUIOp::create(builder, at, minus(otherSizes[dim], 1)));
        auto isBehind = [&](BlockListedOp list, ValueRange row, Value slot) {
          return compare(Predicate::sge, slot, read(list.getNumBlocks(), row));
        };
        Value isNone = isBehind(op, row, slot);
        isNone = either(isNone, isBehind(other, otherRow, otherSlot));
        row.push_back(slot);
        otherRow.push_back(otherSlot);
        Value block = read(op.getIndices(), row);
        Value differs =
            compare(Predicate::ne, block, read(other.getIndices(), otherRow));
        return either(isNone, differs);
      });
}

namespace {
struct InsertDeviceAsserts
    : public attn::impl::InsertDeviceAssertsPassBase<InsertDeviceAsserts> {
  using Base::Base;

  void runOnOperation() override {
    auto check = [&](auto op) {
      if (op.hasMaskMod())
        numAsserts +=
            AssertBuilder(op, op.getQuery(), op.getKey(), op.getMaskMod())
                .build();
    };
    getOperation().walk([&](AttentionOp op) {
      AssertBuilder builder(op, op.getQuery(), op.getKey(), op.getMaskMod());
      numAsserts +=
          builder.checkLengths(op.getQueryLengths(), op.getQuery(), "query");
      numAsserts +=
          builder.checkLengths(op.getKeyLengths(), op.getKey(), "key");
      for (Value operand : {op.getKey(), op.getValue()})
        if (PagedOp paged = getPages(operand))
          numAsserts += builder.checkTable(paged, op.getKeyLengths());
      numAsserts += checkMaps(builder, op.getKey(), op.getValue());
      numAsserts += checkRows(builder, op);
      numAsserts += checkDescales(builder, op, op.getDescales());
      llvm::SmallPtrSet<Operation *, 3> views;
      for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
        if (RaggedOp view = getRagged(operand);
            view && views.insert(view).second)
          numAsserts += builder.checkSequences(view);
      check(op);
    });
    getOperation().walk([&](AppendOp op) {
      AssertBuilder builder(op);
      numAsserts += builder.checkSlots(op);
      for (Value descale : op.getDescales())
        numAsserts += builder.checkDescale(op, descale, /*isDivisor=*/true);
    });
    getOperation().walk([&](AttentionBackwardOp op) {
      AssertBuilder builder(op, op.getQuery(), op.getKey(), op.getMaskMod());
      numAsserts += checkMaps(builder, op.getKey(), op.getValue());
      numAsserts += checkSums(builder, op);
      numAsserts += checkDescales(builder, op, op.getDescales());
      check(op);
    });
  }

private:
  /// Each of the descales once.
  static int64_t checkDescales(AssertBuilder &builder, Operation *op,
                               ValueRange descales) {
    int64_t count = 0;
    for (Value descale :
         llvm::SetVector<Value>(descales.begin(), descales.end()))
      count += builder.checkDescale(op, descale);
    return count;
  }

  /// What makes the rows of queries, keys and values: the positions that they
  /// are turned by, and their descales.
  static int64_t checkRows(AssertBuilder &builder, AttentionOp op) {
    int64_t count = 0;
    llvm::SmallPtrSet<Value, 4> checked;
    for (Value rows : op->getOperands()) {
      if (RaggedOp ragged = getRagged(rows))
        rows = ragged.getPacked();
      for (Value source; (source = getRowSource(rows.getDefiningOp()));
           rows = source) {
        auto rotary = rows.getDefiningOp<RotaryOp>();
        if (rotary && rotary.getPositions() &&
            checked.insert(rotary.getPositions()).second)
          count += builder.checkPositions(rotary);
        auto wide = rows.getDefiningOp<DequantizeOp>();
        if (wide && wide.getDescale() &&
            checked.insert(wide.getDescale()).second)
          count += builder.checkDescale(wide, wide.getDescale());
      }
    }
    return count;
  }

  /// The head maps of keys and values, one that both have once.
  static int64_t checkMaps(AssertBuilder &builder, Value key, Value value) {
    int64_t count = 0;
    Value checked;
    for (Value operand : {key, value})
      if (auto view = operand.getDefiningOp<SelectHeadsOp>();
          view && view.getMap() != checked) {
        count +=
            builder.checkHeads(view, view.getMap(), view.getSource(), "source");
        checked = view.getMap();
      }
    return count;
  }

  /// The maps of sums of gradients that kernels make, unless they are those of
  /// the views, which are checked.
  static int64_t checkSums(AssertBuilder &builder, AttentionBackwardOp op) {
    int64_t count = 0;
    for (SumHeadsOp sum : getHeadSums(op)) {
      Value operand =
          sum.getSource() == op.getDKey() ? op.getKey() : op.getValue();
      auto view = operand.getDefiningOp<SelectHeadsOp>();
      if (view.getMap() != sum.getMap())
        count += builder.checkHeads(sum, sum.getMap(), view.getSource(),
                                    "destination");
    }
    return count;
  }
};
} // namespace
