//===- SplitConstraintsTest.cpp - Tests of splits of the keys -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstraintsFixture.h"

#include "attn/Schedule/ResourceModel.h"

#include <set>

using namespace attn;

namespace {
struct SplitConstraints : ConstraintsFixture {};
} // namespace

TEST_F(SplitConstraints, splitsFollowTheKind) {
  set("splits=2");
  EXPECT_EQ(
      getMessages(),
      "kind: expected splits=1 with kind=large_cache (it is of split_kv), "
      "got 2\n");
  set("kind=split_kv splits=1");
  EXPECT_EQ(getMessages(), "kind: expected splits of at least 2, or "
                           "split_keys, with kind=split_kv, got 1\n");
  set("splits=17");
  EXPECT_EQ(getMessages(), "range: expected splits from 1 to 16, got 17\n");
  set("splits=2 split_keys=256");
  EXPECT_EQ(getMessages(), "kind: expected splits=1 with split_keys, got 2\n");
  set("splits=1 split_keys=96");
  EXPECT_EQ(getMessages(), "multiple: expected split_keys a positive multiple "
                           "of 64, got 96\n");
  set("split_keys=128");
  EXPECT_EQ(getMessages(), "");
  features.fixedSplits = false;
  EXPECT_EQ(getMessages(), "feature: the code generator has no splits of a "
                           "fixed length of keys that are listed by blocks\n");
  set("kind=large_cache");
  EXPECT_EQ(getMessages(),
            "kind: expected split_keys=0 with kind=large_cache (it is of "
            "split_kv), got 128\n"
            "feature: the code generator has no splits of a fixed length of "
            "keys that are listed by blocks\n");
}

TEST_F(SplitConstraints, batchesDoNotShareNumbers) {
  set("invariance=batch");
  EXPECT_EQ(getMessages(), "");
  set("kind=split_kv splits=4");
  EXPECT_EQ(getMessages(), "invariance: expected split_keys in place of splits "
                           "with invariance=batch, got splits=4\n");
  set("splits=1 split_keys=256");
  EXPECT_EQ(getMessages(), "");
  target = *lookupTarget("cpu");
  EXPECT_EQ(check(problem, schedule, target, features).front().message,
            "expected invariance=none on a CPU, got batch");
}

/// A length gives the number, and each CTA as many tiles at most.
TEST_F(SplitConstraints, lengthsHaveThePriceOfTheirNumber) {
  problem = *AttentionProblem::parse("B=3 Hq=8 Hkv=2 M=1 N=1000 D=64");
  set("kind=split_kv tile_m=16 warps=1 tile_n=32 tile_d=64 tile_dv=64 "
      "pack_gqa=1 splits=4");
  Cost number = getCost(problem, schedule, target);
  set("splits=1 split_keys=256");
  Cost length = getCost(problem, schedule, target);
  EXPECT_EQ(length.ctas, 3 * 2 * 4);
  EXPECT_EQ(length.ctas, number.ctas);
  EXPECT_EQ(length.workspaceBytes, 4 * 3 * 8 * (64 + 2) * 4);
  EXPECT_EQ(length.workspaceBytes, number.workspaceBytes);
  EXPECT_EQ(length.getL2Bytes(), number.getL2Bytes());
  EXPECT_EQ(length.getTerm("latency"), number.getTerm("latency"));
}

/// Splits have a length then, and the choice is not made for more.
TEST_F(SplitConstraints, searchForBatchesHasLengths) {
  Result<ScheduleOverrides> overrides =
      ScheduleOverrides::parse("invariance=batch kind=split_kv tile_n=48");
  Result<Selection> selection = selectSchedule(problem, target, *overrides);
  ASSERT_TRUE(selection);
  std::set<int64_t> lengths;
  for (const Candidate &candidate : selection->ranked) {
    lengths.insert(candidate.schedule.splitKeys);
    EXPECT_EQ(candidate.schedule.splits, 1);
  }
  EXPECT_EQ(lengths, (std::set<int64_t>{240, 480, 1008, 2016, 4080}));
}

