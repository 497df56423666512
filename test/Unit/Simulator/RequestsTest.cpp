//===- RequestsTest.cpp - Sectors of read requests ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

/// The requests to the buffer by a body that finds `stride` bytes times the
/// lane, from the buffer's first byte on, in %rd1.
ReadRequests requestsOf(int stride, const std::string &body,
                        Launch launch = {}) {
  std::vector<uint32_t> buffer(1024, 0);
  std::string address = "and.b32 %r9, %r0, 31; mul.wide.u32 %rd1, %r9, " +
                        std::to_string(stride) + "; add.s64 %rd1, %rd0, %rd1;";
  LaunchReport report =
      runOn(buffer, kernel(address + body, ".shared .align 16 .b8 s[1024];"),
            {}, launch);
  EXPECT_TRUE(report.clean())
      << (report.diagnostics.empty() ? "" : report.diagnostics.front().str());
  for (const BufferTraffic &traffic : report.counters.buffers)
    if (traffic.name == "buffer")
      return traffic.requests;
  return {};
}

TEST(Requests, LoadsTouchSectorsOf32Bytes) {
  ReadRequests words = requestsOf(4, "ld.global.u32 %r1, [%rd1];");
  EXPECT_EQ(words.sectors, 4u);
  EXPECT_EQ(words.sectorUse(), 1.0);
  // A word of each sector, and one word for all lanes.
  EXPECT_EQ(requestsOf(32, "ld.global.u32 %r1, [%rd1];").sectorUse(), 0.125);
  ReadRequests same = requestsOf(0, "ld.global.u32 %r1, [%rd1];");
  EXPECT_EQ(same.sectors, 1u);
  EXPECT_EQ(same.bytes, 4u);
  // Lanes in falling order; the halves of sectors by two requests.
  EXPECT_EQ(requestsOf(4, "sub.s64 %rd2, %rd0, %rd1; add.s64 %rd2, %rd2, %rd0;"
                          "ld.global.u32 %r1, [%rd2+124];")
                .sectorUse(),
            1.0);
  ReadRequests halves =
      requestsOf(32, "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];"
                     "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];");
  EXPECT_EQ(halves.sectors, 64u);
  EXPECT_EQ(halves.sectorUse(), 0.5);
}

TEST(Requests, CopiesTouchSectors) {
  std::string copy = "mul.lo.u32 %r1, %r0, 16; mov.u32 %r2, s;"
                     "add.u32 %r1, %r1, %r2;"
                     "cp.async.cg.shared.global [%r1], [%rd1], 16;"
                     "cp.async.wait_all;";
  EXPECT_EQ(requestsOf(16, copy).sectorUse(), 1.0);
  EXPECT_EQ(requestsOf(48, copy).sectorUse(), 0.5);
  // 48 bytes from a sector's middle on.
  std::string bulk =
      "{ .reg .pred %q; setp.ne.u32 %q, %r0, 0; @%q bra E;\n"
      "mov.u32 %r1, s; add.u32 %r2, %r1, 512;"
      "mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release."
      "cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 48;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r1], [%rd0+16], 48, [%r2];\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %q, [%r2], 0;"
      "@!%q bra W;\nE: }";
  ReadRequests requests = requestsOf(0, bulk);
  EXPECT_EQ(requests.sectors, 2u);
  EXPECT_EQ(requests.bytes, 48u);
}

TEST(Requests, FirstOfEachCta) {
  // Behind the five instructions of the harness and the address.
  ReadRequests requests = requestsOf(4, "ld.global.u32 %r1, [%rd1];");
  EXPECT_EQ(requests.instructionsBefore, 5u);
  EXPECT_EQ(requests.waitsBefore, 0u);
  // The most of two CTAs; of two warps the first to read, while the other one
  // is at the barrier.
  requests = requestsOf(4,
                        "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0;"
                        "setp.lt.u32 %p2, %r0, 32;\n@%p2 bar.sync 0;\n"
                        "@%p1 add.u32 %r1, %r1, 1; @%p1 add.u32 %r1, %r1, 1;"
                        "ld.global.u32 %r1, [%rd1];\n@!%p2 bar.sync 0;",
                        {64, 2});
  EXPECT_EQ(requests.instructionsBefore, 5u + 3u + 2u);
  EXPECT_EQ(requests.waitsBefore, 0u);
  // A copy of no bytes is no request, but is waited for.
  requests = requestsOf(4, "mul.lo.u32 %r1, %r0, 16; mov.u32 %r2, s;"
                           "add.u32 %r1, %r1, %r2;"
                           "cp.async.cg.shared.global [%r1], [%rd0], 16, 0;"
                           "cp.async.wait_all; ld.global.u32 %r1, [%rd1];");
  EXPECT_EQ(requests.instructionsBefore, 10u);
  EXPECT_EQ(requests.waitsBefore, 1u);
}

} // namespace
