//===- TargetInfoTest.cpp - Tests of lib/TargetInfo -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/TargetInfo/TargetInfo.h"

#include "gtest/gtest.h"

using namespace attn;

TEST(TargetInfo, everyKnownNameIsComplete) {
  for (const std::string &name : getKnownTargetNames()) {
    SCOPED_TRACE(name);
    TargetInfo target = *lookupTarget(name);
    EXPECT_FALSE(target.product.empty());
    EXPECT_GT(target.smCount, 0);
    EXPECT_GT(target.clockGHz, 0);
    EXPECT_GT(target.l2GBps, target.dramGBps);
    EXPECT_GT(target.f16TFlops, 0);
    EXPECT_GT(target.getEx2PerSecond(), 0);
    EXPECT_EQ(target.sharedMemoryPerSmBytes,
              target.sharedMemoryPerCtaBytes +
                  target.sharedMemoryReservedBytes);
  }
}

TEST(TargetInfo, sharedMemoryLimitsOfTheProgrammingGuide) {
  EXPECT_EQ(lookupTarget("sm_80")->sharedMemoryPerCtaBytes, 163 * 1024);
  EXPECT_EQ(lookupTarget("sm_86")->sharedMemoryPerCtaBytes, 99 * 1024);
  EXPECT_EQ(lookupTarget("sm_89")->sharedMemoryPerCtaBytes, 99 * 1024);
  EXPECT_EQ(lookupTarget("sm_90a")->sharedMemoryPerCtaBytes, 232448);
  EXPECT_EQ(lookupTarget("sm_100a")->sharedMemoryPerCtaBytes, 227 * 1024);
  EXPECT_EQ(lookupTarget("sm_120")->sharedMemoryPerCtaBytes, 99 * 1024);
}

TEST(TargetInfo, tensorRatesFollowFromUnitsAndClocks) {
  // 4096 operations per clock and SM at 1.83 GHz (H100 white paper).
  EXPECT_NEAR(lookupTarget("h100")->f16TFlops, 132 * 4096 * 1.83e9 / 1e12, 1);
  // 2048 at 1.41 GHz (A100).
  EXPECT_NEAR(lookupTarget("a100")->f16TFlops, 108 * 2048 * 1.41e9 / 1e12, 1);
  // Products of integers have twice the rate.
  for (const char *name : {"a100", "h200", "b200"})
    EXPECT_NEAR(lookupTarget(name)->i8TOps / lookupTarget(name)->f16TFlops, 2,
                0.01);
}

TEST(TargetInfo, h100AndH200DifferInMemory) {
  TargetInfo h100 = *lookupTarget("h100"), h200 = *lookupTarget("h200");
  EXPECT_EQ(h100.dramGBps, 3350);
  EXPECT_EQ(h200.dramGBps, 4800);
  EXPECT_EQ(h100.smCount, h200.smCount);
  EXPECT_EQ(lookupTarget("sm_90a")->product, h200.product);
}

TEST(TargetInfo, b300HasMoreExponentialsAndNoProductsOfIntegers) {
  TargetInfo b200 = *lookupTarget("sm_100a"), b300 = *lookupTarget("sm_103a");
  EXPECT_EQ(b300.computeCapability, 103);
  EXPECT_EQ(b300.ex2PerClockPerSm, 2 * b200.ex2PerClockPerSm);
  EXPECT_TRUE(b200.hasMma(MmaFamily::Tcgen05, MmaOperand::I8));
  EXPECT_FALSE(b300.hasMma(MmaFamily::Tcgen05, MmaOperand::I8));
  EXPECT_TRUE(b300.hasMma(MmaFamily::Tcgen05, MmaOperand::F8));
  EXPECT_EQ(lookupTarget("b300")->name, "sm_103a");
}

