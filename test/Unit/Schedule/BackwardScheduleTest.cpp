//===- BackwardScheduleTest.cpp - Kernels of the backward pass --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/BackwardSchedule.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace attn;

static BackwardSelection select(const std::string &problem,
                                const std::string &target,
                                const std::string &fields = "",
                                bool deterministic = true) {
  ScheduleOverrides overrides = *ScheduleOverrides::parse(fields);
  Result<BackwardSelection> selection = selectBackwardSchedules(
      *AttentionProblem::parse(problem + " pass=backward"),
      *lookupTarget(target), {overrides, overrides, deterministic});
  EXPECT_TRUE(selection) << selection.error();
  return selection ? *selection : BackwardSelection();
}

static std::vector<std::string> getNames(const BackwardSelection &selection) {
  std::vector<std::string> names;
  for (const BackwardChoice &choice : selection.kernels)
    names.emplace_back(getName(choice.kernel));
  return names;
}

using Names = std::vector<std::string>;

/// What ptxas assembles without a spill (test/Integration/Ptxas).
TEST(BackwardSchedule, HeadDims) {
  const std::string sizes = "B=2 H=16 M=8192 N=8192 ";
  EXPECT_EQ(getNames(select(sizes + "D=64", "sm_90a")), (Names{"dq", "dkv"}));
  BackwardSelection usual = select(sizes + "D=128", "sm_90a");
  EXPECT_EQ(getNames(usual), (Names{"dq", "dkv"}));
  EXPECT_EQ(usual.kernels[0].schedule.tileM, 128);
  EXPECT_EQ(usual.kernels[1].schedule.tileM, 64);
  EXPECT_EQ(usual.kernels[1].schedule.tileN, 128);
  for (const char *target : {"sm_90a", "sm_80"}) {
    BackwardSelection wide =
        select(sizes + "D=256", target, "kind=large_cache");
    EXPECT_EQ(getNames(wide), (Names{"dq", "dk", "dv"}));
    EXPECT_FALSE(wide.maySpill());
  }
}

/// Sums are in tensor memory: S, dP and the gradients of 128 rows for each
/// warpgroup, 512 columns in all.
TEST(BackwardSchedule, TensorMemory) {
  const std::string sizes = "B=2 H=16 M=8192 N=8192 ";
  auto getTiles = [](const BackwardSelection &selection) {
    std::vector<int64_t> staying;
    for (const BackwardChoice &choice : selection.kernels) {
      EXPECT_EQ(choice.schedule.mma, MmaFamily::Tcgen05);
      bool keysStay = choice.kernel != BackwardKernel::QueryGradient;
      staying.push_back(keysStay ? choice.schedule.tileN
                                 : choice.schedule.tileM);
    }
    return staying;
  };
  BackwardSelection narrow = select(sizes + "D=64", "sm_100a", "", false);
  EXPECT_EQ(getNames(narrow), (Names{"dq", "dkv"}));
  EXPECT_EQ(getTiles(narrow), (std::vector<int64_t>{256, 256}));
  // A gradient of 256 columns leaves room for one warpgroup.
  BackwardSelection wide = select(sizes + "D=256", "sm_100a");
  EXPECT_EQ(getNames(wide), (Names{"dq", "dk", "dv"}));
  EXPECT_EQ(getTiles(wide), (std::vector<int64_t>{128, 128, 128}));
  EXPECT_FALSE(wide.maySpill());
  BackwardSelection wider =
      select(sizes + "D=264", "sm_100a", "kind=large_cache");
  EXPECT_EQ(wider.kernels.front().schedule.mma, MmaFamily::MmaSync);
  EXPECT_EQ(wider.fallback,
            "dq: it needs 800 columns of tensor memory, there are 512");
}

