//===- ChecksTest.cpp - Findings and their wording ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

Options with(bool Checks::*check) {
  Options options;
  options.checks.*check = true;
  return options;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Checks, WholeDiagnostic) {
  std::string text =
      finding(kernel("mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;\n"
                     "st.global.u32 [%rd1+64], %r0;"),
              {}, {}, 32);
  size_t address = text.find("0x");
  ASSERT_NE(address, std::string::npos);
  std::string hex = text.substr(address, text.find(' ', address) - address);
  size_t base = text.find("[0x") + 1;
  std::string baseHex = text.substr(base, text.find(',', base) - base);
  EXPECT_EQ(text,
            "test.ptx:12: error: memcheck: invalid __global__ write of size 4 "
            "at " +
                hex +
                " (lane 16): out of bounds; the nearest allocation is 'buffer' "
                "[" +
                baseHex +
                ", +128), offset 128\n"
                "  in kernel k, CTA (0,0,0), warp 0, lanes ffffffff\n"
                "    st.global.u32 [%rd1+64], %r0;");
}

TEST(Checks, Alignment) {
  EXPECT_TRUE(contains(finding(kernel("cvt.u64.u32 %rd1, %r0;"
                                      "add.s64 %rd1, %rd0, %rd1;"
                                      "ld.global.u32 %r1, [%rd1];")),
                       "invalid __global__ read of size 4"));
  EXPECT_TRUE(contains(finding(kernel("mov.u32 %r1, s;"
                                      "ld.shared.v4.u32 {%r2,%r3,%r4,%r5}, "
                                      "[%r1+4];",
                                      ".shared .align 16 .b8 s[64];")),
                       "invalid __shared__ read of size 16"));
}

TEST(Checks, SharedBounds) {
  std::string text = finding(kernel("shl.b32 %r1, %r0, 2; mov.u32 %r2, s;"
                                    "add.u32 %r1, %r1, %r2;"
                                    "st.shared.u32 [%r1], %r0;",
                                    ".shared .align 4 .b8 s[64];"));
  EXPECT_TRUE(contains(text, "(lane 16): out of bounds; offset 64 of 64 "
                             "bytes"))
      << text;
}

TEST(Checks, UninitializedShared) {
  std::string ptx = kernel("mov.u32 %r1, s; ld.shared.u32 %r2, [%r1];",
                           ".shared .align 4 .b8 s[64];");
  EXPECT_EQ(finding(ptx), "");
  EXPECT_TRUE(contains(finding(ptx, with(&Checks::uninitializedShared)),
                       "initcheck: uninitialized __shared__ memory read of "
                       "size 4 at shared offset 0"));
}

TEST(Checks, UninitializedRegister) {
  std::string ptx = kernel("add.u32 %r1, %r2, 1;");
  EXPECT_EQ(finding(ptx), "");
  EXPECT_TRUE(contains(finding(ptx, with(&Checks::uninitializedRegister)),
                       "initcheck: read of uninitialized register %r2 (lanes "
                       "ffffffff)"));
  EXPECT_EQ(finding(kernel("mov.u32 %r2, 1; add.u32 %r1, %r2, %r0;"),
                    with(&Checks::uninitializedRegister)),
            "");
}

/// A compiler leaves the half of a pair undefined that nobody reads.
TEST(Checks, UninitializedHalf) {
  std::string pair = "mov.b32 %r1, 0; mov.b64 %rd1, {%r2, %r1};"
                     "fma.rn.f32x2 %rd1, %rd1, %rd1, %rd1;";
  auto check = [&](const std::string &read) {
    return finding(kernel(pair + read), with(&Checks::uninitializedRegister));
  };
  EXPECT_EQ(check("mov.b64 {_, %r3}, %rd1; add.u32 %r3, %r3, 1;"), "");
  EXPECT_EQ(check("mov.b64 {%r4, %r3}, %rd1; add.u32 %r3, %r3, 1;"), "");
  EXPECT_TRUE(contains(check("mov.b64 {%r3, _}, %rd1; add.u32 %r3, %r3, 1;"),
                       "initcheck: read of uninitialized register %r3 (lanes "
                       "ffffffff)"));
  EXPECT_TRUE(contains(check("add.u64 %rd1, %rd1, 1;"),
                       "initcheck: read of uninitialized register %rd1"));
  EXPECT_TRUE(contains(check("mov.b64 {%r5, %r3}, %rd1; mov.b32 %r4, %r5;"),
                       "initcheck: read of uninitialized register %r5"));
}

