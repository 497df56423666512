//===- BackwardSmallCacheTest.cpp - The small-cache backward ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/BackwardSchedule.h"

#include <gtest/gtest.h>

using namespace attn;

static Result<BackwardSelection> trySelect(const std::string &problem,
                                           const std::string &target,
                                           const std::string &fields) {
  ScheduleOverrides overrides = *ScheduleOverrides::parse(fields);
  return selectBackwardSchedules(
      *AttentionProblem::parse(problem + " pass=backward"),
      *lookupTarget(target), {overrides, overrides});
}

static BackwardSelection select(const std::string &problem,
                                const std::string &target,
                                const std::string &fields = "") {
  Result<BackwardSelection> selection = trySelect(problem, target, fields);
  EXPECT_TRUE(selection) << selection.error();
  return *selection;
}

static std::string getError(const std::string &fields) {
  return trySelect("M=1024 N=1024 D=64", "sm_80", fields).error();
}

static std::vector<std::string> getNames(const BackwardSelection &selection) {
  std::vector<std::string> names;
  for (const BackwardChoice &choice : selection.kernels)
    names.emplace_back(getName(choice.kernel));
  return names;
}

/// Large head dimensions; 256 where there is no wgmma.
TEST(BackwardSmallCache, Choice) {
  const std::string sizes = "H=16 M=8192 N=8192 ";
  for (const char *target : {"sm_80", "sm_90a"}) {
    for (const char *dims : {"D=64", "D=128", "D=192 Dv=128"})
      EXPECT_FALSE(select(sizes + dims, target).isSmallCache())
          << target << " " << dims;
    for (const char *dims : {"D=512", "D=576 Dv=512", "D=1024"}) {
      BackwardSelection small = select(sizes + dims, target);
      ASSERT_TRUE(small.isSmallCache()) << target << " " << dims;
      EXPECT_FALSE(small.maySpill());
      EXPECT_EQ(getNames(small), (std::vector<std::string>{"delta", "scores",
                                                           "dq", "dk", "dv"}));
    }
  }
  EXPECT_TRUE(select(sizes + "D=256", "sm_80").isSmallCache());
  EXPECT_FALSE(select(sizes + "D=256", "sm_90a").isSmallCache());
  // Launches cost more than what they save.
  EXPECT_FALSE(select("M=64 N=64 D=512", "sm_80").isSmallCache());
}

/// It is taken where it is faster by a quarter, else not.
TEST(BackwardSmallCache, Margin) {
  for (const char *target : {"sm_80", "sm_90a"})
    for (const char *dims : {"D=128", "D=256", "D=320", "D=512"}) {
      std::string problem = std::string("H=8 M=4096 N=4096 ") + dims;
      double large = select(problem, target, "kind=large_cache").getSeconds();
      double small = select(problem, target, "kind=small_cache").getSeconds();
      EXPECT_EQ(select(problem, target).isSmallCache(), 1.25 * small < large)
          << target << " " << dims;
    }
}

/// All kernels have the same schedule, and fit.
TEST(BackwardSmallCache, Fits) {
  for (const char *name : {"sm_80", "sm_86", "sm_90a"})
    for (const char *dims : {"D=32", "D=64", "D=72 Dv=104", "D=128",
                             "D=192 Dv=128", "D=512", "D=1024"}) {
      BackwardSelection selection = select(
          std::string("H=8 M=2048 N=2048 ") + dims, name, "kind=small_cache");
      for (const BackwardChoice &choice : selection.kernels) {
        EXPECT_EQ(choice.schedule, selection.kernels[0].schedule);
        EXPECT_LE(choice.cost.sharedMemoryBytes,
                  lookupTarget(name)->sharedMemoryPerCtaBytes);
        EXPECT_FALSE(choice.cost.maySpill) << name << " " << dims;
      }
    }
}

