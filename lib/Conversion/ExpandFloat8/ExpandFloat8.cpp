//===- ExpandFloat8.cpp - 8-bit floats by integers --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass --attn-expand-float8. LLVM has no 8-bit floats: in memory they are
// bytes, and what widens or rounds to them works on their bits (OCP 8-bit
// Floating Point Specification, section 5).
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace attn {
#define GEN_PASS_DEF_EXPANDFLOAT8
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

#include <cmath>

using namespace mlir;

namespace {

/// `element`, or a vector of it as `like` is one.
Type likeType(Type like, Type element) {
  auto shaped = dyn_cast<ShapedType>(like);
  return shaped ? Type(shaped.clone(element)) : element;
}

/// f8E5M2 is the upper byte of an f16. f8E4M3FN has a bit of exponent less and
/// one of fraction more: shifted to the same places it is an f16 that is 2^8
/// too small, but for its one NaN.
class Widener {
public:
  Widener(OpBuilder &builder, arith::ExtFOp op)
      : builder(builder), loc(op.getLoc()), type(op.getIn().getType()),
        bits(bitcast(op.getIn(), builder.getI8Type())) {}

  Value widen(Type element) {
    FloatType wide = builder.getF32Type();
    if (element.isF64())
      wide = builder.getF64Type();
    Value result = isa<Float8E5M2Type>(getElementTypeOrSelf(type))
                       ? widenE5M2(wide)
                       : widenE4M3(wide);
    if (element == wide)
      return result;
    return arith::TruncFOp::create(builder, loc, likeType(type, element),
                                   result);
  }

private:
  Value bitcast(Value value, Type element) {
    return arith::BitcastOp::create(builder, loc,
                                    likeType(value.getType(), element), value);
  }

  Value constant(TypedAttr number) {
    Type result = likeType(type, number.getType());
    if (auto shaped = dyn_cast<ShapedType>(result))
      number = DenseElementsAttr::get(shaped, number);
    return arith::ConstantOp::create(builder, loc, number);
  }

  Value integer(Type element, int64_t number) {
    return constant(builder.getIntegerAttr(element, number));
  }

  /// The f16 whose bits are `halfBits`, an i16.
  Value fromHalf(Value halfBits, FloatType wide) {
    return arith::ExtFOp::create(builder, loc, likeType(type, wide),
                                 bitcast(halfBits, builder.getF16Type()));
  }

  Value widenE5M2(FloatType wide) {
    Type i16 = builder.getI16Type();
    Value word =
        arith::ExtUIOp::create(builder, loc, likeType(type, i16), bits);
    return fromHalf(arith::ShLIOp::create(builder, loc, word, integer(i16, 8)),
                    wide);
  }

  Value widenE4M3(FloatType wide) {
    Type i16 = builder.getI16Type();
    // The sign is extended over the upper byte: a shift leaves it in its place.
    Value word =
        arith::ExtSIOp::create(builder, loc, likeType(type, i16), bits);
    Value shifted = arith::ShLIOp::create(builder, loc, word, integer(i16, 7));
    Value half = arith::AndIOp::create(builder, loc, shifted,
                                       integer(i16, int16_t(0xBF80)));
    Value number = fromHalf(half, wide);
    number = arith::MulFOp::create(builder, loc, number,
                                   constant(builder.getFloatAttr(wide, 256.0)));
    Value magnitude = arith::AndIOp::create(builder, loc, bits,
                                            integer(builder.getI8Type(), 0x7F));
    Value isNaN =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, magnitude,
                              integer(builder.getI8Type(), 0x7F));
    Value nan = constant(
        builder.getFloatAttr(wide, APFloat::getNaN(wide.getFloatSemantics())));
    return arith::SelectOp::create(builder, loc, isNaN, nan, number);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
  Value bits;
};

/// Rounds f32 to nearest, ties to even. The exponent and the fraction of an
/// f32, rounded to those of the 8-bit type and less the difference of their
/// biases, are the byte; a number below the smallest normal one is a multiple
/// of the smallest: a sum with a number whose last bit that is rounds to it.
class Narrower {
public:
  Narrower(OpBuilder &builder, Location loc, Value number, Type to)
      : builder(builder), loc(loc), to(to), number(number) {
    bool isE5M2 = isa<Float8E5M2Type>(getElementTypeOrSelf(to));
    fractionBits = isE5M2 ? 2 : 3;
    bias = isE5M2 ? 15 : 7;
    overflow = isE5M2 ? 0x7C : 0x7F; // infinity, or the NaN of e4m3
  }

  Value narrow() {
    Type i32 = builder.getI32Type();
    Value bits = arith::BitcastOp::create(
        builder, loc, likeType(number.getType(), i32), number);
    Value magnitude = create<arith::AndIOp>(bits, integer(0x7FFFFFFF));
    Value smallest = integer((127 - bias + 1) << 23);
    Value isSmall = isBelow(magnitude, smallest);
    Value small = roundSmall(magnitude);
    Value code = select(isSmall, small, roundNormal(magnitude));
    Value isNaN = isBelow(integer(0x7F800000), magnitude);
    code = select(isNaN, integer(0x7F), code);
    Value sign = create<arith::ShRUIOp>(bits, integer(24));
    sign = create<arith::AndIOp>(sign, integer(0x80));
    Value byte = arith::TruncIOp::create(
        builder, loc, likeType(number.getType(), builder.getI8Type()),
        create<arith::OrIOp>(code, sign));
    return arith::BitcastOp::create(builder, loc, to, byte);
  }

private:
  template <typename OpTy>
  Value create(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  Value isBelow(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value constant(TypedAttr value) {
    Type result = likeType(number.getType(), value.getType());
    if (auto shaped = dyn_cast<ShapedType>(result))
      value = DenseElementsAttr::get(shaped, value);
    return arith::ConstantOp::create(builder, loc, value);
  }
  Value integer(int64_t value) {
    return constant(builder.getI32IntegerAttr(value));
  }

  Value roundNormal(Value magnitude) {
    int64_t dropped = 23 - fractionBits;
    Value last = create<arith::ShRUIOp>(magnitude, integer(dropped));
    last = create<arith::AndIOp>(last, integer(1));
    Value half = integer((int64_t(1) << (dropped - 1)) - 1);
    Value rounded =
        create<arith::AddIOp>(magnitude, create<arith::AddIOp>(half, last));
    Value code = create<arith::ShRUIOp>(rounded, integer(dropped));
    code = create<arith::SubIOp>(code,
                                 integer(int64_t(127 - bias) << fractionBits));
    return create<arith::MinUIOp>(code, integer(overflow));
  }

  Value roundSmall(Value magnitude) {
    // The last bit of 2^e is 2^(e - 23), which is to be the smallest number.
    int64_t exponent = 23 + 1 - bias - fractionBits;
    Type f32 = builder.getF32Type();
    Value real = arith::BitcastOp::create(
        builder, loc, likeType(number.getType(), f32), magnitude);
    Value sum = create<arith::AddFOp>(
        real, constant(builder.getF32FloatAttr(std::ldexp(1.0f, exponent))));
    Value bits = arith::BitcastOp::create(
        builder, loc, likeType(number.getType(), builder.getI32Type()), sum);
    return create<arith::SubIOp>(bits, integer((exponent + 127) << 23));
  }

  OpBuilder &builder;
  Location loc;
  Type to;
  Value number;
  int64_t fractionBits, bias, overflow;
};

struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    if (!isa<Float8E4M3FNType, Float8E5M2Type>(
            getElementTypeOrSelf(op.getType())) ||
        from.isF64())
      return failure();
    Value number = op.getIn();
    if (!from.isF32())
      number = arith::ExtFOp::create(
          rewriter, op.getLoc(),
          likeType(number.getType(), rewriter.getF32Type()), number);
    rewriter.replaceOp(
        op, Narrower(rewriter, op.getLoc(), number, op.getType()).narrow());
    return success();
  }
};

struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<Float8E4M3FNType, Float8E5M2Type>(
            getElementTypeOrSelf(op.getIn().getType())))
      return failure();
    rewriter.replaceOp(
        op, Widener(rewriter, op).widen(getElementTypeOrSelf(op.getType())));
    return success();
  }
};

struct ExpandFloat8Pass
    : public attn::impl::ExpandFloat8Base<ExpandFloat8Pass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtF, ExpandTruncF>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