/// Of what streams, the tile that scores are computed of has a stage more; the
/// weights of dV are handed over early; and CTAs of dK and dV share tiles of Q
/// and dO where all keys are seen by the same rows.
TEST(BackwardSchedule, StreamsOfTensorMemory) {
  const std::string sizes = "B=2 H=16 M=8192 N=8192 D=128 ";
  BackwardSelection full = select(sizes, "sm_100a");
  ASSERT_EQ(getNames(full), (Names{"dq", "dkv"}));
  const Schedule &query = full.kernels[0].schedule,
                 &keys = full.kernels[1].schedule;
  EXPECT_EQ(query.scoreStages, query.stages + 1);
  EXPECT_EQ(query.earlyRows, 0);
  // Two warpgroups of two CTAs.
  EXPECT_EQ(query.tileM, 256);
  EXPECT_EQ(query.clusterN, 2);
  EXPECT_TRUE(query.ctaPair);
  EXPECT_EQ(keys.scoreStages, 3);
  EXPECT_EQ(keys.tileM, 128);
  EXPECT_EQ(keys.earlyRows, 96);
  EXPECT_EQ(keys.clusterN, 2);
  EXPECT_TRUE(keys.ctaPair);
  // A pair takes longer to begin and to end.
  BackwardSelection few = select("B=2 H=16 M=1024 N=8192 D=128", "sm_100a");
  EXPECT_EQ(few.kernels[1].schedule.clusterN, 2);
  EXPECT_FALSE(few.kernels[1].schedule.ctaPair);
  auto getQueryBytes = [&](const std::string &fields) {
    return select(sizes, "sm_100a", fields)
        .kernels[1]
        .cost.bytes.getReads(Operand::Query);
  };
  EXPECT_EQ(getQueryBytes("cluster_n=1"), 4 * getQueryBytes("cluster_n=4"));
  // One tile of keys.
  EXPECT_EQ(
      select("H=16 M=8192 N=128 D=128", "sm_100a").kernels[1].schedule.clusterN,
      1);
}

/// Errors of the fields that say how tiles stream.
TEST(BackwardSchedule, StreamErrors) {
  auto fails = [](BackwardKernel kernel, const char *fields,
                  const std::string &mask = "full") {
    Schedule schedule = *Schedule::parse(
        "mma=tcgen05 tile_m=128 tile_n=128 tile_d=128 tile_dv=128 stages=2 "
        "warps=4 producer_warps=4");
    (*ScheduleOverrides::parse(fields)).apply(schedule);
    Result<BackwardCost> cost = getBackwardCost(
        *AttentionProblem::parse(
            "H=16 M=1024 N=1024 D=128 pass=backward mask=" + mask),
        kernel, schedule, *lookupTarget("sm_100a"));
    return cost ? "" : cost.error();
  };
  constexpr BackwardKernel both = BackwardKernel::KeyValueGradients;
  EXPECT_EQ(fails(both, "score_stages=3 early_rows=96 cluster_n=4"), "");
  EXPECT_EQ(
      fails(both, "score_stages=1"),
      "dkv: expected score_stages of 0, or of at least stages = 2, got 1");
  EXPECT_EQ(
      fails(BackwardKernel::ValueGradient, "score_stages=3"),
      "dv: expected score_stages = 0 but in kernels of tcgen05 for dQ, for dK, "
      "or for dK and dV together, got 3");
  EXPECT_EQ(fails(both, "early_rows=48"),
            "dkv: expected early_rows to be a multiple of 32 below tile_m = "
            "128, got 48");
  EXPECT_EQ(
      fails(both, "tile_m=64 early_rows=32"),
      "dkv: expected early_rows = 0 but in a kernel of tcgen05 for dK and "
      "dV together whose steps are sliced, got 32");
  EXPECT_EQ(fails(BackwardKernel::QueryGradient, "cluster_n=2"), "");
  EXPECT_EQ(fails(BackwardKernel::QueryGradient, "tile_n=48 cluster_n=4"),
            "dq: expected tile_n to be a multiple of 8 * cluster_n = 32, got "
            "48");
  EXPECT_EQ(
      fails(BackwardKernel::QueryGradient,
            "mma=wgmma tile_m=64 tile_n=64 cluster_n=2"),
      "dq: expected cluster_n = 1 but in kernels whose CTAs read the same "
      "tiles as they are, for dQ of tcgen05, got 2");
  EXPECT_EQ(fails(both, "cluster_n=3"),
            "dkv: expected cluster_n to be a power of two of at most 8, got 3");
  EXPECT_EQ(fails(both, "cluster_n=2", "causal"), "");
  EXPECT_EQ(fails(both, "tile_m=48 cluster_n=4"),
            "dkv: expected tile_m to be a multiple of 8 * cluster_n = 32, got "
            "48");
}

