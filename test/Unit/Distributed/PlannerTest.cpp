//===- PlannerTest.cpp - Plans for several ranks --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Planner.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <random>

using namespace attn;

namespace {

constexpr int64_t kMiB = 1 << 20;

AttentionProblem makeProblem(int64_t tokens, int64_t heads, int64_t keyHeads,
                             AttentionPass pass = AttentionPass::Forward) {
  AttentionProblem problem;
  problem.queryHeads = heads;
  problem.kvHeads = keyHeads;
  problem.queryLength = problem.kvLength = tokens;
  problem.headDim = problem.valueDim = 128;
  problem.pass = pass;
  return problem;
}

Topology makeTopology(int64_t ranks, int64_t node = 8) {
  Topology topology;
  topology.ranks = ranks;
  topology.nodeRanks = node;
  return topology;
}

Placement getPlacement(const Visibility &visibility, int64_t ranks,
                       int64_t chunk, const std::string &name) {
  for (Placement &placement : getPlacements(visibility, ranks, chunk))
    if (placement.name == name)
      return placement;
  ADD_FAILURE() << "no placement " << name;
  return {};
}

int64_t countSent(const Plan &plan) {
  int64_t tokens = 0;
  for (const RankPlan &rank : plan.ranks)
    for (const Stage &stage : rank.stages)
      for (const Transfer &transfer : stage.send)
        tokens += transfer.tokens.count();
  return tokens;
}

//===----------------------------------------------------------------------===//
// Bytes and balance, by the formulas of the schemes
//===----------------------------------------------------------------------===//

struct ByteCase {
  int64_t tokens, ranks, heads, keyHeads;
  int64_t ring, ringBackward, gatherBackward, allToAll, twoByRing, fourByRing;
};

// (P-1) KV e; (P-1) KV e + P KV 4; (P-1) KV (e + 4);
// (P-1)/P n e (Hq (d+dv) + max(1, P/Hkv) Hkv (d+dv)); two-dimensional likewise.
TEST(PlanCost, BytesOfSchemes) {
  const ByteCase cases[] = {
      {65536, 8, 32, 8, 224, 736, 672, 140, 176, 152},
      {65536, 8, 32, 32, 896, 2944, 2688, 224, 512, 320},
      {131072, 16, 64, 8, 480, 1504, 1440, 300, 368, 312},
  };
  for (const ByteCase &c : cases) {
    BandVisibility full(c.tokens, MaskPattern::full());
    auto getBytes = [&](Scheme scheme, int64_t shards, AttentionPass pass) {
      Placement placement =
          getPlacement(full, c.ranks / shards, 256, "contiguous");
      Plan plan =
          buildPlan(full, placement, scheme, KeyOrder::OwnFirst, shards, 256);
      EXPECT_TRUE(checkPlan(plan, full)) << checkPlan(plan, full).error();
      PlanCost cost =
          pricePlan(plan, makeProblem(c.tokens, c.heads, c.keyHeads, pass),
                    makeTopology(c.ranks), {1e-15});
      EXPECT_EQ(cost.sentBytes % kMiB, 0);
      return cost.sentBytes / kMiB;
    };
    auto forward = AttentionPass::Forward, backward = AttentionPass::Backward;
    EXPECT_EQ(getBytes(Scheme::Ring, 1, forward), c.ring);
    EXPECT_EQ(getBytes(Scheme::AllGather, 1, forward), c.ring);
    EXPECT_EQ(getBytes(Scheme::GroupCast, 1, forward), c.ring);
    EXPECT_EQ(getBytes(Scheme::Ring, 1, backward), c.ringBackward);
    EXPECT_EQ(getBytes(Scheme::AllGather, 1, backward), c.gatherBackward);
    EXPECT_EQ(getBytes(Scheme::Ring, c.ranks, forward), c.allToAll);
    EXPECT_EQ(getBytes(Scheme::Ring, c.ranks, backward), c.allToAll);
    EXPECT_EQ(getBytes(Scheme::Ring, 2, forward), c.twoByRing);
    EXPECT_EQ(getBytes(Scheme::Ring, 4, forward), c.fourByRing);
  }
}

// Where queries move: m Hq (d e + 4 dv + 4) both ways together, and in the
// backward m Hq ((d + dv) e + 8) out and m Hq 4 d back.
TEST(PlanCost, BytesOfQueries) {
  int64_t tokens = 4096, ranks = 8, n = tokens / ranks, heads = 32, d = 128;
  auto getBytes = [&](MaskPattern mask, AttentionPass pass) {
    BandVisibility visibility(tokens, mask);
    Plan plan = buildPlan(visibility,
                          getPlacement(visibility, ranks, 256, "contiguous"),
                          Scheme::QueryCast, KeyOrder::OwnFirst, 1, 256);
    EXPECT_TRUE(checkPlan(plan, visibility))
        << checkPlan(plan, visibility).error();
    AttentionProblem problem = makeProblem(tokens, heads, 8, pass);
    std::vector<int64_t> bytes;
    for (const RankTime &time :
         tracePlan(plan, problem, makeTopology(ranks), {1e-15}))
      bytes.push_back(time.sentBytes);
    EXPECT_EQ(pricePlan(plan, problem, makeTopology(ranks), {1e-15}).sentBytes,
              *std::max_element(bytes.begin(), bytes.end()));
    return bytes;
  };
  for (int64_t bytes : getBytes(MaskPattern::full(), AttentionPass::Forward))
    EXPECT_EQ(bytes, 7 * n * heads * (d * 2 + 4 * d + 4));
  for (int64_t bytes : getBytes(MaskPattern::full(), AttentionPass::Backward))
    EXPECT_EQ(bytes, 7 * n * heads * (2 * d * 2 + 8 + 4 * d));
  // Rank r sends its queries to r ranks, and answers 7 - r.
  auto causal = getBytes(MaskPattern::causal(), AttentionPass::Forward);
  for (int64_t r = 0; r < ranks; ++r)
    EXPECT_EQ(causal[r], n * heads * (r * d * 2 + (7 - r) * (4 * d + 4)));
}

// Times of ranks are those of the cost, stages follow each other, and what
// arrives late is waited for.
TEST(PlanCost, TimesOfRanks) {
  BandVisibility causal(65536, MaskPattern::causal());
  AttentionProblem problem = makeProblem(65536, 32, 8);
  Result<PlanSelection> selection =
      selectPlan(problem, causal, makeTopology(8, 2), {1e-13});
  ASSERT_TRUE(selection);
  double end = 0;
  for (const RankTime &time : selection->times) {
    double before = 0;
    for (const StageTime &stage : time.stages) {
      EXPECT_EQ(stage.begin, std::max(before, stage.arrived));
      EXPECT_GE(stage.end, stage.begin);
      before = stage.end;
    }
    EXPECT_GE(time.end, before);
    end = std::max(end, time.end);
  }
  EXPECT_EQ(end, selection->ranked.front().cost.seconds);
}

struct BalanceCase {
  MaskPattern mask;
  const char *placement;
  double balance;
  int64_t sent; ///< rows, by all ranks together
};

TEST(PlanCost, BalanceAndRowsOfPlacements) {
  const BalanceCase cases[] = {
      {MaskPattern::causal(), "contiguous", 1.87, 3584},
      {MaskPattern::causal(), "zigzag", 1.00, 5376},
      {MaskPattern::causal(), "heap", 1.00, 0},
      {MaskPattern::slidingWindow(128), "contiguous", 1.07, 889},
      {MaskPattern::slidingWindow(128), "zigzag", 1.07, 1715},
      {MaskPattern::full(), "contiguous", 1.00, 7168},
  };
  for (const BalanceCase &c : cases) {
    BandVisibility visibility(1024, c.mask);
    Placement placement = getPlacement(visibility, 8, 16, c.placement);
    Plan plan = buildPlan(visibility, placement, Scheme::GroupCast,
                          KeyOrder::Ascending, 1, 16);
    EXPECT_TRUE(checkPlan(plan, visibility));
    PlanCost cost =
        pricePlan(plan, makeProblem(1024, 8, 8), makeTopology(8), {1e-15});
    EXPECT_NEAR(cost.balance, c.balance, 0.006) << c.placement;
    if (c.sent) {
      EXPECT_EQ(countSent(plan), c.sent) << c.placement;
    }
  }
}

// 2 P c^2 + c visible pairs for each rank.
TEST(Placement, ZigzagIsEqualWorkUnderCausalMasks) {
  BandVisibility causal(8192, MaskPattern::causal());
  Plan plan = buildPlan(causal, getPlacement(causal, 4, 256, "zigzag"),
                        Scheme::Ring, KeyOrder::OwnFirst, 1, 256);
  for (const RankPlan &rank : plan.ranks) {
    EXPECT_EQ(rank.countPairs(), 8389632);
    EXPECT_EQ(rank.stages.size(), 4u);
    for (size_t step = 1; step < 4; ++step)
      EXPECT_EQ(rank.stages[step].calls.front().pairs, 2 * 1024 * 1024);
  }
}

// Rounds in which nobody sees anything are not run: a rank and its halo.
TEST(Plan, RingOfAWindowEndsWhereNobodySees) {
  BandVisibility window(4096, MaskPattern::slidingWindow(600));
  Plan plan = buildPlan(window, getPlacement(window, 8, 256, "contiguous"),
                        Scheme::Ring, KeyOrder::OwnFirst, 1, 256);
  EXPECT_EQ(plan.ranks.front().stages.size(), 1u + 2u);
}

//===----------------------------------------------------------------------===//
// Any predicate, pair by pair
//===----------------------------------------------------------------------===//

/// How often each pair of rows and keys is computed, for heads of `shard`.
std::vector<int> countComputed(const Plan &plan, int64_t shard) {
  std::vector<int> computed(plan.tokens * plan.tokens);
  for (size_t r = shard; r < plan.ranks.size(); r += plan.headShards)
    for (const Stage &stage : plan.ranks[r].stages)
      for (const Call &call : stage.calls)
        for (const TokenRange &rows : call.rows)
          for (const TokenRange &keys : call.keys)
            for (int64_t i = rows.begin; i < rows.end; ++i)
              for (int64_t j = keys.begin; j < keys.end; ++j)
                ++computed[i * plan.tokens + j];
  return computed;
}

/// Keys that a rank without head shards receives in a group-cast.
void expectExactNeeds(const Plan &plan,
                      const PredicateVisibility::Predicate &visible) {
  for (const RankPlan &rank : plan.ranks) {
    TokenRanges received;
    for (const Stage &stage : rank.stages)
      for (const Transfer &transfer : stage.receive)
        received = received.unite(transfer.tokens);
    std::vector<TokenRange> needed;
    for (int64_t j = 0; j < plan.tokens; ++j)
      for (const TokenRange &rows : rank.rows)
        for (int64_t i = rows.begin; i < rows.end; ++i)
          if (visible(i, j))
            needed.push_back({j, j + 1});
    EXPECT_EQ(received, TokenRanges(needed).subtract(rank.rows));
  }
}

/// Of others, the rows that see a key of the rank, where queries move.
void expectExactRows(const Plan &plan,
                     const PredicateVisibility::Predicate &visible) {
  for (const RankPlan &rank : plan.ranks) {
    TokenRanges received;
    for (const Stage &stage : rank.stages)
      for (const Transfer &transfer : stage.receive)
        received = received.unite(transfer.tokens);
    std::vector<TokenRange> seeing;
    for (int64_t i = 0; i < plan.tokens; ++i)
      for (const TokenRange &keys : rank.rows)
        for (int64_t j = keys.begin; j < keys.end; ++j)
          if (visible(i, j))
            seeing.push_back({i, i + 1});
    EXPECT_EQ(received, TokenRanges(seeing).subtract(rank.rows));
  }
}

TEST(Planner, AnyPredicate) {
  std::mt19937 random(4);
  auto below = [&](int64_t n) { return int64_t(random() % n); };
  for (int round = 0; round < 60; ++round) {
    const int64_t rankCounts[] = {1, 2, 3, 4, 8};
    int64_t ranks = rankCounts[below(5)], tokens = 1 + below(70);
    int64_t block = 1 + below(9), seed = below(1000), kind = below(3);
    auto visible = [=](int64_t i, int64_t j) {
      if (kind == 0) // Blocks at random; some rows see nothing.
        return (i / block * 7919 + j / block * 104729 + seed) % 5 == 0;
      if (kind == 1)
        return j <= i && (i - j < block || j < 2);
      return seed % 2 == 0 || i == j;
    };
    PredicateVisibility visibility(tokens, visible);
    Result<PlanSelection> selection =
        selectPlan(makeProblem(tokens, 8, 2), visibility,
                   makeTopology(ranks, 1 + below(4)), {1e-12}, {1 + below(8)});
    ASSERT_TRUE(selection) << selection.error();
    for (const PlanChoice &choice : selection->ranked) {
      const Plan &plan = choice.plan;
      EXPECT_TRUE(checkPlan(plan, visibility))
          << plan.printScheme() << ": " << checkPlan(plan, visibility).error();
      for (int64_t shard = 0; shard < plan.headShards; ++shard) {
        std::vector<int> computed = countComputed(plan, shard);
        for (int64_t i = 0; i < tokens; ++i)
          for (int64_t j = 0; j < tokens; ++j) {
            ASSERT_LE(computed[i * tokens + j], 1);
            if (visible(i, j)) {
              ASSERT_EQ(computed[i * tokens + j], 1);
            }
          }
      }
      if (plan.scheme == Scheme::GroupCast)
        expectExactNeeds(plan, visible);
      if (plan.movesQueries())
        expectExactRows(plan, visible);
      EXPECT_GE(choice.cost.seconds, selection->leastSeconds * (1 - 1e-9));
      EXPECT_GE(choice.cost.seconds, selection->ranked.front().cost.seconds);
    }
  }
}

//===----------------------------------------------------------------------===//
// The checker
//===----------------------------------------------------------------------===//

Plan makePlan(const Visibility &visibility) {
  return buildPlan(visibility, getPlacement(visibility, 4, 16, "zigzag"),
                   Scheme::GroupCast, KeyOrder::OwnFirst, 1, 16);
}

TEST(PlanChecks, RefusesBrokenPlans) {
  BandVisibility causal(256, MaskPattern::causal());
  auto expectError = [&](auto damage, const std::string &message) {
    Plan plan = makePlan(causal);
    ASSERT_TRUE(checkPlan(plan, causal));
    damage(plan);
    Status status = checkPlan(plan, causal);
    EXPECT_FALSE(status);
    EXPECT_NE(status.error().find(message), std::string::npos)
        << status.error();
  };
  expectError([](Plan &p) { p.ranks[1].rows = p.ranks[0].rows; },
              "expected each of 256 tokens on one rank, got 256 on all ranks");
  expectError([](Plan &p) { p.ranks[1].stages[1].send.pop_back(); },
              "expected rank 1 to send what is received from it");
  expectError([](Plan &p) { p.ranks[1].stages[1].receive.pop_back(); },
              "expected");
  expectError(
      [](Plan &p) { std::swap(p.ranks[1].stages[0], p.ranks[1].stages[1]); },
      "expected");
  expectError([](Plan &p) { p.ranks[2].stages[1].calls.clear(); },
              "visible pairs to be computed, got");
  expectError(
      [](Plan &p) {
        auto &calls = p.ranks[2].stages[1].calls;
        calls.push_back(calls.front());
      },
      "expected each key in one call, got it in two");
  expectError([](Plan &p) { p.ranks[3].stages.pop_back(); },
              "rank 3: expected 2 stages, got 1");
  // Where queries move.
  auto expectQueryError = [&](auto damage, const std::string &message) {
    Plan plan = buildPlan(causal, getPlacement(causal, 4, 16, "zigzag"),
                          Scheme::QueryCast, KeyOrder::OwnFirst, 1, 16);
    ASSERT_TRUE(checkPlan(plan, causal));
    damage(plan);
    EXPECT_EQ(checkPlan(plan, causal).error(), message);
  };
  expectQueryError(
      [](Plan &p) { p.headShards = 2; },
      "expected head_shards 1 of a plan that moves queries, got 2");
  const char *late = "rank 1, stage 0: expected calls of rows that have "
                     "arrived, over keys that the rank owns";
  expectQueryError(
      [](Plan &p) {
        p.ranks[1].stages[0].calls[0].rows = {{0, 256}};
      },
      late);
  expectQueryError(
      [](Plan &p) {
        p.ranks[1].stages[0].calls[0].keys = {{0, 256}};
      },
      late);
  expectQueryError(
      [](Plan &p) { p.ranks[1].stages[1].calls[0].rows = p.ranks[1].rows; },
      "rank 1: expected each row in one call, got it in two");
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

TEST(Planner, KeepsWindowsLocalAndCausalWorkEven) {
  // Slow links: what is sent decides.
  BandVisibility window(65536, MaskPattern::slidingWindow(1024));
  AttentionProblem problem = makeProblem(65536, 32, 8);
  Result<PlanSelection> local =
      selectPlan(problem, window, makeTopology(8, 1), {1e-13});
  ASSERT_TRUE(local);
  EXPECT_EQ(local->ranked.front().plan.placement, "contiguous");
  // Much work and fast links: balance decides.
  BandVisibility causal(65536, MaskPattern::causal());
  Result<PlanSelection> even =
      selectPlan(problem, causal, makeTopology(8), {1e-9});
  ASSERT_TRUE(even);
  EXPECT_NEAR(even->ranked.front().cost.balance, 1, 0.01);
  EXPECT_NE(even->ranked.front().plan.placement, "swapped");
}

// 64 rows see all 4096 keys, the others their own block: their queries go to
// the keys, of 1/8 of which each other way would move all to one rank.
TEST(Planner, MovesQueriesOfFewRowsThatSeeAll) {
  std::string picture;
  for (int64_t row = 0; row < 64; ++row) {
    std::string line(64, row ? '.' : '#');
    line[row] = '#';
    picture += (row ? "\n" : "") + line;
  }
  auto blocks = BlockVisibility::parse(picture, 4096, 64);
  ASSERT_TRUE(blocks) << blocks.error();
  PlannerOptions options;
  options.chunk = 64;
  AttentionProblem problem = makeProblem(4096, 8, 8);
  auto selection =
      selectPlan(problem, *blocks, makeTopology(8, 1), {1e-13}, options);
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->ranked.front().plan.printScheme(), "query-cast");
  // Rows are to stay.
  options.headShards = 1;
  selection =
      selectPlan(problem, *blocks, makeTopology(8, 1), {1e-13}, options);
  ASSERT_TRUE(selection);
  for (const PlanChoice &choice : selection->ranked)
    EXPECT_FALSE(choice.plan.movesQueries());
  EXPECT_EQ(selection->rejections.front(),
            "query-cast: queries move, and with 1 head shard rows are to stay");
}

// Packed sequences of very different lengths: better balanced than parts and
// more local than a heap; the same in each run.
TEST(Placement, SwapsHelpPackedSequences) {
  DocumentVisibility documents({320, 32, 64, 256, 96, 128, 128},
                               MaskPattern::causal());
  std::vector<Placement> placements = getPlacements(documents, 8, 16);
  std::optional<Placement> swapped =
      improvePlacement(documents, placements, 16, /*pairsPerToken=*/2);
  ASSERT_TRUE(swapped);
  EXPECT_EQ(swapped->rows,
            improvePlacement(documents, placements, 16, 2)->rows);
  placements.push_back(*swapped);
  std::map<std::string, PlanCost> costs;
  std::map<std::string, int64_t> sent;
  for (const Placement &placement : placements) {
    Plan plan = buildPlan(documents, placement, Scheme::GroupCast,
                          KeyOrder::Ascending, 1, 16);
    EXPECT_TRUE(checkPlan(plan, documents));
    costs[placement.name] =
        pricePlan(plan, makeProblem(1024, 8, 8), makeTopology(8), {1e-15});
    sent[placement.name] = countSent(plan);
    for (const RankPlan &rank : plan.ranks)
      EXPECT_EQ(rank.rows.count(), 128) << placement.name;
  }
  EXPECT_LT(costs["swapped"].balance, 1.2);
  EXPECT_LT(costs["swapped"].balance, costs["zigzag"].balance);
  EXPECT_LT(costs["swapped"].balance, costs["contiguous"].balance);
  EXPECT_LT(sent["swapped"], sent["heap"]);
  // Equal work that stays where it is: nothing to gain.
  DocumentVisibility equal(std::vector<int64_t>(8, 128), MaskPattern::full());
  EXPECT_FALSE(improvePlacement(equal, getPlacements(equal, 8, 16), 16, 2));
}

TEST(Planner, SaysWhatCannotBe) {
  BandVisibility full(512, MaskPattern::full());
  auto selection =
      selectPlan(makeProblem(512, 6, 3), full, makeTopology(4), {1e-12});
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->rejections,
            (std::vector<std::string>{
                "all-to-all over 2 ranks: expected a divisor or a multiple of "
                "Hkv = 3",
                "all-to-all over 4 ranks: expected a divisor of Hq = 6"}));
  EXPECT_EQ(
      selectPlan(makeProblem(256, 8, 8), full, makeTopology(4), {}).error(),
      "expected M = N = 512, since rows and keys of ranks are the same tokens, "
      "got M=256 N=256");
  EXPECT_EQ(selectPlan(makeProblem(512, 8, 8), full, makeTopology(4), {}, {-1})
                .error(),
            "expected a chunk of at least 1 token, got -1");
}

