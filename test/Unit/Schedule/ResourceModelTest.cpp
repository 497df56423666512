//===- ResourceModelTest.cpp - Tests of shared memory and registers -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/ResourceModel.h"

#include "gtest/gtest.h"

using namespace attn;

static AttentionProblem makeProblem(const std::string &dims) {
  return *AttentionProblem::parse("M=4096 N=4096 " + dims);
}

namespace {
/// A Hopper tile whose shared memory and registers were worked out by hand:
/// query and stages of K/V, P through shared memory where warpgroups or CTAs
/// share rows, f32 partial scores between CTAs, 1 KiB of barriers.
struct HopperTile {
  const char *dims;
  const char *schedule;
  int64_t sharedMemoryBytes;
  int64_t registers;
};

class HopperTiles : public testing::TestWithParam<HopperTile> {};
} // namespace

static const HopperTile hopperTiles[] = {
    {"D=64", "tile_m=192 tile_n=128 tile_d=64 tile_dv=64 warps=12", 91136, 160},
    {"D=128", "tile_m=192 tile_n=80 tile_d=128 tile_dv=128 warps=12", 132096,
     156},
    {"D=192 Dv=128", "tile_m=192 tile_n=80 tile_d=192 tile_dv=128 warps=12",
     177152, 160},
    {"D=256", "tile_m=128 tile_n=80 tile_d=256 tile_dv=256 warps=8", 230400,
     224},
    {"D=512", "tile_m=64 tile_n=32 tile_d=512 tile_dv=512 warps=8", 197632,
     188},
    {"D=576 Dv=512 shared_kv=1",
     "tile_m=64 tile_n=64 tile_d=576 tile_dv=512 warps=8", 222208, 212},
    {"D=512",
     "tile_m=128 tile_n=64 tile_d=256 tile_dv=256 warps=8 cluster_d=2 "
     "cluster_m=2",
     230400, 196},
    {"D=1024",
     "tile_m=128 tile_n=48 tile_d=256 tile_dv=256 warps=8 cluster_d=4 "
     "cluster_m=2",
     195584, 188},
    {"D=2048", "tile_m=64 tile_n=32 tile_d=512 tile_dv=512 warps=8 cluster_d=4",
     207872, 172},
    {"D=4096", "tile_m=64 tile_n=32 tile_d=512 tile_dv=512 warps=8 cluster_d=8",
     208896, 172},
};

INSTANTIATE_TEST_SUITE_P(ResourceModel, HopperTiles,
                         testing::ValuesIn(hopperTiles));

TEST_P(HopperTiles, fitAsWorkedOut) {
  const HopperTile &tile = GetParam();
  AttentionProblem problem = makeProblem(tile.dims);
  Schedule schedule = *Schedule::parse(
      std::string("mma=wgmma stages=2 producer_warps=4 ") + tile.schedule);
  EXPECT_EQ(getSharedMemoryUse(problem, schedule).total,
            tile.sharedMemoryBytes);
  EXPECT_EQ(getRegisterUse(problem, schedule).getTotal(), tile.registers);
  EXPECT_EQ(getCtasPerSm(problem, schedule, *lookupTarget("sm_90a")), 1);
}

TEST(ResourceModel, largestDocumentedTilesFitHopperAndTheNextDoNot) {
  // FlashAttention-3's limits at two stages.
  const std::pair<const char *, const char *> tiles[] = {
      {"D=192", "tile_m=128 tile_d=192 tile_dv=192 tile_n="},
      {"D=256", "tile_m=128 tile_d=256 tile_dv=256 tile_n="}};
  const int64_t largest[] = {112, 80};
  int64_t limit = lookupTarget("sm_90a")->sharedMemoryPerCtaBytes;
  for (size_t i = 0; i < 2; ++i) {
    AttentionProblem problem = makeProblem(tiles[i].first);
    auto getBytes = [&](int64_t tileN) {
      Schedule schedule =
          *Schedule::parse(std::string("mma=wgmma stages=2 warps=8 ") +
                           tiles[i].second + std::to_string(tileN));
      return getSharedMemoryUse(problem, schedule).total;
    };
    EXPECT_LE(getBytes(largest[i]), limit);
    EXPECT_GT(getBytes(largest[i] + 16), limit);
  }
}

