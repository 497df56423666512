//===- LinearAttentionTest.cpp - Schedules of linear attention ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/LinearReport.h"

#include <gtest/gtest.h>

using namespace attn;

static LinearProblem parse(const std::string &text) {
  Result<LinearProblem> problem = LinearProblem::parse(text);
  EXPECT_TRUE(problem) << problem.error();
  return *problem;
}

static LinearSelection select(const LinearProblem &problem,
                              const std::string &fields = "") {
  Result<LinearSelection> selection = selectLinearSchedule(
      problem, *lookupTarget("sm_90a"), *ScheduleOverrides::parse(fields));
  EXPECT_TRUE(selection) << selection.error();
  return *selection;
}

/// Q and K are read by each slice of columns, V once; states are f32.
TEST(LinearAttention, CountsBytes) {
  LinearProblem problem = parse("algorithm=linear B=2 H=3 N=1000 D=64 Dv=96 "
                                "dtype=f16 state=1 final_state=1 states=1 "
                                "decay=head");
  LinearBytes bytes =
      select(problem, "tile_m=64 tile_dv=32 warps=4").cost.bytes;
  EXPECT_EQ(bytes.query, 6 * 1000 * 64 * 3 * 2);
  EXPECT_EQ(bytes.key, bytes.query);
  EXPECT_EQ(bytes.value, 6 * 1000 * 96 * 2);
  EXPECT_EQ(bytes.output, bytes.value);
  EXPECT_EQ(bytes.state, 6 * 64 * 96 * 4);
  EXPECT_EQ(bytes.finalState, bytes.state);
  EXPECT_EQ(bytes.states, 16 * bytes.state);
  EXPECT_EQ(bytes.decayWritten, 6 * 1024 * 4);
  EXPECT_EQ(bytes.decayRead, (1 + 2 * 3) * 6 * 1024 * 4);
  problem.decay = LinearProblem::Decay::None;
  EXPECT_EQ(select(problem).cost.bytes.decayRead, 0);
}

TEST(LinearAttention, PrintsWhatItParses) {
  for (const char *text :
       {"B=1 Hq=8 Hkv=2 N=100 D=64 Dv=64 dtype=bf16 decay=none",
        "B=2 Hq=4 Hkv=4 N=7 D=64 Dv=128 dtype=f16 decay=position out=f32 "
        "state=1 final_state=1",
        "B=1 Hq=1 Hkv=1 N=7 D=64 Dv=64 dtype=bf16 decay=none M=9 full=1"})
    EXPECT_EQ(parse(text).print(), text);
}

/// Rows of the state are whole blocks of 16 for each warp.
TEST(LinearAttention, PadsTheState) {
  LinearProblem problem = parse("N=64 D=40");
  Schedule schedule;
  schedule.warps = 4;
  EXPECT_EQ(getStateRows(problem, schedule), 64);
  schedule.warps = 2;
  EXPECT_EQ(getStateRows(problem, schedule), 64);
}

/// A longer sequence costs softmax attention its square.
TEST(LinearAttention, CrossesSoftmax) {
  TargetInfo target = *lookupTarget("sm_90a");
  auto find = [&](const std::string &text) {
    return *findCrossover(parse(text), target, {});
  };
  std::optional<int64_t> few = find("B=4 H=32 N=4096 D=128");
  ASSERT_TRUE(few);
  EXPECT_EQ(*few % 64, 0);
  EXPECT_LT(*few, 65536);
  EXPECT_GT(find("B=4 H=32 N=4096 D=256"), few);
}