/// CTAs that multiply together have half of each tile that they stream.
TEST(BackwardSchedule, PairErrors) {
  auto fails = [](BackwardKernel kernel, const char *fields,
                  const std::string &sizes = "D=128") {
    Schedule schedule = *Schedule::parse(
        "mma=tcgen05 tile_m=64 tile_n=128 tile_d=128 tile_dv=128 stages=2 "
        "warps=4 producer_warps=4 cluster_n=2 cta_pair=1");
    (*ScheduleOverrides::parse(fields)).apply(schedule);
    Result<BackwardCost> cost = getBackwardCost(
        *AttentionProblem::parse("H=16 M=1024 N=1024 pass=backward " + sizes),
        kernel, schedule, *lookupTarget("sm_100a"));
    return cost ? "" : cost.error();
  };
  constexpr BackwardKernel both = BackwardKernel::KeyValueGradients;
  const std::string expected = "dkv: expected cta_pair = 0 but in kernels of "
                               "tcgen05 with cluster_n = 2, "
                               "of 16-bit inputs, got cluster_n = ";
  EXPECT_EQ(fails(both, ""), "");
  EXPECT_EQ(fails(both, "cluster_n=4"), expected + "4");
  EXPECT_EQ(fails(both, "cluster_n=1"), expected + "1");
  EXPECT_EQ(fails(both, "", "D=80 Dv=128"),
            "dkv: expected head dims in multiples of 32 with cta_pair = 1, got "
            "D = 80 and Dv = 128");
  // Of V only rows are divided.
  EXPECT_EQ(fails(BackwardKernel::QueryGradient, "tile_m=128", "D=128 Dv=80"),
            "");
}

/// A tile of scores is copied again behind a step's last product: with two
/// stages of 96 keys of 192 columns a step waits for copies, not with three of
/// 80 (attn-sim: 74,028 and 59,832 clocks of 2048 keys).
TEST(BackwardSchedule, StagesOfLongSteps) {
  auto getSeconds = [](const char *fields) {
    Schedule schedule = *Schedule::parse(
        "mma=tcgen05 tile_m=128 tile_d=192 tile_dv=192 stages=2 warps=4 "
        "producer_warps=4 cluster_n=2 cta_pair=1");
    (*ScheduleOverrides::parse(fields)).apply(schedule);
    return getBackwardCost(*AttentionProblem::parse(
                               "B=2 H=16 M=8192 N=8192 D=192 pass=backward"),
                           BackwardKernel::QueryGradient, schedule,
                           *lookupTarget("sm_100a"))
        ->seconds;
  };
  EXPECT_LT(1.2 * getSeconds("tile_n=80 score_stages=3"),
            getSeconds("tile_n=96"));
}

/// Products of a pair read half of their right operands in each CTA.
TEST(BackwardSchedule, SharedMemoryOfPairs) {
  auto getShared = [](const char *fields) {
    BackwardSelection selection =
        select("B=2 H=16 M=8192 N=8192 D=128 ", "sm_100a", fields);
    for (const CostTerm &term : selection.kernels[1].cost.terms)
      if (term.name == "shared_memory")
        return term.seconds;
    return 0.0;
  };
  EXPECT_NEAR(getShared("cta_pair=1") / getShared("cta_pair=0"), 1544. / 2056,
              1e-9);
}

/// How many tiles CTAs of a cluster visit under a mask that the problem does
/// not know cannot be told: there is one where it is asked for.
TEST(BackwardSchedule, ClustersUnderUnknownMasks) {
  AttentionProblem problem =
      *AttentionProblem::parse("H=16 M=1024 N=1024 D=128 pass=backward");
  TargetInfo target = *lookupTarget("sm_100a");
  BackwardOverrides given;
  auto getClusterCtas = [&] {
    Result<BackwardSelection> selection =
        selectBackwardSchedules(problem, target, given);
    return selection->kernels[1].schedule.clusterN;
  };
  EXPECT_EQ(getClusterCtas(), 2);
  given.isMaskKnown = false;
  EXPECT_EQ(getClusterCtas(), 1);
  (void)given.keys.set("cluster_n", "4");
  EXPECT_EQ(getClusterCtas(), 4);
}