TEST(ResourceModel, biasTakesRegisters) {
  AttentionProblem problem = makeProblem("D=64");
  Schedule wgmma = *Schedule::parse(
      "mma=wgmma tile_m=128 tile_n=112 tile_d=64 tile_dv=64 stages=2 warps=8 "
      "producer_warps=4");
  int64_t without = getRegisterUse(problem, wgmma).getTotal();
  problem.hasBias = true;
  EXPECT_EQ(getRegisterUse(problem, wgmma).getTotal(), without + 84 + 10);
  problem.isRowBias = true;
  EXPECT_EQ(getRegisterUse(problem, wgmma).getTotal(), without + 56 + 2);
  problem.mask.right = 0;
  EXPECT_EQ(getRegisterUse(problem, wgmma).getTotal(), without + 56 + 2 + 24);

  // mma.sync: 16 x 32 / 32 of O, 16 x 128 / 32 of S, half of that of P.
  TargetInfo target = *lookupTarget("sm_80");
  problem = makeProblem("D=32");
  Schedule sync = *Schedule::parse(
      "tile_m=64 tile_n=128 tile_d=32 tile_dv=32 stages=2 warps=4 "
      "query_in_registers=1");
  EXPECT_FALSE(maySpill(problem, sync, target));
  problem.hasBias = true;
  EXPECT_TRUE(maySpill(problem, sync, target));
  problem.isRowBias = true;
  EXPECT_FALSE(maySpill(problem, sync, target));
}

TEST(ResourceModel, mmaSyncByHand) {
  AttentionProblem problem = makeProblem("D=128");
  Schedule schedule = *Schedule::parse("tile_m=128 tile_n=64 tile_d=128 "
                                       "tile_dv=128 stages=2 warps=4");
  SharedMemoryUse use = getSharedMemoryUse(problem, schedule);
  EXPECT_EQ(use.query, 32768);
  EXPECT_EQ(use.key, 32768);
  EXPECT_EQ(use.value, 32768);
  EXPECT_EQ(use.total, 98304);
  // 32 rows a warp: 32 * 128 / 32 of O, 32 * 64 / 32 of S and half as many
  // of P.
  RegisterUse registers = getRegisterUse(problem, schedule);
  EXPECT_EQ(registers.output, 128);
  EXPECT_EQ(registers.scores, 64 + 32);
  EXPECT_EQ(registers.operands, 16);

  schedule.queryInRegisters = true;
  schedule.warps = 8;
  EXPECT_EQ(getSharedMemoryUse(problem, schedule).total, 98304);
  // 16 * 128 two-byte elements over 32 lanes.
  EXPECT_EQ(getRegisterUse(problem, schedule).operands, 32 + 8);
}

/// Full and empty barriers beside tiles that need no gaps; a warp that loads
/// has as many registers as those that compute, of a partition that has more
/// warps than the others.
TEST(ResourceModel, producersOfMmaSync) {
  AttentionProblem problem = makeProblem("D=128");
  TargetInfo target = *lookupTarget("sm_120");
  Schedule schedule = *Schedule::parse(
      "tile_m=64 tile_n=32 tile_d=128 tile_dv=128 stages=2 warps=4 "
      "query_in_registers=1 producer_warps=1");
  SharedMemoryUse use = getSharedMemoryUse(problem, schedule);
  EXPECT_EQ(use.barriers, 8 * (2 + 2 * 2 * 2));
  EXPECT_EQ(use.total, 49152 + 80);
  EXPECT_EQ(getCtasPerSm(problem, schedule, target), 2);
  EXPECT_EQ(getRegisterLimit(schedule, target), 255);
  schedule.tileM = 128;
  schedule.warps = 8;
  EXPECT_EQ(getRegisterLimit(schedule, target), 168);
  // 99 KiB of a CTA.
  schedule.tileN = 64;
  EXPECT_EQ(getSharedMemoryUse(problem, schedule).total, 98304 + 80);
  EXPECT_LE(98304 + 80, target.sharedMemoryPerCtaBytes);
  schedule.stages = 3;
  EXPECT_GT(getSharedMemoryUse(problem, schedule).total,
            target.sharedMemoryPerCtaBytes);
}

