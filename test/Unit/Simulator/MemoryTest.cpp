//===- MemoryTest.cpp - Loads, stores, atomics and warp operations --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

#include <set>

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

const std::string laneAddress =
    "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;\n";

/// Runs a body that finds the address of its lane's word in %rd1.
std::vector<uint32_t> run(const std::string &body, size_t words = 128) {
  std::vector<uint32_t> buffer(words, 0);
  LaunchReport report = runOn(buffer, kernel(laneAddress + body));
  EXPECT_TRUE(report.clean())
      << (report.diagnostics.empty() ? "" : report.diagnostics.front().str());
  return buffer;
}

TEST(Memory, SubWordLoadsExtend) {
  auto buffer = run("mov.u32 %r1, 0x80FF; st.global.u32 [%rd1], %r1;"
                    "ld.global.s16 %r2, [%rd1]; ld.global.u8 %r3, [%rd1];"
                    "sub.u32 %r2, %r2, %r3; st.global.u32 [%rd1], %r2;");
  EXPECT_EQ(buffer[3], 0xFFFF80FFu - 0xFFu);
}

TEST(Memory, VectorsAnd128Bits) {
  auto buffer =
      run("mul.wide.u32 %rd2, %r0, 16; add.s64 %rd2, %rd0, %rd2;"
          "add.u32 %r1, %r0, 1; add.u32 %r2, %r0, 2; add.u32 %r3, %r0, 3;"
          "st.global.v4.u32 [%rd2], {%r0, %r1, %r2, %r3};"
          "{ .reg .b128 %q; ld.global.b128 %q, [%rd2];"
          "mov.b128 {%rd3, %rd4}, %q; } st.global.u64 [%rd2], %rd4;");
  EXPECT_EQ(buffer[4 * 5], 7u);
  EXPECT_EQ(buffer[4 * 5 + 1], 8u);
}

TEST(Memory, TrafficIsCountedByBuffer) {
  std::vector<uint32_t> buffer(64, 0);
  LaunchReport report =
      runOn(buffer, kernel(laneAddress + "ld.global.u32 %r1, [%rd1];"
                                         "st.global.u32 [%rd1+128], %r1;"));
  ASSERT_TRUE(report.clean());
  uint64_t read = 0, written = 0;
  for (const BufferTraffic &traffic : report.counters.buffers)
    if (traffic.name == "buffer") {
      read = traffic.read();
      written = traffic.write();
    }
  EXPECT_EQ(read, 128u);
  EXPECT_EQ(written, 128u);
  EXPECT_EQ(report.counters.globalLoadBytes, 128u);
}

TEST(Memory, BankConflicts) {
  // Words 0, 32, 64, ... are in bank 0: 32 passes, 31 of them conflicts.
  auto conflicts = [](const char *stride) {
    std::vector<uint32_t> buffer(32, 0);
    Options options;
    options.countBankConflicts = true;
    std::string body = std::string("mul.lo.u32 %r1, %r0, ") + stride +
                       "; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;"
                       "st.shared.u32 [%r1], %r0;";
    LaunchReport report =
        runOn(buffer, kernel(body, ".shared .align 16 .b8 s[4096];"), options);
    EXPECT_TRUE(report.clean());
    return report.counters.bankConflicts;
  };
  EXPECT_EQ(conflicts("4"), 0u);
  EXPECT_EQ(conflicts("8"), 1u);
  EXPECT_EQ(conflicts("128"), 31u);
  EXPECT_EQ(conflicts("0"), 0u); // one word: broadcast
}

TEST(Atomic, Integer) {
  auto buffer = run("atom.global.add.u32 %r1, [%rd0], 2;"
                    "red.global.max.s32 [%rd0+4], %r0;"
                    "red.global.inc.u32 [%rd0+8], 4;"
                    "st.global.u32 [%rd1+128], %r1;");
  EXPECT_EQ(buffer[0], 64u);
  EXPECT_EQ(buffer[1], 31u);
  EXPECT_EQ(buffer[2], 32u % 5);
  EXPECT_EQ(buffer[32 + 9], 18u);
}

TEST(Atomic, CompareAndSwapAndHalf) {
  auto buffer = run("atom.global.cas.b32 %r1, [%rd0], %r0, 7;"
                    "mov.u32 %r2, 0x3C003C00;"
                    "red.global.add.noftz.f16x2 [%rd0+4], %r2;");
  EXPECT_EQ(buffer[0], 7u);
  EXPECT_EQ(buffer[1], 0x50005000u); // 32 in both halves
}

