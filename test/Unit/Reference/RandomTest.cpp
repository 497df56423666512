//===- RandomTest.cpp - Tests of the random inputs ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Random.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::reference;

TEST(Random, isSplitmix64) {
  // The published first outputs for seed 0.
  EXPECT_EQ(randomBits(0, 0), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(randomBits(0, 1), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(randomBits(0, 2), 0x06C45D188009454Fu);
}

TEST(Random, dependsOnSeedAndIndexOnly) {
  Tensor longer = makeRandomTensor({2, 50}, ElementType::BF16, 7);
  Tensor shorter = makeRandomTensor({10}, ElementType::BF16, 7);
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(shorter[i], longer[i]);
  Tensor other = makeRandomTensor({10}, ElementType::BF16, 8);
  EXPECT_NE(other.getValues(), shorter.getValues());
}

TEST(Random, normalHasItsMoments) {
  Tensor tensor = makeRandomTensor({100000}, ElementType::F64, 3,
                                   Distribution::normal(2, 3));
  double mean = 0, square = 0;
  for (double value : tensor.getValues()) {
    mean += value / 100000;
    square += value * value / 100000;
  }
  // Standard errors: 3 / sqrt(1e5) = 0.0095 and 9 sqrt(2 / 1e5) = 0.04.
  EXPECT_NEAR(mean, 2, 0.04);
  EXPECT_NEAR(square - mean * mean, 9, 0.16);
}

TEST(Random, uniformStaysInRange) {
  Tensor tensor = makeRandomTensor({10000}, ElementType::F64, 3,
                                   Distribution::uniform(-1, 3));
  const std::vector<double> &values = tensor.getValues();
  double low = *std::min_element(values.begin(), values.end());
  double high = *std::max_element(values.begin(), values.end());
  EXPECT_GE(low, -1);
  EXPECT_LT(low, -0.99);
  EXPECT_LT(high, 3);
  EXPECT_GT(high, 2.99);
}
