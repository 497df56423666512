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

#include "Backward.h"
#include "OnlineStep.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/ScatterBuilder.h"
#include "attn/Dialect/Attn/IR/SinkBuilder.h"

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

/// select(condition == `special`, `ifSpecial`, value)
static Value selectIfEqual(OpBuilder &b, Location l, Value condition,
                           double special, double ifSpecial, Value value) {
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(b, l,
                                     b.getFloatAttr(value.getType(), number));
  };
  Value isSpecial = arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ,
                                          condition, constant(special));
  return arith::SelectOp::create(b, l, isSpecial, constant(ifSpecial), value);
}

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// `scale * acc / sum`, and 0 in rows whose sum is 0.
static Value emitOutput(OpBuilder &builder, Location loc,
                        const OnlineState &state, double scale,
                        RankedTensorType type) {
  return elementwise(
      builder, loc, {state.acc, state.sum}, type,
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value quotient = arith::DivFOp::create(b, l, args[0], args[1]);
        auto statistics = cast<FloatType>(quotient.getType());
        if (scale != 1)
          quotient = arith::MulFOp::create(
              b, l, quotient, constantFloat(b, l, statistics, scale));
        Value guarded = selectIfEqual(b, l, args[1], 0, 0, quotient);
        return convertFloat(b, l, guarded,
                            cast<FloatType>(type.getElementType()));
      });
}

/// `max + log(sum)`, which is -inf where the sum is 0.
static Value emitLse(OpBuilder &builder, Location loc, const OnlineState &state,
                     RankedTensorType type) {
  return elementwise(builder, loc, {state.max, state.sum}, type,
                     [&](OpBuilder &b, Location l, ValueRange args) -> Value {
                       Value log = math::LogOp::create(b, l, args[1]);
                       return arith::AddFOp::create(b, l, args[0], log);
                     });
}

/// The state after `sinks`, one for each head.
static OnlineState takeSink(OpBuilder &builder, Location loc,
                            const OnlineState &state, Value sinks) {
  auto type = cast<RankedTensorType>(state.max.getType());
  Value spread =
      linalg::BroadcastOp::create(
          builder, loc, sinks,
          tensor::EmptyOp::create(
              builder, loc, tensor::getMixedSizes(builder, loc, state.max),
              getElementTypeOrSelf(sinks.getType())),
          ArrayRef<int64_t>{kBatch, kSequence})
          .getResults()[0];
  auto map = [&](Value RowState::*part) {
    return elementwise(builder, loc, {state.max, state.sum, spread}, type,
                       [&](OpBuilder &b, Location l, ValueRange args) {
                         Value sink = convertFloat(
                             b, l, args[2], cast<FloatType>(args[0].getType()));
                         return buildSink(b, l, args[0], args[1], sink).*part;
                       });
  };
  Value acc =
      elementwise(builder, loc, {state.acc, map(&RowState::decay)},
                  cast<RankedTensorType>(state.acc.getType()),
                  [](OpBuilder &b, Location l, ValueRange args) -> Value {
                    return arith::MulFOp::create(b, l, args[0], args[1]);
                  });
  return {acc, map(&RowState::max), map(&RowState::sum)};
}

/// Replaces an op with results (output, optional LSE) by the two of `state`
/// after `sinks`, which may be null; `scale` is a factor of the output.
static void replaceByNormalized(PatternRewriter &rewriter, Operation *op,
                                OnlineState state, Value sinks, double scale) {
  Location loc = op->getLoc();
  if (sinks)
    state = takeSink(rewriter, loc, state, sinks);
  auto typeOf = [&](unsigned i) {
    return cast<RankedTensorType>(op->getResult(i).getType());
  };
  SmallVector<Value> results = {
      emitOutput(rewriter, loc, state, scale, typeOf(0))};
  if (op->getNumResults() == 2)
    results.push_back(emitLse(rewriter, loc, state, typeOf(1)));
  rewriter.replaceOp(op, results);
}

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

/// Takes the parts of a stack into `init` [B, Hq, M(, Dv)], one after the
/// other. Operands are [P, B, Hq, M(, Dv)], or [B, Hq, M] for all parts; the
/// last value that the body gets is the element of `init`.
static Value reduceParts(OpBuilder &builder, Location loc, ValueRange operands,
                         Value init, BodyFn body) {
  int64_t rank = cast<ShapedType>(init.getType()).getRank();
  AffineMap all =
      AffineMap::getMultiDimIdentityMap(rank + 1, builder.getContext());
  SmallVector<AffineMap> maps;
  for (Value operand : operands) {
    int64_t own = cast<ShapedType>(operand.getType()).getRank();
    maps.push_back(own == 3 ? all.getSliceMap(1, 3) : all.getMajorSubMap(own));
  }
  maps.push_back(all.getMinorSubMap(rank));
  SmallVector<utils::IteratorType> iterators(rank + 1,
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), operands,
             ValueRange(init), maps, iterators,
             [&](OpBuilder &b, Location l, ValueRange args) {
               linalg::YieldOp::create(b, l, body(b, l, args));
             })
      .getResult(0);
}

/// A stack of one part, unless `part` is a stack.
static Value getStack(OpBuilder &builder, Location loc, Value part,
                      int64_t rank) {
  auto type = cast<RankedTensorType>(part.getType());
  if (type.getRank() == rank)
    return part;
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> dims = {{0, 1}};
  for (int64_t dim = 2; dim < rank; ++dim)
    dims.push_back({dim});
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), part,
                                       dims);
}

