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
    if (field.type == ScheduleField::Type::Flag)
      value = "1";
    else if (field.type == ScheduleField::Type::Name)
      value = field.values.substr(0, field.values.find('|'));
    if (value == field.defaultValue)
      value = field.values.substr(field.values.rfind('|') + 1);
    ASSERT_TRUE(setScheduleField(schedule, field.name, value)) << field.name;
    EXPECT_EQ(getScheduleField(schedule, field.name), value);
    EXPECT_NE(schedule, Schedule()) << field.name;
    EXPECT_FALSE(field.description.empty());
  }
}

/// Warps of mma.sync take no turns, and only splits have lengths.
TEST(Schedule, namesFieldsThatMeanNothing) {
  Schedule schedule;
  EXPECT_TRUE(findMeaninglessFields(schedule).empty());
  schedule.turns = Turns::Products;
  schedule.splitKeys = 64;
  std::vector<MeaninglessField> found = findMeaninglessFields(schedule);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].isOfKind);
  EXPECT_EQ(found[0].message, "expected turns=none with mma=mma_sync (it is of "
                              "wgmma), got products");
  EXPECT_TRUE(found[1].isOfKind);
  EXPECT_EQ(found[1].message, "expected split_keys=0 with kind=large_cache (it "
                              "is of split_kv), got 64");
}

/// Those of a CTA for each range, and of a plan in every family.
TEST(Schedule, plansHavePersistentCtas) {
  Schedule schedule =
      *Schedule::parse("kind=split_kv split_keys=64 persistent_ctas=8");
  EXPECT_EQ(findMeaninglessFields(schedule).size(), 1u);
  schedule.balance = Balance::Share;
  EXPECT_TRUE(findMeaninglessFields(schedule).empty());
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
  EXPECT_EQ(
      Schedule::parse("tile-m=64").error(),
      "unknown schedule field 'tile-m', expected one of kind, mma, "
      "tile_m, tile_n, tile_d, tile_dv, stages, warps, producer_warps, "
      "correction_warps, query_in_registers, query_prologue, "
      "rescale_threshold, "
      "persistent_ctas, output_tile, turns, exp2_on_fma, early_keys, promote, "
      "pack_gqa, splits, split_keys, balance, cluster_m, cluster_d, "
      "score_stages, early_rows, cluster_n, cta_pair, fused, chunk_rows, "
      "spill, invariance (did you mean 'tile_m'?)");
}

/// What means something for the kind, the family and the pass.
TEST(ScheduleOverrides, ofASchedule) {
  Schedule schedule = *Schedule::parse("kind=small_cache mma=none tile_m=64 "
                                       "chunk_rows=64 stages=1 warps=1");
  EXPECT_EQ(ScheduleOverrides::of(schedule).print(),
            "kind=small_cache mma=none tile_m=64 tile_n=64 tile_d=64 "
            "tile_dv=64 stages=1 warps=1 pack_gqa=0 chunk_rows=64 "
            "spill=probabilities");
  schedule = *Schedule::parse("mma=wgmma producer_warps=4");
  EXPECT_EQ(
      ScheduleOverrides::of(schedule, AttentionPass::Backward).print(),
      "kind=large_cache mma=wgmma tile_m=64 tile_n=64 tile_d=64 tile_dv=64 "
      "stages=2 warps=4 producer_warps=4 fused=0");
  schedule = *Schedule::parse("mma=mma_sync producer_warps=1");
  EXPECT_EQ(schedule.print(),
            "kind=large_cache mma=mma_sync tile_m=64 tile_n=64 tile_d=64 "
            "tile_dv=64 stages=2 warps=4 producer_warps=1");
  EXPECT_EQ(schedule.getNumThreads(), 160);
  EXPECT_TRUE(isFieldOf(AttentionPass::Backward, "fused"));
  EXPECT_FALSE(isFieldOf(AttentionPass::Forward, "fused"));
  EXPECT_FALSE(isFieldOf(AttentionPass::Backward, "turns"));
}

TEST(ScheduleOverrides, addsWhatIsMissing) {
  ScheduleOverrides own = *ScheduleOverrides::parse("stages=3");
  own.addMissing(*ScheduleOverrides::parse("stages=4 tile_m=128"));
  EXPECT_EQ(own.print(), "tile_m=128 stages=3");
  EXPECT_EQ(own.getValues().warps, Schedule().warps);
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
