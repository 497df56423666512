//===- SyncTest.cpp - Barriers, mbarriers and asynchronous copies ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

const std::string shared = ".shared .align 128 .b8 s[1024];\n"
                           ".shared .align 8 .b64 bar;\n";

Options allChecks() {
  Options options;
  options.checks = Checks::all();
  return options;
}

std::vector<uint32_t> run(const std::string &body, uint32_t threads,
                          Options options = allChecks()) {
  std::vector<uint32_t> buffer(256);
  for (uint32_t k = 0; k < 256; ++k)
    buffer[k] = k;
  LaunchReport report = runOn(buffer, kernel(body, shared), options, {threads});
  EXPECT_TRUE(report.clean())
      << (report.diagnostics.empty() ? "" : report.diagnostics.front().str());
  return buffer;
}

TEST(Barrier, OrdersSharedMemory) {
  auto buffer = run("shl.b32 %r1, %r0, 2; mov.u32 %r2, s;"
                    "add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0;"
                    "bar.sync 0; xor.b32 %r4, %r1, 128; add.u32 %r4, %r4, %r2;"
                    "ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %rd1, %r1;"
                    "add.s64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r5;",
                    64);
  EXPECT_EQ(buffer[3], 35u);
  EXPECT_EQ(buffer[40], 8u);
}

TEST(Barrier, Reduction) {
  auto buffer = run("setp.lt.u32 %p1, %r0, 40; barrier.sync 1, 64;"
                    "bar.red.popc.u32 %r1, 0, %p1; bar.red.or.pred %p2, 0, %p1;"
                    "selp.u32 %r2, 1000, 0, %p2; add.u32 %r1, %r1, %r2;"
                    "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;"
                    "st.global.u32 [%rd1], %r1;",
                    64);
  EXPECT_EQ(buffer[0], 1040u);
  EXPECT_EQ(buffer[63], 1040u);
}

/// Copies 256 bytes to shared memory with `copy` and reads them rotated.
std::string copyKernel(const std::string &copy, const std::string &wait) {
  return "mov.u32 %r1, bar; mov.u32 %r2, s; setp.eq.u32 %p1, %r0, 0;"
         "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;"
         "fence.mbarrier_init.release.cluster; bar.sync 0;" +
         copy + wait +
         "shl.b32 %r3, %r0, 2; add.u32 %r4, %r3, 4; and.b32 %r4, %r4, 255;"
         "add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];"
         "cvt.u64.u32 %rd1, %r3; add.s64 %rd1, %rd0, %rd1;"
         "st.global.u32 [%rd1+512], %r5;";
}
const std::string expectAndCopy =
    "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r2], [%rd0], 256, [%r1];\n";
const std::string waitLoop =
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;"
    "@!%p2 bra W;\n";

TEST(Mbarrier, BulkCopyArrivesAtTheWait) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options = allChecks();
    options.seed = seed;
    options.slice = 7;
    auto buffer = run(copyKernel(expectAndCopy, waitLoop), 64, options);
    EXPECT_EQ(buffer[128], 1u);
    EXPECT_EQ(buffer[128 + 63], 0u);
  }
}

TEST(WarpSync, MemberMasks) {
  auto message = [](const std::string &members) {
    return finding(kernel("mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 16;"
                          "selp.b32 %r1, " +
                          members + ", %p1; bar.warp.sync %r1;"));
  };
  EXPECT_NE(message("0xFFFF, 0xFFFF")
                .find("executing lane 16 is not in member mask 0000ffff"),
            std::string::npos);
  EXPECT_NE(
      message("0xFFFF, -1").find("lanes 0000ffff are in member mask ffffffff"),
      std::string::npos);
  EXPECT_EQ(message("0xFFFF, 0xFFFF0000"), "");
}

TEST(Mbarrier, MissingWaitIsAnEarlyRead) {
  Options options;
  options.checks.race = false; // warp 1 reads before warp 0 copies
  EXPECT_NE(
      finding(kernel(copyKernel(expectAndCopy, ""), shared), options, {64})
          .find("asynccheck: early read: shared offset"),
      std::string::npos);
}

TEST(Mbarrier, WrongTransactionCountDeadlocks) {
  std::string copy = expectAndCopy;
  copy.replace(copy.find("256"), 3, "512");
  std::string text =
      finding(kernel(copyKernel(copy, waitLoop), shared), {}, {64});
  EXPECT_NE(text.find("synccheck: deadlock: no warp of the cluster"),
            std::string::npos);
  EXPECT_NE(text.find("tx-count 256"), std::string::npos);
  EXPECT_NE(text.find("warp 1 lanes ffffffff"), std::string::npos);
}

TEST(Mbarrier, Misuse) {
  EXPECT_NE(finding(kernel("mov.u32 %r1, bar;"
                           "mbarrier.arrive.shared::cta.b64 _, [%r1];",
                           shared))
                .find("was not initialized"),
            std::string::npos);
  EXPECT_NE(finding(kernel("mov.u32 %r1, bar; setp.eq.u32 %p1, %r0, 0;"
                           "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;"
                           "bar.warp.sync -1;"
                           "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, "
                           "[%r1], 64;"
                           "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r1];",
                           shared))
                .find("1 arrival(s) but only 0 pending of 1 expected, tx-count "
                      "64"),
            std::string::npos);
}

