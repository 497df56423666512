//===- ExpandMath.cpp - Functions that no unit computes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32 functions without an approximation in hardware, by those that have one
// and by upstream's expansions and polynomials.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

using namespace mlir;
using namespace attn::tile;

/// Of upstream, by other functions.
static constexpr StringRef kExpanded[] = {
    "acosh", "asinh", "atanh", "cosh", "fpowi", "powf", "round", "sinh", "tan"};
/// Of upstream, by polynomials and such.
static constexpr StringRef kApproximated[] = {
    "math.acos", "math.asin", "math.atan",  "math.atan2", "math.cbrt",
    "math.erf",  "math.erfc", "math.expm1", "math.log1p"};

static bool isApproximated(StringRef name) {
  return llvm::is_contained(kApproximated, name);
}

static bool isExpanded(Operation *op) {
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
      !op->getOperand(0).getType().isF32())
    return false;
  StringRef name = op->getName().getStringRef();
  return isa<math::ClampFOp, math::CopySignOp, math::IsFiniteOp, math::IsNaNOp,
             math::Log10Op>(op) ||
         isApproximated(name) ||
         llvm::is_contained(kExpanded, op->getName().stripDialect());
}

namespace {
/// log10 x = log2 x * log10 2
struct Log10Expansion : public OpRewritePattern<math::Log10Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Log10Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    constexpr float kLog10Of2 = 0.30103f;
    Value factor = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getF32FloatAttr(kLog10Of2));
    Value log2 = math::Log2Op::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, log2, factor);
    return success();
  }
};

/// Upstream's expansion takes the bounds for each other.
struct ClampExpansion : public OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value lower = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                            op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, lower, op.getMax());
    return success();
  }
};

/// A test of |x| beside infinity.
template <typename OpTy, arith::CmpFPredicate predicate>
struct TestExpansion : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getOperand().getType().isF32())
      return failure();
    Location loc = op.getLoc();
    Value size = math::AbsFOp::create(rewriter, loc, op.getOperand());
    Value infinity = arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getF32FloatAttr(std::numeric_limits<float>::infinity()));
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(op, predicate, size, infinity);
    return success();
  }
};
using IsFiniteExpansion =
    TestExpansion<math::IsFiniteOp, arith::CmpFPredicate::OLT>;
using IsNaNExpansion = TestExpansion<math::IsNaNOp, arith::CmpFPredicate::UNO>;

/// All bits but the sign of one, and that of the other.
struct CopySignExpansion : public OpRewritePattern<math::CopySignOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::CopySignOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    auto select = [&](Value number, uint32_t mask) -> Value {
      Value bits = arith::BitcastOp::create(rewriter, loc,
                                            rewriter.getI32Type(), number);
      Value selected = arith::ConstantIntOp::create(rewriter, loc, mask, 32);
      return arith::AndIOp::create(rewriter, loc, bits, selected);
    };
    Value bits = select(op.getLhs(), 0x7fffffff);
    bits = arith::OrIOp::create(rewriter, loc, bits,
                                select(op.getRhs(), 0x80000000));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};
} // namespace

LogicalResult attn::tile::expandMath(KernelOp kernel) {
  WalkResult found = kernel.walk([](Operation *op) {
    return isExpanded(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  RewritePatternSet patterns(kernel.getContext());
  math::populateExpansionPatterns(patterns, kExpanded);
  populateMathPolynomialApproximationPatterns(patterns, isApproximated);
  patterns.add<ClampExpansion, CopySignExpansion, IsFiniteExpansion,
               IsNaNExpansion, Log10Expansion>(kernel.getContext());
  GreedyRewriteConfig config;
  config.enableFolding(false);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(kernel, std::move(patterns), config);
}