/// P and dS of a chunk, f32 sums of one key head, and two vectors of the rows.
TEST(BackwardSmallCache, Workspace) {
  const std::string fields =
      "kind=small_cache tile_m=64 tile_n=64 tile_d=64 tile_dv=128 ";
  int64_t vectors = 2 * 4 * 256 * 4;
  EXPECT_EQ(select("H=4 M=256 N=128 D=128", "sm_80", fields + "chunk_rows=256")
                .workspaceBytes,
            2 * 256 * 128 * 2 + vectors);
  EXPECT_EQ(select("H=4 M=256 N=128 D=128", "sm_80", fields + "chunk_rows=64")
                .workspaceBytes,
            2 * 64 * 128 * 2 + 128 * (128 + 128) * 4 + vectors);
  // Left to the model it is bounded, however many keys there are.
  for (const char *sizes : {"M=16384 N=16384 ", "M=131072 N=131072 "})
    EXPECT_LE(
        select(std::string("H=8 D=512 ") + sizes, "sm_90a").workspaceBytes,
        int64_t(1) << 30);
}

/// The products read P or dS once for each slice of the columns.
TEST(BackwardSmallCache, Traffic) {
  std::vector<BackwardChoice> kernels =
      select("M=256 N=128 D=256 Dv=128", "sm_80",
             "kind=small_cache tile_m=64 tile_n=64 tile_d=64 tile_dv=128 "
             "chunk_rows=128")
          .kernels;
  int64_t scores = 256 * 128 * 2, rows = 256 * 256 * 2, keys = 128 * 256 * 2;
  Traffic moved = kernels[1].cost.bytes;
  EXPECT_EQ(moved.getReads(Operand::Query), 2 * rows);
  EXPECT_EQ(moved.getReads(Operand::Key), 4 * keys);
  EXPECT_EQ(moved.getWrites(Operand::Scores), 2 * scores);
  moved = kernels[2].cost.bytes;
  EXPECT_EQ(moved.getReads(Operand::Scores), 2 * scores);
  EXPECT_EQ(moved.getReads(Operand::Key), 4 * keys);
  EXPECT_EQ(moved.getWrites(Operand::QueryGradient), rows);
  moved = kernels[3].cost.bytes;
  EXPECT_EQ(moved.getReads(Operand::Scores), 2 * scores);
  EXPECT_EQ(moved.getReads(Operand::Query), 2 * rows);
  EXPECT_EQ(moved.getWrites(Operand::KeyGradient), keys);
  // f32, from the first of two rounds to the second.
  EXPECT_EQ(moved.getWrites(Operand::Partials), 2 * keys);
  EXPECT_EQ(moved.getReads(Operand::Partials), 2 * keys);
  moved = kernels[4].cost.bytes;
  EXPECT_EQ(moved.getReads(Operand::Scores), scores);
  EXPECT_EQ(moved.getWrites(Operand::ValueGradient), keys / 2);
}

TEST(BackwardSmallCache, Errors) {
  const std::string kind = "kind=small_cache ", common =
                                                    "expected a schedule that "
                                                    "the target can run: ";
  EXPECT_EQ(
      getError(kind + "mma=wgmma")
          .rfind(common + "expected mma = \"mma_sync\" with a small cache, got "
                          "\"wgmma\"",
                 0),
      0U);
  EXPECT_EQ(getError(kind + "tile_m=64 chunk_rows=96")
                .rfind(common + "expected chunk_rows to be a positive multiple "
                                "of tile_m, got",
                       0),
            0U);
  EXPECT_EQ(getError(kind + "tile_d=24")
                .rfind(common + "expected tiles that are positive multiples of "
                                "16, got",
                       0),
            0U);
  EXPECT_EQ(getError(kind + "tile_m=64 warps=3")
                .rfind(common + "expected tile_m to be a multiple of 16 * "
                                "warps",
                       0),
            0U);
  EXPECT_EQ(ScheduleOverrides::parse("stages=0").error(),
            "expected stages from 1 to 8, got 0");
  ScheduleOverrides small = *ScheduleOverrides::parse("kind=small_cache");
  EXPECT_EQ(selectBackwardSchedules(
                *AttentionProblem::parse("M=64 N=64 D=64 pass=backward"),
                *lookupTarget("sm_80"), {small, ScheduleOverrides()})
                .error(),
            "expected kind = \"small_cache\" for all kernels of a backward, or "
            "for none");
}
