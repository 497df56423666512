//===- DropoutTest.cpp - Tests of what dropout keeps ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Dropout.h"
#include "attn/Reference/Attention.h"
#include "attn/Reference/Random.h"

#include "gtest/gtest.h"

#include <cmath>
#include <vector>

using namespace attn;
using namespace attn::reference;

using Words = std::array<uint32_t, 4>;

// kat_vectors of Random123 (philox4x32, 10 rounds).
TEST(Philox, knownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                       {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The formula of docs/Spec.md, once by hand.
TEST(Dropout, wordsAreThoseOfTheSpecification) {
  Dropout dropout{0x0123456789abcdef, 0xfedcba9876543210, 0.5};
  Words head =
      philox4x32({0x76543210, 0xfedcba98, 3, 5}, {0x89abcdef, 0x01234567});
  Words group =
      philox4x32({16 + 7, 32 + 2, head[2], head[3]}, {head[0], head[1]});
  EXPECT_EQ(dropout.getWord(3, 5, 16 + 7, 32 + 2), group[0]);
  EXPECT_EQ(dropout.getWord(3, 5, 16 + 7, 32 + 8 + 2), group[1]);
  EXPECT_EQ(dropout.getWord(3, 5, 16 + 8 + 7, 32 + 2), group[2]);
  EXPECT_EQ(dropout.getWord(3, 5, 16 + 8 + 7, 32 + 8 + 2), group[3]);
}

TEST(Dropout, knownAnswer) {
  EXPECT_EQ((Dropout{42, 7, 0.5}.getWord(1, 2, 3, 4)), 0xfd4f3456u);
}

// Each of the 128 bits of seed and offset changes about half of the mask.
TEST(Dropout, everyBitMatters) {
  for (int bit = 0; bit < 128; ++bit) {
    Dropout a{42, 7, 0.5}, b = a;
    (bit < 64 ? b.seed : b.offset) ^= uint64_t(1) << (bit % 64);
    int differences = 0;
    for (int64_t i = 0; i < 64; ++i)
      for (int64_t j = 0; j < 64; ++j)
        differences += a.keeps(0, 0, i, j) != b.keeps(0, 0, i, j);
    // Binomial of 4096 and 1/2: standard deviation 32.
    EXPECT_NEAR(differences, 2048, 6 * 32) << bit;
  }
}

TEST(Dropout, ratesOfNothingAndAlmostEverything) {
  Dropout none{1, 2, 0}, most{1, 2, 1 - 0x1p-53};
  for (int64_t j = 0; j < 1000; ++j) {
    EXPECT_TRUE(none.keeps(0, 0, 0, j));
    EXPECT_FALSE(most.keeps(0, 0, 0, j));
  }
}

namespace {
/// keep - (1 - rate) of a large mask, in units of its standard deviation: of
/// mean 0 and variance 1 if keeps are independent with the right probability.
struct LargeMask {
  static constexpr int64_t heads = 4, size = 512;
  std::vector<double> values;

  explicit LargeMask(const Dropout &dropout) {
    double keep = 1 - dropout.rate;
    double deviation = std::sqrt(keep * dropout.rate);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j)
          values.push_back((dropout.keeps(h / 2, h % 2, i, j) - keep) /
                           deviation);
  }
  double at(int64_t h, int64_t i, int64_t j) const {
    return values[(h * size + i) * size + j];
  }
};

/// Standard normal to a good approximation, for independent masks: a sum of
/// products over its deviation.
double correlate(const LargeMask &a, const LargeMask &b, int64_t dh, int64_t di,
                 int64_t dj) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t h = 0; h + dh < LargeMask::heads; ++h)
    for (int64_t i = 0; i + di < LargeMask::size; ++i)
      for (int64_t j = 0; j + dj < LargeMask::size; ++j, ++count)
        sum += a.at(h, i, j) * b.at(h + dh, i + di, j + dj);
  return sum / std::sqrt(static_cast<double>(count));
}

/// A normal variable is beyond that once in two million.
constexpr double limit = 5;
} // namespace

TEST(DropoutStatistics, shareRowsAndColumns) {
  for (double rate : {0.1, 0.5, 0.9}) {
    LargeMask mask({2026, 11, rate});
    std::vector<double> rows(LargeMask::heads * LargeMask::size);
    std::vector<double> columns(rows.size());
    double total = 0;
    for (int64_t h = 0; h < LargeMask::heads; ++h)
      for (int64_t i = 0; i < LargeMask::size; ++i)
        for (int64_t j = 0; j < LargeMask::size; ++j) {
          double value = mask.at(h, i, j);
          total += value;
          rows[h * LargeMask::size + i] += value;
          columns[h * LargeMask::size + j] += value;
        }
    EXPECT_LT(std::abs(total) / LargeMask::size / 2, limit) << rate;
    // Of n sums of 512 values each, the squares over 512 add up to n with a
    // deviation of sqrt(2 n): no row or column is special, nor too regular.
    for (const std::vector<double> &sums : {rows, columns}) {
      double squares = 0, n = static_cast<double>(sums.size());
      for (double sum : sums)
        squares += sum * sum / LargeMask::size;
      EXPECT_LT(std::abs(squares - n) / std::sqrt(2 * n), limit) << rate;
    }
  }
}

TEST(DropoutStatistics, neighboursAreIndependent) {
  LargeMask mask({2026, 11, 0.3});
  for (auto [dh, di, dj] : std::vector<std::array<int64_t, 3>>{{0, 0, 1},
                                                               {0, 1, 0},
                                                               {0, 1, 1},
                                                               {0, 0, 8},
                                                               {0, 8, 0},
                                                               {0, 8, 8},
                                                               {0, 0, 16},
                                                               {0, 16, 0},
                                                               {0, 0, 64},
                                                               {0, 64, 0},
                                                               {1, 0, 0},
                                                               {2, 0, 0}})
    EXPECT_LT(std::abs(correlate(mask, mask, dh, di, dj)), limit)
        << dh << " " << di << " " << dj;
  // Steps of training and layers of a model: seeds and offsets in a row.
  EXPECT_LT(std::abs(correlate(mask, LargeMask({2027, 11, 0.3}), 0, 0, 0)),
            limit);
  EXPECT_LT(std::abs(correlate(mask, LargeMask({2026, 12, 0.3}), 0, 0, 0)),
            limit);
  EXPECT_LT(std::abs(correlate(mask, LargeMask({2026, 12, 0.3}), 1, 0, 0)),
            limit);
}

// With V the identity, the output is the probabilities after dropout: each 0 or
// 1 / (N * (1 - rate)) where all scores are equal. The LSE has all of them.
TEST(Dropout, attentionKeepsByTheMask) {
  constexpr int64_t n = 20;
  Tensor query({1, 2, 3, 4}, ElementType::F64);
  Tensor key({1, 1, n, 4}, ElementType::F64);
  Tensor value({1, 1, n, n}, ElementType::F64);
  for (int64_t j = 0; j < n; ++j)
    value.set(value.offset(0, 0, j, j), 1);
  AttentionOptions options;
  options.dropout = Dropout{9, 1, 0.25};
  AttentionResult result = *attention(query, key, value, options);
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(result.lse[h * 3 + i], std::log(20.0), 1e-15);
      for (int64_t j = 0; j < n; ++j)
        EXPECT_NEAR(result.output.at(0, h, i, j),
                    options.dropout->keeps(0, h, i, j) ? 1 / (n * 0.75) : 0,
                    1e-15);
    }
}
