//===- PlanKernel.cpp - The kernel that shares out splits -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the worklist of an attention whose schedule has balance = "plan": how
// many splits the sequences have, then their numbers, batch * splits + split:
// whole splits, in order, then the last ones of sequences, the longest first,
// and for each sequence without keys one. Of sequences behind each other there
// is an entry for each row tile of a split, with the tile's number behind it. A
// warp for each batch finds where its own begin by looking at the lengths of
// all.
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
  void countOthers();
  Value keepInside(Value place, Value count);
  void write(Value at, Value number);
  void writeEntries(Value place, Value split, Value count);
  void writeOwn();

  /// The totals of all batches, or of those before, in lists.
  enum Total { kWholeBefore, kWhole, kRestsBefore, kRests, kNumTotals };
  SmallVector<Value> takeBatch(Value other, ValueRange totals);

  Value batches, batch, lane;
  Value splits; ///< that a batch may have
  PlannedSplits own;
  Value ownTiles;            ///< entries of a split
  SmallVector<Value> totals; ///< index
};
} // namespace

/// The row tiles of `batch` that an entry each names: those of all slices of
/// the values; one entry for all where batches have the same.
Value PlanKernelBuilder::getRowTiles(Value batch) {
  if (!plansRowTiles(attention))
    return constant(1);
  OnlineAttentionOp step = attention.first;
  RaggedOp query = getRagged(step.getQuery());
  Value all = getSize(query.getPacked(), /*dim=*/0);
  Value rows = getSequence(values.lookup(query.getOffsets()), batch, all).count;
  rows = create<arith::MaxSIOp>(rows, constant(0));
  int64_t room = query.getType().getDimSize(kSequence);
  if (!ShapedType::isDynamic(room))
    rows = create<arith::MinSIOp>(rows, constant(room));
  return create<arith::MulIOp>(
      create<arith::CeilDivUIOp>(rows, constant(attention.getTilePositions())),
      constant(attention.getDvSlices()));
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
  Value added[] = {toI32(select(isBefore, whole, constant(0))), toI32(whole),
                   toI32(select(comesFirst, rest, constant(0))), toI32(rest)};
  SmallVector<Value> next;
  for (auto [total, number] : llvm::zip_equal(totals, added))
    next.push_back(create<arith::AddIOp>(total, number));
  return next;
}

/// Finds the totals, each lane those of every 32nd batch.
void PlanKernelBuilder::countOthers() {
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  Value lower = constant(0);
  auto loop = scf::ForOp::create(builder, loc, lower, batches, constant(kLanes),
                                 SmallVector<Value>(kNumTotals, zero));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value other = create<arith::AddIOp>(loop.getInductionVar(), lane);
    scf::YieldOp::create(builder, loc,
                         takeBatch(other, loop.getRegionIterArgs()));
  }
  for (Value total : loop.getResults())
    totals.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(),
        gpu::SubgroupReduceOp::create(builder, loc, total,
                                      gpu::AllReduceOperation::ADD,
                                      /*uniform=*/true)));
}

/// How many of `count` entries from `place` on the list has room for: all,
/// unless sequences overlap, whose offsets do not ascend.
Value PlanKernelBuilder::keepInside(Value place, Value count) {
  if (!plansRowTiles(attention))
    return count;
  Value numbers = tile::DimOp::create(builder, loc, worklist, /*dim=*/0);
  Value room = create<arith::SubIOp>(numbers, constant(1));
  room = create<arith::DivUIOp>(room, constant(2));
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
  bool namesTiles = plansRowTiles(attention);
  count = keepInside(place, count);
  auto loop = scf::ForOp::create(builder, loc, lane, count, constant(kLanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value tiles = create<arith::MaxUIOp>(ownTiles, constant(1));
  Value ofAll = create<arith::MulIOp>(batch, splits);
  ofAll = create<arith::AddIOp>(ofAll, split);
  Value of = namesTiles ? create<arith::DivUIOp>(number, tiles) : number;
  Value at = create<arith::AddIOp>(place, number);
  at = create<arith::MulIOp>(at, constant(namesTiles ? 2 : 1));
  at = create<arith::AddIOp>(at, constant(1));
  write(at, create<arith::AddIOp>(ofAll, of));
  if (namesTiles)
    write(create<arith::AddIOp>(at, constant(1)),
          create<arith::RemUIOp>(number, tiles));
}

/// The splits of the batch, and by the first batch how many entries there are.
void PlanKernelBuilder::writeOwn() {
  writeEntries(totals[kWholeBefore], constant(0),
               create<arith::MulIOp>(own.whole, ownTiles));
  writeEntries(create<arith::AddIOp>(totals[kWhole], totals[kRestsBefore]),
               own.whole, select(own.hasRest, ownTiles, constant(0)));
  Value one = constant(1);
  Value isFirst =
      create<arith::AndIOp>(isBelow(lane, one), isBelow(batch, one));
  onlyIf(isFirst, [&] {
    Value all = create<arith::AddIOp>(totals[kWhole], totals[kRests]);
    write(constant(0), keepInside(constant(0), all));
  });
}

LogicalResult PlanKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(beginKernel(name, kPrologueWarps)))
    return failure();
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  lane = warp.lane;
  batch = warp.number;
  FailureOr<Value> extent = getExtent(kLoopB), most = getExtent(kLoopSplit);
  if (failed(extent) || failed(most))
    return failure();
  batches = *extent, splits = *most;
  bool hasFailed = false;
  // The last CTA may have more warps than there are batches.
  onlyIf(isBelow(batch, batches), [&] {
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
