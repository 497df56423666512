//===- AttnToLinalg.cpp - Attention as plain, unfused linalg --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass --convert-attn-to-linalg.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "Append.h"
#include "Backward.h"
#include "Heads.h"
#include "LinearAttention.h"
#include "OnlineStep.h"
#include "Outputs.h"
#include "Paged.h"
#include "Partials.h"
#include "Ragged.h"
#include "RowOps.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Utils/DequantizeBackward.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/LengthBuilder.h"
#include "attn/Dialect/Attn/Utils/ProbMod.h"
#include "attn/Dialect/Attn/Utils/ScatterBuilder.h"
#include "attn/Dialect/Attn/Utils/SinkBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOLINALG
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using BodyFn = function_ref<Value(OpBuilder &, Location, ValueRange)>;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// An elementwise linalg.generic over [B, Hq, M(, Dv)] that gives `result`;
/// operands of rank 3 are broadcast along the head dimension. Sizes are those
/// of the first operand.
static Value elementwise(OpBuilder &builder, Location loc, ValueRange operands,
                         RankedTensorType result, BodyFn body) {
  int64_t rank = result.getRank();
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(rank, builder.getContext());
  SmallVector<AffineMap> maps;
  for (Value operand : operands)
    maps.push_back(
        identity.getMajorSubMap(cast<ShapedType>(operand.getType()).getRank()));
  maps.push_back(identity);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, operands.front()),
      result.getElementType());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, loc, TypeRange(init.getType()), operands, ValueRange(init), maps,
      iterators, [&](OpBuilder &b, Location l, ValueRange args) {
        linalg::YieldOp::create(b, l, body(b, l, args.drop_back()));
      });
  Value value = op.getResult(0);
  if (value.getType() != result)
    value = tensor::CastOp::create(builder, loc, result, value);
  return value;
}

static FloatType elementTypeOf(Value tensor) {
  return cast<FloatType>(getElementTypeOrSelf(tensor.getType()));
}

/// `scale * acc`, divided as `reduction` says, and 0 in rows where the divisor
/// is 0.
static Value emitOutput(OpBuilder &builder, Location loc,
                        RowReductionInterface reduction,
                        const RunningState &state, double scale,
                        RankedTensorType type) {
  return elementwise(
      builder, loc, state.getValues(), type,
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value output = args[0];
        Value divisor = reduction.buildDivisor(b, l, args.drop_front());
        if (divisor)
          output = arith::DivFOp::create(b, l, output, divisor);
        auto statistics = cast<FloatType>(output.getType());
        if (scale != 1)
          output = arith::MulFOp::create(
              b, l, output, constantFloat(b, l, statistics, scale));
        if (divisor)
          output = selectIfEqual(b, l, divisor, 0, 0, output);
        return convertFloat(b, l, output,
                            cast<FloatType>(type.getElementType()));
      });
}

/// `max + log(sum)`, which is -inf where the sum is 0.
static Value emitLse(OpBuilder &builder, Location loc,
                     const RunningState &state, RankedTensorType type) {
  return elementwise(builder, loc, state.getRows(), type,
                     [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                       Value log = math::LogOp::create(b, l, args[1]);
                       return arith::AddFOp::create(b, l, args[0], log);
                     });
}

/// The state after `sinks`, one for each head.
static RunningState takeSink(OpBuilder &builder, Location loc,
                             RunningState state, Value sinks) {
  Value max = state.get(RowRole::Maximum), sum = state.get(RowRole::Sum);
  auto type = cast<RankedTensorType>(max.getType());
  Value spread = linalg::BroadcastOp::create(
                     builder, loc, sinks,
                     tensor::EmptyOp::create(
                         builder, loc, tensor::getMixedSizes(builder, loc, max),
                         getElementTypeOrSelf(sinks.getType())),
                     ArrayRef<int64_t>{kBatch, kSequence})
                     .getResults()[0];
  auto map = [&](Value RowState::*part) {
    return elementwise(builder, loc, {max, sum, spread}, type,
                       [&](OpBuilder &b, Location l, ValueRange args) {
                         Value sink = convertFloat(
                             b, l, args[2], cast<FloatType>(args[0].getType()));
                         return buildSink(b, l, args[0], args[1], sink).*part;
                       });
  };
  Value acc = state.getAcc();
  state.setAcc(
      elementwise(builder, loc, {acc, map(&RowState::decay)},
                  cast<RankedTensorType>(acc.getType()),
                  [](OpBuilder &b, Location l, ValueRange args) -> Value {
                    return arith::MulFOp::create(b, l, args[0], args[1]);
                  }));
  state.set(RowRole::Maximum, map(&RowState::max));
  state.set(RowRole::Sum, map(&RowState::sum));
  return state;
}

