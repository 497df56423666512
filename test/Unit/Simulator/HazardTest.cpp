//===- HazardTest.cpp - Hazards that only some schedules show -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Every mistake here is found by the checks that are on by default, in any
/// schedule; the correct kernel beside it is clean.
///
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

const std::string shared = ".shared .align 1024 .b8 s[2048];\n"
                           ".shared .align 8 .b64 bar;\n";

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Expects that every schedule gives a finding with `part`, or none if it is
/// empty.
void expectFinding(const std::string &body, const std::string &part,
                   Launch launch) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Options options;
    options.seed = seed;
    options.slice = seed ? 3 + seed : 4096;
    std::string text = finding(kernel(body, shared), options, launch);
    if (part.empty())
      EXPECT_EQ(text, "") << "seed " << seed;
    else
      EXPECT_NE(text.find(part), std::string::npos)
          << "seed " << seed << ", expected " << part << ", got " << text;
  }
}

//===----------------------------------------------------------------------===//
// Operands in flight
//===----------------------------------------------------------------------===//

/// Four warps multiply what they wrote; then a fifth writes there the same
/// bytes, which no comparison of values could see.
const std::string product =
    "mov.u32 %r2, s; mov.u32 %r5, 0; setp.gt.u32 %p1, %r0, 127;"
    "@%p1 bra W;\n"
    "shl.b32 %r4, %r0, 4; add.u32 %r4, %r4, %r2;"
    "st.shared.v4.u32 [%r4], {%r5, %r5, %r5, %r5};"
    "fence.proxy.async.shared::cta; bar.sync 1, 128;"
    "cvt.u64.u32 %rd1, %r2; shr.u64 %rd1, %rd1, 4;"
    "or.b64 %rd1, %rd1, 0x1000080000; setp.ne.u32 %p2, %r5, 0;"
    "wgmma.fence.sync.aligned;"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
    "{%f1, %f2, %f3, %f4}, %rd1, %rd1, %p2, 1, 1, 0, 0;"
    "wgmma.commit_group.sync.aligned;"
    "wgmma.wait_group.sync.aligned 0; bar.arrive 2, 160; bra D;\n"
    "W: bar.sync 2, 160; @%p1 st.shared.u32 [%r2], %r5;\n"
    "D:";

TEST(Hazard, OperandOfProductInFlight) {
  expectFinding(product, "", {160});
  expectFinding(replaced(product,
                         "wgmma.wait_group.sync.aligned 0; bar.arrive 2, 160;",
                         "bar.arrive 2, 160; wgmma.wait_group.sync.aligned 0;"),
                "is not ordered after the read by a wgmma of warps 0 to 3 that "
                "has not been waited for",
                {160});
  expectFinding(replaced(product, "fence.proxy.async.shared::cta;", ""),
                "proxycheck: ", {160});
}

TEST(Hazard, FenceBeforeProductsAfterReads) {
  std::string again = "wgmma.fence.sync.aligned;"
                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                      "{%f1, %f2, %f3, %f4}, %rd1, %rd1, %p2, 1, 1, 0, 0;"
                      "wgmma.commit_group.sync.aligned;"
                      "wgmma.wait_group.sync.aligned 0;";
  std::string body =
      replaced(product, "bar.arrive 2, 160;",
               "add.f32 %f5, %f1, %f2;" + again + "bar.arrive 2, 160;");
  expectFinding(body, "", {160});
  expectFinding(replaced(body, "%f2;wgmma.fence.sync.aligned;", "%f2;"),
                "register %f1 of a wgmma was accessed after the last "
                "wgmma.fence",
                {160});
}

/// Warp 0 stores shared memory, then lets warp 1 write there.
const std::string store =
    "mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3;"
    "setp.eq.u32 %p1, %r0, 0; st.shared.u32 [%r4], 7;"
    "fence.proxy.async.shared::cta; bar.sync 0;"
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 256;"
    "@%p1 cp.async.bulk.commit_group;"
    "@%p1 cp.async.bulk.wait_group.read 0;"
    "bar.sync 0;st.shared.u32 [%r4], 7;";

TEST(Hazard, SourceOfBulkStore) {
  std::string wait = "@%p1 cp.async.bulk.wait_group.read 0;";
  expectFinding(store, "", {64});
  expectFinding(replaced(store, wait, ""),
                "is not ordered after the read by a bulk store of warp 0 that "
                "has not been waited for",
                {64});
  expectFinding(replaced(store, "@%p1 cp.async.bulk.commit_group;", ""),
                "a bulk store of warp 0", {64});
}

TEST(Hazard, ExitWithBulkStore) {
  std::string body = replaced(store, "bar.sync 0;st.shared.u32 [%r4], 7;", "");
  std::string message = "the thread of lane 0 exits while a bulk store may "
                        "still read shared offset 0 (256 bytes)";
  expectFinding(body, "", {64});
  expectFinding(replaced(body, "@%p1 cp.async.bulk.wait_group.read 0;", ""),
                message, {64});
  expectFinding(replaced(body, "@%p1 cp.async.bulk.commit_group;", ""), message,
                {64});
}

