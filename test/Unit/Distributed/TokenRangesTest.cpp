//===- TokenRangesTest.cpp - Sets of tokens, and what masks show ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Visibility.h"

#include <gtest/gtest.h>

#include <random>

using namespace attn;

namespace {

constexpr int64_t kTokens = 48;
using Random = std::mt19937;

int64_t draw(Random &random, int64_t below) {
  return std::uniform_int_distribution<int64_t>(0, below - 1)(random);
}

std::vector<bool> toBits(const TokenRanges &ranges) {
  std::vector<bool> bits(kTokens);
  int64_t last = -1;
  for (const TokenRange &range : ranges) {
    EXPECT_LT(last, range.begin) << "ranges next to each other are one";
    EXPECT_LT(range.begin, range.end);
    last = range.end;
    for (int64_t i = range.begin; i < range.end; ++i)
      bits[i] = true;
  }
  return bits;
}

TokenRanges drawRanges(Random &random) {
  std::vector<TokenRange> ranges(draw(random, 6));
  for (TokenRange &range : ranges) {
    int64_t a = draw(random, kTokens + 1), b = draw(random, kTokens + 1);
    range = {a, b}; // Some are empty, or the wrong way round.
  }
  return TokenRanges(ranges);
}

TEST(TokenRanges, AreSets) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    TokenRanges a = drawRanges(random), b = drawRanges(random);
    std::vector<bool> x = toBits(a), y = toBits(b), both(kTokens), any(kTokens),
                      rest(kTokens);
    int64_t count = 0;
    for (int64_t i = 0; i < kTokens; ++i) {
      both[i] = x[i] && y[i];
      any[i] = x[i] || y[i];
      rest[i] = x[i] && !y[i];
      count += x[i];
    }
    EXPECT_EQ(toBits(a.intersect(b)), both);
    EXPECT_EQ(toBits(a.unite(b)), any);
    EXPECT_EQ(toBits(a.subtract(b)), rest);
    EXPECT_EQ(a.count(), count);
    EXPECT_EQ(a.contain(b), b.subtract(a).empty());
  }
}

/// Compares counts and keys with those of the predicate, pair by pair.
void expectEqual(const Visibility &actual,
                 const PredicateVisibility::Predicate &visible,
                 Random &random) {
  PredicateVisibility expected(kTokens, visible);
  ASSERT_EQ(actual.getTokens(), kTokens);
  for (int round = 0; round < 8; ++round) {
    TokenRanges rows = drawRanges(random), keys = drawRanges(random);
    EXPECT_EQ(actual.countPairs(rows, keys), expected.countPairs(rows, keys));
    EXPECT_EQ(actual.getKeys(rows), expected.getKeys(rows));
  }
}

std::optional<int64_t> drawSide(Random &random) {
  const int64_t sides[] = {-60, -3, -1, 0, 1, 5, 20, 47, 48, int64_t(1) << 62};
  if (draw(random, 4) == 0)
    return std::nullopt;
  return sides[draw(random, std::size(sides))];
}

bool isInBand(const MaskPattern &mask, int64_t i, int64_t j) {
  return (!mask.left || j >= i - *mask.left) &&
         (!mask.right || j <= i + std::min<int64_t>(*mask.right, kTokens));
}

TEST(Visibility, OfBands) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    MaskPattern mask = {drawSide(random), drawSide(random)};
    expectEqual(
        BandVisibility(kTokens, mask),
        [&](int64_t i, int64_t j) { return isInBand(mask, i, j); }, random);
  }
}

TEST(Visibility, OfDocuments) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> lengths, document;
    while (int64_t(document.size()) < kTokens) {
      int64_t length =
          std::min<int64_t>(draw(random, 20), kTokens - document.size());
      document.insert(document.end(), length, lengths.size());
      lengths.push_back(length);
    }
    MaskPattern mask = {drawSide(random), drawSide(random)};
    expectEqual(
        DocumentVisibility(lengths, mask),
        [&](int64_t i, int64_t j) {
          return document[i] == document[j] && isInBand(mask, i, j);
        },
        random);
  }
}

} // namespace
