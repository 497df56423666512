//===- MaskAsserts.cpp - Checks of what masks read ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssertBuilder.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

namespace {
class MaskAsserts : AssertBuilder {
public:
  MaskAsserts(Operation *attention, Value query, Value key, Region &maskMod)
      : AssertBuilder(attention), query(query), key(key), maskMod(maskMod) {}

  /// The number of conditions.
  int64_t build();

private:
  void checkOffsets(SegmentOp op);
  void checkLastOffset(SegmentOp op);
  void checkSizes(BlockListedOp op);
  void checkEntries(BlockListedOp op);
  void checkDisjoint(BlockListedOp op, BlockListedOp other);
  std::optional<unsigned> getLoop(Value position);

  Value query, key;
  Region &maskMod;
};
} // namespace

/// The loop over rows or keys that a position is of, if it is one itself.
std::optional<unsigned> MaskAsserts::getLoop(Value position) {
  for (unsigned loop : {kLoopM, kLoopN})
    if (position == maskMod.getArgument(loop))
      return loop;
  return std::nullopt;
}

/// Offsets from 0 up.
void MaskAsserts::checkOffsets(SegmentOp op) {
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
void MaskAsserts::checkLastOffset(SegmentOp op) {
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
void MaskAsserts::checkSizes(BlockListedOp op) {
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
void MaskAsserts::checkEntries(BlockListedOp op) {
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
void MaskAsserts::checkDisjoint(BlockListedOp op, BlockListedOp other) {
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

int64_t MaskAsserts::build() {
  llvm::SmallPtrSet<Value, 2> checked;
  for (auto segment : maskMod.getOps<SegmentOp>()) {
    if (checked.insert(segment.getOffsets()).second)
      checkOffsets(segment);
    checkLastOffset(segment);
  }
  SmallVector<BlockListedOp> lists(maskMod.getOps<BlockListedOp>());
  for (auto [number, list] : llvm::enumerate(lists)) {
    checkSizes(list);
    checkEntries(list);
    for (BlockListedOp other : ArrayRef(lists).take_front(number))
      if (other.getBlock() == list.getBlock())
        checkDisjoint(list, other);
  }
  return count;
}

int64_t attn::buildMaskAsserts(Operation *attention, Value query, Value key,
                               Region &maskMod) {
  return MaskAsserts(attention, query, key, maskMod).build();
}
