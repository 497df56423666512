//===- MatrixTest.cpp - ldmatrix, stmatrix, movmatrix, mma.sync -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

const std::string shared = ".shared .align 128 .b8 s[512];\n";
const std::string laneAddress =
    "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;\n";

std::vector<uint32_t> run(const std::string &body) {
  std::vector<uint32_t> buffer(256, 0);
  LaunchReport report = runOn(buffer, kernel(laneAddress + body, shared));
  EXPECT_TRUE(report.clean())
      << (report.diagnostics.empty() ? "" : report.diagnostics.front().str());
  return buffer;
}

/// Stores element (row, column) = 8 row + column of an 8 x 8 matrix at %r2, and
/// leaves the address of row lane % 8 in %r3.
const std::string fillMatrix =
    "mov.u32 %r2, s; shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r2;"
    "shl.b32 %r5, %r0, 1; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16;"
    "or.b32 %r6, %r6, %r5; st.shared.u32 [%r4], %r6; bar.warp.sync -1;"
    "and.b32 %r3, %r0, 7; shl.b32 %r3, %r3, 4; add.u32 %r3, %r3, %r2;";

TEST(LdMatrix, PlainAndTransposed) {
  auto buffer = run(fillMatrix + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                                 "{%r7}, [%r3]; st.global.u32 [%rd1], %r7;"
                                 "ldmatrix.sync.aligned.m8n8.x1.trans.shared."
                                 "b16 {%r8}, [%r3];"
                                 "st.global.u32 [%rd1+128], %r8;");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t row = lane / 4, column = lane % 4 * 2;
    EXPECT_EQ(buffer[lane], (8 * row + column) | (8 * row + column + 1) << 16);
    EXPECT_EQ(buffer[32 + lane], (8 * column + row) | (8 * (column + 1) + row)
                                                          << 16);
  }
}

TEST(LdMatrix, StoreIsTheInverse) {
  auto buffer = run(fillMatrix + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                                 "{%r7}, [%r3]; bar.warp.sync -1;"
                                 "stmatrix.sync.aligned.m8n8.x1.trans.shared."
                                 "b16 [%r3+128], {%r7}; bar.warp.sync -1;"
                                 "ld.shared.u32 %r8, [%r4+128];"
                                 "st.global.u32 [%rd1], %r8;"
                                 "movmatrix.sync.aligned.m8n8.trans.b16 %r9, "
                                 "%r7; st.global.u32 [%rd1+128], %r9;");
  // Word 1 of the stored transpose: elements (2, 0) and (3, 0) of the original.
  EXPECT_EQ(buffer[1], 16u | 24u << 16);
  EXPECT_EQ(buffer[32 + 1], 16u | 24u << 16);
}

TEST(LdMatrix, NeedsAllLanes) {
  std::vector<uint32_t> buffer(256, 0);
  LaunchReport report = runOn(
      buffer, kernel("setp.lt.u32 %p1, %r0, 9; mov.u32 %r3, s; @%p1 "
                     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r3];",
                     shared));
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.diagnostics.front().finding, Finding::Sync);
}

/// One product with A = 1 in (row 0, k 0) and B[0][n] = n + 1.
std::string oneHot(const std::string &opcode, uint32_t one, uint32_t nPlusOne,
                   const char *registersA, const char *registersB) {
  return "mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0;"
         "setp.eq.u32 %p1, %r0, 0; selp.u32 %r9, " +
         std::to_string(one) +
         ", 0, %p1; and.b32 %r1, %r0, 3; setp.eq.u32 %p2, %r1, 0;"
         "shr.u32 %r1, %r0, 2; add.u32 %r1, %r1, 1; cvt.rn.f32.u32 %f1, %r1;" +
         (nPlusOne == 2 ? "mov.u32 %r13, 0; mov.b32 %f2, %r13;"
                          "cvt.rn.bf16x2.f32 %r13, %f2, %f1;"
                        : "mov.b32 %r13, %f1;") +
         "selp.u32 %r13, %r13, 0, %p2; mov.u32 %r14, 0;"
         "mov.f32 %f3, 0f3F000000;" +
         opcode + " {%f4,%f5,%f6,%f7}, " + registersA + ", " + registersB +
         ", {%f3,%f3,%f3,%f3};"
         "st.global.f32 [%rd1], %f4; st.global.f32 [%rd1+128], %f5;"
         "st.global.f32 [%rd1+256], %f6;";
}

