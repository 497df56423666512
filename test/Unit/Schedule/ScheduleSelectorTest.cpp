//===- ScheduleSelectorTest.cpp - Tests of costs and the choice -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/ScheduleSelector.h"
#include "attn/Schedule/TwoLevelModel.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace attn;

static Result<Selection> select(const std::string &problem,
                                const std::string &target,
                                const std::string &overrides = "") {
  return selectSchedule(*AttentionProblem::parse(problem),
                        *lookupTarget(target),
                        *ScheduleOverrides::parse(overrides));
}

static const OperandBytes *findOperand(const Cost &cost, Operand operand) {
  for (const OperandBytes &moved : cost.operands)
    if (moved.operand == operand)
      return &moved;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

TEST(CostModel, causalTrafficByHand) {
  // 4 heads of 1024 x 1024, D = 64, tiles 128 x 64: the row tiles read 2, 4,
  // ... 16 key tiles, together 72.
  AttentionProblem problem =
      *AttentionProblem::parse("B=2 H=2 M=1024 N=1024 D=64 mask=causal lse=1");
  Schedule schedule = *Schedule::parse("tile_m=128 tile_n=64 tile_d=64 "
                                       "tile_dv=64 stages=2 warps=4");
  Cost cost = getCost(problem, schedule, *lookupTarget("sm_80"));
  EXPECT_EQ(findOperand(cost, Operand::Query)->read, 4 * 1024 * 64 * 2);
  EXPECT_EQ(findOperand(cost, Operand::Key)->read, 4 * 72 * 64 * 64 * 2);
  EXPECT_EQ(findOperand(cost, Operand::Value)->read, 4 * 72 * 64 * 64 * 2);
  EXPECT_EQ(findOperand(cost, Operand::Output)->written, 4 * 1024 * 64 * 2);
  EXPECT_EQ(findOperand(cost, Operand::Lse)->written, 4 * 1024 * 4);
  EXPECT_EQ(findOperand(cost, Operand::Scores), nullptr);
  EXPECT_EQ(cost.visibleScores, 4 * 1024 * 1025 / 2);
  EXPECT_EQ(cost.computedScores, 4 * 72 * 128 * 64);
  EXPECT_EQ(cost.flops, 2.0 * 4 * 72 * 128 * 64 * 128);
  EXPECT_EQ(cost.ctas, 4 * 8);
  EXPECT_EQ(cost.dramBytes, 4 * 4 * 1024 * 64 * 2);
}

TEST(CostModel, biasIsReadWithTheVisibleTiles) {
  AttentionProblem problem =
      *AttentionProblem::parse("M=128 N=128 D=64 mask=causal bias=1");
  Schedule schedule = *Schedule::parse("tile_m=64 tile_n=64 tile_d=64 "
                                       "tile_dv=64 stages=2 warps=4");
  Cost cost = getCost(problem, schedule, *lookupTarget("sm_80"));
  EXPECT_EQ(findOperand(cost, Operand::Bias)->read, 3 * 64 * 64 * 2);
}

TEST(CostModel, packingReadsKeysOncePerGroup) {
  AttentionProblem problem =
      *AttentionProblem::parse("Hq=8 Hkv=1 M=8 N=1024 D=64");
  Schedule schedule = *Schedule::parse("tile_m=64 tile_n=64 tile_d=64 "
                                       "tile_dv=64 stages=2 warps=4");
  TargetInfo target = *lookupTarget("sm_80");
  int64_t once = 1024 * 64 * 2;
  Cost apart = getCost(problem, schedule, target);
  EXPECT_EQ(findOperand(apart, Operand::Key)->read, 8 * once);
  schedule.packGqa = true;
  Cost packed = getCost(problem, schedule, target);
  EXPECT_EQ(findOperand(packed, Operand::Key)->read, once);
  EXPECT_EQ(packed.ctas, 1);
}

TEST(CostModel, smallCacheSpillsAndReadsBack) {
  AttentionProblem problem = *AttentionProblem::parse("M=256 N=512 D=512");
  Schedule schedule = *Schedule::parse(
      "kind=small_cache tile_m=128 tile_n=128 tile_d=32 tile_dv=128 stages=2 "
      "warps=4 chunk_rows=256");
  Cost cost = getCost(problem, schedule, *lookupTarget("sm_80"));
  const OperandBytes *scores = findOperand(cost, Operand::Scores);
  EXPECT_EQ(scores->written, 256 * 512 * 2);
  EXPECT_EQ(scores->read, 4 * 256 * 512 * 2); // 512 / 128 slices
  const OperandBytes *statistics = findOperand(cost, Operand::Statistics);
  EXPECT_EQ(statistics->written, 2 * 256 * 4 * 4);
  EXPECT_EQ(statistics->read, 4 * 2 * 256 * 4 * 4);
  EXPECT_EQ(cost.workspaceBytes, 256 * (512 * 2 + 2 * 4 * 4));
  // The LSE is an output, not a step between the phases.
  EXPECT_EQ(findOperand(cost, Operand::Lse), nullptr);
  problem.hasLse = true;
  cost = getCost(problem, schedule, *lookupTarget("sm_80"));
  EXPECT_EQ(findOperand(cost, Operand::Lse)->written, 256 * 4);
  EXPECT_EQ(findOperand(cost, Operand::Lse)->read, 0);
  schedule.spill = SpillFormat::Scores;
  cost = getCost(problem, schedule, *lookupTarget("sm_80"));
  EXPECT_EQ(findOperand(cost, Operand::Scores)->written, 256 * 512 * 4);
  EXPECT_EQ(findOperand(cost, Operand::Statistics), nullptr);
}

TEST(CostModel, ratesPerScoreOfHopper) {
  // 2 (dk + dv) / F, kv * 2 / (Br * BW), 1 / ex2 rate, in ps for each score,
  // and Q and O: the terms of a large problem whose CTAs fill the chip exactly.
  AttentionProblem problem =
      *AttentionProblem::parse("H=16 M=25344 N=8160 D=128");
  Schedule schedule = *Schedule::parse(
      "mma=wgmma tile_m=192 tile_n=80 tile_d=128 tile_dv=128 stages=2 "
      "warps=12 producer_warps=4");
  TargetInfo target = *lookupTarget("h200");
  Cost cost = getCost(problem, schedule, target);
  double scores = 16.0 * 25344 * 8160;
  EXPECT_NEAR(cost.getTerm("mma") / scores * 1e12, 0.517 / target.wgmmaShare,
              0.001);
  EXPECT_NEAR(cost.getTerm("l2") / scores * 1e15,
              (2.667 + 512.0 / 8160) / target.l2GBps * 1e6, 1);
  EXPECT_NEAR(cost.getTerm("exp") / scores * 1e12, 0.270, 0.001);
  EXPECT_EQ(cost.limiter, "mma");
}

/// Four row tiles of an SM, 64 key tiles of 64 each: S in f32, P in 16 bits and
/// what V adds in f32, at 512 bytes a clock.
TEST(CostModel, tensorMemoryOfBlackwell) {
  AttentionProblem problem =
      *AttentionProblem::parse("H=16 M=9472 N=4096 D=128");
  Schedule schedule = *Schedule::parse(
      "mma=tcgen05 tile_m=256 tile_n=64 tile_d=128 tile_dv=128 stages=4 "
      "warps=8 producer_warps=4");
  TargetInfo target = *lookupTarget("sm_100a");
  Cost cost = getCost(problem, schedule, target);
  EXPECT_NEAR(cost.getTerm("tensor_memory") * target.clockGHz * 1e9,
              4 * 64 * 256 * (64 * 6 + 128 * 4) / 512.0, 1);
}

/// Into shared memory come K, V and V transposed; each of two warpgroups reads
/// K and V, one of them has the query tile, and the producer reads V.
TEST(CostModel, transpositionOfBytes) {
  AttentionProblem problem =
      *AttentionProblem::parse("H=1 M=16896 N=4096 D=128 dtype=f8E4M3FN");
  Schedule schedule = *Schedule::parse(
      "mma=wgmma tile_m=128 tile_n=128 tile_d=128 tile_dv=128 stages=2 "
      "warps=8 producer_warps=4");
  TargetInfo target = *lookupTarget("sm_90a");
  Cost cost = getCost(problem, schedule, target);
  EXPECT_NEAR(cost.getTerm("shared_memory") * target.clockGHz * 1e9,
              32 * (128 * 128) * (3 + 2 * 2 + 1 + 1) / 128.0, 1);
}

/// Who computes copies nothing, and meets nobody.
TEST(CostModel, producersOfMmaSync) {
  AttentionProblem problem =
      *AttentionProblem::parse("H=17 M=640 N=4096 D=128"); // a tile for each SM
  Schedule schedule = *Schedule::parse(
      "tile_m=64 tile_n=32 tile_d=128 tile_dv=128 stages=2 warps=4");
  TargetInfo target = *lookupTarget("sm_120");
  Cost without = getCost(problem, schedule, target);
  schedule.producerWarps = 1;
  Cost with = getCost(problem, schedule, target);
  double clocks = target.clockGHz * 1e9 * target.smCount;
  EXPECT_NEAR((without.getTerm("issue") - with.getTerm("issue")) * clocks,
              17.0 * 640 * 4096 * 0.5 / target.lanesPerClock, 1);
  EXPECT_EQ(with.getL2Bytes(), without.getL2Bytes());
  EXPECT_LT(with.getTerm("exposed"), without.getTerm("exposed"));
}

TEST(CostModel, weightsWithoutSoftmaxAreCheaper) {
  Schedule schedule = *Schedule::parse(
      "mma=wgmma tile_m=128 tile_n=128 tile_d=64 tile_dv=64 stages=2 warps=8 "
      "producer_warps=4");
  std::string sizes = "H=16 M=8192 N=8192 D=64";
  std::vector<Cost> costs;
  for (const char *normalization : {"softmax", "sum", "none"})
    costs.push_back(getCost(
        *AttentionProblem::parse(sizes + " normalization=" + normalization),
        schedule, *lookupTarget("h200")));
  EXPECT_GT(costs[0].getTerm("exp"), 0);
  EXPECT_EQ(costs[1].getTerm("exp"), 0);
  EXPECT_EQ(costs[2].getTerm("exp"), 0);
  EXPECT_GT(costs[0].getTerm("issue"), costs[1].getTerm("issue"));
  EXPECT_GT(costs[1].getTerm("issue"), costs[2].getTerm("issue"));
  EXPECT_EQ(costs[0].getTerm("mma"), costs[2].getTerm("mma"));
}

//===----------------------------------------------------------------------===//
// Crossover of the idealised model
//===----------------------------------------------------------------------===//

/// The smallest cache, in units of d^2, at which the large-cache schedule moves
/// no more than the small-cache one.
static double findCrossover(int64_t dim, bool backward) {
  HeadShape head;
  head.rows = head.kvLength = 4096;
  head.headDim = head.valueDim = dim;
  auto isLarge = [&](int64_t cache) {
    if (backward)
      return getBestLargeBackward(head, cache)->traffic.getTotal() <=
             *getBestSmallBackward(head, cache);
    return getBestLargeForward(head, cache)->traffic.getTotal() <=
           getBestSmallForward(head, cache)->traffic.getTotal();
  };
  int64_t low = dim * dim / 4, high = 2 * dim * dim;
  while (high - low > dim) {
    int64_t middle = (low + high) / 2;
    (isLarge(middle) ? high : low) = middle;
  }
  return static_cast<double>(high) / static_cast<double>(dim * dim);
}

TEST(TwoLevelModel, forwardCrossover) {
  // 4 x^2 = 4 x + 1 with x = d / sqrt(M) gives M = 0.69 d^2.
  EXPECT_NEAR(findCrossover(128, false), 0.70, 0.02);
  EXPECT_NEAR(findCrossover(256, false), 0.70, 0.02);
}

TEST(TwoLevelModel, backwardCrossover) {
  // 14 x^2 = 10 x + 3 gives M = 1.13 d^2, whole tiles a little more.
  EXPECT_NEAR(findCrossover(128, true), 1.17, 0.03);
}

TEST(LowerBounds, hiddenRowsAndKeysAreNotCompulsory) {
  // Causal with 6 queries and 4 keys, bottom-right: 2 queries see nothing.
  HeadShape head;
  head.rows = 6;
  head.kvLength = 4;
  head.headDim = 3;
  head.valueDim = 5;
  head.mask = MaskPattern::causal();
  EXPECT_EQ(getLowerBounds(head, 1 << 20).compulsory, 4 * 3 + 4 * 8 + 6 * 5);
  // Top-left, 2 queries: the last 2 of 4 keys are not seen.
  head.rows = 2;
  head.mask.alignment = MaskPattern::Alignment::TopLeft;
  EXPECT_EQ(getLowerBounds(head, 1 << 20).compulsory, 2 * 3 + 2 * 8 + 2 * 5);
  EXPECT_EQ(getLowerBounds(head, 1 << 20, AttentionPass::Backward).compulsory,
            2 * 8 + 2 * 3 + (2 + 4) * 8);
}

TEST(TwoLevelModel, footprintsRejectThePrintedTiles) {
  // FlashAttention's printed tiles (Bc = M / 4d, Br = min(Bc, d)) for M = 16384
  // and d = 64 need more than M.
  HeadShape head;
  head.rows = head.kvLength = 1024;
  head.headDim = head.valueDim = 64;
  EXPECT_EQ(getKvOuterFootprint(head, 64, 64), 20608);
  EXPECT_GT(getKvOuterBackwardFootprint(head, 64, 64), 16384);
  // The best query-outer tile fits, one row more does not.
  EXPECT_LE(getQueryOuterFootprint(head, 124, 1), 16384);
  EXPECT_GT(getQueryOuterFootprint(head, 125, 1), 16384);
  EXPECT_LE(getFusedBackwardFootprint(head, 1, 62), 16384);
  EXPECT_GT(getFusedBackwardFootprint(head, 1, 63), 16384);
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

TEST(ScheduleSelector, everyRankedScheduleIsLegalAndSorted) {
  for (const char *target : {"sm_80", "sm_86", "sm_90a", "sm_120", "cpu"}) {
    Result<Selection> selection =
        select("Hq=8 Hkv=2 M=2048 N=2048 D=128 mask=causal", target);
    ASSERT_TRUE(selection) << selection.error();
    AttentionProblem problem =
        *AttentionProblem::parse("Hq=8 Hkv=2 M=2048 N=2048 D=128 mask=causal");
    for (const Candidate &candidate : selection->ranked)
      EXPECT_TRUE(
          check(problem, candidate.schedule, *lookupTarget(target)).empty());
    for (const Rejection &rejection : selection->rejected)
      EXPECT_FALSE(rejection.violation.message.empty());
    EXPECT_LE(selection->chosen().cost.seconds,
              selection->ranked.back().cost.seconds);
  }
}

/// Where the computing warps could load, a producer is a choice of its own.
TEST(ScheduleSelector, producersWhereThereIsTma) {
  const char *problem = "Hq=32 Hkv=8 M=8192 N=8192 D=128 mask=causal";
  Result<Selection> selection = select(problem, "sm_120");
  ASSERT_TRUE(selection) << selection.error();
  EXPECT_EQ(selection->chosen().schedule.producerWarps, 1);
  selection = select(problem, "sm_120", "producer_warps=0");
  ASSERT_TRUE(selection) << selection.error();
  EXPECT_EQ(selection->chosen().schedule.producerWarps, 0);
  selection = select(problem, "sm_80");
  ASSERT_TRUE(selection) << selection.error();
  for (const Candidate &candidate : selection->ranked)
    EXPECT_EQ(candidate.schedule.producerWarps, 0);
  selection = select(problem, "sm_90a", "mma=mma_sync producer_warps=1");
  ASSERT_TRUE(selection) << selection.error();
  EXPECT_EQ(selection->chosen().schedule.mma, MmaFamily::MmaSync);
}

TEST(ScheduleSelector, choiceIsDeterministic) {
  Result<Selection> first = select("Hq=8 Hkv=2 M=512 N=4096 D=96", "sm_80");
  Result<Selection> second = select("Hq=8 Hkv=2 M=512 N=4096 D=96", "sm_80");
  ASSERT_EQ(first->ranked.size(), second->ranked.size());
  for (size_t i = 0; i < first->ranked.size(); ++i)
    EXPECT_EQ(first->ranked[i].schedule, second->ranked[i].schedule);
}

TEST(ScheduleSelector, ampereChoicesKeepTheTensorCoresBusy) {
  // Rows enough for reuse in CTAs that share an SM, within registers and
  // shared memory.
  for (const char *dims :
       {"D=32", "D=64", "D=96", "D=128", "D=192 Dv=128", "D=256"}) {
    SCOPED_TRACE(dims);
    Result<Selection> selection =
        select(std::string("B=4 H=32 M=4096 N=4096 ") + dims, "sm_80",
               "kind=large_cache");
    ASSERT_TRUE(selection) << selection.error();
    const Candidate &chosen = selection->chosen();
    EXPECT_GE(chosen.schedule.tileM, 64);
    EXPECT_GE(chosen.schedule.stages, 2);
    EXPECT_FALSE(chosen.cost.maySpill);
    EXPECT_LE(chosen.cost.sharedMemoryBytes, 163 * 1024);
    // Two warps for each of the four tensor cores hide each other's softmax.
    EXPECT_GE(chosen.cost.ctasPerSm * chosen.schedule.warps, 8);
  }
}

TEST(ScheduleSelector, decodeSplitsTheKeys) {
  Result<Selection> selection =
      select("Hq=32 Hkv=8 M=1 N=8192 D=128", "sm_90a");
  ASSERT_TRUE(selection) << selection.error();
  const Candidate &chosen = selection->chosen();
  EXPECT_EQ(chosen.schedule.kind, ScheduleKind::SplitKV);
  EXPECT_TRUE(chosen.schedule.packGqa);
  // 8 K/V heads alone would leave most of 132 SMs idle.
  EXPECT_GE(chosen.cost.ctas, 128);
  EXPECT_EQ(chosen.cost.limiter, "dram");
}

TEST(ScheduleSelector, kindFollowsTheHeadDim) {
  auto getKind = [](const std::string &dims, const std::string &target) {
    return select("B=4 H=16 M=4096 N=4096 " + dims, target)
        ->chosen()
        .schedule.kind;
  };
  for (const char *dims : {"D=64", "D=128", "D=192 Dv=128", "D=256"})
    EXPECT_EQ(getKind(dims, "sm_90a"), ScheduleKind::LargeCache) << dims;
  for (const char *dims : {"D=1024", "D=2048", "D=4096"}) {
    EXPECT_EQ(getKind(dims, "sm_90a"), ScheduleKind::SmallCache) << dims;
    EXPECT_EQ(getKind(dims, "sm_80"), ScheduleKind::SmallCache) << dims;
  }
}

TEST(ScheduleSelector, smallerSharedMemoryMovesTheChoice) {
  AttentionProblem problem =
      *AttentionProblem::parse("B=4 H=16 M=4096 N=4096 D=256");
  TargetInfo target = *lookupTarget("sm_90a");
  ASSERT_TRUE(setTargetField(target, "smem-bytes", "65536"));
  Result<Selection> selection = selectSchedule(problem, target);
  ASSERT_TRUE(selection) << selection.error();
  EXPECT_EQ(selection->chosen().schedule.kind, ScheduleKind::SmallCache);
  for (const Candidate &candidate : selection->ranked)
    EXPECT_LE(candidate.cost.sharedMemoryBytes, 65536);
}

TEST(ScheduleSelector, tinySharedMemoryStillHasASchedule) {
  TargetInfo target = *lookupTarget("sm_80");
  for (const char *bytes : {"1024", "2048", "4096", "16384"}) {
    ASSERT_TRUE(setTargetField(target, "smem-bytes", bytes));
    for (const char *dims : {"D=8", "D=128", "D=4096"}) {
      Result<Selection> selection = selectSchedule(
          *AttentionProblem::parse(std::string("M=500 N=500 ") + dims), target);
      EXPECT_TRUE(selection) << bytes << " " << dims << selection.error();
    }
  }
}

TEST(ScheduleSelector, smallCacheHasToBeFasterByTheMargin) {
  AttentionProblem problem = *AttentionProblem::parse("M=4096 N=4096 D=512");
  TargetInfo target = *lookupTarget("sm_90a");
  SelectorOptions options;
  options.smallCacheMargin = 1e6;
  EXPECT_NE(
      selectSchedule(problem, target, {}, options)->chosen().schedule.kind,
      ScheduleKind::SmallCache);
  options.smallCacheMargin = 1e-6;
  EXPECT_EQ(
      selectSchedule(problem, target, {}, options)->chosen().schedule.kind,
      ScheduleKind::SmallCache);
}

TEST(ScheduleSelector, overridesWin) {
  Result<Selection> selection =
      select("M=1024 N=1024 D=64", "sm_80", "tile_m=48 warps=3 tile_n=48");
  ASSERT_TRUE(selection) << selection.error();
  EXPECT_EQ(selection->chosen().schedule.tileM, 48);
  EXPECT_EQ(selection->chosen().schedule.tileN, 48);
  EXPECT_EQ(selection->chosen().schedule.warps, 3);
}

TEST(ScheduleSelector, illegalOverridesNameLimitAndNearest) {
  Result<Selection> selection = select("M=1024 N=1024 D=128", "sm_86",
                                       "tile_n=512 stages=2 kind=large_cache");
  ASSERT_FALSE(selection);
  EXPECT_EQ(
      selection.error().find("no schedule is legal with kind=large_cache "
                             "tile_n=512 stages=2 on target sm_86: needs "),
      0u)
      << selection.error();
  EXPECT_NE(selection.error().find(
                "target sm_86 has 101376; the nearest legal schedule is "
                "kind=large_cache mma=mma_sync"),
            std::string::npos)
      << selection.error();
}

TEST(ScheduleSelector, impossibleProblemNamesTheLimit) {
  TargetInfo target = *lookupTarget("sm_80");
  ASSERT_TRUE(setTargetField(target, "smem-bytes", "512"));
  Result<Selection> selection =
      selectSchedule(*AttentionProblem::parse("M=1024 N=1024 D=128"), target);
  ASSERT_FALSE(selection);
  EXPECT_EQ(selection.error().find("no schedule is legal on target sm_80: "
                                   "needs "),
            0u)
      << selection.error();
  EXPECT_NE(selection.error().find("bytes of shared memory, target sm_80 has "
                                   "512"),
            std::string::npos)
      << selection.error();
}

TEST(ScheduleSelector, malformedProblemIsAnError) {
  AttentionProblem problem;
  problem.headDim = 0;
  EXPECT_EQ(selectSchedule(problem, *lookupTarget("sm_80")).error(),
            "expected D from 1 to 16777216, got 0");
}

TEST(ScheduleSelector, observerSeesEveryCandidate) {
  struct Counter : SelectionObserver {
    size_t legal = 0, rejected = 0;
    void onLegal(const Candidate &) override { ++legal; }
    void onRejected(const Rejection &) override { ++rejected; }
  } counter;
  SelectorOptions options;
  options.observer = &counter;
  AttentionProblem problem = *AttentionProblem::parse("M=1024 N=1024 D=128");
  Result<Selection> selection =
      selectSchedule(problem, *lookupTarget("sm_86"), {}, options);
  EXPECT_EQ(counter.legal, selection->ranked.size());
  EXPECT_EQ(counter.rejected, selection->rejected.size());
  EXPECT_GT(counter.rejected, 0u);
  EXPECT_EQ(counter.legal + counter.rejected,
            enumerateSchedules(problem, *lookupTarget("sm_86"), {}, {}).size());
}

TEST(ScheduleSelector, everyHeadDimHasASchedule) {
  for (const char *target : {"sm_80", "sm_86", "sm_90a", "cpu"})
    for (int64_t dim : {1, 8, 17, 40, 72, 160, 320, 512, 576, 1000, 4096}) {
      Result<Selection> selection = select(
          "M=300 N=200 D=" + std::to_string(dim) + " mask=causal", target);
      EXPECT_TRUE(selection) << target << " " << dim << selection.error();
    }
}

TEST(ScheduleSelector, costsAreFiniteForEveryElementType) {
  for (const char *target : {"sm_80", "sm_89", "sm_90a", "sm_100a", "cpu"})
    for (const char *type : {"f8E4M3FN", "f16", "bf16", "f32 tf32=1"}) {
      Result<Selection> selection =
          select(std::string("H=4 M=512 N=512 D=64 dtype=") + type, target);
      if (std::string(target) == "sm_80" && std::string(type) == "f8E4M3FN") {
        EXPECT_FALSE(selection);
        continue;
      }
      ASSERT_TRUE(selection) << target << " " << type << selection.error();
      for (const Candidate &candidate : selection->ranked) {
        EXPECT_TRUE(std::isfinite(candidate.cost.seconds));
        EXPECT_GT(candidate.cost.seconds, 0);
      }
    }
}
