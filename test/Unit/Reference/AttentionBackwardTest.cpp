//===- AttentionBackwardTest.cpp - Tests of the gradients -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Attention.h"
#include "attn/Reference/Masks.h"
#include "attn/Reference/Random.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::reference;

namespace {
/// A small random problem, and finite differences of
/// L = sum(output * outputGradient).
struct AttentionBackward : testing::Test {
  Tensor query = makeRandomTensor({2, 4, 5, 3}, ElementType::F64, 1);
  Tensor key = makeRandomTensor({2, 2, 6, 3}, ElementType::F64, 2);
  Tensor value = makeRandomTensor({2, 2, 6, 4}, ElementType::F64, 3);
  Tensor outputGradient = makeRandomTensor({2, 4, 5, 4}, ElementType::F64, 4);
  AttentionOptions options;

  double getLoss() {
    Tensor output = attention(query, key, value, options)->output;
    double loss = 0;
    for (int64_t i = 0; i < output.getNumElements(); ++i)
      loss += output[i] * outputGradient[i];
    return loss;
  }

  /// Every element of `gradient` against the central difference in `input`.
  void expectGradient(Tensor &input, const Tensor &gradient) {
    constexpr double step = 1e-5;
    ASSERT_EQ(gradient.getShape(), input.getShape());
    for (int64_t i = 0; i < input.getNumElements(); ++i) {
      double center = input[i];
      input.set(i, center + step);
      double above = getLoss();
      input.set(i, center - step);
      double below = getLoss();
      input.set(i, center);
      EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 1e-8) << i;
    }
  }

  void expectAllGradients() {
    Result<AttentionGradients> gradients =
        attentionBackward(query, key, value, outputGradient, options);
    ASSERT_TRUE(gradients) << gradients.error();
    expectGradient(query, gradients->query);
    expectGradient(key, gradients->key);
    expectGradient(value, gradients->value);
  }
};
} // namespace

TEST_F(AttentionBackward, plain) { expectAllGradients(); }

TEST_F(AttentionBackward, causalAndScale) {
  options.maskMod = makeCausalMask(/*offset=*/1);
  options.scale = 0.3;
  expectAllGradients();
}

TEST_F(AttentionBackward, dropout) {
  options.dropout = Dropout{3, 4, 0.4};
  options.maskMod = makeCausalMask(/*offset=*/1);
  expectAllGradients();
}

TEST_F(AttentionBackward, fullyMaskedRowsHaveNone) {
  options.maskMod = [](int64_t, int64_t, int64_t i, int64_t) { return i > 1; };
  expectAllGradients();
  AttentionGradients gradients =
      *attentionBackward(query, key, value, outputGradient, options);
  for (int64_t d = 0; d < 3; ++d)
    EXPECT_EQ(gradients.query.at(0, 0, 1, d), 0);
}

TEST_F(AttentionBackward, softCapAndBias) {
  Tensor bias = makeRandomTensor({1, 4, 1, 6}, ElementType::F64, 5);
  options.bias = &bias;
  options.softCap = 0.7;
  expectAllGradients();
  expectGradient(
      bias,
      attentionBackward(query, key, value, outputGradient, options)->bias);
}

TEST_F(AttentionBackward, scoreModNeedsItsDerivative) {
  options.scoreMod = [](double score, int64_t, int64_t h, int64_t, int64_t) {
    return score * score / static_cast<double>(h + 1);
  };
  EXPECT_EQ(
      attentionBackward(query, key, value, outputGradient, options).error(),
      "expected the derivative of the score_mod");
  options.scoreModDerivative = [](double score, int64_t, int64_t h, int64_t,
                                  int64_t) {
    return 2 * score / static_cast<double>(h + 1);
  };
  expectAllGradients();
}

TEST_F(AttentionBackward, rejectsOtherGradientShapes) {
  EXPECT_EQ(attentionBackward(query, key, value, value, options).error(),
            "expected output gradient of shape 2x4x5x4, got 2x2x6x4");
  EXPECT_EQ(attentionBackward(query, value, value, outputGradient).error(),
            "expected key of shape [B, Hkv, N, D] with the query's B and D, "
            "got 2x2x6x4");
}

