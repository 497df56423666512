//===- LinearAttentionTest.cpp - Tests of the recurrence ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/LinearAttention.h"
#include "attn/Reference/ErrorBound.h"
#include "attn/Reference/Random.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::reference;

static Tensor makeTensor(std::vector<int64_t> shape,
                         const std::vector<double> &values) {
  Tensor tensor(std::move(shape), ElementType::F64);
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

namespace {
/// Two positions of one element, k v = 2 and 12; the state 8 decays by 1/2 and
/// 1/4.
struct TwoPositions : testing::Test {
  Tensor query = makeTensor({1, 1, 2, 1}, {1, 10});
  Tensor key = makeTensor({1, 1, 2, 1}, {1, 3});
  Tensor value = makeTensor({1, 1, 2, 1}, {2, 4});
  Tensor decay = makeTensor({1, 1, 2}, {std::log(0.5), std::log(0.25)});
  Tensor state = makeTensor({1, 1, 1, 1}, {8});
  LinearAttentionOptions options;

  TwoPositions() {
    options.scale = 1;
    options.decay = &decay;
    options.state = &state;
  }
  void expect(double first, double second, double last) {
    for (auto run : {linearAttention, unfusedLinearAttention}) {
      LinearAttentionResult result = *run(query, key, value, options);
      EXPECT_NEAR(result.output[0], first, 1e-5);
      EXPECT_NEAR(result.output[1], second, 1e-5);
      EXPECT_NEAR(result.state[0], last, 1e-5);
    }
  }
};
} // namespace

TEST_F(TwoPositions, WalksForwards) {
  // 8 / 2 + 2, and 6 / 4 + 12.
  expect(6, 135, 13.5);
}

TEST_F(TwoPositions, WalksInReverse) {
  // 8 + 12, 20 / 4 + 2 and 7 / 2.
  options.reverse = true;
  expect(7, 200, 3.5);
}

TEST_F(TwoPositions, SeesAll) {
  options.full = true;
  options.decay = nullptr;
  expect(22, 220, 22);
}

TEST_F(TwoPositions, RefusesWhatDoesNotFit) {
  options.full = true;
  EXPECT_FALSE(linearAttention(query, key, value, options));
  options.full = false;
  decay.set(1, 0.5);
  EXPECT_FALSE(linearAttention(query, key, value, options));
}

/// The yardstick is as exact as f32 over several chunks, and as bf16 with
/// factors of that.
TEST(LinearAttentionReference, RoundsFactors) {
  for (bool reverse : {false, true}) {
    auto make = [](std::vector<int64_t> shape, uint64_t stream) {
      return makeRandomTensor(std::move(shape), ElementType::BF16, stream);
    };
    Tensor query = make({1, 2, 150, 8}, 1), key = make({1, 1, 150, 8}, 2),
           value = make({1, 1, 150, 4}, 3);
    Tensor decay = makeTensor({2}, {-0.01, -0.2});
    LinearAttentionOptions options;
    options.reverse = reverse;
    options.decay = &decay;
    options.outputType = ElementType::F32;
    LinearAttentionResult oracle = *linearAttention(query, key, value, options);
    auto getError = [&](bool roundFactors) {
      options.roundFactors = roundFactors;
      LinearAttentionResult result =
          *unfusedLinearAttention(query, key, value, options);
      return std::max(measureError(result.output, oracle.output).relNorm,
                      measureError(result.state, oracle.state).relNorm);
    };
    EXPECT_LT(getError(false), 1e-6);
    EXPECT_GT(getError(true), 1e-4);
    EXPECT_LT(getError(true), 1e-2);
  }
}
