//===- AttnFolds.cpp - Canonicalization of the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the op can say by itself moves into it: constant factors into the
// scale; regions and operands without effect go away. Transposes around the op
// fold with each other by linalg's own patterns.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace attn;

/// Rows of a query that kernels which make bytes wider in registers have at
/// once.
static constexpr int64_t kMostDecodedRows = 16;

/// The number that a constant float, or a uniform tensor of it, holds.
static std::optional<double> getUniformFloat(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

/// `x` and `c` of `x * c`.
static std::optional<std::pair<Value, double>> matchScaled(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  if (auto factor = getUniformFloat(product.getRhs()))
    return std::pair(product.getLhs(), *factor);
  if (auto factor = getUniformFloat(product.getLhs()))
    return std::pair(product.getRhs(), *factor);
  return std::nullopt;
}

static void removeRegion(PatternRewriter &rewriter, Region &region) {
  rewriter.eraseBlock(&region.front());
}

namespace {
/// query * c and key * c: c goes into the scale. In f16 and bf16 the product
/// would be rounded; the scale is not.
struct FoldOperandScale : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand *operand : {&op.getQueryMutable(), &op.getKeyMutable()}) {
      auto scaled = matchScaled(operand->get());
      if (!scaled)
        continue;
      double scale = op.getScaleValue() * scaled->second;
      if (!std::isfinite(scale))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        operand->set(scaled->first);
        op.setScaleAttr(rewriter.getF64FloatAttr(scale));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no constant factor on an operand");
  }
};

/// A score_mod that only multiplies by a constant, or does nothing.
struct FoldScoreModScale : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasScoreMod())
      return rewriter.notifyMatchFailure(op, "no score_mod");
    Block &block = op.getScoreMod().front();
    Value score = block.getArgument(0);
    Value result = cast<YieldOp>(block.getTerminator()).getValue();
    double factor = 1;
    if (result != score) {
      auto scaled = matchScaled(result);
      if (!scaled || scaled->first != score || op.getBias())
        return rewriter.notifyMatchFailure(op,
                                           "score_mod is more than a scale");
      factor = scaled->second;
    }
    double scale = op.getScaleValue() * factor;
    if (!std::isfinite(scale))
      return rewriter.notifyMatchFailure(op, "the scale would not be finite");
    rewriter.modifyOpInPlace(op, [&] {
      removeRegion(rewriter, op.getScoreMod());
      op.setScaleAttr(rewriter.getF64FloatAttr(scale));
    });
    return success();
  }
};

/// A mask_mod that is true everywhere.
struct RemoveTrueMask : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasMaskMod())
      return rewriter.notifyMatchFailure(op, "no mask_mod");
    Block &block = op.getMaskMod().front();
    if (!matchPattern(cast<YieldOp>(block.getTerminator()).getValue(), m_One()))
      return rewriter.notifyMatchFailure(op, "mask_mod is not a constant true");
    rewriter.modifyOpInPlace(op,
                             [&] { removeRegion(rewriter, op.getMaskMod()); });
    return success();
  }
};

/// A prob_mod that leaves probabilities as they are.
struct RemoveIdentityProbMod : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasProbMod())
      return rewriter.notifyMatchFailure(op, "no prob_mod");
    Block &block = op.getProbMod().front();
    if (cast<YieldOp>(block.getTerminator()).getValue() != block.getArgument(0))
      return rewriter.notifyMatchFailure(op, "prob_mod is not the identity");
    rewriter.modifyOpInPlace(op,
                             [&] { removeRegion(rewriter, op.getProbMod()); });
    return success();
  }
};

/// A bias that is 0 everywhere.
struct RemoveZeroBias : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getBias() || !matchPattern(op.getBias(), m_AnyZeroFloat()))
      return rewriter.notifyMatchFailure(op, "no bias that is 0");
    rewriter.modifyOpInPlace(op, [&] { op.getBiasMutable().clear(); });
    return success();
  }
};

/// True if the descale of `op`, if there is one, is as attn.attention has it.
static bool isOfKeyHeads(DequantizeOp op) {
  if (!op.getDescale())
    return true;
  auto type = cast<ShapedType>(op.getDescale().getType());
  return type.getRank() == 1 ||
         (!type.isDynamicDim(kHead) &&
          type.getDimSize(kHead) ==
              cast<ShapedType>(op.getSource().getType()).getDimSize(kHead));
}

/// True if rows that exist, or pages, are a cache's, or there are so few
/// queries that each key is made wider as often as it is read.
static bool readsKeysOnce(AttentionOp op, DequantizeOp key) {
  int64_t rows =
      cast<ShapedType>(op.getQuery().getType()).getDimSize(kSequence);
  bool isDecoding = !ShapedType::isDynamic(rows) && rows <= kMostDecodedRows;
  return isDecoding || op.getKeyLengths() || getPages(key.getSource());
}

/// Keys and values that are made wider for a query of 16 bits: the attention
/// reads their bytes.
struct FoldDequantize : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    auto key = op.getKey().getDefiningOp<DequantizeOp>();
    auto value = op.getValue().getDefiningOp<DequantizeOp>();
    if (!key || !value)
      return rewriter.notifyMatchFailure(op, "no keys and values of bytes");
    Type query = getElementTypeOrSelf(op.getQuery().getType());
    Type stored = getElementTypeOrSelf(key.getSource().getType());
    // attention_c20, and what an attention with descales has no clauses for.
    if (!(query.isF16() || query.isBF16()) || !isByte(stored) ||
        stored != getElementTypeOrSelf(value.getSource().getType()) ||
        !readsKeysOnce(op, key) || op.getBias() || op.hasProbMod() ||
        !isOfKeyHeads(key) || !isOfKeyHeads(value) ||
        !key.getDescale() != !value.getDescale())
      return rewriter.notifyMatchFailure(op, "kernels do not read such bytes");
    rewriter.modifyOpInPlace(op, [&] {
      op.getKeyMutable().assign(key.getSource());
      op.getValueMutable().assign(value.getSource());
      if (key.getDescale())
        op.getDescalesMutable().assign({key.getDescale(), value.getDescale()});
    });
    return success();
  }
};

/// Dropout that keeps everything.
template <typename OpTy>
struct RemoveZeroDropout : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getDropoutSeed() || op.getDropoutRateAttr().getValueAsDouble() != 0)
      return rewriter.notifyMatchFailure(op, "no dropout of rate 0");
    rewriter.modifyOpInPlace(op, [&] {
      op.getDropoutSeedMutable().clear();
      op.getDropoutOffsetMutable().clear();
      op.removeDropoutRateAttr();
    });
    return success();
  }
};

/// An LSE that nobody uses.
struct RemoveUnusedLse : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getLse() || !op.getLse().use_empty())
      return rewriter.notifyMatchFailure(op, "no unused lse");
    OperationState state(op.getLoc(), AttentionOp::getOperationName(),
                         op->getOperands(), op.getOutput().getType(),
                         op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    auto smaller = cast<AttentionOp>(rewriter.create(state));
    rewriter.replaceAllUsesWith(op.getOutput(), smaller.getOutput());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<FoldDequantize, FoldOperandScale, FoldScoreModScale,
               RemoveIdentityProbMod, RemoveTrueMask, RemoveUnusedLse,
               RemoveZeroBias, RemoveZeroDropout<AttentionOp>>(context);
}

void AttentionBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<RemoveZeroDropout<AttentionBackwardOp>>(context);
}