/// CTAs of a cluster stream what one of them sees: of four tiles of rows of a
/// causal mask 2, 2, 4 and 4 tiles of keys in place of 1, 2, 3 and 4. The first
/// of them reads them for both, or each its halves of K.
TEST(BackwardSchedule, ClustersStreamWhatOneSees) {
  AttentionProblem problem = *AttentionProblem::parse(
      "H=1 M=512 N=512 D=128 pass=backward mask=causal");
  auto getReads = [&](const char *fields, Operand operand) {
    Schedule schedule = *Schedule::parse(
        "mma=tcgen05 tile_m=128 tile_n=128 tile_d=128 tile_dv=128 stages=2 "
        "warps=4 producer_warps=4");
    (*ScheduleOverrides::parse(fields)).apply(schedule);
    Traffic traffic =
        getBackwardTraffic(problem, BackwardKernel::QueryGradient, schedule);
    constexpr int64_t tileBytes = 128 * 128 * 2;
    return traffic.reads[static_cast<size_t>(operand)] / tileBytes;
  };
  EXPECT_EQ(getReads("", Operand::Key), 10);
  EXPECT_EQ(getReads("cluster_n=2", Operand::Key), 6);
  EXPECT_EQ(getReads("cluster_n=2 cta_pair=1", Operand::Key), 12);
  EXPECT_EQ(getReads("cluster_n=2 cta_pair=1", Operand::Value), 6);
}

/// Under a causal mask pairs save more than they visit, if it is long.
TEST(BackwardSchedule, PairsUnderCausalMask) {
  BackwardSelection selection =
      select("B=2 H=16 M=4096 N=4096 D=128 mask=causal", "sm_100a", "");
  EXPECT_EQ(selection.kernels[0].schedule.tileM, 256);
  EXPECT_TRUE(selection.kernels[0].schedule.ctaPair);
  EXPECT_TRUE(selection.kernels[1].schedule.ctaPair);
  BackwardSelection few =
      select("B=2 H=16 M=1024 N=1024 D=128 mask=causal", "sm_100a", "");
  EXPECT_EQ(few.kernels[0].schedule.clusterN, 1);
  EXPECT_EQ(few.kernels[1].schedule.clusterN, 1);
  // A window has two edges, and few tiles between them.
  BackwardSelection window =
      select("B=2 H=16 M=8192 N=8192 D=128 mask=local:1024,0", "sm_100a", "");
  EXPECT_EQ(window.kernels[0].schedule.clusterN, 1);
  EXPECT_EQ(window.kernels[1].schedule.clusterN, 1);
}

/// One kernel for all gradients where that is predicted to be clearly faster
/// and its bits may differ from run to run.
TEST(BackwardSchedule, Fused) {
  const Names fused = {"delta", "dqkv", "round"}, apart = {"dq", "dkv"};
  const std::string sizes = "B=2 H=16 M=8192 N=8192 ";
  BackwardSelection usual = select(sizes + "D=128", "sm_90a", "", false);
  EXPECT_EQ(getNames(usual), fused);
  EXPECT_FALSE(usual.maySpill());
  // Statistics, and dQ in f32.
  EXPECT_EQ(usual.workspaceBytes, int64_t(2) * 16 * 8192 * (128 + 2) * 4);
  const Schedule &schedule = usual.kernels[1].schedule;
  EXPECT_TRUE(schedule.fused);
  EXPECT_EQ(schedule.tileM, 64);
  EXPECT_EQ(schedule.tileN, 128);
  EXPECT_EQ(getNames(select(sizes + "D=64", "sm_90a", "", false)), fused);
  EXPECT_EQ(getNames(select(sizes + "D=128", "sm_90a", "fused=0", false)),
            apart);
  EXPECT_EQ(getNames(select(sizes + "D=128", "sm_80", "", false)), apart);
  // No tile whose rows, or columns, are those of whole warpgroups.
  EXPECT_EQ(getNames(select(sizes + "D=96", "sm_90a", "", false)), apart);
}

/// What a kernel would take if one thing alone limited it is no more than what
/// it takes, and the limiter is the largest of these.
TEST(BackwardSchedule, Terms) {
  for (const char *target : {"sm_80", "sm_90a", "sm_100a"})
    for (const char *fields : {"", "kind=small_cache"})
      for (const BackwardChoice &choice :
           select("H=16 M=4096 N=4096 D=128 mask=causal", target, fields)
               .kernels) {
        double largest = 0;
        std::string name;
        for (const CostTerm &term : choice.cost.terms) {
          EXPECT_LE(term.seconds, choice.cost.seconds) << target << term.name;
          if (term.seconds > largest)
            name = term.name;
          largest = std::max(largest, term.seconds);
        }
        EXPECT_EQ(choice.cost.limiter, name) << target;
        EXPECT_GT(largest, 0.2 * choice.cost.seconds) << target;
      }
}

