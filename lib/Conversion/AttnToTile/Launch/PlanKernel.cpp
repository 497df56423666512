//===- PlanKernel.cpp - The kernel that shares out splits -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the worklist of an attention whose schedule has balance = "plan": how
// many splits the sequences have, then for each its batch and its number there:
// whole splits, in order, then the last ones of sequences, the longest first,
// and for each sequence without keys one. Of sequences behind each other there
// is an entry for each row tile of a split, with the tile's number behind it. A
// warp for each batch finds where its own begin by looking at the lengths of
// all. With balance = "share" it chooses how long the ranges are before: the
// keys of all row tiles over the CTAs, in whole tiles, and split_keys at least.
//
//===----------------------------------------------------------------------===//

#include "Launch/ElementKernel.h"
#include "Launch/PrologueKernels.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"

using namespace mlir;
using namespace attn;

namespace {
class PlanKernelBuilder : ElementKernel {
public:
  PlanKernelBuilder(OpBuilder &builder, TiledAttention &attention)
      : ElementKernel(builder, attention, attention.getLoc()) {}

  LogicalResult build(StringRef name);

private:
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value toI32(Value value) {
    if (value.getType().isInteger(1))
      return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      value);
  }
  Value getRowTiles(Value batch);
  FailureOr<Value> getTilesOfRow();
  Value sum(Value total);
  LogicalResult chooseRange();
  Value getStates(Value batch, const PlannedSplits &splits);
  void countOthers();
  Value keepInside(Value place, Value count);
  void write(Value at, Value number);
  void writeEntries(Value place, Value split, Value count);
  void writeOwn();

  /// The totals of all batches, or of those before, in lists, and of states
  /// those before, where the plan says where they are.
  enum Total {
    kWholeBefore,
    kWhole,
    kRestsBefore,
    kRests,
    kStatesBefore,
    kNumTotals
  };
  SmallVector<Value> takeBatch(Value other, ValueRange totals);

  Value batches, batch, lane;
  PlannedSplits own;
  Value ownTiles;            ///< entries of a split
  Value header;              ///< words in front of the entries
  SmallVector<Value> totals; ///< index
};
} // namespace

/// The row tiles of `batch` that an entry each names: those of all slices of
/// the values; one entry for all where batches have the same.
Value PlanKernelBuilder::getRowTiles(Value batch) {
  if (!plansRowTiles(attention))
    return constant(1);
  return create<arith::MulIOp>(
      create<arith::CeilDivUIOp>(getQueryRows(batch),
                                 constant(attention.getTilePositions())),
      constant(attention.getDvSlices()));
}

/// What a row tile of the list stands for: those of all groups of heads, and,
/// unless the list names row tiles, all of these.
FailureOr<Value> PlanKernelBuilder::getTilesOfRow() {
  FailureOr<Value> heads = getExtent(kLoopH), rows = getExtent(kLoopM);
  if (failed(heads) || failed(rows))
    return failure();
  Value tiles =
      create<arith::DivUIOp>(*heads, constant(attention.getTileHeads()));
  if (plansRowTiles(attention))
    return tiles;
  Value ofHead =
      create<arith::CeilDivUIOp>(*rows, constant(attention.getTilePositions()));
  ofHead = create<arith::MulIOp>(ofHead, constant(attention.getDvSlices()));
  return create<arith::MulIOp>(tiles, ofHead);
}

/// Of all lanes' `total` (i32).
Value PlanKernelBuilder::sum(Value total) {
  return arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      gpu::SubgroupReduceOp::create(builder, loc, total,
                                    gpu::AllReduceOperation::ADD,
                                    /*uniform=*/true));
}