TEST(ResourceModel, registersAgreeWithPtxas) {
  // The fewest registers (255 - 8 n) with which ptxas 13.0 spills nothing of
  // this project's kernel, full or causal, for sm_80.
  struct Measured {
    const char *dims, *schedule;
    int64_t registers;
  };
  const Measured kernels[] = {
      {"D=32", "tile_m=128 tile_n=64 tile_d=32 tile_dv=32 query_in_registers=1",
       183},
      {"D=64", "tile_m=128 tile_n=32 tile_d=64 tile_dv=64", 175},
      {"D=64", "tile_m=128 tile_n=64 tile_d=64 tile_dv=64", 223},
      {"D=64", "tile_m=64 tile_n=64 tile_d=64 tile_dv=64 query_in_registers=1",
       135},
      {"D=64", "tile_m=64 tile_n=128 tile_d=64 tile_dv=64 query_in_registers=1",
       191},
      {"D=128", "tile_m=64 tile_n=64 tile_d=128 tile_dv=128", 151},
      {"D=128",
       "tile_m=64 tile_n=64 tile_d=128 tile_dv=128 query_in_registers=1", 199},
      {"D=128", "tile_m=64 tile_n=128 tile_d=128 tile_dv=128", 239},
      {"D=128", "tile_m=128 tile_n=16 tile_d=128 tile_dv=128", 183},
      {"D=256", "tile_m=64 tile_n=32 tile_d=256 tile_dv=256", 183},
      {"D=256", "tile_m=64 tile_n=64 tile_d=256 tile_dv=256", 223},
  };
  for (const Measured &kernel : kernels) {
    Schedule schedule =
        *Schedule::parse(std::string("warps=4 ") + kernel.schedule);
    // As far off as maySpill allows for (kRegisterMargin).
    EXPECT_NEAR(
        static_cast<double>(
            getRegisterUse(makeProblem(kernel.dims), schedule).getTotal()),
        static_cast<double>(kernel.registers), 32)
        << kernel.schedule;
  }
}

TEST(ResourceModel, whatSpillsIsFlagged) {
  // ptxas 13.0 spills these for sm_80 or sm_120, whatever it may use.
  const std::pair<const char *, const char *> kernels[] = {
      {"D=64",
       "tile_m=128 tile_n=64 tile_d=64 tile_dv=64 query_in_registers=1"},
      {"D=96", "tile_m=128 tile_n=64 tile_d=96 tile_dv=96"},
      {"D=128", "tile_m=128 tile_n=32 tile_d=128 tile_dv=128"},
      {"D=256", "tile_m=64 tile_n=64 tile_d=256 tile_dv=256"},
  };
  TargetInfo target = *lookupTarget("sm_80");
  for (auto [dims, text] : kernels) {
    Schedule schedule = *Schedule::parse(std::string("warps=4 ") + text);
    EXPECT_TRUE(maySpill(makeProblem(dims), schedule, target)) << text;
  }
}

TEST(ResourceModel, outputTileNeedsRoomToo) {
  AttentionProblem problem = makeProblem("D=16 Dv=128 out=f32");
  Schedule schedule = *Schedule::parse("tile_m=128 tile_n=16 tile_d=16 "
                                       "tile_dv=128 stages=1 warps=4");
  EXPECT_EQ(getSharedMemoryUse(problem, schedule).total, 128 * 128 * 4);
}

TEST(ResourceModel, outputsOfTensorMemoryGoThroughAPanel) {
  auto getOutput = [](const char *dims, const std::string &text) {
    Schedule schedule =
        *Schedule::parse("tile_m=128 tile_n=64 stages=2 output_tile=1 " + text);
    return getSharedMemoryUse(makeProblem(dims), schedule).output;
  };
  EXPECT_EQ(getOutput("D=64", "mma=tcgen05 tile_d=64 tile_dv=64"), 128 * 128);
  EXPECT_EQ(getOutput("D=128", "mma=tcgen05 tile_d=128 tile_dv=128"),
            128 * 128);
  // A swizzle of 128 bytes would not divide 192.
  EXPECT_EQ(getOutput("D=96", "mma=tcgen05 tile_d=96 tile_dv=96"), 128 * 64);
  // wgmma's sums are in registers, and stored whole.
  EXPECT_EQ(getOutput("D=128", "mma=wgmma tile_d=128 tile_dv=128"), 128 * 256);
}

