//===- SplitKV.cpp - Ranges of keys apart, then combined --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-split-kv (FlashDecoding, Dao et al. 2023): the nest of an
// attention whose schedule has splits becomes one over (b, h, m, split), which
// gives states, and one over (b, h, m), which combines them.
//
//===----------------------------------------------------------------------===//

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_SPLITKVPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;

//===----------------------------------------------------------------------===//
// Key ranges
//===----------------------------------------------------------------------===//

/// The keys of each split, if the schedule says how many; otherwise 0.
static int64_t getSplitKeys(OnlineAttentionOp step) {
  return step.getSchedule()->getValues().splitKeys;
}

namespace {
/// The key tiles of one split.
class SplitRange {
public:
  /// `first` and `last` are loops of the row tile; `split` is a number below
  /// `splits`.
  SplitRange(OpBuilder &builder, scf::ForOp first, scf::ForOp last, Value split,
             OpFoldResult splits)
      : builder(builder), loc(first.getLoc()) {
    Schedule schedule = getStep(first).getSchedule()->getValues();
    int64_t keys = schedule.splitKeys;
    if (schedule.balance == Balance::Share)
      takeKeys(split, RangeKeysOp::create(builder, loc, schedule.tileN));
    else if (keys > 0)
      takeKeys(split, arith::ConstantIndexOp::create(builder, loc, keys));
    else
      takeShare(first, last, split, splits);
  }

  /// A bound of a loop, cut to the range, which begins at no key before 0.
  Value cut(Value bound) {
    if (matchPattern(bound, m_Zero()))
      return lower;
    Value &result = cuts[bound];
    if (!result) {
      Value above = arith::MaxSIOp::create(builder, loc, bound, lower);
      result = arith::MinSIOp::create(builder, loc, above, upper);
    }
    return result;
  }

private:
  /// As many keys as in each other split: where it begins depends on nothing
  /// else.
  void takeKeys(Value split, Value keys) {
    lower = arith::MulIOp::create(builder, loc, split, keys);
    upper = arith::AddIOp::create(builder, loc, lower, keys);
  }

  /// Of the tiles that the row tile visits, whole ones, as many in each split,
  /// fewer in the last ones.
  void takeShare(scf::ForOp first, scf::ForOp last, Value split,
                 OpFoldResult splits) {
    Value begin = first.getLowerBound(), tile = first.getStep();
    Value keys =
        arith::SubIOp::create(builder, loc, last.getUpperBound(), begin);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    keys = arith::MaxSIOp::create(builder, loc, keys, zero);
    int64_t tileN = getStep(first).getSchedule()->getValues().tileN;
    Value tiles = getValueOrCreateConstantIndexOp(
        builder, loc,
        affine::makeComposedFoldedAffineApply(
            builder, loc, builder.getAffineSymbolExpr(0).ceilDiv(tileN),
            {keys}));
    Value count = arith::CeilDivUIOp::create(
        builder, loc, tiles,
        getValueOrCreateConstantIndexOp(builder, loc, splits));
    Value length = arith::MulIOp::create(builder, loc, count, tile);
    Value skipped = arith::MulIOp::create(builder, loc, split, length);
    lower = arith::AddIOp::create(builder, loc, begin, skipped);
    upper = arith::AddIOp::create(builder, loc, lower, length);
  }

  OpBuilder &builder;
  Location loc;
  Value lower, upper;
  /// Loops that follow each other share a bound.
  DenseMap<Value, Value> cuts;
};
} // namespace

/// Cuts `loops` to the keys of `split`.
static LogicalResult cutKeyLoops(ArrayRef<scf::ForOp> loops, Value split,
                                 OpFoldResult splits) {
  scf::ForOp first = loops.front();
  // The bounds of later loops may be computed between the loops.
  IRRewriter rewriter(first);
  for (scf::ForOp loop : loops)
    if (failed(moveValueDefinitions(
            rewriter, {loop.getLowerBound(), loop.getUpperBound()}, first)))
      return loop.emitOpError() << "expected bounds that are known before the "
                                   "first key loop, to split the keys";
  rewriter.setInsertionPoint(first);
  SplitRange range(rewriter, first, loops.back(), split, splits);
  for (scf::ForOp loop : loops) {
    Value lower = range.cut(loop.getLowerBound());
    Value upper = range.cut(loop.getUpperBound());
    loop.setLowerBound(lower);
    loop.setUpperBound(upper);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The nests
//===----------------------------------------------------------------------===//

namespace {
/// The nest of an attention to split.
struct SplitAttention {
  scf::ForallOp forall;
  NormalizeOp normalize;
  OnlineAttentionOp step; ///< any
  /// Splits at run time: as many as the schedule says, or as there are tiles,
  /// or ranges of `split_keys`, of keys.
  OpFoldResult splits;

  Location getLoc() const { return NormalizeOp(normalize).getLoc(); }
  /// [B, Hq, M]
  Sizes getRows() const { return scf::ForallOp(forall).getMixedUpperBound(); }
};
} // namespace

/// Where the output goes.
static tensor::ParallelInsertSliceOp getInsert(NormalizeOp normalize) {
  for (Operation *user : normalize.getOutput().getUsers())
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user))
      return insert;
  return tensor::ParallelInsertSliceOp();
}

