//===- PlanKernel.cpp - The kernel that shares out splits -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the worklist of an attention whose schedule has balance = "plan": how
// many splits the sequences have, then their numbers, batch * splits + split:
// whole splits, in order, then the last ones of sequences, the longest first,
// and for each sequence without keys one. A warp for each batch finds where its
// own begin by looking at the lengths of all.
//
//===----------------------------------------------------------------------===//

#include "Launch/ElementKernel.h"
#include "Launch/PrologueKernels.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

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
  void countOthers();
  void write(Value place, Value number);
  void writeOwn(Value splits);

  /// The totals of all batches, or of those before, in lists.
  enum Total { kWholeBefore, kWhole, kRestsBefore, kRests, kNumTotals };
  SmallVector<Value> takeBatch(Value other, ValueRange totals);

  Value batches, batch, lane;
  PlannedSplits own;
  SmallVector<Value> totals; ///< index
};
} // namespace

/// Adds what batch `other` has, none behind the last, to the lane's totals
/// (i32).
SmallVector<Value> PlanKernelBuilder::takeBatch(Value other,
                                                ValueRange totals) {
  Value last = create<arith::SubIOp>(batches, constant(1));
  // The length was found to be one of the kernel.
  PlannedSplits theirs = *getPlannedSplits(create<arith::MinUIOp>(other, last));
  Value isBefore = isBelow(other, batch);
  Value isLonger = isBelow(own.rest, theirs.rest);
  Value isAsLong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         own.rest, theirs.rest);
  Value comesFirst =
      create<arith::OrIOp>(isLonger, create<arith::AndIOp>(isAsLong, isBefore));
  Value exists = isBelow(other, batches);
  Value whole = select(exists, theirs.whole, constant(0));
  Value rest = create<arith::AndIOp>(exists, theirs.hasRest);
  Value added[] = {toI32(select(isBefore, whole, constant(0))), toI32(whole),
                   toI32(create<arith::AndIOp>(rest, comesFirst)), toI32(rest)};
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

/// Writes entry `place` of the list.
void PlanKernelBuilder::write(Value place, Value number) {
  Value entry = toI32(number);
  tile::InsertOp::create(builder, loc, entry, worklist,
                         ValueRange{toI64(place)});
}

/// The splits of the batch, of which there may be `splits`, and by the first
/// batch how many there are.
void PlanKernelBuilder::writeOwn(Value splits) {
  Value one = constant(1);
  Value first = create<arith::MulIOp>(batch, splits);
  auto loop =
      scf::ForOp::create(builder, loc, lane, own.whole, constant(kLanes));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value split = loop.getInductionVar();
    Value place = create<arith::AddIOp>(totals[kWholeBefore], split);
    place = create<arith::AddIOp>(place, one);
    write(place, create<arith::AddIOp>(first, split));
  }
  Value isFirst = isBelow(lane, one);
  onlyIf(create<arith::AndIOp>(isFirst, own.hasRest), [&] {
    Value place = create<arith::AddIOp>(totals[kWhole], totals[kRestsBefore]);
    place = create<arith::AddIOp>(place, one);
    write(place, create<arith::AddIOp>(first, own.whole));
  });
  onlyIf(create<arith::AndIOp>(isFirst, isBelow(batch, one)), [&] {
    Value place = constant(0);
    write(place, create<arith::AddIOp>(totals[kWhole], totals[kRests]));
  });
}

LogicalResult PlanKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(beginKernel(name, kPrologueWarps)))
    return failure();
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  lane = warp.lane;
  batch = warp.number;
  FailureOr<Value> extent = getExtent(kLoopB), splits = getExtent(kLoopSplit);
  if (failed(extent) || failed(splits))
    return failure();
  batches = *extent;
  bool hasFailed = false;
  // The last CTA may have more warps than there are batches.
  onlyIf(isBelow(batch, batches), [&] {
    FailureOr<PlannedSplits> planned = getPlannedSplits(batch);
    hasFailed = failed(planned);
    if (hasFailed)
      return;
    own = *planned;
    countOthers();
    writeOwn(*splits);
  });
  tile::ReturnOp::create(builder, loc);
  return failure(hasFailed);
}

LogicalResult attn::buildPlanKernel(OpBuilder &builder,
                                    TiledAttention &attention, StringRef name) {
  return PlanKernelBuilder(builder, attention).build(name);
}
