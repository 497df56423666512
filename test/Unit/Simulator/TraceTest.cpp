//===- TraceTest.cpp - Clocks of warps and pipes --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Warps of a sub-core share what issues their instructions, and its pipes;
/// products and copies share shared memory.
///
//===----------------------------------------------------------------------===//

#include "TensorOperands.h"

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

/// Clocks of the tensor cores for 32 products of 128 x 128 x 16, which read 8
/// KiB of shared memory in 64 clocks, all that it has; beside a copy of 16 KiB.
static uint64_t getProductClocks(bool isBesideCopy) {
  Operand a = makeOperand(128, 64, Element::BF16, false, 128, 1);
  Operand b = makeOperand(128, 64, Element::BF16, false, 128, 2);
  Image imageA = layOut(a), imageB = layOut(b);
  constexpr int operandBytes = 128 * 64 * 2, copied = 16384;
  auto address = [](size_t offset) {
    return "add.u32 %r8, %r1, " + std::to_string(offset) +
           "; shr.u32 %r8, %r8, 4; cvt.u64.u32 %rd3, %r8;";
  };
  std::string products;
  for (size_t k = 0; k < imageA.starts.size(); ++k)
    products += address(imageA.starts[k]) + "or.b64 %rd4, %rd3, " +
                std::to_string(layoutBits(a, imageA)) + ";\n" +
                address(operandBytes + imageB.starts[k]) + "or.b64 %rd5, " +
                "%rd3, " + std::to_string(layoutBits(b, imageB)) +
                ";\ntcgen05.mma.cta_group::1.kind::f16 [%r5], %rd4, %rd5, "
                "%r7, %p4;\n";
  const std::string target =
      "add.u32 %r9, %r1, " + std::to_string(2 * operandBytes) +
      "; add.u32 %r10, %r9, " + std::to_string(copied) + ";\n";
  const std::string copy =
      target +
      "mbarrier.init.shared::cta.b64 [%r10], 1;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], " +
      std::to_string(copied) +
      ";\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r9], [%rd0], " +
      std::to_string(copied) + ", [%r10];\n";
  const std::string wait =
      "V: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r10], 0;\n"
      "@!%p5 bra V;\n";
  std::string body = "mov.u32 %r7, " + std::to_string(instructionBits(a, b)) +
                     "; setp.ne.u32 %p4, %r0, %r0;\n@!%p1 bra N;\n" +
                     (isBesideCopy ? copy : "") + repeat(products, 8) + commit +
                     (isBesideCopy ? wait : "") + "N:\n" + waitForProduct;
  Options options;
  options.traceClusters = 1;
  constexpr int shared = 2 * operandBytes + copied + 16;
  std::vector<uint32_t> buffer(shared / 4, 0);
  LaunchReport report =
      runOn(buffer, tensorKernel(body, 128, shared), options, {128});
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << diagnostic.str();
  uint64_t clocks = 0;
  for (const TraceEvent &event : report.timeline.events)
    if (event.track == tensorTrack)
      clocks += event.end - event.begin;
  return clocks;
}

TEST(Trace, CopiesTakeTheirPartOfSharedMemory) {
  EXPECT_EQ(getProductClocks(false), 32u * 64);
  // 16 KiB arrive in 512 clocks. A product beside them takes 80 clocks: for
  // each of 64 they take 32 of 128 bytes.
  EXPECT_NEAR(getProductClocks(true), 32 * 64 + 512 / 80. * 16, 16);
}

/// The copies and the stores of a thread that has a copy of 16 KiB come, and
/// stores as much.
static std::vector<TraceEvent> traceCopyAndStore() {
  constexpr int bytes = 16384;
  const std::string size = std::to_string(bytes);
  const std::string body =
      "@!%p1 bra N;\nadd.u32 %r9, %r1, " + size + ";\nadd.u32 %r10, %r9, " +
      size +
      ";\nmbarrier.init.shared::cta.b64 [%r10], 1;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], " +
      size +
      ";\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r9], [%rd0], " +
      size +
      ", [%r10];\nfence.proxy.async.shared::cta;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd0+" +
      size + "], [%r1], " + size +
      ";\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
      "V: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r10], 0;\n"
      "@!%p5 bra V;\nN:\n";
  Options options;
  options.traceClusters = 1;
  std::vector<uint32_t> buffer(2 * bytes / 4 + 4, 0);
  LaunchReport report =
      runOn(buffer, tensorKernel(body, 128, 2 * bytes + 16), options, {128});
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << diagnostic.str();
  std::vector<TraceEvent> events;
  for (const TraceEvent &event : report.timeline.events)
    if (event.track == copyTrack || event.wait == WaitReason::CopyGroup)
      events.push_back(event);
  return events;
}

TEST(Trace, StoresDoNotWaitForCopies) {
  std::vector<TraceEvent> events = traceCopyAndStore();
  ASSERT_EQ(events.size(), 3u);
  const TraceEvent &copy = events[0], &store = events[1], &wait = events[2];
  EXPECT_EQ(copy.end - copy.begin, 512u);
  EXPECT_EQ(store.end - store.begin, 512u);
  EXPECT_LT(store.begin, copy.end);
  // Behind .read the source may be written, before the store is there.
  EXPECT_EQ(wait.end, store.end);
}
