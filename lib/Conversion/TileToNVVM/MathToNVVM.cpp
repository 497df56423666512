//===- MathToNVVM.cpp - Scalar functions on the special function units -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32 math ops by the SFU's approximations (PTX ISA, "Floating Point
// Instructions": ex2.approx, lg2.approx, rcp.approx, ...). Their error is far
// below that of a 16-bit result. What has no such instruction is expanded first
// (ExpandMath.cpp), or reported by the pass.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::tile;

/// 2^f = sum of kExp2[i] f^i for |f| <= 1/2, to 9.2e-8: the minimax polynomial
/// that is 1 at 0. FlashAttention-4's has degree 3, and 8.8e-5, which shows in
/// LSE.
static constexpr float kExp2[] = {1.0f,         0.693147f,   0.24022242f,
                                  0.055507336f, 0.00967151f, 0.0013264727f};
static constexpr int kExp2Degree = std::size(kExp2) - 1;

/// tanh x = x + x z (sum of kTanh[i] z^i), z = x^2, for |x| < kTanhSmall
/// (Cephes' tanhf, S. Moshier, 1992).
static constexpr float kTanh[] = {-3.33332819422e-1f, 1.33314422036e-1f,
                                  -5.37397155531e-2f, 2.06390887954e-2f,
                                  -5.70498872745e-3f};
static constexpr float kTanhSmall = 0.625f;

namespace {

Value constant(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

/// Calls an LLVM intrinsic f32 -> f32.
Value call(OpBuilder &builder, Location loc, StringRef intrinsic,
           ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(builder, loc, builder.getF32Type(),
                                       builder.getStringAttr(intrinsic),
                                       arguments)
      .getResult(0);
}

Value buildExp2(OpBuilder &builder, Location loc, Value x) {
  return call(builder, loc, "llvm.nvvm.ex2.approx.ftz.f32", x);
}

/// A unary math op on f32 that becomes `build(x)`.
template <typename OpTy>
struct UnaryLowering : public OpRewritePattern<OpTy> {
  using Build = Value (*)(OpBuilder &, Location, Value);
  UnaryLowering(MLIRContext *context, Build build)
      : OpRewritePattern<OpTy>(context), build(build) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not a scalar f32");
    rewriter.replaceOp(op, build(rewriter, op.getLoc(), op.getOperand()));
    return success();
  }

  Build build;
};

Value buildExp(OpBuilder &builder, Location loc, Value x) {
  Value log2e = constant(builder, loc, llvm::numbers::log2ef);
  return buildExp2(builder, loc, arith::MulFOp::create(builder, loc, x, log2e));
}

Value buildLog2(OpBuilder &builder, Location loc, Value x) {
  return call(builder, loc, "llvm.nvvm.lg2.approx.f", x);
}

Value buildLog(OpBuilder &builder, Location loc, Value x) {
  Value ln2 = constant(builder, loc, llvm::numbers::ln2f);
  return arith::MulFOp::create(builder, loc, buildLog2(builder, loc, x), ln2);
}

Value buildSmallTanh(OpBuilder &builder, Location loc, Value x) {
  Value z = arith::MulFOp::create(builder, loc, x, x);
  Value sum = constant(builder, loc, *std::rbegin(kTanh));
  for (float factor : llvm::drop_begin(llvm::reverse(kTanh)))
    sum = math::FmaOp::create(builder, loc, sum, z,
                              constant(builder, loc, factor));
  Value cube = arith::MulFOp::create(builder, loc, z, x);
  return math::FmaOp::create(builder, loc, cube, sum, x);
}

/// tanh |x| = 1 - 2 / (exp(2|x|) + 1): absolute error about 6e-8, where
/// tanh.approx has 5e-4, too much for a soft cap of 50. Of x below 0 the
/// quotient would be near 1, and what it lacks there is the derivative, 1 -
/// tanh^2. Small x, the most frequent scores under a cap, would lose their last
/// digits, which shows in LSE: they take a polynomial, whose instructions hide
/// behind those of the SFU.
Value buildTanh(OpBuilder &builder, Location loc, Value x) {
  Value factor = constant(builder, loc, 2 * llvm::numbers::log2ef);
  Value size = LLVM::FAbsOp::create(builder, loc, x);
  Value power = buildExp2(builder, loc,
                          arith::MulFOp::create(builder, loc, size, factor));
  Value one = constant(builder, loc, 1.0f);
  Value sum = arith::AddFOp::create(builder, loc, power, one);
  Value reciprocal = call(builder, loc, "llvm.nvvm.rcp.approx.ftz.f", sum);
  Value large = math::FmaOp::create(builder, loc, constant(builder, loc, -2.0f),
                                    reciprocal, one);
  large = LLVM::CopySignOp::create(builder, loc, large, x);
  Value isSmall =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, size,
                            constant(builder, loc, kTanhSmall));
  return arith::SelectOp::create(builder, loc, isSmall,
                                 buildSmallTanh(builder, loc, x), large);
}