/// The state, whose accumulator is the sum of values that are stored divided
/// by `descale`.
static RunningState applyDescale(OpBuilder &builder, Location loc,
                                 RunningState state, Value descale) {
  Value acc = state.getAcc();
  Value group =
      getGroupSize(builder, loc, descale, getDim(builder, loc, acc, kHead));
  state.setAcc(elementwise(
      builder, loc, {acc}, cast<RankedTensorType>(acc.getType()),
      [&](OpBuilder &b, Location l, ValueRange args) -> Value {
        Value batch = linalg::IndexOp::create(b, l, kBatch);
        Value head = linalg::IndexOp::create(b, l, kHead);
        Value factor = readDescale(b, l, descale, batch, head, group);
        return arith::MulFOp::create(
            b, l, args[0],
            convertFloat(b, l, factor, cast<FloatType>(args[0].getType())));
      }));
  return state;
}

/// Replaces an op with results (output, optional LSE) by the two of `state`
/// after `sinks`, which may be null; `scale` is a factor of the output.
static void replaceByNormalized(PatternRewriter &rewriter, Operation *op,
                                RowReductionInterface reduction,
                                RunningState state, Value sinks, double scale) {
  Location loc = op->getLoc();
  if (sinks)
    state = takeSink(rewriter, loc, state, sinks);
  auto typeOf = [&](unsigned i) {
    return cast<RankedTensorType>(op->getResult(i).getType());
  };
  SmallVector<Value> results = {
      emitOutput(rewriter, loc, reduction, state, scale, typeOf(0))};
  if (op->getNumResults() == 2)
    results.push_back(emitLse(rewriter, loc, state, typeOf(1)));
  rewriter.replaceOp(op, results);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    // The step asks its mask before it takes anything of a key.
    rewriter.modifyOpInPlace(op, [&] {
      resolveLengths(rewriter, op);
      scaleScores(op);
      if (Value lengths = op.getQueryLengths())
        hideBehind(rewriter, op.getLoc(), op.getMaskMod(), Sequence::query,
                   lengths);
      if (Value lengths = op.getKeyLengths())
        hideBehind(rewriter, op.getLoc(), op.getMaskMod(), Sequence::key,
                   lengths);
    });
    ScoreInputs inputs = ScoreInputs::get(op);
    RunningState state =
        emitOnlineStep(rewriter, op.getLoc(), inputs, std::nullopt);
    if (Value descale = op.getDescaleOf(2))
      state = applyDescale(rewriter, op.getLoc(), state, descale);
    replaceByNormalized(rewriter, op, op.getNormalization(), state,
                        op.getSink(),
                        inputs.dropout ? inputs.dropout->getScale() : 1);
    return success();
  }
};

struct ConvertOnlineAttention : OpRewritePattern<OnlineAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(OnlineAttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (Value lengths = op.getKeyLengths())
      rewriter.modifyOpInPlace(op, [&] {
        hideBehind(rewriter, op.getLoc(), op.getMaskMod(), Sequence::key,
                   lengths);
      });
    ScoreInputs inputs = ScoreInputs::get(op);
    llvm::append_range(inputs.offsets, op.getOffsets());
    if (op.hasProbMod())
      inputs.probMod = &op.getProbMod();
    RunningState state =
        emitOnlineStep(rewriter, op.getLoc(), inputs, op.getState());
    rewriter.replaceOp(op, state.getValues());
    return success();
  }
};

/// An op that is replaced by what `emit` gives.
template <typename OpTy, auto emit>
struct ConvertTo : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emit(rewriter, op));
    return success();
  }
};
using ConvertBackward = ConvertTo<AttentionBackwardOp, emitBackward>;
using ConvertBackwardDelta = ConvertTo<BackwardDeltaOp, emitBackwardDelta>;
using ConvertBackwardScatter = ConvertTo<BackwardScatterOp, buildScatter>;
using ConvertBackwardStep = ConvertTo<BackwardStepOp, emitBackwardStep>;
using ConvertBackwardSum = ConvertTo<BackwardSumOp, emitBackwardSum>;

struct ConvertLinear : OpRewritePattern<LinearAttentionOp> {
  ConvertLinear(MLIRContext *context, bool roundFactors)
      : OpRewritePattern(context), roundFactors(roundFactors) {}

  LogicalResult matchAndRewrite(LinearAttentionOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitLinearAttention(rewriter, op, roundFactors));
    return success();
  }

  bool roundFactors;
};

