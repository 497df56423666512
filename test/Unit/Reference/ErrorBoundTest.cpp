//===- ErrorBoundTest.cpp - Tests of the error rule -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/ErrorBound.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::reference;

static Tensor makeVector(const std::vector<double> &values, ElementType type) {
  Tensor tensor({static_cast<int64_t>(values.size())}, type);
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

TEST(ErrorBound, measuresBothNorms) {
  Tensor oracle = makeVector({3, 4}, ElementType::F64);
  ErrorStats stats =
      measureError(makeVector({3.5, 4}, ElementType::F32), oracle);
  EXPECT_EQ(stats.maxAbs, 0.5);
  EXPECT_EQ(stats.relNorm, 0.1);
  EXPECT_EQ(stats.worstPosition, 0);
  EXPECT_EQ(measureError(oracle, oracle).worstPosition, -1);
}

TEST(ErrorBound, comparesNanAndInfinityAsValues) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor oracle = makeVector({std::nan(""), -infinity, 1}, ElementType::F64);
  EXPECT_EQ(measureError(oracle, oracle).maxAbs, 0);
  Tensor wrong = makeVector({0, -infinity, 1}, ElementType::F64);
  EXPECT_EQ(measureError(wrong, oracle).maxAbs, infinity);
  wrong = makeVector({std::nan(""), infinity, 1}, ElementType::F64);
  EXPECT_EQ(measureError(wrong, oracle).maxAbs, infinity);
  EXPECT_EQ(measureError(wrong, oracle).worstPosition, 1);
}

TEST(ErrorBound, expectsOverflowBeyondTheRangeOfTheType) {
  Tensor oracle = makeVector({1e6}, ElementType::F64);
  EXPECT_EQ(measureError(makeVector({1e6}, ElementType::F16), oracle).maxAbs,
            0);
  EXPECT_GT(measureError(makeVector({65504}, ElementType::F16), oracle).maxAbs,
            1e6);
}

TEST(ErrorBound, isTwiceTheYardstick) {
  Tensor oracle = makeVector({3, 4}, ElementType::F64);
  Tensor yardstick = makeVector({3.5, 4}, ElementType::F32);
  ErrorBound bound = getErrorBound(yardstick, oracle);
  EXPECT_EQ(bound.maxAbs, 1);
  EXPECT_EQ(bound.relNorm, 0.2);
  EXPECT_TRUE(bound.holds({1, 0.2, 0}));
  EXPECT_FALSE(bound.holds({1.001, 0.1, 0}));
  EXPECT_FALSE(bound.holds({0.1, 0.201, 0}));
}

TEST(ErrorBound, ofZerosIsRelativeToOtherResults) {
  Tensor zeros = makeVector({0, 0}, ElementType::BF16);
  EXPECT_EQ(getErrorBound(zeros, zeros).maxAbs, 0);
  ErrorBound bound = getErrorBound(zeros, zeros, 4);
  EXPECT_EQ(bound.maxAbs, 4 / 131072.0);
  EXPECT_TRUE(bound.holds(
      measureError(makeVector({1e-5, 0}, ElementType::F32), zeros)));
  EXPECT_FALSE(bound.holds(
      measureError(makeVector({1e-4, 0}, ElementType::F32), zeros)));
  // Only of zeros.
  Tensor one = makeVector({0, 1}, ElementType::BF16);
  EXPECT_EQ(getErrorBound(one, one, 1e9).maxAbs, 1 / 128.0);
}

TEST(ErrorBound, ofLogarithmsIsAbsoluteNearZero) {
  Tensor oracle = makeVector({0.25, 0}, ElementType::F64);
  Tensor exact = makeVector({0.25, 0}, ElementType::F32);
  double roundoff = 4 * std::ldexp(1.0, -24);
  EXPECT_EQ(getErrorBound(exact, oracle).maxAbs, 2 * roundoff * 0.25);
  ErrorBound bound = getErrorBound(exact, oracle, 0, /*isLogarithm=*/true);
  EXPECT_EQ(bound.maxAbs, 2 * roundoff);
  EXPECT_DOUBLE_EQ(bound.relNorm, 2 * roundoff * std::sqrt(2.0) / 0.25);
  // Where all are large it is the same.
  Tensor large = makeVector({3, -4}, ElementType::F64);
  Tensor yardstick = makeVector({3, -4}, ElementType::F32);
  ErrorBound own = getErrorBound(yardstick, large);
  ErrorBound same = getErrorBound(yardstick, large, 0, /*isLogarithm=*/true);
  EXPECT_EQ(same.maxAbs, own.maxAbs);
  EXPECT_DOUBLE_EQ(same.relNorm, own.relNorm);
}

TEST(ErrorBound, hasTheFloorOfTheOutputType) {
  Tensor oracle = makeVector({3, 4}, ElementType::F64);
  ErrorBound bound =
      getErrorBound(makeVector({3, 4}, ElementType::BF16), oracle);
  EXPECT_EQ(bound.maxAbs, 2 * 4 / 256.0);
  EXPECT_EQ(bound.relNorm, 2 / 256.0);
  // f32 is computed in f32: four roundings.
  EXPECT_EQ(getErrorBound(makeVector({3, 4}, ElementType::F32), oracle).maxAbs,
            2 * 4 * 4 * std::ldexp(1.0, -24));
  // A yardstick that is infinitely wrong leaves the floor.
  Tensor broken = makeVector({std::nan(""), 4}, ElementType::BF16);
  EXPECT_EQ(getErrorBound(broken, oracle).maxAbs, 2 * 4 / 256.0);
}