/// Four quarters are no halves.
TEST(Checks, UninitializedQuarter) {
  auto check = [](const std::string &first) {
    return finding(kernel(".reg .b128 %q<2>;" + first +
                          "mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;"
                          "mov.b128 %q1, {%r1, %r2, %r3, %r4};"
                          "mov.b128 {%r5, %r6, %r7, %r8}, %q1;"
                          "add.u32 %r8, %r8, %r5;"),
                   with(&Checks::uninitializedRegister));
  };
  EXPECT_EQ(check("mov.b32 %r4, 0;"), "");
  EXPECT_TRUE(contains(check(""), "read of uninitialized register %r4"));
}

/// Two warps: one writes, the other reads.
std::string raceKernel(const std::string &between) {
  return kernel("mov.u32 %r1, s; setp.lt.u32 %p1, %r0, 32;"
                "@%p1 st.shared.u32 [%r1], 5;" +
                    between + "@!%p1 ld.shared.u32 %r2, [%r1];",
                ".shared .align 4 .b8 s[64];");
}

TEST(Checks, RaceIsFoundInAnySchedule) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options = with(&Checks::race);
    options.seed = seed;
    options.slice = 3;
    std::string text = finding(raceKernel(""), options, {64});
    EXPECT_TRUE(contains(text, "racecheck: ")) << text;
    EXPECT_TRUE(contains(text, "remedy: order the two accesses by a barrier"));
    EXPECT_EQ(finding(raceKernel("bar.sync 0;"), options, {64}), "");
  }
}

TEST(Checks, BarrierMisuse) {
  EXPECT_TRUE(contains(finding(kernel("bar.sync 16;")),
                       "barrier id 16, expected 0 to 15"));
  EXPECT_TRUE(contains(finding(kernel("bar.sync 1, 33;")),
                       "barrier thread count 33 is not a positive multiple of "
                       "32"));
  EXPECT_TRUE(contains(finding(kernel("setp.lt.u32 %p1, %r0, 7;"
                                      "@%p1 bar.sync 0;")),
                       "divergent thread(s) in warp"));
  std::string deadlock =
      finding(kernel("setp.lt.u32 %p1, %r0, 32; @%p1 bra L;\n"
                     "bar.sync 3, 64; bra D;\nL: bar.sync 4, 64;\nD:"),
              {}, {64});
  EXPECT_TRUE(contains(deadlock, "deadlock")) << deadlock;
  EXPECT_TRUE(contains(deadlock, "warp 1 lanes ffffffff line 12: barrier 3, 32 "
                                 "of 64 threads arrived"));
  EXPECT_TRUE(contains(deadlock, "line 13: barrier 4"));
}

TEST(Checks, SpinningIsLimited) {
  Options options;
  options.maxWarpInstructions = 100000;
  EXPECT_TRUE(contains(finding(kernel("L: ld.volatile.global.u32 %r1, [%rd0];"
                                      "setp.eq.u32 %p1, %r1, 0; @%p1 bra L;"),
                               options),
                       "instruction limit reached"));
}

TEST(Checks, TrapAndUnknownFunction) {
  EXPECT_TRUE(contains(finding(kernel("trap;")), "trap: the kernel executed"));
  EXPECT_TRUE(
      contains(finding(kernel("call mystery;", ".extern .func mystery();")),
               "call of external function 'mystery'"));
}

TEST(Checks, ReadOnlyParameters) {
  EXPECT_TRUE(contains(finding(kernel("mov.b64 %rd1, p; st.u32 [%rd1], %r0;")),
                       "the memory is read-only"));
}

TEST(Checks, KeepGoingRecordsAll) {
  Options options;
  options.keepGoing = true;
  options.checks.uninitializedRegister = true;
  std::vector<uint32_t> buffer(32, 0);
  LaunchReport report = runOn(
      buffer, kernel("add.u32 %r1, %r2, 1; add.u32 %r3, %r4, 1;"), options);
  EXPECT_TRUE(report.completed);
  EXPECT_EQ(report.diagnostics.size(), 2u);
}

} // namespace
