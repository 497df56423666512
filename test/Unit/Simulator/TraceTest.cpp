//===- TraceTest.cpp - Clocks of warps and pipes --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Warps of a sub-core share what issues their instructions, and its pipes.
///
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

#include "attn/Simulator/Trace.h"

#include <algorithm>

using namespace attn::sim;
using namespace attn::sim::test;

/// `count` times `instruction`.
static std::string repeat(const std::string &instruction, unsigned count) {
  std::string text;
  for (unsigned k = 0; k < count; ++k)
    text += instruction + "\n";
  return text;
}

/// Clocks that `body` adds to a kernel whose warps in the bits of `warps`
/// execute it, and hand over what they have.
static int64_t getClocks(const std::string &body, uint32_t warps) {
  auto run = [&](const std::string &text) {
    Options options;
    options.traceClusters = 1;
    std::vector<uint32_t> buffer(32, 0);
    LaunchReport report =
        runOn(buffer,
              kernel("mov.f32 %f1, 0f3F800000; mov.u32 %r1, 1;\n"
                     "shr.u32 %r2, %r0, 5; shl.b32 %r3, 1, %r2;\n"
                     "and.b32 %r3, %r3, " +
                     std::to_string(warps) +
                     "; setp.eq.u32 %p1, %r3, 0; @%p1 bra done;\n" + text +
                     "fence.acq_rel.cta;\ndone:"),
              options, {/*threads=*/8 * 32});
    EXPECT_TRUE(report.clean());
    uint64_t last = 0;
    for (const TraceEvent &event : report.timeline.events)
      last = std::max(last, event.end);
    return static_cast<int64_t>(last);
  };
  return run(body) - run("");
}

static const std::string exponentials = repeat("ex2.approx.f32 %f2, %f1;", 64);
static const std::string products = repeat("mul.f32 %f3, %f1, %f1;", 256);

TEST(Trace, SpecialFunctionsHaveAPipe) {
  // 32 lanes, four a clock.
  EXPECT_NEAR(getClocks(exponentials, 1), 64 * 8, 16);
  EXPECT_NEAR(getClocks(products, 1), 256, 16);
  // One is computed beside the other, until what others read.
  EXPECT_NEAR(getClocks(exponentials + products, 1), 64 * 8, 16);
  EXPECT_NEAR(getClocks(exponentials + "fence.acq_rel.cta;" + products, 1),
              64 * 8 + 256, 24);
}

TEST(Trace, WarpsOfASubCoreShareIt) {
  // Warps 0 and 4 are of one sub-core, 0 and 1 are not.
  EXPECT_NEAR(getClocks(exponentials, 0x11), 2 * 64 * 8, 16);
  EXPECT_NEAR(getClocks(exponentials, 0x03), 64 * 8, 16);
  EXPECT_NEAR(getClocks(products, 0x11), 2 * 256, 16);
  EXPECT_NEAR(getClocks(products, 0x0f), 256, 16);
  const std::string integers = repeat("xor.b32 %r4, %r1, %r1;", 128);
  EXPECT_NEAR(getClocks(integers, 1), 2 * 128, 16);
  EXPECT_NEAR(getClocks(integers, 0x11), 4 * 128, 16);
}

TEST(Trace, MovesOfRegistersAreFree) {
  EXPECT_NEAR(getClocks(repeat("mov.b32 %r4, %r1;", 64), 1), 0, 8);
  EXPECT_NEAR(getClocks(repeat("mov.b64 %rd1, {%r1, %r1};", 64), 1), 0, 8);
  EXPECT_NEAR(getClocks("mov.b32 {%h1, %h2}, %r1;" +
                            repeat("mov.b32 %r4, {%h1, %h2};", 64),
                        1),
              65, 8);
}