namespace {
/// Where the states of a row tile are in a stack of them.
struct Place {
  Sizes offsets, sizes, strides;

  /// `numParts` parts from `firstPart` on; `rank` is that of the stack, 5 of
  /// accumulators and 4 of row statistics.
  static Place get(OpBuilder &builder, tensor::ParallelInsertSliceOp ofOutput,
                   OpFoldResult firstPart, OpFoldResult numParts,
                   int64_t rank) {
    Place place = {ofOutput.getMixedOffsets(), ofOutput.getMixedSizes(), {}};
    place.offsets.insert(place.offsets.begin(), firstPart);
    place.sizes.insert(place.sizes.begin(), numParts);
    place.offsets.resize(rank);
    place.sizes.resize(rank);
    place.strides.assign(rank, builder.getIndexAttr(1));
    return place;
  }
};
} // namespace

/// Empty tensors for stacks of states, a part for each split.
static SmallVector<Value> createStacks(OpBuilder &builder,
                                       const SplitAttention &attention) {
  SmallVector<Value> stacks;
  NormalizeOp normalize = attention.normalize;
  RunningState state = normalize.getState();
  for (Value value : state.getValues()) {
    auto type = cast<RankedTensorType>(value.getType());
    Sizes sizes = attention.getRows();
    sizes.insert(sizes.begin(), attention.splits);
    if (type.getRank() == 4)
      sizes.push_back(builder.getIndexAttr(type.getDimSize(kHeadDim)));
    stacks.push_back(tensor::EmptyOp::create(builder, attention.getLoc(), sizes,
                                             type.getElementType()));
  }
  return stacks;
}

/// An empty nest over (b, h, m, split), which gives stacks of states.
static scf::ForallOp createPartialNest(OpBuilder &builder,
                                       const SplitAttention &attention) {
  scf::ForallOp whole = attention.forall;
  Sizes lower = whole.getMixedLowerBound(), upper = attention.getRows(),
        step = whole.getMixedStep();
  lower.push_back(builder.getIndexAttr(0));
  upper.push_back(attention.splits);
  step.push_back(builder.getIndexAttr(1));
  return scf::ForallOp::create(builder, attention.getLoc(), lower, upper, step,
                               createStacks(builder, attention), std::nullopt);
}

/// Copies the key loops of `attention` into `nest`, cut to its split.
static LogicalResult fillPartialNest(OpBuilder &builder,
                                     const SplitAttention &attention,
                                     scf::ForallOp nest) {
  scf::ForallOp whole = attention.forall;
  SmallVector<Value> ivs(nest.getInductionVars());
  IRMapping mapping;
  mapping.map(whole.getInductionVars(), ArrayRef(ivs).drop_back());
  builder.setInsertionPoint(nest.getTerminator());
  for (Operation &op : whole.getBody()->without_terminator())
    if (!isa<NormalizeOp>(op))
      builder.clone(op, mapping);
  auto copied = [&](OpFoldResult size) -> OpFoldResult {
    auto value = dyn_cast<Value>(size);
    return value ? mapping.lookupOrDefault(value) : size;
  };
  builder.setInsertionPointToEnd(nest.getTerminator().getBody());
  NormalizeOp normalize = attention.normalize;
  RunningState state = normalize.getState();
  for (auto [value, out] :
       llvm::zip_equal(state.getValues(), nest.getRegionIterArgs())) {
    Place place =
        Place::get(builder, getInsert(attention.normalize), ivs.back(),
                   /*numParts=*/builder.getIndexAttr(1),
                   cast<ShapedType>(out.getType()).getRank());
    for (Sizes *values : {&place.offsets, &place.sizes})
      for (OpFoldResult &size : *values)
        size = copied(size);
    tensor::ParallelInsertSliceOp::create(
        builder, attention.getLoc(), mapping.lookup(value), out, place.offsets,
        place.sizes, place.strides);
  }
  SmallVector<scf::ForOp> loops;
  for (scf::ForOp loop : getKeyLoops(normalize).loops)
    loops.push_back(
        mapping.lookup(loop.getResult(0)).getDefiningOp<scf::ForOp>());
  return cutKeyLoops(loops, ivs.back(), attention.splits);
}

