//===- LaunchChainTest.cpp - Launches that may overlap --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that touch a buffer of 256 words, one launched behind the other.
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

/// Each thread has the address of its word in %rd1; lane 0 of warp 0 has %p1.
const std::string own = "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;"
                        "setp.eq.u32 %p1, %r0, 0;\n";
const std::string shared = ".shared .align 128 .b8 s[1024];\n"
                           ".shared .align 8 .b64 bar;\n";
const std::string write = own + "st.global.u32 [%rd1], %r0;\n";
const std::string read = own + "ld.global.u32 %r1, [%rd1];\n";
const std::string wait = "griddepcontrol.wait;\n";

struct Step {
  std::string body;
  bool isProgrammatic = true;
};

/// The first finding of launches of 64 threads in their order, without its
/// remedy; empty if there is none.
std::string run(const std::vector<Step> &steps, Options options = {},
                const std::string &target = "sm_90a") {
  Device device;
  uint64_t address = device.allocate(1024, "buffer");
  std::memset(reinterpret_cast<void *>(address), 0, 1024);
  for (const Step &step : steps) {
    std::string ptx = kernel(step.body, shared);
    ptx.replace(ptx.find("sm_90a"), 6, target);
    auto module = device.load(ptx, "test.ptx");
    if (!module)
      return module.error();
    LaunchConfig config;
    config.block.x = 64;
    config.parameters.resize(8);
    config.isProgrammatic = step.isProgrammatic;
    config.mayBeFollowed = true;
    std::memcpy(config.parameters.data(), &address, 8);
    LaunchReport report = device.launch(**module, "k", config, options);
    if (!report.diagnostics.empty())
      return report.diagnostics.front().message;
  }
  return "";
}

/// Of a kernel that is launched behind one that writes the buffer.
std::string runBehindWrite(const std::string &body) {
  return run({{write, false}, {body}});
}

std::string early(const std::string &access, const std::string &earlier) {
  return access +
         " is not ordered after a griddepcontrol.wait, and kernel k, which may "
         "still run, " +
         earlier + " there";
}
const std::string earlyRead =
    early("read of 4 bytes at byte 0 of 'buffer' (lane 0)", "writes");

TEST(LaunchChain, AccessesComeAfterTheWait) {
  EXPECT_EQ(runBehindWrite(wait + read), "");
  EXPECT_EQ(runBehindWrite(read + wait), earlyRead);
  EXPECT_EQ(runBehindWrite(write + wait),
            early("write of 4 bytes at byte 0 of 'buffer' (lane 0)", "writes"));
  EXPECT_EQ(run({{read, false}, {write + wait}}),
            early("write of 4 bytes at byte 0 of 'buffer' (lane 0)", "reads"));
  EXPECT_EQ(run({{read, false}, {read + wait}}), "");
  // Other bytes than the kernel before has touched.
  EXPECT_EQ(runBehindWrite(own + "ld.global.u32 %r1, [%rd1+256];" + wait), "");
  EXPECT_EQ(
      runBehindWrite(own + "ld.global.v2.u32 {%r1, %r2}, [%rd0+248];" + wait),
      early("read of 8 bytes at byte 248 of 'buffer' (lane 0)", "writes"));
}

TEST(LaunchChain, OtherLaunchesNeedNoWait) {
  EXPECT_EQ(run({{write, false}, {read, false}}), "");
  // The second ends before the third starts, and so does the first.
  EXPECT_EQ(run({{write, false}, {wait}, {read, false}, {wait + write}}), "");
  Options off;
  off.checks.gridWait = false;
  EXPECT_EQ(run({{write, false}, {read}}, off), "");
}

TEST(LaunchChain, SomebodyMustWait) {
  const std::string missing =
      "no thread of kernel k, launched programmatically, executes "
      "griddepcontrol.wait: what is launched behind it may overlap with what "
      "is before it";
  EXPECT_EQ(runBehindWrite("griddepcontrol.launch_dependents;"), missing);
  EXPECT_EQ(run({{write, false}, {""}, {wait + read}}), missing);
  EXPECT_EQ(run({{write, false}, {wait}, {wait + read}}), "");
  // What the third does early may overlap with the first.
  EXPECT_EQ(run({{write, false}, {wait}, {read + wait}}), earlyRead);
}

TEST(LaunchChain, BarriersCarryTheWait) {
  const std::string warp0 = "setp.lt.u32 %p2, %r0, 32;\n";
  // A warp waits for all of them.
  EXPECT_EQ(
      runBehindWrite(warp0 + "@%p2 griddepcontrol.wait; bar.sync 0;" + read),
      "");
  EXPECT_EQ(
      runBehindWrite(warp0 + "@%p2 griddepcontrol.wait;" + read),
      early("read of 4 bytes at byte 128 of 'buffer' (lane 0)", "writes"));
  EXPECT_EQ(
      runBehindWrite(warp0 + "bar.sync 0; @%p2 griddepcontrol.wait;" + read),
      early("read of 4 bytes at byte 128 of 'buffer' (lane 0)", "writes"));
  // A lane does.
  EXPECT_EQ(runBehindWrite(own + "@%p1 griddepcontrol.wait;" + read),
            early("read of 4 bytes at byte 4 of 'buffer' (lane 1)", "writes"));
  EXPECT_EQ(runBehindWrite(own + warp0 +
                           "@%p1 griddepcontrol.wait; bar.warp.sync -1;\n"
                           "@%p2 ld.global.u32 %r1, [%rd1];"),
            "");
  EXPECT_EQ(
      runBehindWrite(own + "@%p1 griddepcontrol.wait; bar.sync 0;" + read), "");
}

TEST(LaunchChain, MbarriersCarryTheWait) {
  auto body = [](const std::string &first) {
    return own +
           "mov.u32 %r1, bar; mov.u32 %r2, s;"
           "@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;"
           "fence.mbarrier_init.release.cluster; bar.sync 0;" +
           first +
           "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n"
           "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
           "bytes [%r2], [%rd0], 256, [%r1];\n"
           "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;"
           "@!%p2 bra W; st.global.u32 [%rd1], %r0;";
  };
  EXPECT_EQ(runBehindWrite(body("@%p1 griddepcontrol.wait;")), "");
  EXPECT_EQ(
      runBehindWrite(body("")),
      early("read of 256 bytes at byte 0 of 'buffer' (lane 0)", "writes"));
}

TEST(LaunchChain, EveryKindOfAccess) {
  EXPECT_EQ(runBehindWrite("red.global.add.u32 [%rd0], 1;" + wait),
            early("write of 4 bytes at byte 0 of 'buffer' (lane 0)", "writes"));
  EXPECT_EQ(runBehindWrite("mov.u32 %r2, s;"
                           "cp.async.ca.shared.global [%r2], [%rd0], 16;"
                           "cp.async.wait_all;" +
                           wait),
            early("read of 16 bytes at byte 0 of 'buffer' (lane 0)", "writes"));
  EXPECT_EQ(runBehindWrite("ld.global.nc.u16 %h1, [%rd0+6];" + wait),
            early("read of 2 bytes at byte 6 of 'buffer' (lane 0)", "writes"));
}

TEST(LaunchChain, Invalid) {
  EXPECT_EQ(run({{write, false}, {wait}}, {}, "sm_80"),
            "kernel k: expected a target of sm_90 or later for a programmatic "
            "launch, got sm_80");
  EXPECT_NE(run({{"griddepcontrol.now;", false}})
                .find("expected .wait or .launch_dependents"),
            std::string::npos);
}

} // namespace
