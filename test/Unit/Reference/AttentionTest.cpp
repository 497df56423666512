//===- AttentionTest.cpp - Tests of the attention oracle ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Attention.h"
#include "attn/Reference/Random.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::reference;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A rank-4 f64 tensor with the given row-major values.
static Tensor makeTensor(std::vector<int64_t> shape,
                         const std::vector<double> &values) {
  Tensor tensor(std::move(shape), ElementType::F64);
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

namespace {
/// One query of one element, two keys with scores 0 and log 3 at scale 1: the
/// probabilities are 1/4 and 3/4.
struct TwoKeys : testing::Test {
  Tensor query = makeTensor({1, 1, 1, 1}, {1});
  Tensor key = makeTensor({1, 1, 2, 1}, {0, std::log(3.0)});
  Tensor value = makeTensor({1, 1, 2, 1}, {4, 8});
  AttentionOptions options;

  TwoKeys() { options.scale = 1; }
  AttentionResult run() { return *attention(query, key, value, options); }
};
} // namespace

TEST_F(TwoKeys, softmaxByHand) {
  AttentionResult result = run();
  EXPECT_NEAR(result.output[0], 7, 1e-14); // 4 / 4 + 8 * 3 / 4
  EXPECT_NEAR(result.lse[0], std::log(4.0), 1e-15);
}

TEST_F(TwoKeys, scaleMultipliesScores) {
  options.scale = 2; // probabilities 1/10 and 9/10
  EXPECT_NEAR(run().output[0], 7.6, 1e-14);
  EXPECT_NEAR(run().lse[0], std::log(10.0), 1e-15);
}

TEST_F(TwoKeys, defaultScaleIsInverseRootOfHeadDim) {
  Tensor wideQuery = makeTensor({1, 1, 1, 4}, {1, 0, 0, 0});
  Tensor wideKey =
      makeTensor({1, 1, 2, 4}, {0, 0, 0, 0, 2 * std::log(3.0), 0, 0, 0});
  EXPECT_NEAR(attention(wideQuery, wideKey, value)->output[0], 7, 1e-14);
}

TEST_F(TwoKeys, biasIsAddedAndBroadcast) {
  Tensor bias = makeTensor({1, 1, 1, 2}, {std::log(3.0), 0});
  options.bias = &bias;
  EXPECT_NEAR(run().output[0], 6, 1e-14);
  Tensor scalar = makeTensor({1, 1, 1, 1}, {5});
  options.bias = &scalar;
  EXPECT_NEAR(run().output[0], 7, 1e-14);
  EXPECT_NEAR(run().lse[0], 5 + std::log(4.0), 1e-14);
}

TEST_F(TwoKeys, softCapBoundsScoresBeforeTheBias) {
  key = makeTensor({1, 1, 2, 1}, {0, 1e6});
  options.softCap = std::log(3.0);
  EXPECT_NEAR(run().output[0], 7, 1e-13);
  Tensor bias = makeTensor({1, 1, 1, 2}, {std::log(3.0), 0});
  options.bias = &bias;
  EXPECT_NEAR(run().output[0], 6, 1e-13);
}

TEST_F(TwoKeys, scoreModSeesScoreAndIndices) {
  options.scoreMod = [](double score, int64_t b, int64_t h, int64_t i,
                        int64_t j) {
    EXPECT_EQ(b + h + i, 0);
    return j == 0 ? score + std::log(3.0) : score;
  };
  EXPECT_NEAR(run().output[0], 6, 1e-14);
}

TEST_F(TwoKeys, maskedKeyTakesNoPart) {
  key = makeTensor({1, 1, 2, 1}, {0, std::nan("")});
  value = makeTensor({1, 1, 2, 1}, {4, kInfinity});
  options.maskMod = [](int64_t, int64_t, int64_t, int64_t j) { return j == 0; };
  EXPECT_EQ(run().output[0], 4);
  EXPECT_EQ(run().lse[0], 0);
}

TEST_F(TwoKeys, fullyMaskedRowGivesZero) {
  options.maskMod = [](int64_t, int64_t, int64_t, int64_t) { return false; };
  EXPECT_EQ(run().output[0], 0);
  EXPECT_EQ(run().lse[0], -kInfinity);
}

TEST_F(TwoKeys, rowOfMinusInfinityCountsAsMasked) {
  options.scoreMod = [](double, int64_t, int64_t, int64_t, int64_t) {
    return -kInfinity;
  };
  EXPECT_EQ(run().output[0], 0);
  EXPECT_EQ(run().lse[0], -kInfinity);
}

TEST_F(TwoKeys, nanAndInfinitePropagate) {
  key = makeTensor({1, 1, 2, 1}, {std::nan(""), 0});
  EXPECT_TRUE(std::isnan(run().output[0]));
  EXPECT_TRUE(std::isnan(run().lse[0]));
  key = makeTensor({1, 1, 2, 1}, {kInfinity, 0});
  EXPECT_TRUE(std::isnan(run().output[0]));
  key = makeTensor({1, 1, 2, 1}, {0, 0});
  value = makeTensor({1, 1, 2, 1}, {4, kInfinity});
  EXPECT_EQ(run().output[0], kInfinity);
  EXPECT_NEAR(run().lse[0], std::log(2.0), 1e-15);
}

TEST_F(TwoKeys, largeScoresDoNotOverflow) {
  key = makeTensor({1, 1, 2, 1}, {1e5, 1e5 + std::log(3.0)});
  EXPECT_NEAR(run().output[0], 7, 1e-10);
  EXPECT_NEAR(run().lse[0], 1e5 + std::log(4.0), 1e-10);
}

TEST(Attention, emptyKeySequenceGivesZero) {
  Tensor query({1, 1, 2, 4}, ElementType::F64);
  Tensor kv({1, 1, 0, 4}, ElementType::F64);
  AttentionResult result = *attention(query, kv, kv);
  EXPECT_EQ(result.output.getValues(), std::vector<double>(8, 0.0));
  EXPECT_EQ(result.lse[1], -kInfinity);
}

TEST(Attention, queryHeadsShareKvHeadsInGroups) {
  // Heads 0 and 1 read K/V head 0, heads 2 and 3 read head 1.
  Tensor query = makeTensor({1, 4, 1, 1}, {1, 1, 1, 1});
  Tensor key = makeTensor({1, 2, 1, 1}, {1, 1});
  Tensor value = makeTensor({1, 2, 1, 1}, {5, 9});
  EXPECT_EQ(attention(query, key, value)->output.getValues(),
            (std::vector<double>{5, 5, 9, 9}));
}

TEST(Attention, causalMaskByHand) {
  // Equal scores: row i averages the first i + 1 values.
  Tensor query({1, 1, 3, 2}, ElementType::F64);
  Tensor key({1, 1, 3, 2}, ElementType::F64);
  Tensor value = makeTensor({1, 1, 3, 1}, {2, 4, 12});
  AttentionOptions options;
  options.maskMod = [](int64_t, int64_t, int64_t i, int64_t j) {
    return j <= i;
  };
  AttentionResult result = *attention(query, key, value, options);
  EXPECT_NEAR(result.output[0], 2, 1e-15);
  EXPECT_NEAR(result.output[1], 3, 1e-15);
  EXPECT_NEAR(result.output[2], 6, 1e-14);
  EXPECT_NEAR(result.lse[2], std::log(3.0), 1e-15);
}

TEST(Attention, unfusedRoundsProbabilitiesToTheValueType) {
  // Three equal scores: P = 1/3, in bf16 0.333984375 = 171 / 512.
  Tensor query = Tensor({1, 1, 1, 1}, ElementType::BF16);
  Tensor key = Tensor({1, 1, 3, 1}, ElementType::BF16);
  Tensor value =
      makeTensor({1, 1, 3, 1}, {0, 0, 3}).convertTo(ElementType::BF16);
  AttentionOptions options;
  options.outputType = ElementType::F32;
  AttentionResult result = *unfusedAttention(query, key, value, options);
  EXPECT_EQ(result.output[0], 3 * 171.0 / 512);
  EXPECT_EQ(result.lse[0],
            static_cast<double>(static_cast<float>(std::log(3.0))));
  options.outputType.reset();
  EXPECT_EQ(unfusedAttention(query, key, value, options)->output[0], 1);
}

/// 2^8 P has room: 256 / 3 is 88 in f8E4M3FN, whose numbers are 8 apart there.
TEST(Attention, unfusedRoundsProbabilitiesOf8BitsInTheirRange) {
  Tensor query = Tensor({1, 1, 1, 1}, ElementType::F8E4M3FN);
  Tensor key = Tensor({1, 1, 3, 1}, ElementType::F8E4M3FN);
  Tensor value =
      makeTensor({1, 1, 3, 1}, {0, 0, 3}).convertTo(ElementType::F8E4M3FN);
  AttentionOptions options;
  options.outputType = ElementType::F32;
  EXPECT_EQ(unfusedAttention(query, key, value, options)->output[0],
            3 * 88.0 / 256);
}

/// Twice a probability of 1 has no room there: dropout's factor is the
/// output's.
TEST(Attention, unfusedProbabilitiesOf8BitsHaveRoomBesideDropout) {
  Tensor query = Tensor({1, 1, 64, 1}, ElementType::F8E4M3FN);
  Tensor key = Tensor({1, 1, 1, 1}, ElementType::F8E4M3FN);
  Tensor value = makeTensor({1, 1, 1, 1}, {3}).convertTo(ElementType::F8E4M3FN);
  AttentionOptions options;
  options.outputType = ElementType::F32;
  options.dropout = Dropout{/*seed=*/1, /*offset=*/0, /*rate=*/0.5};
  Tensor output = unfusedAttention(query, key, value, options)->output;
  bool isKept = false;
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_TRUE(output[i] == 0 || output[i] == 6) << output[i];
    isKept |= output[i] == 6;
  }
  EXPECT_TRUE(isKept);
}