/// Copies within the CTA: the source belongs to the copy until its mbarrier.
TEST(Hazard, SourceOfBulkCopy) {
  std::string wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], "
                     "0; @!%p2 bra W;\n";
  std::string body =
      "mov.u32 %r1, bar; mov.u32 %r2, s; setp.eq.u32 %p1, %r0, 0;"
      "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1; st.shared.u32 [%r2], 1;"
      "fence.proxy.async.shared::cta; bar.warp.sync -1;"
      "add.u32 %r3, %r2, 256;"
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;"
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
      "bytes [%r3], [%r2], 16, [%r1];\n" +
      wait + "st.shared.u32 [%r2], 1;";
  expectFinding(body, "", {32});
  std::string late = replaced(body, wait, "") + wait;
  expectFinding(late,
                "is not ordered after the read by a copy that completes on the "
                "mbarrier at shared offset 0",
                {32});
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

TEST(Hazard, ExitWhilePeerMayReach) {
  // CTA 1 arrives at CTA 0, which does not wait for it.
  std::string clusterBarrier =
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  std::string body =
      "mov.u32 %r1, bar; setp.eq.u32 %p1, %r0, 0;"
      "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;"
      "fence.mbarrier_init.release.cluster;" +
      clusterBarrier +
      "mov.u32 %r2, %cluster_ctarank; setp.eq.and.u32 %p2, %r2, 1, %p1;"
      "mov.u32 %r3, 0; mapa.shared::cluster.u32 %r4, %r1, %r3;"
      "@%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];";
  Launch launch;
  launch.ctas = launch.cluster = 2;
  expectFinding(body + clusterBarrier, "", launch);
  // Before or after the exit, by the schedule: found in both cases.
  expectFinding(body, "exit", launch);
}

TEST(Hazard, ExitWithCopyInFlight) {
  std::string body =
      "mov.u32 %r1, bar; mov.u32 %r2, s; setp.eq.u32 %p1, %r0, 0;"
      "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;"
      "fence.mbarrier_init.release.cluster; bar.warp.sync -1;"
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r2], [%rd0], 16, [%r1];";
  expectFinding(body, "CTA rank 0 exits, not ordered after the end of a copy",
                {32});
  expectFinding(body +
                    "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], "
                    "0; @!%p2 bra W;\n",
                "", {32});
}

//===----------------------------------------------------------------------===//
// Counts and initialisation
//===----------------------------------------------------------------------===//

TEST(Hazard, CountOfMbarrierTooLow) {
  // Two warps arrive, a third waits; one round, nothing is reused.
  std::string body =
      "mov.u32 %r1, bar; setp.eq.u32 %p1, %r0, 0; and.b32 %r3, %r0, 31;"
      "@%p1 mbarrier.init.shared::cta.b64 [%r1], 2; bar.sync 0;"
      "setp.gt.u32 %p2, %r0, 63; @%p2 bra W;\n"
      "setp.eq.u32 %p3, %r3, 0;"
      "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r1]; bra D;\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r1], 0;"
      "@!%p4 bra W;\nD:";
  expectFinding(body, "", {96});
  expectFinding(replaced(body, "[%r1], 2;", "[%r1], 1;"),
                "arrival at the mbarrier at shared offset 0 of CTA rank 0 "
                "is not ordered after the end of its phase 0",
                {96});
}

TEST(Hazard, ThreadsOfBarrierTooFew) {
  std::string body = "bar.sync 1, 96; bar.sync 1, 96; bar.sync 1, 96;";
  expectFinding(body, "", {96});
  expectFinding("bar.arrive 1, 64; bar.sync 0;", "barrier 1 is not ordered",
                {128});
}

TEST(Hazard, ArrivalsThatSynchronizedNeedNoWait) {
  // Both arrive in two phases, and meet at a barrier in between.
  std::string arrive = "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r1];";
  std::string body =
      "mov.u32 %r1, bar; setp.eq.u32 %p1, %r0, 0; and.b32 %r3, %r0, 31;"
      "@%p1 mbarrier.init.shared::cta.b64 [%r1], 2; bar.sync 0;"
      "setp.eq.u32 %p3, %r3, 0;" +
      arrive + "bar.sync 0;" + arrive;
  expectFinding(body, "", {64});
  expectFinding(replaced(body, arrive + "bar.sync 0;", arrive),
                "is not ordered after the end of its phase 0", {64});
}

TEST(Hazard, FenceAfterInit) {
  std::string body =
      "mov.u32 %r1, bar; mov.u32 %r2, s; setp.eq.u32 %p1, %r0, 0;"
      "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;"
      "@%p1 fence.mbarrier_init.release.cluster; bar.sync 0;"
      "setp.eq.u32 %p3, %r0, 32;"
      "@%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;"
      "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r2], [%rd0], 16, [%r1];\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;"
      "@!%p2 bra W;\n";
  std::string fence = "@%p1 fence.mbarrier_init.release.cluster;";
  expectFinding(body, "", {64});
  expectFinding(replaced(body, fence, "@%p1 fence.proxy.async.shared::cta;"),
                "", {64});
  std::string message = "initialized without fence.mbarrier_init";
  expectFinding(replaced(body, fence, ""), message, {64});
  // Too late: after the barrier, which may let the copy overtake the fence.
  expectFinding(replaced(body, fence + " bar.sync 0;", "bar.sync 0;" + fence),
                message, {64});
}

} // namespace
