//===- ExpandFloat8.cpp - 8-bit floats by integers --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass --attn-expand-float8. LLVM has no 8-bit floats: in memory they are
// bytes, and what widens them works on their bits (OCP 8-bit Floating Point
// Specification, section 5).
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
    Value number =
        arith::MulFOp::create(builder, loc, fromHalf(half, wide),
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
    patterns.add<ExpandExtF>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