Value buildRsqrt(OpBuilder &builder, Location loc, Value x) {
  return call(builder, loc, "llvm.nvvm.rsqrt.approx.f", x);
}

Value buildSqrt(OpBuilder &builder, Location loc, Value x) {
  return call(builder, loc, "llvm.nvvm.sqrt.rn.f", x);
}

Value buildSin(OpBuilder &builder, Location loc, Value x) {
  return call(builder, loc, "llvm.nvvm.sin.approx.f", x);
}

Value buildCos(OpBuilder &builder, Location loc, Value x) {
  return call(builder, loc, "llvm.nvvm.cos.approx.f", x);
}

Value buildAbs(OpBuilder &builder, Location loc, Value x) {
  return LLVM::FAbsOp::create(builder, loc, x);
}

/// Only between conversions does PTX round to an integer: cvt.rpi.
Value buildRoundEven(OpBuilder &builder, Location loc, Value x) {
  return LLVM::RoundEvenOp::create(builder, loc, x);
}

Value buildTrunc(OpBuilder &builder, Location loc, Value x) {
  return LLVM::FTruncOp::create(builder, loc, x);
}

Value buildFloor(OpBuilder &builder, Location loc, Value x) {
  return LLVM::FFloorOp::create(builder, loc, x);
}

Value buildCeil(OpBuilder &builder, Location loc, Value x) {
  return LLVM::FCeilOp::create(builder, loc, x);
}

struct FmaLowering : public OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not a scalar f32");
    rewriter.replaceOpWithNewOp<LLVM::FMAOp>(op, op.getA(), op.getB(),
                                             op.getC());
    return success();
  }
};

struct AbsILowering : public OpRewritePattern<math::AbsIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::AbsIOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::AbsOp>(op, op.getType(), op.getOperand(),
                                             /*is_int_min_poison=*/false);
    return success();
  }
};

struct CtPopLowering : public OpRewritePattern<math::CtPopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::CtPopOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::CtPopOp>(op, op.getType(),
                                               op.getOperand());
    return success();
  }
};

} // namespace

/// x = n + f with an integer n and |f| <= 1/2; 2^f by a polynomial, 2^n by its
/// exponent bits, which are 0 for n = -127.
Value attn::tile::buildExp2OnFma(OpBuilder &builder, Location loc, Value x) {
  auto number = [&](float value) { return constant(builder, loc, value); };
  auto multiplyAdd = [&](Value a, Value b, float c) -> Value {
    return math::FmaOp::create(builder, loc, a, b, number(c));
  };
  // Adding 1.5 * 2^23 rounds to an integer, which the lowest bits then hold.
  constexpr float shift = 12582912.0f;
  x = arith::MaximumFOp::create(builder, loc, x, number(-127.0f));
  Value shifted = arith::AddFOp::create(builder, loc, x, number(shift));
  Value n = arith::SubFOp::create(builder, loc, shifted, number(shift));
  Value f = arith::SubFOp::create(builder, loc, x, n);
  Value power = number(kExp2[kExp2Degree]);
  for (int degree = kExp2Degree - 1; degree >= 0; --degree)
    power = multiplyAdd(power, f, kExp2[degree]);
  IndexBuilder index(builder, loc);
  Value bits =
      LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), shifted);
  bits = LLVM::ShlOp::create(builder, loc, bits, index.i32(23));
  bits = index.add(bits, 127 << 23);
  Value scale =
      LLVM::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
  return arith::MulFOp::create(builder, loc, power, scale);
}

void attn::tile::populateMathToNVVMPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<UnaryLowering<math::Exp2Op>>(context, buildExp2);
  patterns.add<UnaryLowering<math::ExpOp>>(context, buildExp);
  patterns.add<UnaryLowering<math::Log2Op>>(context, buildLog2);
  patterns.add<UnaryLowering<math::LogOp>>(context, buildLog);
  patterns.add<UnaryLowering<math::TanhOp>>(context, buildTanh);
  patterns.add<UnaryLowering<math::RsqrtOp>>(context, buildRsqrt);
  patterns.add<UnaryLowering<math::SqrtOp>>(context, buildSqrt);
  patterns.add<UnaryLowering<math::SinOp>>(context, buildSin);
  patterns.add<UnaryLowering<math::CosOp>>(context, buildCos);
  patterns.add<UnaryLowering<math::AbsFOp>>(context, buildAbs);
  patterns.add<UnaryLowering<math::CeilOp>>(context, buildCeil);
  patterns.add<UnaryLowering<math::FloorOp>>(context, buildFloor);
  patterns.add<UnaryLowering<math::RoundEvenOp>>(context, buildRoundEven);
  patterns.add<UnaryLowering<math::TruncOp>>(context, buildTrunc);
  patterns.add<AbsILowering, CtPopLowering, FmaLowering>(context);
}