/// exp(part - max) * number, and 0 where `part` is -inf, whatever `number` is.
static Value emitWeighted(OpBuilder &b, Location l, Value part, Value max,
                          Value number) {
  Value shifted = arith::SubFOp::create(b, l, part, max);
  Value weight = math::ExpOp::create(b, l, shifted);
  return selectIfEqual(b, l, part, -infinity, 0,
                       arith::MulFOp::create(b, l, weight, number));
}

namespace {
/// States over disjoint sets of keys: acc [P, B, Hq, M, Dv], max and sum
/// [P, B, Hq, M]; a null sum is 1 everywhere.
struct StateStack {
  Value acc, max, sum;
};
} // namespace

/// The state over the keys of all `stacks`: see attn.combine.
static OnlineState emitCombined(OpBuilder &builder, Location loc,
                                ArrayRef<StateStack> stacks) {
  FloatType type = elementTypeOf(stacks.front().max);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, stacks.front().acc);
  ArrayRef<OpFoldResult> accSizes = ArrayRef(sizes).drop_front();
  ArrayRef<OpFoldResult> rows = accSizes.drop_back();
  Value zero = constantFloat(builder, loc, type, 0);
  OnlineState state = {
      filled(builder, loc, accSizes, zero),
      filled(builder, loc, rows, negativeInfinity(builder, loc, type)),
      filled(builder, loc, rows, zero)};
  for (const StateStack &stack : stacks)
    state.max =
        reduceParts(builder, loc, stack.max, state.max,
                    [](OpBuilder &b, Location l, ValueRange args) -> Value {
                      return arith::MaximumFOp::create(b, l, args[0], args[1]);
                    });
  // Operands: max_p, max, then what is weighed if it is not 1.
  auto add = [&](OpBuilder &b, Location l, ValueRange args) -> Value {
    Value number = args.size() == 4 ? convertFloat(b, l, args[2], type)
                                    : constantFloat(b, l, type, 1);
    Value weighted = emitWeighted(b, l, args[0], args[1], number);
    return arith::AddFOp::create(b, l, args.back(), weighted);
  };
  for (const StateStack &stack : stacks) {
    SmallVector<Value> operands = {stack.max, state.max};
    if (stack.sum)
      operands.push_back(stack.sum);
    state.sum = reduceParts(builder, loc, operands, state.sum, add);
    state.acc = reduceParts(builder, loc, {stack.max, state.max, stack.acc},
                            state.acc, add);
  }
  return state;
}

/// Each part is a state of one score, its LSE, with its output as the value.
static OnlineState emitMergedState(OpBuilder &builder, MergeOp op) {
  SmallVector<StateStack> stacks;
  for (auto [output, lse] : llvm::zip_equal(op.getOutputs(), op.getLses()))
    stacks.push_back({getStack(builder, op.getLoc(), output, 5),
                      getStack(builder, op.getLoc(), lse, 4), Value()});
  return emitCombined(builder, op.getLoc(), stacks);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    ScoreInputs inputs = ScoreInputs::get(op);
    OnlineState state =
        emitOnlineStep(rewriter, op.getLoc(), inputs, std::nullopt);
    replaceByNormalized(rewriter, op, state, op.getSink(),
                        inputs.dropout ? inputs.dropout->getScale() : 1);
    return success();
  }
};

struct ConvertOnlineAttention : OpRewritePattern<OnlineAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(OnlineAttentionOp op,
                                PatternRewriter &rewriter) const override {
    ScoreInputs inputs = ScoreInputs::get(op);
    llvm::append_range(inputs.offsets, op.getOffsets());
    OnlineState state =
        emitOnlineStep(rewriter, op.getLoc(), inputs,
                       OnlineState{op.getAcc(), op.getMax(), op.getSum()});
    rewriter.replaceOp(op, {state.acc, state.max, state.sum});
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

struct ConvertNormalize : OpRewritePattern<NormalizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormalizeOp op,
                                PatternRewriter &rewriter) const override {
    replaceByNormalized(rewriter, op, {op.getAcc(), op.getMax(), op.getSum()},
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
    OnlineState state =
        emitCombined(rewriter, op.getLoc(),
                     StateStack{op.getAcc(), op.getMax(), op.getSum()});
    rewriter.replaceOp(op, {state.acc, state.max, state.sum});
    return success();
  }
};

struct ConvertMerge : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MergeOp op,
                                PatternRewriter &rewriter) const override {
    replaceByNormalized(rewriter, op, emitMergedState(rewriter, op),
                        op.getSink(), /*scale=*/1);
    return success();
  }
};
} // namespace

void attn::populateAttnToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertAttention, ConvertOnlineAttention, ConvertBackward,
               ConvertBackwardDelta, ConvertBackwardScatter,
               ConvertBackwardStep, ConvertBackwardSum, ConvertNormalize,
               ConvertRepair, ConvertCombine, ConvertMerge>(
      patterns.getContext());
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAttnToLinalgPass
    : public attn::impl::ConvertAttnToLinalgBase<ConvertAttnToLinalgPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (isa<AttentionOp, OnlineAttentionOp, AttentionBackwardOp,
              BackwardDeltaOp, BackwardScatterOp, BackwardStepOp, BackwardSumOp,
              NormalizeOp, RepairOp, CombineOp, MergeOp>(op))
        ++numConverted;
    });
    RewritePatternSet patterns(&getContext());
    populateAttnToLinalgPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