TEST(Planner, DeterministicPlansAscend) {
  BandVisibility causal(4096, MaskPattern::causal());
  auto selection = selectPlan(makeProblem(4096, 8, 8), causal, makeTopology(4),
                              {1e-12}, {0, true});
  ASSERT_TRUE(selection);
  for (const PlanChoice &choice : selection->ranked)
    for (const RankPlan &rank : choice.plan.ranks) {
      size_t calls = 0;
      for (const Stage &stage : rank.stages)
        calls += stage.calls.size();
      EXPECT_LE(calls, 1u) << choice.plan.printScheme();
    }
}

TEST(Visibility, RowsThatSeeKeys) {
  DocumentVisibility documents({5, 20, 7}, MaskPattern::local(6, 2));
  BandVisibility band(32, MaskPattern::local(3, -1));
  BandVisibility nothing(32, MaskPattern::local(-3, 1));
  auto blocks = BlockVisibility::parse("#+.\n.#.\n#.#", 32, 12);
  ASSERT_TRUE(blocks);
  for (const Visibility *visibility : std::initializer_list<const Visibility *>{
           &documents, &band, &nothing, &*blocks})
    for (int64_t begin = 0; begin < 32; ++begin)
      for (int64_t end = begin; end <= 32; ++end) {
        std::vector<TokenRange> seeing;
        for (int64_t row = 0; row < 32; ++row)
          if (visibility->countPairs(TokenRange{row, row + 1},
                                     TokenRange{begin, end}))
            seeing.push_back({row, row + 1});
        ASSERT_EQ(visibility->getRows(TokenRange{begin, end}),
                  TokenRanges(seeing));
      }
}