/// S and dP of f32 come from tensor memory, P and dS of bf16 go there: 12 bytes
/// an element, of a CTA's rows and all others, where each SM has one CTA.
TEST(BackwardSchedule, TensorMemoryTerm) {
  TargetInfo target = *lookupTarget("sm_100a");
  const BackwardSelection selection =
      select("M=1024 N=1024 D=128", "sm_100a", "kind=large_cache");
  ASSERT_EQ(getNames(selection), (Names{"dq", "dkv"}));
  const BackwardChoice &choice = selection.kernels[1];
  double elements = 1024.0 * static_cast<double>(choice.schedule.tileN);
  auto term = std::find_if(
      choice.cost.terms.begin(), choice.cost.terms.end(),
      [](const CostTerm &term) { return term.name == "tensor_memory"; });
  ASSERT_NE(term, choice.cost.terms.end());
  EXPECT_NEAR(term->seconds, elements * 12 / 512 / (target.clockGHz * 1e9),
              1e-12);
}

/// Its errors name what it takes.
TEST(BackwardSchedule, FusedErrors) {
  auto fails = [](const std::string &dims, const char *target,
                  const std::string &fields, bool deterministic) {
    ScheduleOverrides overrides = *ScheduleOverrides::parse(fields);
    Result<BackwardSelection> selection = selectBackwardSchedules(
        *AttentionProblem::parse("M=1024 N=1024 pass=backward " + dims),
        *lookupTarget(target), {overrides, overrides, deterministic});
    return selection ? "" : selection.error();
  };
  EXPECT_NE(fails("D=128", "sm_90a", "fused=1", true)
                .find("a deterministic one was asked for"),
            std::string::npos);
  EXPECT_NE(fails("D=128", "sm_80", "fused=1", false)
                .find("expected mma = \"wgmma\" with fused, got \"mma_sync\""),
            std::string::npos);
  EXPECT_NE(fails("D=128", "sm_100a", "fused=1", false)
                .find("expected mma = \"wgmma\" with fused, got \"tcgen05\""),
            std::string::npos);
  EXPECT_NE(fails("D=96", "sm_90a", "fused=1 tile_m=32", false)
                .find("of a fused kernel, got D = 96 and tile_m = 32"),
            std::string::npos);
  EXPECT_EQ(fails("D=128", "sm_90a", "fused=1 kind=small_cache", false),
            "expected fused = false with kind = \"small_cache\"");
}

/// Above 256 columns CTAs share those of a gradient.
TEST(BackwardSchedule, Slices) {
  for (const char *target : {"sm_90a", "sm_80"}) {
    BackwardSelection wide =
        select("H=16 M=8192 N=8192 D=512", target, "kind=large_cache");
    ASSERT_EQ(getNames(wide), (Names{"dq", "dk", "dv"}));
    EXPECT_FALSE(wide.maySpill());
    EXPECT_EQ(wide.kernels[0].schedule.tileD, 256);
    EXPECT_EQ(wide.kernels[1].schedule.tileD, 256);
    EXPECT_EQ(wide.kernels[2].schedule.tileDv, 256);
  }
}

/// The words of dropout take registers of the same schedule.
TEST(BackwardSchedule, Dropout) {
  AttentionProblem problem =
      *AttentionProblem::parse("M=8192 N=8192 D=64 pass=backward");
  TargetInfo target = *lookupTarget("sm_80");
  BackwardChoice usual = select("M=8192 N=8192 D=64", "sm_80").kernels[0];
  problem.hasDropout = true;
  BackwardCost random =
      *getBackwardCost(problem, usual.kernel, usual.schedule, target);
  EXPECT_EQ(random.registersPerThread, usual.cost.registersPerThread + 40);
}

/// Each kernel fits, and the rows of dK and dV are whole tiles of those of dQ.
TEST(BackwardSchedule, Fits) {
  for (const char *name : {"sm_80", "sm_86", "sm_90a"})
    for (const char *dims : {"D=32", "D=64", "D=80", "D=96", "D=128",
                             "D=192 Dv=128", "D=192", "D=256"}) {
      BackwardSelection selection =
          select(std::string("H=8 M=2048 N=2048 ") + dims, name);
      TargetInfo target = *lookupTarget(name);
      for (const BackwardChoice &choice : selection.kernels) {
        EXPECT_LE(choice.cost.sharedMemoryBytes,
                  target.sharedMemoryPerCtaBytes);
        EXPECT_EQ(selection.kernels[0].schedule.tileM % choice.schedule.tileM,
                  0)
            << name << " " << dims;
        EXPECT_EQ(choice.schedule.mma, target.hasMma(MmaFamily::Wgmma)
                                           ? MmaFamily::Wgmma
                                           : MmaFamily::MmaSync);
      }
    }
}