/// Chooses the keys of a range: an equal share of a CTA, in whole tiles, but
/// not so few that they are little more than the state that a range leaves.
/// Whole ranges are no more than CTAs then, each with the rest of a sequence
/// besides.
LogicalResult PlanKernelBuilder::chooseRange() {
  if (!plansRanges(attention))
    return success();
  Schedule schedule = attention.schedule.getValues();
  Value tileN = constant(schedule.tileN);
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 32);
  auto loop = scf::ForOp::create(builder, loc, lane, batches, constant(kLanes),
                                 ValueRange{none});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value other = loop.getInductionVar();
    FailureOr<Value> keys = getExistingKeys(other);
    if (failed(keys))
      return failure();
    Value keyTiles = create<arith::MulIOp>(
        create<arith::CeilDivUIOp>(*keys, tileN), getRowTiles(other));
    scf::YieldOp::create(builder, loc,
                         ValueRange{create<arith::AddIOp>(
                             loop.getRegionIterArg(0), toI32(keyTiles))});
  }
  FailureOr<Value> tiles = getTilesOfRow();
  if (failed(tiles))
    return failure();
  Value share = create<arith::CeilDivUIOp>(
      create<arith::MulIOp>(sum(loop.getResult(0)), *tiles),
      constant(schedule.persistentCtas));
  rangeKeys = create<arith::MaxUIOp>(create<arith::MulIOp>(share, tileN),
                                     constant(schedule.splitKeys));
  return success();
}

/// The states that the splits of a batch leave: one for each, or, of sequences
/// behind each other, for each of its rows.
Value PlanKernelBuilder::getStates(Value batch, const PlannedSplits &splits) {
  Value count = create<arith::AddIOp>(
      splits.whole, select(splits.hasRest, constant(1), constant(0)));
  return plansRowTiles(attention)
             ? create<arith::MulIOp>(count, getQueryRows(batch))
             : count;
}

/// Adds what batch `other` has, none behind the last, to the lane's totals
/// (i32).
SmallVector<Value> PlanKernelBuilder::takeBatch(Value other,
                                                ValueRange totals) {
  Value last = create<arith::SubIOp>(batches, constant(1));
  // The length was found to be one of the kernel.
  Value known = create<arith::MinUIOp>(other, last);
  PlannedSplits theirs = *getPlannedSplits(known);
  Value exists = isBelow(other, batches);
  Value tiles = select(exists, getRowTiles(known), constant(0));
  Value isBefore = isBelow(other, batch);
  Value isLonger = isBelow(own.rest, theirs.rest);
  Value isAsLong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         own.rest, theirs.rest);
  Value comesFirst =
      create<arith::OrIOp>(isLonger, create<arith::AndIOp>(isAsLong, isBefore));
  Value whole = create<arith::MulIOp>(theirs.whole, tiles);
  Value rest = select(theirs.hasRest, tiles, constant(0));
  SmallVector<Value> added = {
      toI32(select(isBefore, whole, constant(0))), toI32(whole),
      toI32(select(comesFirst, rest, constant(0))), toI32(rest)};
  if (plansRanges(attention))
    added.push_back(toI32(select(create<arith::AndIOp>(exists, isBefore),
                                 getStates(known, theirs), constant(0))));
  SmallVector<Value> next;
  for (auto [total, number] : llvm::zip_equal(totals, added))
    next.push_back(create<arith::AddIOp>(total, number));
  return next;
}

/// Finds the totals, each lane those of every 32nd batch.
void PlanKernelBuilder::countOthers() {
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  Value lower = constant(0);
  size_t numTotals = plansRanges(attention) ? kNumTotals : kStatesBefore;
  auto loop = scf::ForOp::create(builder, loc, lower, batches, constant(kLanes),
                                 SmallVector<Value>(numTotals, zero));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value other = create<arith::AddIOp>(loop.getInductionVar(), lane);
    scf::YieldOp::create(builder, loc,
                         takeBatch(other, loop.getRegionIterArgs()));
  }
  for (Value total : loop.getResults())
    totals.push_back(sum(total));
}