TEST(Attention, descalesAreOfTheWholeTensorOrOfAHead) {
  // Scores of head 0 are 0 and 2 * 0.5 * log 3, of head 1 0 and log 3 / 2.
  Tensor query = makeTensor({1, 2, 1, 1}, {1, 1});
  Tensor key = makeTensor({1, 2, 2, 1}, {0, std::log(3.0), 0, std::log(3.0)});
  Tensor value = makeTensor({1, 2, 2, 1}, {4, 8, 4, 8});
  Tensor queryDescale({1}, ElementType::F64),
      keyDescale({1, 2}, ElementType::F64),
      valueDescale({1, 2}, ElementType::F64);
  queryDescale.set(0, 2);
  keyDescale.set(0, 0.5);
  keyDescale.set(1, 0.25);
  valueDescale.set(0, 1);
  valueDescale.set(1, 10);
  AttentionOptions options;
  options.scale = 1;
  options.queryDescale = &queryDescale;
  options.keyDescale = &keyDescale;
  options.valueDescale = &valueDescale;
  AttentionResult result = *attention(query, key, value, options);
  EXPECT_NEAR(result.output[0], 7, 1e-14);
  double p = std::sqrt(3.0) / (1 + std::sqrt(3.0));
  EXPECT_NEAR(result.output[1], 10 * (4 + 4 * p), 1e-13);
  EXPECT_NEAR(result.lse[1], std::log(1 + std::sqrt(3.0)), 1e-14);
}