TEST(Visibility, Blocks) {
  auto blocks = BlockVisibility::parse("#+.\n.#.\n#.#", 40, 16);
  ASSERT_TRUE(blocks) << blocks.error();
  EXPECT_EQ(blocks->getKeys(TokenRange{0, 16}), (TokenRanges{{0, 32}}));
  EXPECT_EQ(blocks->getKeys(TokenRange{20, 36}), (TokenRanges{{0, 40}}));
  EXPECT_EQ(blocks->countPairs(TokenRange{0, 16}, TokenRange{0, 40}),
            256 + 128);
  EXPECT_EQ(blocks->countPairs(TokenRange{32, 40}, TokenRange{0, 40}),
            8 * 16 + 8 * 8);
  auto selection = selectPlan(makeProblem(40, 4, 4), *blocks, makeTopology(2),
                              {1e-12}, {16});
  ASSERT_TRUE(selection);
  for (const PlanChoice &choice : selection->ranked)
    EXPECT_TRUE(checkPlan(choice.plan, *blocks))
        << checkPlan(choice.plan, *blocks).error();
}

/// Tiles of the whole sequence: neither documents nor a window cut a chunk.
TEST(Planner, DeterministicPlansHaveWholeChunks) {
  AttentionProblem problem = makeProblem(1000, 8, 8);
  problem.mask = MaskPattern::local(100, 30);
  DocumentVisibility documents({70, 530, 400}, problem.mask);
  PlannerOptions options;
  options.chunk = 64;
  options.deterministic = true;
  auto selection =
      selectPlan(problem, documents, makeTopology(4), {1e-12}, options);
  ASSERT_TRUE(selection);
  for (const auto &[plan, cost] : selection->ranked) {
    EXPECT_TRUE(checkPlan(plan, documents))
        << checkPlan(plan, documents).error();
    EXPECT_EQ(plan.mask, "local:100,30");
    EXPECT_EQ(plan.documents.size(), 3u);
    for (const RankPlan &rank : plan.ranks)
      for (const Stage &stage : rank.stages)
        for (const Call &call : stage.calls)
          for (const TokenRange &range : call.keys.unite(rank.rows)) {
            EXPECT_EQ(range.begin % 64, 0);
            EXPECT_TRUE(range.end % 64 == 0 || range.end == 1000);
          }
  }
}