TEST_F(AttentionBackward, rejectsOtherForwardResults) {
  AttentionResult forward = *attention(query, key, value);
  auto getError = [&](const BackwardInputs &inputs) {
    return attentionBackward(query, key, value, inputs, options).error();
  };
  EXPECT_EQ(getError({query, forward.lse, outputGradient}),
            "expected output of shape 2x4x5x4, got 2x4x5x3");
  EXPECT_EQ(getError({forward.output, value, outputGradient}),
            "expected lse of shape 2x4x5, got 2x2x6x4");
  EXPECT_EQ(getError({forward.output, forward.lse, outputGradient, &value}),
            "expected lse gradient of shape 2x4x5, got 2x2x6x4");
}

TEST_F(AttentionBackward, lseGradient) {
  Tensor lseGradient = makeRandomTensor({2, 4, 5}, ElementType::F64, 6);
  AttentionResult forward = *attention(query, key, value);
  AttentionGradients gradients = *attentionBackward(
      query, key, value,
      {forward.output, forward.lse, outputGradient, &lseGradient}, options);
  auto getTotal = [&] {
    Tensor lse = attention(query, key, value, options)->lse;
    double total = getLoss();
    for (int64_t i = 0; i < lse.getNumElements(); ++i)
      total += lse[i] * lseGradient[i];
    return total;
  };
  for (int64_t i = 0; i < query.getNumElements(); i += 7) {
    double center = query[i];
    query.set(i, center + 1e-5);
    double above = getTotal();
    query.set(i, center - 1e-5);
    double below = getTotal();
    query.set(i, center);
    EXPECT_NEAR(gradients.query[i], (above - below) / 2e-5, 1e-8) << i;
  }
}

/// Sums of a hundred products in f32 are right to about 1e-6, with 16-bit P and
/// dS to 1e-3.
TEST_F(AttentionBackward, unfusedRoundsAsTheInputsDo) {
  auto getError = [&](ElementType type) {
    Tensor q = query.convertTo(type), k = key.convertTo(type),
           v = value.convertTo(type), dO = outputGradient.convertTo(type);
    AttentionResult forward = *attention(q, k, v);
    BackwardInputs inputs{forward.output, forward.lse, dO};
    AttentionGradients exact = *attentionBackward(q, k, v, inputs, options);
    AttentionGradients rounded =
        *unfusedAttentionBackward(q, k, v, inputs, options);
    double error = 0;
    for (int64_t i = 0; i < exact.key.getNumElements(); ++i)
      error = std::max(error, std::fabs(exact.key[i] - rounded.key[i]));
    return error;
  };
  EXPECT_LT(getError(ElementType::F32), 3e-6);
  EXPECT_GT(getError(ElementType::F16), 1e-5);
  EXPECT_LT(getError(ElementType::F16), 1e-2);
}

/// Visible keys of query 2 of 4, of 6 keys.
static std::string getRow(const MaskMod &mask) {
  std::string row;
  for (int64_t j = 0; j < 6; ++j)
    row += mask(0, 0, 2, j) ? '1' : '0';
  return row;
}

TEST(Masks, byName) {
  EXPECT_EQ(getRow(makeCausalMask()), "111000");
  EXPECT_EQ(getRow(makeCausalMask(2)), "111110");
  EXPECT_EQ(getRow(makeLocalMask(1, 2)), "011110");
  EXPECT_EQ(getRow(makeSlidingWindowMask(2, 2)), "000110");
  EXPECT_EQ(getRow(makePrefixMask(4)), "111100");
  EXPECT_EQ(getRow(makeDocumentMask({0, 0, 1, 1}, {0, 1, 1, 0, 1, 2})),
            "011010");
  EXPECT_EQ(getRow(makeAnd(makeCausalMask(), makeLocalMask(1, 9))), "011000");
  EXPECT_EQ(getRow(makeOr(makeCausalMask(-1), makeLocalMask(-2, 3))), "110011");
}

TEST(Masks, alibi) {
  EXPECT_EQ(getAlibiSlopes(8).front(), 0.5);
  EXPECT_EQ(getAlibiSlopes(8).back(), std::exp2(-8));
  ScoreMod alibi = makeAlibi({1, 0.5}, /*offset=*/2);
  EXPECT_EQ(alibi(10, 0, 1, 3, 1), 10 + 0.5 * (1 - 5));
}
