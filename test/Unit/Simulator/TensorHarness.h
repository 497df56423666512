//===- TensorHarness.h - Run snippets on tensor memory ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SIMULATOR_TENSORHARNESS_H
#define ATTN_TEST_UNIT_SIMULATOR_TENSORHARNESS_H

#include "PtxHarness.h"

namespace attn::sim::test {

inline std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// "{%f0, %f1, ...}".
inline std::string registers(const std::string &name, int count) {
  std::string text;
  for (int k = 0; k < count; ++k)
    text += (k ? ", " : "{") + name + std::to_string(k);
  return text + "}";
}

/// A kernel of four or more warps in which warp 0 allocates `columns` columns:
/// %r5 is their address, %r6 that of the warp's lanes, %r1 the address of
/// `shared` bytes, which begin as the buffer does, %r2 that of an mbarrier with
/// one arrival, %p1 thread 0, %p2 warp 0, %r3 the warp, %rd1 the thread's place
/// behind the first `shared` bytes of the buffer (`rowBytes` for each).
inline std::string tensorKernel(const std::string &body, int columns,
                                int shared = 64, int rowBytes = 0) {
  std::string text = kernel(
      "mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r4, place;"
      "shr.u32 %r3, %r0, 5; setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r3, 0;\n"
      "shl.b32 %r6, %r0, 4;\n"
      "C: setp.ge.u32 %p3, %r6, " +
          std::to_string(shared) +
          "; @%p3 bra D;\n"
          "cvt.u64.u32 %rd1, %r6; add.u64 %rd1, %rd1, %rd0;"
          "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd1];"
          "add.u32 %r11, %r1, %r6; st.shared.v4.u32 [%r11], {%r7, %r8, %r9, "
          "%r10}; add.u32 %r6, %r6, 2048; bra C;\n"
          "D: @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\n"
          "@%p1 fence.mbarrier_init.release.cluster;\n"
          "fence.proxy.async.shared::cta;\n"
          "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
          "[%r4], " +
          std::to_string(columns) +
          ";\n"
          "@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
          "bar.sync 0; ld.shared.u32 %r5, [%r4];\n"
          "and.b32 %r6, %r3, 3; shl.b32 %r6, %r6, 21; add.u32 %r6, %r6, %r5;\n"
          "mul.wide.u32 %rd1, %r0, " +
          std::to_string(rowBytes) + "; add.u64 %rd1, %rd1, %rd0; add.u64 " +
          "%rd1, %rd1, " + std::to_string(shared) + ";\n" + body +
          "\nbar.sync 0;\n"
          "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, " +
          std::to_string(columns) + ";\n",
      ".shared .align 1024 .b8 s[" + std::to_string(shared) +
          "];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 place;\n");
  text = replaced(text, ".version 8.5\n.target sm_90a",
                  ".version 8.6\n.target sm_100a");
  return replaced(text, ".reg .b32 %r<40>;",
                  ".reg .b32 %r<40>; .reg .b32 %a<256>; .reg .b32 %c<256>;");
}

/// All threads wait for the first phase of the mbarrier.
inline const std::string waitForProduct =
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;"
    "@!%p3 bra W;\ntcgen05.fence::after_thread_sync;\n";

inline const std::string commit =
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
    "[%r2];\n";

/// Stores registers as a row of words at [%rd1].
inline std::string storeRow(const std::string &name, int count) {
  std::string text;
  for (int k = 0; k < count; ++k)
    text += "st.global.u32 [%rd1+" + std::to_string(4 * k) + "], " + name +
            std::to_string(k) + ";";
  return text + "\n";
}

} // namespace attn::sim::test

#endif // ATTN_TEST_UNIT_SIMULATOR_TENSORHARNESS_H