TEST(MmaSync, BrainFragmentLayout) {
  auto buffer =
      run(oneHot("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 0x3F80,
                 2, "{%r9,%r10,%r11,%r12}", "{%r13,%r14}"));
  for (uint32_t lane = 0; lane < 4; ++lane) {
    EXPECT_EQ(toFloat(buffer[lane]), 2 * lane + 1.5f);
    EXPECT_EQ(toFloat(buffer[32 + lane]), 2 * lane + 2.5f);
  }
  EXPECT_EQ(toFloat(buffer[4]), 0.5f);  // row 1
  EXPECT_EQ(toFloat(buffer[64]), 0.5f); // row 8
}

TEST(MmaSync, TF32FragmentLayout) {
  auto buffer =
      run(oneHot("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
                 0x3F800FFF, 4, "{%r9,%r10,%r11,%r12}", "{%r13,%r14}"));
  // The low bits of a tf32 input are ignored.
  for (uint32_t lane = 0; lane < 4; ++lane)
    EXPECT_EQ(toFloat(buffer[lane]), 2 * lane + 1.5f);
}

TEST(MmaSync, IntegersAndFlops) {
  std::vector<uint32_t> buffer(256, 0);
  LaunchReport report =
      runOn(buffer, kernel(laneAddress +
                           "mov.u32 %r1, 0x01FF01FF; mov.u32 %r2, 0x02020202;"
                           "mov.u32 %r3, 5;"
                           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                           "{%r4,%r5,%r6,%r7}, {%r1,%r1,%r1,%r1}, {%r2,%r2}, "
                           "{%r3,%r3,%r3,%r3}; st.global.u32 [%rd1], %r4;"));
  ASSERT_TRUE(report.clean());
  EXPECT_EQ(buffer[0], 5u); // 16 * (1 * 2) + 16 * (-1 * 2) + 5
  EXPECT_EQ(report.counters.mmaFlops, 2u * 16 * 8 * 32);
}

/// 1024 plus 32 products of which each is 2^-5: a sum of 13 fraction bits drops
/// each of them (its last bit is 2^-3), an f32 none. sm_89 alone has such sums.
TEST(MmaSync, SumsOf8BitFloatsKeepFewBits) {
  auto sum = [](const std::string &target, const std::string &start) {
    std::vector<uint32_t> buffer(256, 0);
    std::string text = kernel(
        laneAddress +
        "mov.u32 %r1, 0x38383838; mov.u32 %r2, 0x10101010;"
        "mov.f32 %f1, " +
        start +
        ";"
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
        "{%f4,%f5,%f6,%f7}, {%r1,%r1,%r1,%r1}, {%r2,%r2}, {%f1,%f1,%f1,%f1};"
        "st.global.f32 [%rd1], %f7;");
    size_t at = text.find(".target ") + 8;
    text.replace(at, text.find('\n', at) - at, target);
    EXPECT_TRUE(runOn(buffer, text).clean());
    return toFloat(buffer[5]);
  };
  EXPECT_EQ(sum("sm_89", "0f44800000"), 1024.f);
  EXPECT_EQ(sum("sm_89", "0fC4800000"), -1024.f);
  EXPECT_EQ(sum("sm_120", "0f44800000"), 1025.f);
  // 2^-3 and more is kept, and what is small together is.
  EXPECT_EQ(sum("sm_89", "0f43800000"), 257.f);
  EXPECT_EQ(sum("sm_89", "0f00000000"), 1.f);
  EXPECT_EQ(sum("sm_89", "0f7F800000"), INFINITY);
  EXPECT_TRUE(std::isnan(sum("sm_89", "0f7FC00000")));
}

TEST(MmaSync, NaNAndInfinityPropagate) {
  auto product = [](uint32_t a, uint32_t b) {
    auto buffer = run("mov.u32 %r1, " + std::to_string(a) + "; mov.u32 %r2, " +
                      std::to_string(b) +
                      "; mov.f32 %f1, 0f00000000;"
                      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                      "{%f4,%f5,%f6,%f7}, {%r1,%r1,%r1,%r1}, {%r2,%r2}, "
                      "{%f1,%f1,%f1,%f1}; st.global.f32 [%rd1], %f4;");
    return buffer[0];
  };
  EXPECT_EQ(product(0x7C007C00, 0x3C003C00), 0x7F800000u); // inf * 1
  EXPECT_EQ(product(0x7C007C00, 0x00000000), 0x7FFFFFFFu); // inf * 0
  EXPECT_EQ(product(0x7E007E00, 0x3C003C00), 0x7FFFFFFFu); // NaN * 1
}

} // namespace