TEST(TargetInfo, unknownNameListsTheKnownOnes) {
  EXPECT_EQ(lookupTarget("sm_90").error(),
            "unknown target 'sm_90', expected one of sm_80, sm_86, sm_89, "
            "sm_90a, sm_100a, sm_103a, sm_120, cpu, a100, rtx3090, rtx4090, "
            "h100, h200, b200, b300, rtx5090 (did you mean 'sm_90a'?)");
}

TEST(TargetInfo, mmaShapes) {
  TargetInfo ampere = *lookupTarget("sm_80"), hopper = *lookupTarget("sm_90a");
  EXPECT_TRUE(ampere.hasMma(MmaFamily::MmaSync, MmaOperand::BF16));
  EXPECT_FALSE(ampere.hasMma(MmaFamily::MmaSync, MmaOperand::F8));
  EXPECT_FALSE(ampere.hasMma(MmaFamily::Wgmma));
  EXPECT_TRUE(hopper.hasMma(MmaFamily::Wgmma, MmaOperand::F8));
  EXPECT_FALSE(lookupTarget("sm_120")->hasMma(MmaFamily::Wgmma));
  EXPECT_EQ(ampere.mmaShapes[1].getName(), "mma_sync.m16n8k16.bf16");
  EXPECT_TRUE(ampere.hasMma(MmaFamily::MmaSync, MmaOperand::I8));
  EXPECT_EQ(ampere.mmaShapes[3].getName(), "mma_sync.m16n8k32.i8");
  EXPECT_EQ(hopper.mmaShapes[5].getName(), "wgmma.m64n256k16.f16");
}

TEST(TargetInfo, fieldsCanBeSet) {
  TargetInfo target = *lookupTarget("sm_90a");
  ASSERT_TRUE(setTargetField(target, "smem-bytes", "65536"));
  EXPECT_EQ(target.sharedMemoryPerCtaBytes, 65536);
  EXPECT_EQ(target.sharedMemoryPerSmBytes, 65536 + 1024);
  for (const TargetField &field : getTargetFields())
    EXPECT_TRUE(setTargetField(target, field.name, "7")) << field.name;
  EXPECT_EQ(target.dramGBps, 7);
}

TEST(TargetInfo, badFieldsAreErrors) {
  TargetInfo target = *lookupTarget("sm_90a");
  EXPECT_EQ(setTargetField(target, "smem-bytes", "64k").error(),
            "expected a positive integer for target field smem-bytes, got "
            "'64k'");
  EXPECT_EQ(setTargetField(target, "dram-gbps", "0").error(),
            "expected a positive number for target field dram-gbps, got '0'");
  std::string error = setTargetField(target, "smem-byte", "1").error();
  EXPECT_EQ(error.find("unknown target field 'smem-byte', expected one of "
                       "smem-bytes, l2-bytes, "),
            0u);
  EXPECT_NE(error.find("(did you mean 'smem-bytes'?)"), std::string::npos);
}

TEST(TargetInfo, targetsAreReadFromText) {
  Result<TargetInfo> target = parseTarget("# a smaller Hopper\n"
                                          "base = h100\n"
                                          "name = small-sram  # ours\n"
                                          "\n"
                                          "smem-bytes = 49152\n");
  ASSERT_TRUE(target) << target.error();
  EXPECT_EQ(target->name, "small-sram");
  EXPECT_EQ(target->sharedMemoryPerCtaBytes, 49152);
  EXPECT_EQ(target->smCount, 132);
}

TEST(TargetInfo, badTargetTextNamesTheLine) {
  EXPECT_EQ(parseTarget("base = h100\nsmem-bytes\n").error(),
            "line 2: expected 'name = value', got 'smem-bytes'");
  EXPECT_EQ(parseTarget("sm-count = 3\n").error(),
            "line 1: expected 'base = TARGET' as the first field, got "
            "'sm-count'");
  EXPECT_EQ(parseTarget("").error(),
            "expected 'base = TARGET' as the first field, got no field");
  EXPECT_EQ(parseTarget("base = h100\nbase = a100\n").error(),
            "line 2: expected 'base' once, as the first field");
}