struct ConvertNormalize : OpRewritePattern<NormalizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormalizeOp op,
                                PatternRewriter &rewriter) const override {
    RunningState state = op.getState();
    if (Value descale = op.getDescale())
      state = applyDescale(rewriter, op.getLoc(), state, descale);
    replaceByNormalized(rewriter, op, op.getNormalization(), state,
                        op.getSink(), op.getScaleValue());
    return success();
  }
};

struct ConvertRepair : OpRewritePattern<RepairOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RepairOp op,
                                PatternRewriter &rewriter) const override {
    auto choose = [&](Value own, Value whole) {
      return elementwise(
          rewriter, op.getLoc(), {own, whole, op.getLse()},
          cast<RankedTensorType>(own.getType()),
          [&](OpBuilder &b, Location l, ValueRange args) -> Value {
            Value below = arith::ConstantOp::create(
                b, l,
                b.getFloatAttr(args[2].getType(),
                               op.getBelow().convertToDouble()));
            Value isBelow = arith::CmpFOp::create(
                b, l, arith::CmpFPredicate::OLT, args[2], below);
            return arith::SelectOp::create(b, l, isBelow, args[1], args[0]);
          });
    };
    rewriter.replaceOp(op, {choose(op.getOutput(), op.getWhole()),
                            choose(op.getLse(), op.getWholeLse())});
    return success();
  }
};

struct ConvertCombine : OpRewritePattern<CombineOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CombineOp op,
                                PatternRewriter &rewriter) const override {
    RunningState state =
        emitCombined(rewriter, op.getLoc(), op.getNormalization(),
                     elementTypeOf(op.getAcc()), op.getState());
    rewriter.replaceOp(op, state.getValues());
    return success();
  }
};

struct ConvertMerge : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MergeOp op,
                                PatternRewriter &rewriter) const override {
    replaceByNormalized(rewriter, op, SoftmaxAttr::get(op.getContext()),
                        emitMergedState(rewriter, op), op.getSink(),
                        /*scale=*/1);
    return success();
  }
};
} // namespace

void attn::populateAttnToLinalgPatterns(RewritePatternSet &patterns,
                                        bool roundFactors) {
  patterns.add<ConvertLinear>(patterns.getContext(), roundFactors);
  patterns.add<ConvertAttention, ConvertOnlineAttention, ConvertBackward,
               ConvertBackwardDelta, ConvertBackwardScatter,
               ConvertBackwardStep, ConvertBackwardSum, ConvertNormalize,
               ConvertRepair, ConvertCombine, ConvertMerge,
               ConvertTo<PagedOp, emitPaged>, ConvertTo<AppendOp, emitAppend>,
               ConvertTo<SelectHeadsOp, emitSelectHeads>,
               ConvertTo<SumHeadsOp, emitSumHeads>,
               ConvertTo<RotaryOp, emitRotary>, ConvertTo<QkNormOp, emitQkNorm>,
               ConvertTo<DequantizeOp, emitDequantize>,
               ConvertTo<OutputModOp, emitOutputMod>,
               ConvertTo<RaggedOp, emitRagged>, ConvertTo<PackOp, emitPack>,
               ConvertTo<SequenceLengthsOp, emitSequenceLengths>>(
      patterns.getContext());
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAttnToLinalgPass
    : public attn::impl::ConvertAttnToLinalgBase<ConvertAttnToLinalgPass> {
  using ConvertAttnToLinalgBase::ConvertAttnToLinalgBase;

  void runOnOperation() override {
    decomposeProbMods(getOperation(), /*keepsOfSteps=*/false);
    getOperation()->walk([&](AttentionBackwardOp op) {
      if (isFloat8(op.getQuery().getType()))
        dequantizeBackward(op, Float32Type::get(&getContext()));
    });
    WalkResult steps = getOperation()->walk([](BackwardStepOp op) {
      return failed(verifyDequantized(op)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
    });
    if (steps.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (isa<AttentionOp, OnlineAttentionOp, AttentionBackwardOp,
              BackwardDeltaOp, BackwardScatterOp, BackwardStepOp, BackwardSumOp,
              LinearAttentionOp, NormalizeOp, RepairOp, CombineOp, MergeOp,
              PagedOp, AppendOp, RaggedOp, PackOp, SequenceLengthsOp,
              SelectHeadsOp, SumHeadsOp, OutputModOp, RotaryOp, QkNormOp,
              DequantizeOp>(op))
        ++numConverted;
    });
    RewritePatternSet patterns(&getContext());
    populateAttnToLinalgPatterns(patterns, roundFactors);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