TEST(Attention, unfusedAgreesWithTheOracle) {
  Tensor query = makeRandomTensor({2, 4, 33, 16}, ElementType::F16, 1);
  Tensor key = makeRandomTensor({2, 2, 47, 16}, ElementType::F16, 2);
  Tensor value = makeRandomTensor({2, 2, 47, 24}, ElementType::F16, 3);
  AttentionResult oracle = *attention(query, key, value);
  AttentionResult unfused = *unfusedAttention(query, key, value);
  for (int64_t i = 0; i < oracle.output.getNumElements(); ++i)
    EXPECT_NEAR(unfused.output[i], oracle.output[i], 4e-3);
  for (int64_t i = 0; i < oracle.lse.getNumElements(); ++i)
    EXPECT_NEAR(unfused.lse[i], oracle.lse[i], 1e-5);
}

TEST(Attention, rejectsShapesThatDoNotFit) {
  Tensor query({1, 4, 3, 8}, ElementType::F16);
  Tensor key({1, 2, 5, 8}, ElementType::F16);
  Tensor value({1, 2, 5, 6}, ElementType::F16);
  Tensor narrow({1, 2, 5, 7}, ElementType::F16);
  Tensor shorter({1, 2, 4, 6}, ElementType::F16);
  Tensor threeHeads({1, 3, 5, 8}, ElementType::F16);
  Tensor flat({4, 3}, ElementType::F16);
  EXPECT_EQ(attention(flat, key, value).error(),
            "expected query of shape [B, Hq, M, D], got 4x3");
  EXPECT_EQ(attention(query, narrow, value).error(),
            "expected key of shape [B, Hkv, N, D] with the query's B and D, "
            "got 1x2x5x7");
  EXPECT_EQ(attention(query, key, shorter).error(),
            "expected value of shape [B, Hkv, N, Dv] with the key's B, Hkv and "
            "N, got 1x2x4x6");
  EXPECT_EQ(attention(query, threeHeads, threeHeads).error(),
            "expected Hkv that divides Hq = 4, got 3");
  AttentionOptions options;
  options.bias = &key;
  EXPECT_EQ(attention(query, key, value, options).error(),
            "expected bias of shape [B or 1, Hq or 1, M or 1, N or 1], got "
            "1x2x5x8");
  options.bias = nullptr;
  options.softCap = 0;
  EXPECT_EQ(attention(query, key, value, options).error(),
            "expected a positive soft cap, got 0.000000");
}