TEST_F(SplitConstraints, plansShareOutFixedLengths) {
  set("balance=plan");
  EXPECT_EQ(getMessages(), "kind: expected balance=grid with kind=large_cache "
                           "(it is of split_kv), got plan\n"
                           "plan: expected split_keys with balance=plan, got "
                           "0\nrange: expected persistent_ctas from 1 to "
                           "65535, got 0\n");
  set("kind=split_kv persistent_ctas=4 split_keys=128");
  EXPECT_EQ(getMessages(), "");
  set("persistent_ctas=0");
  EXPECT_EQ(getMessages(),
            "range: expected persistent_ctas from 1 to 65535, got 0\n");
  set("persistent_ctas=4");
  features.plans = false;
  EXPECT_EQ(getMessages(), "feature: the code generator has no plan without "
                           "lengths of the keys\n");
}

TEST_F(SplitConstraints, plansChooseRanges) {
  set("kind=split_kv balance=share persistent_ctas=4");
  EXPECT_EQ(getMessages(),
            "kind: expected splits of at least 2, or split_keys, with "
            "kind=split_kv, got 1\n"
            "plan: expected split_keys with balance=share, got 0\n");
  set("split_keys=128");
  EXPECT_EQ(getMessages(), "");
  set("invariance=batch");
  EXPECT_EQ(getMessages(), "invariance: expected balance=grid or plan with "
                           "invariance=batch, got share\n");
}

/// A CTA has about one range of sequences that are equally long.
TEST_F(SplitConstraints, rangesAreShares) {
  for (auto [batch, ctas] : {std::pair("16", 512), std::pair("1", 256)}) {
    problem = *AttentionProblem::parse(std::string("B=") + batch +
                                       " Hq=32 Hkv=8 M=1 N=8192 D=128");
    Result<Selection> selection = selectSchedule(
        problem, *lookupTarget("sm_90a"),
        *ScheduleOverrides::parse("kind=split_kv balance=share tile_n=64 "
                                  "stages=2 mma=mma_sync tile_m=16"));
    ASSERT_TRUE(selection);
    const Candidate &chosen = selection->ranked.front();
    EXPECT_EQ(chosen.schedule.splitKeys, 128);
    EXPECT_EQ(chosen.cost.ctas, ctas);
    EXPECT_EQ(chosen.schedule.persistentCtas, 396);
  }
}

/// As many CTAs as run at once; a kernel more, its lengths and the list.
TEST_F(SplitConstraints, plansHaveTheirPrice) {
  problem = *AttentionProblem::parse("B=3 Hq=8 Hkv=2 M=1 N=1000 D=64");
  Result<Selection> selection = selectSchedule(
      problem, target,
      *ScheduleOverrides::parse("kind=split_kv balance=plan split_keys=256 "
                                "mma=mma_sync tile_n=32 pack_gqa=1 stages=2"));
  ASSERT_TRUE(selection);
  Schedule planned = selection->chosen().schedule, grid = planned;
  EXPECT_EQ(planned.persistentCtas,
            target.smCount * getCtasPerSm(problem, planned, target));
  grid.balance = Balance::Grid;
  grid.persistentCtas = 0;
  Cost plan = selection->chosen().cost,
       without = getCost(problem, grid, target);
  // 3 * 3 lengths, 12 splits of 2 groups of heads, and their number for each.
  EXPECT_EQ(plan.l2ReadBytes - without.l2ReadBytes, 4 * (9 + 24 + 24));
  EXPECT_EQ(plan.l2WriteBytes - without.l2WriteBytes, 4 * 13);
  EXPECT_EQ(plan.workspaceBytes - without.workspaceBytes, 4 * 13);
  EXPECT_NEAR(plan.getTerm("launch"), 1.5 * without.getTerm("launch"), 1e-9);
}
