//===- FamilyTest.cpp - Tests of families of matrix instructions ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/Family.h"

#include "gtest/gtest.h"

using namespace attn;

namespace {
std::string getNames(const char *target) {
  std::string names;
  for (const Family *family : getFamilies(*lookupTarget(target)))
    names += std::string(getName(family->facts.id)) + " ";
  return names;
}
} // namespace

TEST(Family, targetsHaveTheBestOneFirst) {
  EXPECT_EQ(getNames("cpu"), "none ");
  EXPECT_EQ(getNames("sm_80"), "mma_sync ");
  EXPECT_EQ(getNames("sm_90a"), "wgmma mma_sync ");
  EXPECT_EQ(getNames("sm_100a"), "tcgen05 mma_sync ");
  EXPECT_EQ(getNames("sm_120"), "mma_sync ");
}

/// What setmaxnreg hands out is no more than the CTA starts with.
TEST(Family, registersOfRolesFit) {
  for (auto [id, target] : {std::pair(MmaFamily::Wgmma, "sm_90a"),
                            std::pair(MmaFamily::Tcgen05, "sm_100a")}) {
    const Family &family = getFamily(id);
    for (int64_t units = 1; units <= family.facts.maxUnits; ++units) {
      int64_t start = alignDown(65536 / (128 * (units + 1)), 8) * (units + 1);
      for (bool producerComputes : {false, true}) {
        if (producerComputes && id != MmaFamily::Wgmma)
          continue;
        RegisterSplit split =
            family.splitRegisters(units, 65536, producerComputes, false);
        EXPECT_LE(split.producer + units * split.consumer, start);
        EXPECT_EQ(split.producer % 8 + split.consumer % 8, 0);
        EXPECT_GE(split.producer, producerComputes ? 40 : 24);
      }
      if (id == MmaFamily::Tcgen05) {
        RegisterSplit split = family.splitRegisters(units, 65536, false, true);
        EXPECT_LE(split.producer + split.correction + units * split.consumer,
                  65536 / 128);
        EXPECT_EQ(split.correction % 8, 0);
        EXPECT_GE(split.consumer, 192);
      }
      RegisterSplit split = family.splitRegisters(units, 65536, false, false);
      Schedule schedule;
      schedule.mma = id;
      schedule.warps = 4 * units;
      EXPECT_LE(getRegisterLimit(schedule, *lookupTarget(target)),
                split.consumer);
    }
  }
}

/// Twice as fast as f16 where the chip has them, half as fast where not.
TEST(Family, bytesHaveTheirRate) {
  const Family &family = getFamily(MmaFamily::MmaSync);
  auto getGain = [&](const char *name) {
    TargetInfo target = *lookupTarget(name);
    return family.getRate(ElementType::F8E4M3FN, target) /
           family.getRate(ElementType::F16, target);
  };
  EXPECT_NEAR(getGain("sm_89"), 2, 0.01);
  EXPECT_NEAR(getGain("sm_120"), 2, 0.01);
  EXPECT_EQ(getGain("sm_90a"), 0.5);
  EXPECT_EQ(getGain("sm_100a"), 0.5);
}

/// mma.sync has them on every chip.
TEST(Family, integersHaveTheirRate) {
  const Family &family = getFamily(MmaFamily::MmaSync);
  for (const char *name : {"sm_80", "sm_90a", "sm_100a"}) {
    TargetInfo target = *lookupTarget(name);
    EXPECT_NEAR(family.getRate(ElementType::I8, target) /
                    family.getRate(ElementType::F16, target),
                2, 0.01)
        << name;
    EXPECT_EQ(family.getSumBits(ElementType::I8, target), 0);
  }
}

TEST(Family, typesHaveOperandsOrNone) {
  EXPECT_EQ(getMmaOperand(ElementType::F32), MmaOperand::TF32);
  EXPECT_EQ(getMmaOperand(ElementType::F8E5M2), MmaOperand::F8);
  EXPECT_EQ(getMmaOperand(ElementType::I8), MmaOperand::I8);
  EXPECT_EQ(getMmaOperand(ElementType::F64), std::nullopt);
  EXPECT_EQ(getMmaOperand(ElementType::I1), std::nullopt);
}