/// Where wgmma has no kernel those of mma_sync are taken, and it is said why.
TEST(BackwardSchedule, FallsBack) {
  BackwardSelection selection = select("H=8 M=1024 N=1024 D=320", "sm_90a");
  EXPECT_EQ(selection.kernels[0].schedule.mma, MmaFamily::MmaSync);
  EXPECT_EQ(selection.fallback,
            "dq: a product of the backward has at most 256 columns, got D = "
            "320 and Dv = 320");
  EXPECT_EQ(select("H=8 M=1024 N=1024 D=64", "sm_90a").fallback, "");
  selection = select("H=8 M=1024 N=1024 D=64", "sm_90a", "tile_m=32 tile_n=32");
  EXPECT_EQ(selection.kernels[0].schedule.mma, MmaFamily::MmaSync);
  EXPECT_EQ(selection.kernels[0].schedule.tileM, 32);
}

TEST(BackwardSchedule, Errors) {
  auto problem = *AttentionProblem::parse("M=1024 N=1024 D=64 pass=backward");
  auto overrides = *ScheduleOverrides::parse("kind=split_kv");
  Result<BackwardSelection> selection = selectBackwardSchedules(
      problem, *lookupTarget("sm_80"), {overrides, overrides});
  EXPECT_FALSE(selection);
  EXPECT_NE(selection.error().find("expected kind = \"large_cache\""),
            std::string::npos)
      << selection.error();
  overrides = *ScheduleOverrides::parse("mma=wgmma");
  EXPECT_FALSE(selectBackwardSchedules(problem, *lookupTarget("sm_80"),
                                       {overrides, overrides}));
}

/// dQ reads K and V once for each tile of rows, all else once; delta reads O
/// and dO once more.
TEST(BackwardSchedule, Traffic) {
  auto problem = *AttentionProblem::parse("M=256 N=128 D=64 pass=backward");
  Schedule schedule = *Schedule::parse("tile_m=128 tile_n=64");
  Traffic moved =
      getBackwardTraffic(problem, BackwardKernel::QueryGradient, schedule);
  int64_t rows = 256 * 64 * 2, keys = 128 * 64 * 2;
  EXPECT_EQ(moved.getReads(Operand::Query), rows);
  EXPECT_EQ(moved.getReads(Operand::OutputGradient), 2 * rows);
  EXPECT_EQ(moved.getReads(Operand::Output), rows);
  EXPECT_EQ(moved.getReads(Operand::Key), 2 * keys);
  EXPECT_EQ(moved.getReads(Operand::Value), 2 * keys);
  EXPECT_EQ(moved.getWrites(Operand::QueryGradient), rows);
  moved = getBackwardTraffic(problem, BackwardKernel::ValueGradient, schedule);
  EXPECT_EQ(moved.getReads(Operand::Query), 2 * rows);
  EXPECT_EQ(moved.getReads(Operand::Value), 0);
  EXPECT_EQ(moved.getReads(Operand::Delta), 0);
  EXPECT_EQ(moved.getWrites(Operand::ValueGradient), keys);
}

/// Gradients in types of their own, with the largest magnitude of each row.
TEST(BackwardSchedule, StoredGradients) {
  auto problem = *AttentionProblem::parse(
      "M=256 N=128 D=64 d_query=f8E5M2 d_key=f32 pass=backward amax=1");
  Schedule schedule = *Schedule::parse("tile_m=128 tile_n=64");
  Traffic moved =
      getBackwardTraffic(problem, BackwardKernel::QueryGradient, schedule);
  EXPECT_EQ(moved.getWrites(Operand::QueryGradient), 256 * 64);
  EXPECT_EQ(moved.getWrites(Operand::Amax), 256 * 4);
  EXPECT_EQ(moved.getReads(Operand::Output), 256 * 64 * 2);
  moved =
      getBackwardTraffic(problem, BackwardKernel::KeyValueGradients, schedule);
  EXPECT_EQ(moved.getWrites(Operand::KeyGradient), 128 * 64 * 4);
  EXPECT_EQ(moved.getWrites(Operand::ValueGradient), 128 * 64 * 2);
  EXPECT_EQ(moved.getWrites(Operand::Amax), 2 * 128 * 4);
}