/// How many of `count` entries from `place` on the list has room for: all,
/// unless sequences overlap, whose offsets do not ascend.
Value PlanKernelBuilder::keepInside(Value place, Value count) {
  if (!plansRowTiles(attention))
    return count;
  Value numbers = tile::DimOp::create(builder, loc, worklist, /*dim=*/0);
  Value room = create<arith::SubIOp>(numbers, header);
  room = create<arith::DivUIOp>(room, constant(getEntryWords(attention)));
  Value left = create<arith::SubIOp>(room, create<arith::MinUIOp>(place, room));
  return create<arith::MinUIOp>(count, left);
}

/// Writes number `at` of the list.
void PlanKernelBuilder::write(Value at, Value number) {
  Value entry = toI32(number);
  tile::InsertOp::create(builder, loc, entry, worklist, ValueRange{toI64(at)});
}

/// Writes the `count` entries from `place` on, one after the other, that are
/// those of `split` of the batch and the splits behind it.
void PlanKernelBuilder::writeEntries(Value place, Value split, Value count) {
  count = keepInside(place, count);
  auto loop = scf::ForOp::create(builder, loc, lane, count, constant(kLanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value at = create<arith::AddIOp>(place, number);
  at = create<arith::MulIOp>(at, constant(getEntryWords(attention)));
  at = create<arith::AddIOp>(at, header);
  auto writeWord = [&](EntryWord word, Value value) {
    write(create<arith::AddIOp>(at, constant(word)), value);
  };
  bool namesTiles = plansRowTiles(attention);
  Value tiles = create<arith::MaxUIOp>(ownTiles, constant(1));
  Value behind = namesTiles ? create<arith::DivUIOp>(number, tiles) : number;
  writeWord(kEntryBatch, batch);
  writeWord(kEntrySplit, create<arith::AddIOp>(split, behind));
  if (namesTiles)
    writeWord(kEntryTile, create<arith::RemUIOp>(number, tiles));
}

/// The splits of the batch, and by the first batch how many entries there are.
void PlanKernelBuilder::writeOwn() {
  writeEntries(totals[kWholeBefore], constant(0),
               create<arith::MulIOp>(own.whole, ownTiles));
  writeEntries(create<arith::AddIOp>(totals[kWhole], totals[kRestsBefore]),
               own.whole, select(own.hasRest, ownTiles, constant(0)));
  Value one = constant(1), isFirstLane = isBelow(lane, one);
  if (plansRanges(attention))
    onlyIf(isFirstLane, [&] {
      write(create<arith::AddIOp>(batch, constant(kFirstStates)),
            totals[kStatesBefore]);
    });
  onlyIf(create<arith::AndIOp>(isFirstLane, isBelow(batch, one)), [&] {
    Value all = create<arith::AddIOp>(totals[kWhole], totals[kRests]);
    write(constant(kEntryCount), keepInside(constant(0), all));
    if (plansRanges(attention))
      write(constant(kRangeKeys), rangeKeys);
  });
}

LogicalResult PlanKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(beginKernel(name, kPrologueWarps)))
    return failure();
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  lane = warp.lane;
  batch = warp.number;
  FailureOr<Value> extent = getExtent(kLoopB);
  if (failed(extent))
    return failure();
  batches = *extent;
  FailureOr<Value> words = getWorklistHeader();
  if (failed(words))
    return failure();
  header = *words;
  bool hasFailed = false;
  // The last CTA may have more warps than there are batches.
  onlyIf(isBelow(batch, batches), [&] {
    hasFailed = failed(chooseRange());
    if (hasFailed)
      return;
    FailureOr<PlannedSplits> planned = getPlannedSplits(batch);
    hasFailed = failed(planned);
    if (hasFailed)
      return;
    own = *planned;
    ownTiles = getRowTiles(batch);
    countOthers();
    writeOwn();
  });
  tile::ReturnOp::create(builder, loc);
  return failure(hasFailed);
}

LogicalResult attn::buildPlanKernel(OpBuilder &builder,
                                    TiledAttention &attention, StringRef name) {
  return PlanKernelBuilder(builder, attention).build(name);
}