/// Makes the nest of `attention` combine the states that `partial` gives.
static void combineStates(OpBuilder &builder, const SplitAttention &attention,
                          scf::ForallOp partial) {
  NormalizeOp end = attention.normalize;
  builder.setInsertionPoint(end);
  SmallVector<Value> parts;
  for (Value stack : partial.getResults()) {
    Place place = Place::get(builder, getInsert(end), builder.getIndexAttr(0),
                             attention.splits,
                             cast<ShapedType>(stack.getType()).getRank());
    parts.push_back(tensor::ExtractSliceOp::create(builder, attention.getLoc(),
                                                   stack, place.offsets,
                                                   place.sizes, place.strides));
  }
  RunningState state = end.getState();
  SmallVector<Type> types = llvm::map_to_vector(
      state.getValues(), [](Value value) { return value.getType(); });
  auto combined = CombineOp::create(
      builder, attention.getLoc(), types.front(), ArrayRef(types).drop_front(),
      parts.front(), ArrayRef(parts).drop_front(), end.getNormalizationAttr());
  end.getAccMutable().assign(combined.getAccResult());
  end.getRowsMutable().assign(combined.getRowResults());
  eraseWithProducers(state.getAcc().getDefiningOp());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Keys are divided by number, or into ranges of whole tiles.
static LogicalResult checkSplits(OnlineAttentionOp step) {
  int64_t splits = step.getSchedule()->getValues().splits;
  int64_t tileN = step.getSchedule()->getValues().tileN;
  int64_t keys = getSplitKeys(step);
  if (keys == 0 && splits < 2)
    return step.emitOpError()
           << "expected splits of at least 2 with kind = \"split_kv\", got "
           << splits;
  if (keys > 0 && splits > 1)
    return step.emitOpError()
           << "expected splits or split_keys, got splits = " << splits
           << " and split_keys = " << keys;
  if (keys == 0 && step.getSchedule()->getValues().balance == Balance::Share)
    return step.emitOpError()
           << "expected split_keys with balance = \"share\", got none";
  if (keys % tileN != 0)
    return step.emitOpError()
           << "expected split_keys a multiple of tile_n = " << tileN << ", got "
           << keys;
  return success();
}

/// The attention that `normalize` ends, if its schedule splits the keys.
static FailureOr<std::optional<SplitAttention>>
getSplitAttention(NormalizeOp normalize) {
  KeyLoops keys = getKeyLoops(normalize);
  OnlineAttentionOp step =
      keys.loops.empty() ? OnlineAttentionOp() : getStep(keys.loops.front());
  if (!step || !step.getSchedule() ||
      step.getSchedule()->getValues().kind != ScheduleKind::SplitKV)
    return std::optional<SplitAttention>();
  auto forall = dyn_cast<scf::ForallOp>(normalize->getParentOp());
  if (!forall || forall.getRank() != 3 || !getInsert(normalize))
    return normalize.emitOpError()
           << "expected an attention in normal form tiled, to split its keys";
  if (failed(checkSplits(step)))
    return failure();
  return std::optional(SplitAttention{forall, normalize, step, {}});
}

/// As many as the longest sequence has ranges of `split_keys`, which are the
/// shortest that a plan may choose. If a number is
/// given, short sequences are not split into more parts than they have tiles.
/// One without keys is one part, which gives the initial state.
static OpFoldResult getNumSplits(OpBuilder &builder,
                                 const SplitAttention &attention) {
  Location loc = attention.getLoc();
  OnlineAttentionOp step = attention.step;
  int64_t keys = getSplitKeys(step);
  int64_t most = keys > 0 ? std::numeric_limits<int64_t>::max()
                          : step.getSchedule()->getValues().splits;
  int64_t unit = keys > 0 ? keys : step.getSchedule()->getValues().tileN;
  Value key = step.getKey();
  if (auto slice = key.getDefiningOp<tensor::ExtractSliceOp>())
    key = slice.getSource();
  OpFoldResult parts = affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0).ceilDiv(unit),
      {getDim(builder, loc, key, kSequence)});
  if (std::optional<int64_t> number = getConstantIntValue(parts))
    return builder.getIndexAttr(std::clamp<int64_t>(*number, 1, most));
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  Value fewest = cast<Value>(parts);
  if (keys == 0)
    fewest = arith::MinSIOp::create(builder, loc, fewest, constant(most));
  return arith::MaxSIOp::create(builder, loc, fewest, constant(1)).getResult();
}

namespace {
struct SplitKV : public attn::impl::SplitKVPassBase<SplitKV> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<NormalizeOp> ends;
    getOperation().walk([&](NormalizeOp op) { ends.push_back(op); });
    for (NormalizeOp end : ends) {
      FailureOr<std::optional<SplitAttention>> attention =
          getSplitAttention(end);
      if (failed(attention))
        return signalPassFailure();
      if (!*attention)
        continue;
      OpBuilder builder((*attention)->forall);
      (*attention)->splits = getNumSplits(builder, **attention);
      scf::ForallOp partial = createPartialNest(builder, **attention);
      if (failed(fillPartialNest(builder, **attention, partial)))
        return signalPassFailure();
      combineStates(builder, **attention, partial);
      ++numSplit;
    }
  }
};
} // namespace