TEST(ResourceModel, smallCacheTakesTheLargerPhase) {
  AttentionProblem problem = makeProblem("D=1024");
  Schedule schedule = *Schedule::parse(
      "kind=small_cache tile_m=128 tile_n=128 tile_d=32 tile_dv=256 stages=2 "
      "warps=8 chunk_rows=128");
  // Phase 1: 2 * 32 * (128 + 128) * 2; phase 2: 2 * 32 * (128 + 256) * 2.
  EXPECT_EQ(getSharedMemoryUse(problem, schedule).total, 49152);
  schedule.spill = SpillFormat::Scores;
  EXPECT_EQ(getSharedMemoryUse(problem, schedule).total,
            2 * 32 * (128 * 4 + 256 * 2));
}

TEST(ResourceModel, ctasPerSmByEachLimit) {
  TargetInfo target = *lookupTarget("sm_80");
  AttentionProblem problem = makeProblem("D=128");
  // 80 KiB and 1 KiB each: two fit 164 KiB.
  Schedule schedule = *Schedule::parse("tile_m=64 tile_n=64 tile_d=128 "
                                       "tile_dv=128 stages=2 warps=4");
  EXPECT_EQ(getCtasPerSm(problem, schedule, target), 2);
  // One more KiB of shared memory would not leave room for two.
  target.sharedMemoryPerSmBytes = 2 * (80 + 1) * 1024 - 1;
  EXPECT_EQ(getCtasPerSm(problem, schedule, target), 1);
  target = *lookupTarget("sm_80");
  target.maxThreadsPerSm = 128;
  EXPECT_EQ(getCtasPerSm(problem, schedule, target), 1);
  // 160 registers for 128 threads.
  target = *lookupTarget("sm_80");
  target.registersPerSm = 160 * 128;
  EXPECT_EQ(getRegisterUse(problem, schedule).getTotal(), 160);
  EXPECT_EQ(getCtasPerSm(problem, schedule, target), 1);
  target.registersPerSm -= 1;
  EXPECT_EQ(getCtasPerSm(problem, schedule, target), 0);
}

TEST(ResourceModel, registerLimits) {
  TargetInfo ampere = *lookupTarget("sm_80"), hopper = *lookupTarget("sm_90a");
  EXPECT_EQ(getRegisterLimit(*Schedule::parse("warps=4"), ampere), 255);
  // 65536 registers for 512 threads.
  EXPECT_EQ(getRegisterLimit(*Schedule::parse("warps=16"), ampere), 128);
  EXPECT_EQ(getRegisterLimit(*Schedule::parse("mma=wgmma warps=8"), hopper),
            240);
  EXPECT_EQ(getRegisterLimit(*Schedule::parse("mma=wgmma warps=12"), hopper),
            160);
  EXPECT_EQ(getRegisterLimit(*Schedule::parse("mma=wgmma warps=16"), hopper),
            112);
  // What an SM does not have, setmaxnreg cannot leave to anyone.
  hopper.registersPerSm = 32768;
  EXPECT_EQ(getRegisterLimit(*Schedule::parse("mma=wgmma warps=8"), hopper),
            104);
  hopper.registersPerSm = 17;
  EXPECT_EQ(getRegisterLimit(*Schedule::parse("mma=wgmma warps=4"), hopper), 0);
}

TEST(ResourceModel, headDimsArePadded) {
  AttentionProblem problem = makeProblem("D=72 Dv=40");
  EXPECT_EQ(getPaddedHeadDim(problem), 80);
  EXPECT_EQ(getPaddedValueDim(problem), 48);
  problem.elementType = ElementType::F8E4M3FN;
  EXPECT_EQ(getPaddedHeadDim(problem), 96);
  EXPECT_EQ(getPaddedValueDim(problem), 64);
}
