//===- LinearFormTest.cpp - Quasi-affine functions, against arithmetic ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/LinearForm.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attn;

namespace {

class LinearFormTest : public testing::Test {
protected:
  LinearForm get(AffineExpr expr) { return *LinearForm::get(expr); }

  static int64_t evaluate(const LinearForm &form, int64_t i, int64_t j) {
    int64_t sum = form.getConstant();
    for (auto [core, coefficient] : form.getTerms())
      sum += coefficient * evaluate(core, i, j);
    return sum;
  }

  static int64_t evaluate(AffineExpr expr, int64_t i, int64_t j) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return number.getValue();
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dim.getPosition() == kRow ? i : j;
    auto binary = cast<AffineBinaryOpExpr>(expr);
    int64_t a = evaluate(binary.getLHS(), i, j);
    int64_t b = evaluate(binary.getRHS(), i, j);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return a + b;
    case AffineExprKind::Mul:
      return a * b;
    case AffineExprKind::Mod:
      return a - b * llvm::divideFloorSigned(a, b);
    case AffineExprKind::FloorDiv:
      return llvm::divideFloorSigned(a, b);
    default:
      return llvm::divideCeilSigned(a, b);
    }
  }

  /// Checks `form <= 0` against the bound on j that solves it.
  void checkSolution(const LinearForm &form) {
    std::optional<PositionBound> solution = solveAtMostZero(form, kKey);
    ASSERT_TRUE(solution.has_value());
    for (int64_t i = -7; i < 20; ++i)
      for (int64_t j = -20; j < 40; ++j) {
        int64_t bound = evaluate(solution->bound, i, j);
        ASSERT_EQ(evaluate(form, i, j) <= 0,
                  solution->isLower ? j >= bound : j <= bound)
            << "i=" << i << " j=" << j;
      }
  }

  MLIRContext context;
  AffineExpr i = getAffineDimExpr(kRow, &context);
  AffineExpr j = getAffineDimExpr(kKey, &context);
  AffineExpr value = getAffineSymbolExpr(0, &context);
};

TEST_F(LinearFormTest, RemainderIsADifference) {
  // i - i mod 8 = 8 * (i floordiv 8), which is monotone.
  LinearForm start = get(i - i % 8);
  EXPECT_EQ(start.getRowDirection(), Direction::Up);
  EXPECT_EQ(start.getTerms().size(), 1u);
  EXPECT_EQ(get(i % 8).getRowDirection(), Direction::Unknown);
  EXPECT_EQ(get(i.floorDiv(4) * -2).getRowDirection(), Direction::Down);
  EXPECT_EQ(get(value).getRowDirection(), Direction::Constant);
}

TEST_F(LinearFormTest, SolvesForTheKey) {
  checkSolution(get(j - i));
  checkSolution(get(i * 2 - j * 3 + 5));
  checkSolution(get(j.floorDiv(4) - i.floorDiv(4)));
  checkSolution(get(i.floorDiv(4) - j.floorDiv(4)));
  checkSolution(get(j.floorDiv(3) * 2 - 7));
  checkSolution(get((i - j).floorDiv(5) + 2));
  checkSolution(get((j.floorDiv(2) + i).floorDiv(3) - 2));
  checkSolution(get((j + 5).ceilDiv(4) * -3 + i));
  EXPECT_FALSE(solveAtMostZero(get(j % 4 - 1), kKey));
  EXPECT_FALSE(solveAtMostZero(get(i - 3), kKey));
}

TEST_F(LinearFormTest, GivesUpOnLargeNumbers) {
  int64_t large = int64_t(1) << 31;
  std::optional<LinearForm> form = LinearForm::get(i * large);
  ASSERT_TRUE(form.has_value());
  EXPECT_FALSE(form->times(2));
  EXPECT_FALSE(LinearForm::get(i * (large + 1)));
  EXPECT_FALSE(LinearForm::get(i + std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(LinearForm::get(i.floorDiv(j)));
}

} // namespace
