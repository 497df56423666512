//===- ScheduleTest.cpp - Tests of schedules as text ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Schedule.h"

#include "gtest/gtest.h"

using namespace attn;

TEST(Schedule, printLeavesOutWhatIsNotUsed) {
  EXPECT_EQ(Schedule().print(),
            "kind=large_cache mma=mma_sync tile_m=64 tile_n=64 tile_d=64 "
            "tile_dv=64 stages=2 warps=4");
}

TEST(Schedule, printReadsBack) {
  for (const char *text :
       {"kind=large_cache mma=wgmma tile_m=128 tile_n=176 tile_d=128 "
        "tile_dv=128 stages=2 warps=8 producer_warps=4 output_tile=1 "
        "turns=products exp2_on_fma=2 pack_gqa=1 cluster_m=2",
        "kind=split_kv mma=mma_sync tile_m=16 tile_n=64 tile_d=64 tile_dv=64 "
        "stages=3 warps=1 query_in_registers=1 splits=8",
        "kind=small_cache mma=none tile_m=64 tile_n=64 tile_d=32 tile_dv=128 "
        "stages=1 warps=1 chunk_rows=512 spill=scores"}) {
    Result<Schedule> schedule = Schedule::parse(text);
    ASSERT_TRUE(schedule) << schedule.error();
    EXPECT_EQ(schedule->print(), text);
    EXPECT_EQ(*Schedule::parse(schedule->print()), *schedule);
  }
}

TEST(Schedule, equalityComparesEveryField) {
  for (const ScheduleField &field : getScheduleFields()) {
    Schedule schedule;
    std::string value = "7";
    if (field.name == "kind")
      value = "split_kv";
    else if (field.name == "mma")
      value = "wgmma";
    else if (field.name == "spill")
      value = "scores";
    else if (field.name == "turns")
      value = "softmax";
    else if (field.name == "query_prologue")
      value = "fused";
    else if (field.name == "balance")
      value = "plan";
    else if (field.name == "invariance")
      value = "batch";
    else if (field.name == "query_in_registers" || field.name == "pack_gqa" ||
             field.name == "output_tile" || field.name == "promote" ||
             field.name == "fused")
      value = "1";
    ASSERT_TRUE(setScheduleField(schedule, field.name, value)) << field.name;
    EXPECT_EQ(getScheduleField(schedule, field.name), value);
    EXPECT_NE(schedule, Schedule()) << field.name;
    EXPECT_FALSE(field.description.empty());
  }
}

TEST(Schedule, reportsBadText) {
  EXPECT_EQ(Schedule::parse("tile_m=big").error(),
            "expected an integer for tile_m, got 'big'");
  EXPECT_EQ(
      Schedule::parse("kind=medium_cache").error(),
      "expected kind one of large_cache, split_kv, small_cache, chunks, got "
      "'medium_cache'");
  EXPECT_EQ(Schedule::parse("pack_gqa=2").error(),
            "expected 0 or 1 for pack_gqa, got '2'");
  EXPECT_EQ(Schedule::parse("tile-m=64").error(),
            "unknown schedule field 'tile-m', expected one of kind, mma, "
            "tile_m, tile_n, tile_d, tile_dv, stages, warps, producer_warps, "
            "query_in_registers, query_prologue, rescale_threshold, "
            "persistent_ctas, output_tile, turns, exp2_on_fma, promote, "
            "pack_gqa, splits, split_keys, balance, cluster_m, cluster_d, "
            "fused, chunk_rows, spill, invariance (did you mean 'tile_m'?)");
}

TEST(ScheduleOverrides, applyAndMatch) {
  ScheduleOverrides overrides =
      *ScheduleOverrides::parse("stages=3 pack_gqa=true");
  Schedule schedule;
  EXPECT_FALSE(overrides.matches(schedule));
  overrides.apply(schedule);
  EXPECT_TRUE(overrides.matches(schedule));
  EXPECT_EQ(schedule.stages, 3);
  EXPECT_TRUE(schedule.packGqa);
  EXPECT_EQ(schedule.tileM, Schedule().tileM);
  EXPECT_TRUE(overrides.has("stages"));
  EXPECT_FALSE(overrides.has("tile_m"));
  ASSERT_TRUE(overrides.set("stages", "4"));
  EXPECT_EQ(overrides.print(), "stages=4 pack_gqa=1");
  EXPECT_FALSE(overrides.set("stages", "four"));
}
