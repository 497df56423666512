//===- SplitKV.cpp - Ranges of keys apart, merged ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-split-kv (FlashDecoding, Dao et al. 2023): the nest of an
// attention whose schedule has splits becomes one over (b, h, m, split), which
// gives partial results, and one over (b, h, m), which merges them.
//
//===----------------------------------------------------------------------===//

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
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

namespace {
/// The key tiles of one split: of those that a row tile visits, whole tiles, as
/// many in each split, fewer in the last ones.
class SplitRange {
public:
  /// `first` and `last` are loops of the row tile; `split` is a number below
  /// `splits`.
  SplitRange(OpBuilder &builder, scf::ForOp first, scf::ForOp last,
             Value split, int64_t splits)
      : builder(builder), loc(first.getLoc()) {
    Value begin = first.getLowerBound(), tile = first.getStep();
    Value keys = arith::SubIOp::create(builder, loc, last.getUpperBound(),
                                       begin);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    keys = arith::MaxSIOp::create(builder, loc, keys, zero);
    AffineExpr s0 = builder.getAffineSymbolExpr(0);
    int64_t tileN = getStep(first).getSchedule()->getTileN();
    Value length = getValueOrCreateConstantIndexOp(
        builder, loc,
        affine::makeComposedFoldedAffineApply(
            builder, loc, s0.ceilDiv(tileN * splits) * tileN, {keys}));
    Value skipped = arith::MulIOp::create(builder, loc, split, length);
    lower = arith::AddIOp::create(builder, loc, begin, skipped);
    upper = arith::AddIOp::create(builder, loc, lower, length);
  }

  /// A bound of a loop, cut to the range.
  Value cut(Value bound) {
    Value &result = cuts[bound];
    if (!result) {
      Value above = arith::MaxSIOp::create(builder, loc, bound, lower);
      result = arith::MinSIOp::create(builder, loc, above, upper);
    }
    return result;
  }

private:
  OpBuilder &builder;
  Location loc;
  Value lower, upper;
  /// Loops that follow each other share a bound.
  DenseMap<Value, Value> cuts;
};
} // namespace

/// Cuts the key loops before `normalize` to the keys of `split`.
static LogicalResult cutKeyLoops(NormalizeOp normalize, Value split,
                                 int64_t splits) {
  KeyLoops keys = getKeyLoops(getFinalState(normalize));
  scf::ForOp first = keys.loops.front();
  // The bounds of later loops may be computed between the loops.
  IRRewriter rewriter(first);
  for (scf::ForOp loop : keys.loops)
    if (failed(moveValueDefinitions(
            rewriter, {loop.getLowerBound(), loop.getUpperBound()}, first)))
      return loop.emitOpError() << "expected bounds that are known before the "
                                   "first key loop, to split the keys";
  rewriter.setInsertionPoint(first);
  SplitRange range(rewriter, first, keys.loops.back(), split, splits);
  for (scf::ForOp loop : keys.loops) {
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
  int64_t splits;

  Location getLoc() const { return NormalizeOp(normalize).getLoc(); }
  /// [B, Hq, M]
  Sizes getRows() const { return scf::ForallOp(forall).getMixedUpperBound(); }
};
} // namespace

/// Where result `number` of `normalize` goes.
static tensor::ParallelInsertSliceOp getInsert(NormalizeOp normalize,
                                               unsigned number) {
  for (Operation *user : normalize->getResult(number).getUsers())
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user))
      return insert;
  return tensor::ParallelInsertSliceOp();
}

/// Where the parts of a tile are in a stack of partial results: `offsets` and
/// `sizes` of the tile, behind those of the parts.
static std::pair<Sizes, Sizes> getPlace(OpBuilder &builder,
                                        tensor::ParallelInsertSliceOp ofOutput,
                                        OpFoldResult firstPart,
                                        OpFoldResult numParts, bool isLse) {
  Sizes offsets = ofOutput.getMixedOffsets(), sizes = ofOutput.getMixedSizes();
  offsets.insert(offsets.begin(), firstPart);
  sizes.insert(sizes.begin(), numParts);
  if (isLse) {
    offsets.pop_back();
    sizes.pop_back();
  }
  return {offsets, sizes};
}

/// Empty tensors for the stacks of outputs [splits, B, Hq, M, Dv] and LSEs
/// [splits, B, Hq, M], in the type of the accumulator.
static SmallVector<Value> createStacks(OpBuilder &builder,
                                       const SplitAttention &attention) {
  NormalizeOp normalize = attention.normalize;
  auto acc = cast<RankedTensorType>(normalize.getAcc().getType());
  Sizes sizes = attention.getRows();
  sizes.insert(sizes.begin(), builder.getIndexAttr(attention.splits));
  auto create = [&]() -> Value {
    return tensor::EmptyOp::create(builder, attention.getLoc(), sizes,
                                   acc.getElementType());
  };
  Value lses = create();
  sizes.push_back(builder.getIndexAttr(acc.getDimSize(kHeadDim)));
  return {create(), lses};
}