TEST(WarpOps, Shuffle) {
  EXPECT_EQ(run("shfl.sync.bfly.b32 %r1, %r0, 5, 31, -1;"
                "st.global.u32 [%rd1], %r1;")[3],
            6u);
  // Down by 4 in segments of 8: the last four lanes keep their own value.
  auto buffer = run("shfl.sync.down.b32 %r1|%p1, %r0, 4, 0x181F, -1;"
                    "@!%p1 add.u32 %r1, %r1, 100; st.global.u32 [%rd1], %r1;");
  EXPECT_EQ(buffer[3], 7u);
  EXPECT_EQ(buffer[6], 106u);
  buffer = run("shfl.sync.up.b32 %r1|%p1, %r0, 1, 0, -1;"
               "@!%p1 mov.u32 %r1, 99; st.global.u32 [%rd1], %r1;");
  EXPECT_EQ(buffer[0], 99u);
  EXPECT_EQ(buffer[9], 8u);
}

TEST(WarpOps, VoteMatchRedux) {
  auto buffer =
      run("and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;"
          "vote.sync.ballot.b32 %r2, %p1, -1; st.global.u32 [%rd1], %r2;"
          "match.any.sync.b32 %r3, %r1, -1; st.global.u32 [%rd1+128], %r3;"
          "redux.sync.add.u32 %r4, %r0, -1; st.global.u32 [%rd1+256], %r4;");
  EXPECT_EQ(buffer[1], 0x55555555u);
  EXPECT_EQ(buffer[33], 0xAAAAAAAAu);
  EXPECT_EQ(buffer[64], 496u);
}

TEST(WarpOps, GroupsOfOneWarp) {
  // Both halves execute each instruction together, with masks of their own.
  auto buffer =
      run("setp.lt.u32 %p1, %r0, 16; selp.b32 %r5, 0xFFFF, 0xFFFF0000, %p1;"
          "redux.sync.add.u32 %r1, %r0, %r5; st.global.u32 [%rd1], %r1;"
          "elect.sync %r2|%p2, %r5; st.global.u32 [%rd1+128], %r2;"
          "vote.sync.any.pred %p3, %p1, %r5; selp.u32 %r3, 1, 0, %p3;"
          "st.global.u32 [%rd1+256], %r3;"
          "match.all.sync.b32 %r4|%p4, %r1, %r5;"
          "st.global.u32 [%rd1+384], %r4;");
  EXPECT_EQ(buffer[0], 120u);
  EXPECT_EQ(buffer[31], 376u);
  EXPECT_EQ(buffer[32 + 15], 0u);
  EXPECT_EQ(buffer[32 + 16], 16u);
  EXPECT_EQ(buffer[64], 1u);
  EXPECT_EQ(buffer[64 + 31], 0u);
  EXPECT_EQ(buffer[96], 0x0000FFFFu);
  EXPECT_EQ(buffer[96 + 31], 0xFFFF0000u);
}

TEST(WarpOps, ElectIsTheLowestLane) {
  auto buffer = run("elect.sync %r1|%p1, -1; selp.u32 %r2, 1, 0, %p1;"
                    "st.global.u32 [%rd1], %r2;");
  EXPECT_EQ(buffer[0], 1u);
  EXPECT_EQ(buffer[1], 0u);
}

TEST(WarpOps, DivergentLoopsReconverge) {
  // Lane i iterates i times; then all vote.
  auto buffer = run("mov.u32 %r1, 0;\nL: setp.ge.u32 %p1, %r1, %r0;"
                    "@%p1 bra D; add.u32 %r1, %r1, 1; bra L;\nD: "
                    "vote.sync.ballot.b32 %r2, 1, -1;"
                    "add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2;");
  EXPECT_EQ(buffer[20], 19u);
}

TEST(Cluster, DistributedSharedMemory) {
  // Every CTA writes its rank to its neighbour.
  std::string body =
      "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, s;"
      "mapa.shared::cluster.u32 %r4, %r3, %r2;"
      "st.shared::cluster.u32 [%r4], %r1;"
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
      "ld.shared.u32 %r5, [s]; mul.wide.u32 %rd1, %r1, 4;"
      "add.s64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r5;";
  std::vector<uint32_t> buffer(32, 9);
  Options options;
  options.checks = Checks::all();
  options.checks.wgmmaFence = false;
  LaunchReport report = runOn(buffer, kernel(body, ".shared .align 4 .b32 s;"),
                              options, {1, 2, 2});
  ASSERT_TRUE(report.clean()) << report.diagnostics.front().str();
  EXPECT_EQ(buffer[0], 1u);
  EXPECT_EQ(buffer[1], 0u);
  EXPECT_EQ(report.counters.distributedSharedBytes, 8u);
}

} // namespace
