//===- IndexSpaceTest.cpp - Index expressions keep their values -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Elements/IndexSpace.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using attn::raise::IndexSpace;

/// The value of `expr` at the variables `dims`.
static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), dims);
  int64_t rhs = evaluate(binary.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(lhs, rhs);
  case AffineExprKind::Mod:
    return llvm::mod(lhs, rhs);
  default:
    llvm_unreachable("expected an operation of index expressions");
  }
}

namespace {
/// Two variables, i in [0, 5) and j in [0, 7).
class IndexSpaceTest : public testing::Test {
protected:
  IndexSpaceTest()
      : space(&context), i(space.addVariable(space.constant(5), false)),
        j(space.addVariable(space.constant(7), false)) {}

  AffineExpr constant(int64_t value) { return space.constant(value); }
  /// Holds the simplified expression, and what is said of its sign, against
  /// `expr` at every position.
  void expectSame(AffineExpr expr);
  AffineExpr makeRandom(std::mt19937 &random, int depth);

  MLIRContext context;
  IndexSpace space;
  AffineExpr i, j;
};
} // namespace

void IndexSpaceTest::expectSame(AffineExpr expr) {
  AffineExpr simple = space.simplify(expr);
  std::optional<int64_t> low = space.getLowerBound(expr);
  for (int64_t row = 0; row < 5; ++row)
    for (int64_t key = 0; key < 7; ++key) {
      int64_t value = evaluate(expr, {row, key});
      std::string text;
      llvm::raw_string_ostream(text) << expr << " as " << simple;
      ASSERT_EQ(evaluate(simple, {row, key}), value)
          << text << " at " << row << ", " << key;
      if (low) {
        ASSERT_GE(value, *low) << text << " at " << row << ", " << key;
      }
    }
}

AffineExpr IndexSpaceTest::makeRandom(std::mt19937 &random, int depth) {
  auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  if (depth == 0)
    return i * draw(-15, 15) + j * draw(-15, 15) + draw(-20, 20);
  AffineExpr inner = makeRandom(random, depth - 1);
  int64_t divisor = draw(1, 14);
  switch (draw(0, 3)) {
  case 0:
    return inner.floorDiv(divisor) * draw(-3, 3) + i;
  case 1:
    return inner % divisor + j * draw(-2, 2);
  case 2: // taken apart and put together
    return (inner.floorDiv(divisor) + draw(0, 2)) * divisor + inner % divisor;
  default:
    return inner + makeRandom(random, depth - 1);
  }
}

TEST_F(IndexSpaceTest, RelativeShift) {
  // Pad 9 columns by one, view 5 x 10 as 10 x 5, drop a row, view as 5 x 9.
  AffineExpr number = i * 9 + j;
  AffineExpr padded =
      (number.floorDiv(5) + 1) * 5 + number % 5; // the number in 5 x 10
  EXPECT_EQ(space.simplify(padded), space.simplify(i * 9 + j + 5));
  // j goes to 6: j - i + 5 is at most 11, and not below 10.
  expectSame(padded.floorDiv(10));
  expectSame(padded % 10);
  // With 12 columns it is below 13.
  EXPECT_EQ(space.simplify((i * 12 + j + 5).floorDiv(13)), i);
  EXPECT_EQ(space.simplify((i * 12 + j + 5) % 13), space.simplify(j - i + 5));
}

TEST_F(IndexSpaceTest, QuotientsHaveExtents) {
  // j floordiv 3 is at most 2.
  EXPECT_EQ(space.isNonNegative(constant(2) - j.floorDiv(3)), true);
  EXPECT_EQ(space.isNonNegative(constant(1) - j.floorDiv(3)), std::nullopt);
}

TEST_F(IndexSpaceTest, RandomExpressionsKeepTheirValues) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 3000; ++trial)
    expectSame(makeRandom(random, trial % 4));
}