/// The nest that gives partial results, before `attention`.
static FailureOr<scf::ForallOp>
createPartialNest(OpBuilder &builder, const SplitAttention &attention) {
  Location loc = attention.getLoc();
  scf::ForallOp whole = attention.forall;
  SmallVector<Value> stacks = createStacks(builder, attention);
  Sizes lower = whole.getMixedLowerBound(), upper = attention.getRows(),
        step = whole.getMixedStep();
  lower.push_back(builder.getIndexAttr(0));
  upper.push_back(builder.getIndexAttr(attention.splits));
  step.push_back(builder.getIndexAttr(1));
  auto nest = scf::ForallOp::create(builder, loc, lower, upper, step, stacks,
                                    std::nullopt);
  SmallVector<Value> ivs(nest.getInductionVars());
  IRMapping mapping;
  mapping.map(whole.getInductionVars(),
              ArrayRef(ivs).drop_back());
  builder.setInsertionPoint(nest.getTerminator());
  for (Operation &op : whole.getBody()->without_terminator())
    if (!isa<NormalizeOp>(op))
      builder.clone(op, mapping);

  NormalizeOp end = attention.normalize;
  auto state = [&](Value value) { return mapping.lookup(value); };
  auto normalize = NormalizeOp::create(
      builder, loc, TypeRange{end.getAcc().getType(), end.getMax().getType()},
      state(end.getAcc()), state(end.getMax()), state(end.getSum()),
      /*sink=*/Value(), end.getScaleAttr());
  Value split = ivs.back();
  tensor::ParallelInsertSliceOp whereTo = getInsert(end, 0);
  builder.setInsertionPointToEnd(nest.getTerminator().getBody());
  for (unsigned i : {0, 1}) {
    auto [offsets, sizes] = getPlace(builder, whereTo, split,
                                     builder.getIndexAttr(1), /*isLse=*/i == 1);
    for (Sizes *values : {&offsets, &sizes})
      for (OpFoldResult &value : *values)
        if (auto own = dyn_cast<Value>(value))
          value = mapping.lookupOrDefault(own);
    Sizes strides(offsets.size(), builder.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(builder, loc, normalize.getResult(i),
                                          nest.getRegionIterArgs()[i], offsets,
                                          sizes, strides);
  }
  if (failed(cutKeyLoops(normalize, split, attention.splits)))
    return failure();
  return nest;
}

/// Makes the nest of `attention` merge what `partial` gives.
static void mergePartials(OpBuilder &builder, const SplitAttention &attention,
                          scf::ForallOp partial) {
  Location loc = attention.getLoc();
  NormalizeOp end = attention.normalize;
  builder.setInsertionPoint(end);
  tensor::ParallelInsertSliceOp whereTo = getInsert(end, 0);
  SmallVector<Value> parts;
  for (auto [i, stack] : llvm::enumerate(partial.getResults())) {
    auto [offsets, sizes] = getPlace(
        builder, whereTo, builder.getIndexAttr(0),
        builder.getIndexAttr(attention.splits), /*isLse=*/i == 1);
    Sizes strides(offsets.size(), builder.getIndexAttr(1));
    parts.push_back(tensor::ExtractSliceOp::create(builder, loc, stack, offsets,
                                                   sizes, strides));
  }
  auto merge =
      MergeOp::create(builder, loc, end.getOutput().getType(),
                      end.getMax().getType(), parts[0], parts[1],
                      end.getSink());
  end.getOutput().replaceAllUsesWith(merge.getOutput());
  if (end.getLse())
    end.getLse().replaceAllUsesWith(merge.getLse());
  eraseWithProducers(end);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The attention that `normalize` ends, if its schedule splits the keys.
static FailureOr<std::optional<SplitAttention>>
getSplitAttention(NormalizeOp normalize) {
  KeyLoops keys = getKeyLoops(getFinalState(normalize));
  OnlineAttentionOp step =
      keys.loops.empty() ? OnlineAttentionOp() : getStep(keys.loops.front());
  if (!step || !step.getSchedule() ||
      step.getSchedule()->getKind() != "split_kv")
    return std::optional<SplitAttention>();
  auto forall = dyn_cast<scf::ForallOp>(normalize->getParentOp());
  if (!forall || forall.getRank() != 3 || !getInsert(normalize, 0))
    return normalize.emitOpError()
           << "expected an attention in normal form tiled, to split its keys";
  int64_t splits = step.getSchedule()->getSplits();
  if (splits < 2)
    return step.emitOpError()
           << "expected splits of at least 2 with kind = \"split_kv\", got "
           << splits;
  return std::optional(SplitAttention{forall, normalize, splits});
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
      FailureOr<scf::ForallOp> partial =
          createPartialNest(builder, **attention);
      if (failed(partial))
        return signalPassFailure();
      mergePartials(builder, **attention, *partial);
      ++numSplit;
    }
  }
};
} // namespace