TEST(CpAsync, GroupsCompleteInOrder) {
  // Two groups; wait_group 1 completes the first only.
  std::string body =
      "mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3;"
      "cvt.u64.u32 %rd1, %r3; add.s64 %rd1, %rd0, %rd1;"
      "cp.async.ca.shared.global [%r4], [%rd1], 4; cp.async.commit_group;"
      "cp.async.ca.shared.global [%r4+128], [%rd1+128], 4;"
      "cp.async.commit_group; cp.async.wait_group 1; bar.warp.sync -1;"
      "ld.shared.u32 %r5, [%r4]; cp.async.wait_all;"
      "ld.shared.u32 %r6, [%r4+128]; add.u32 %r5, %r5, %r6;"
      "st.global.u32 [%rd1+512], %r5;";
  EXPECT_EQ(run(body, 32)[128 + 5], 5u + 37u);
  std::string early = body;
  early.replace(early.find("wait_group 1"), 12, "wait_group 2");
  EXPECT_NE(finding(kernel(early, shared)).find("early read"),
            std::string::npos);
}

TEST(CpAsync, OtherWarpsNeedABarrierAfterTheWait) {
  std::string copy =
      "mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3;"
      "xor.b32 %r5, %r3, 128; add.u32 %r5, %r2, %r5;"
      "cvt.u64.u32 %rd1, %r3; add.s64 %rd1, %rd0, %rd1;"
      "cp.async.ca.shared.global [%r4], [%rd1], 4;";
  std::string read = "ld.shared.u32 %r6, [%r5];";
  std::string right =
      kernel(copy + "cp.async.wait_all; bar.sync 0;" + read, shared);
  std::string wrong =
      kernel(copy + "bar.sync 0; cp.async.wait_all;" + read, shared);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options = allChecks();
    options.seed = seed;
    options.slice = 3;
    EXPECT_EQ(finding(right, options, {64}), "");
    // Whether or not the data is there when it is read.
    EXPECT_NE(finding(wrong, options, {64}), "");
  }
}

/// Warp 0 copies twice, with an mbarrier for each. Warp 1 waits for the second
/// copy, which brings the first one's data too; warp 2 for the first alone.
TEST(CpAsync, EachMbarrierOrdersWhatIsBeforeIt) {
  const std::string two = ".shared .align 128 .b8 s[1024];\n"
                          ".shared .align 8 .b64 bars[2];\n";
  auto body = [](const std::string &secondRead) {
    return "mov.u32 %r1, bars; mov.u32 %r2, s; setp.eq.u32 %p1, %r0, 0;"
           "@%p1 mbarrier.init.shared::cta.b64 [%r1], 32;"
           "@%p1 mbarrier.init.shared::cta.b64 [%r1+8], 32; bar.sync 0;"
           "shl.b32 %r3, %r0, 2; and.b32 %r3, %r3, 127; add.u32 %r4, %r2, %r3;"
           "cvt.u64.u32 %rd1, %r3; add.s64 %rd1, %rd0, %rd1;"
           "setp.ge.u32 %p3, %r0, 64; @%p3 bra THIRD;"
           "setp.ge.u32 %p3, %r0, 32; @%p3 bra SECOND;"
           "cp.async.ca.shared.global [%r4], [%rd1], 4;"
           "cp.async.mbarrier.arrive.shared::cta.b64 [%r1];"
           "mbarrier.arrive.shared::cta.b64 _, [%r1];"
           "cp.async.ca.shared.global [%r4+128], [%rd1], 4;"
           "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1+8];"
           "bra JOIN;"
           "SECOND: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+8], 0;"
           "@!%p2 bra SECOND; ld.shared.u32 %r5, [%r4+128]; bra JOIN;"
           "THIRD: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;"
           "@!%p2 bra THIRD;" +
           secondRead + "JOIN: bar.sync 0;";
  };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options = allChecks();
    options.seed = seed;
    options.slice = 5;
    EXPECT_EQ(
        finding(kernel(body("ld.shared.u32 %r5, [%r4];"), two), options, {96}),
        "");
    EXPECT_NE(finding(kernel(body("ld.shared.u32 %r5, [%r4+128];"), two),
                      options, {96}),
              "");
  }
}

TEST(CpAsync, ZeroFill) {
  auto buffer =
      run("mov.u32 %r2, s; shl.b32 %r3, %r0, 4; add.u32 %r4, %r2, %r3;"
          "mov.u32 %r6, 8; cp.async.cg.shared.global [%r4], [%rd0], 16, %r6;"
          "cp.async.wait_all; ld.shared.v4.u32 {%r7,%r8,%r9,%r10}, [%r4];"
          "add.u32 %r9, %r9, %r10; mul.wide.u32 %rd1, %r0, 8;"
          "add.s64 %rd1, %rd0, %rd1;"
          "st.global.v2.u32 [%rd1+512], {%r8, %r9};",
          32);
  EXPECT_EQ(buffer[128], 1u);
  EXPECT_EQ(buffer[129], 0u);
}

TEST(BulkStore, NeedsFenceAndWait) {
  std::string body =
      "mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3;"
      "st.shared.u32 [%r4], %r0; fence.proxy.async.shared::cta; bar.sync 0;"
      "setp.eq.u32 %p1, %r0, 0;"
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 256;"
      "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group.read 0;"
      "bar.sync 0; st.shared.u32 [%r4], 7;";
  EXPECT_EQ(run(body, 64)[9], 9u);
  auto without = [&](const std::string &text, bool race = true) {
    std::string changed = body;
    changed.replace(changed.find(text), text.size(), "");
    Options options = allChecks();
    options.checks.race = options.checks.exit = race;
    return finding(kernel(changed, shared), options, {64});
  };
  EXPECT_NE(without("fence.proxy.async.shared::cta;")
                .find("is read through the async proxy, but was written"),
            std::string::npos);
  EXPECT_NE(without("@%p1 cp.async.bulk.wait_group.read 0;", false)
                .find("was overwritten before cp.async.bulk.wait_group"),
            std::string::npos);
}

} // namespace