TEST(Planner, OnlyWhatIsAskedFor) {
  BandVisibility causal(4096, MaskPattern::causal());
  AttentionProblem problem = makeProblem(4096, 8, 8);
  PlannerOptions options;
  options.scheme = "ring";
  options.placement = "striped";
  auto selection =
      selectPlan(problem, causal, makeTopology(4), {1e-12}, options);
  ASSERT_TRUE(selection);
  ASSERT_EQ(selection->ranked.size(), 1u);
  EXPECT_EQ(selection->ranked[0].plan.printScheme(), "ring");
  EXPECT_EQ(selection->ranked[0].plan.placement, "striped");
  options.deterministic = true;
  EXPECT_EQ(
      selectPlan(problem, causal, makeTopology(4), {1e-12}, options).error(),
      "expected a scheme, a placement and head shards that there are for this "
      "problem, got 'ring', 'striped' and any");
  for (int64_t shards : {1, 2, 4}) {
    PlannerOptions heads;
    heads.headShards = shards;
    auto plans = selectPlan(problem, causal, makeTopology(4), {1e-12}, heads);
    ASSERT_TRUE(plans);
    for (const PlanChoice &choice : plans->ranked)
      EXPECT_EQ(choice.plan.headShards, shards);
  }
}

TEST(Topology, Parse) {
  Result<Topology> topology = Topology::parse(
      16, "node=4 gbps=100 latency-us=2 nic-gbps=10 nic-latency-us=20");
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->nodeRanks, 4);
  EXPECT_DOUBLE_EQ(topology->link.gbps, 100);
  EXPECT_DOUBLE_EQ(topology->nic.latencySeconds, 20e-6);
  EXPECT_EQ(Topology::parse(0, "").error(),
            "expected from 1 to 1024 ranks, got 0");
  EXPECT_EQ(Topology::parse(2, "gbps=0").error(),
            "expected a positive number for gbps, got '0'");
  EXPECT_EQ(Topology::parse(2, "node=0").error(),
            "expected node of at least 1, got 0");
  EXPECT_NE(Topology::parse(2, "gbp=1").error().find("did you mean 'gbps'"),
            std::string::npos);
}

TEST(Plan, Json) {
  BandVisibility causal(64, MaskPattern::causal());
  nlohmann::json plan =
      getPlanJson(buildPlan(causal, getPlacement(causal, 2, 16, "contiguous"),
                            Scheme::GroupCast, KeyOrder::Ascending, 1, 16));
  EXPECT_EQ(plan["schema"], "attn-mlir/plan/1");
  EXPECT_EQ(plan["ranks"][1]["rows"], (nlohmann::json{{32, 64}}));
  EXPECT_EQ(plan["ranks"][1]["stages"][0]["receive"][0],
            (nlohmann::json{{"from", 0}, {"keys", {{0, 32}}}}));
  EXPECT_EQ(plan["ranks"][0]["stages"][0]["send"][0]["to"], 1);
  EXPECT_EQ(plan["ranks"][1]["pairs"], 32 * 32 + 32 * 33 / 2);
}

} // namespace
