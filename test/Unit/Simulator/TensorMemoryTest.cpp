//===- TensorMemoryTest.cpp - tcgen05: what must hold ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

//===----------------------------------------------------------------------===//
// Shapes of accesses
//===----------------------------------------------------------------------===//

/// Stores rows by .32x32b, thread = row, cell = 100 * row + column, and loads
/// `count` registers by another shape.
std::vector<uint32_t> loadAs(const std::string &shape, int count, int firstLane,
                             const std::string &split = "") {
  std::string body = "mul.lo.u32 %r7, %r0, 100;\n";
  for (int k = 0; k < 16; ++k)
    body +=
        "add.u32 %c" + std::to_string(k) + ", %r7, " + std::to_string(k) + ";";
  body += "\ntcgen05.st.sync.aligned.32x32b.x16.b32 [%r6+16], " +
          registers("%c", 16) + ";\ntcgen05.wait::st.sync.aligned;\n" +
          "add.u32 %r8, %r6, " + std::to_string(firstLane << 16) + ";\n" +
          "tcgen05.ld.sync.aligned." + shape + ".b32 " +
          registers("%a", count) + ", [%r8+16]" + split + ";\n" +
          "tcgen05.wait::ld.sync.aligned;\n" + storeRow("%a", count);
  std::vector<uint32_t> buffer(16 + 128 * count);
  LaunchReport report =
      runOn(buffer, tensorKernel(body, 32, 64, 4 * count), {}, {128});
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << diagnostic.str();
  return {buffer.begin() + 16, buffer.end()};
}

TEST(TensorMemory, ShapeOfRows) {
  std::vector<uint32_t> cells = loadAs("32x32b.x16", 16, 0);
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t k = 0; k < 16; ++k)
      ASSERT_EQ(cells[thread * 16 + k], 100 * thread + k);
}

/// PTX ISA 9.7.16.2.3.1, "Matrix fragments for shape .16x256b".
TEST(TensorMemory, ShapeOfAccumulators) {
  for (uint32_t first : {0, 16}) {
    std::vector<uint32_t> cells = loadAs("16x256b.x2", 8, first);
    for (uint32_t thread = 0; thread < 128; ++thread)
      for (uint32_t k = 0; k < 8; ++k) {
        uint32_t lane = thread % 32;
        uint32_t row = thread / 32 * 32 + first + lane / 4 + k % 4 / 2 * 8;
        uint32_t column = k / 4 * 8 + lane % 4 * 2 + k % 2;
        ASSERT_EQ(cells[thread * 8 + k], 100 * row + column);
      }
  }
}

TEST(TensorMemory, ShapeOfPackedOperands) {
  for (uint32_t first : {0, 16}) {
    std::vector<uint32_t> cells = loadAs("16x128b.x4", 8, first);
    for (uint32_t thread = 0; thread < 128; ++thread)
      for (uint32_t k = 0; k < 8; ++k) {
        uint32_t lane = thread % 32;
        uint32_t row = thread / 32 * 32 + first + lane / 4 + k % 2 * 8;
        uint32_t column = k / 2 * 4 + lane % 4;
        ASSERT_EQ(cells[thread * 8 + k], 100 * row + column);
      }
  }
}

/// Thread 4 g + c: lane g, or g + 8 for odd c, column c / 2.
TEST(TensorMemory, ShapeOfTwoColumns) {
  for (uint32_t first : {0, 16}) {
    std::vector<uint32_t> cells = loadAs("16x64b.x8", 8, first);
    for (uint32_t thread = 0; thread < 128; ++thread)
      for (uint32_t k = 0; k < 8; ++k) {
        uint32_t lane = thread % 32;
        uint32_t row = thread / 32 * 32 + first + lane / 4 + lane % 2 * 8;
        ASSERT_EQ(cells[thread * 8 + k], 100 * row + 2 * k + lane / 2 % 2);
      }
  }
}

/// The second half of the threads is 11 columns further on.
TEST(TensorMemory, ShapeOfTwoHalves) {
  for (uint32_t first : {0, 16}) {
    std::vector<uint32_t> cells = loadAs("16x32bx2.x4", 4, first, ", 11");
    for (uint32_t thread = 0; thread < 128; ++thread)
      for (uint32_t k = 0; k < 4; ++k) {
        uint32_t lane = thread % 32, row = thread / 32 * 32 + first + lane % 16;
        ASSERT_EQ(cells[thread * 4 + k], 100 * row + k + lane / 16 * 11);
      }
  }
}

/// Stored by a shape, loaded by rows.
TEST(TensorMemory, StoresOfHalves) {
  std::string body =
      "shl.b32 %c0, %r0, 1; add.u32 %c1, %c0, 1; add.u32 %r8, %r6, 1048576;\n"
      "tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r6], 2, {%c0, %c1};\n"
      "tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r8], 2, {%c0, %c1};\n"
      "tcgen05.wait::st.sync.aligned;\n"
      "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%a0, %a1, %a2, %a3}, [%r6];\n"
      "tcgen05.wait::ld.sync.aligned;\n" +
      storeRow("%a", 4);
  std::vector<uint32_t> buffer(16 + 128 * 4);
  LaunchReport report =
      runOn(buffer, tensorKernel(body, 32, 64, 16), {}, {128});
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << diagnostic.str();
  for (uint32_t row = 0; row < 128; ++row)
    for (uint32_t column = 0; column < 4; ++column)
      ASSERT_EQ(buffer[16 + 4 * row + column],
                2 * (row / 32 * 32 + row % 16 + column / 2 * 16) + column % 2);
}

//===----------------------------------------------------------------------===//
// A product of what was stored
//===----------------------------------------------------------------------===//

/// D [128, 16] at column 0, A [128, 16] of f16 at column 16, B [16, 16] in
/// shared memory, rows of 32 bytes.
const std::string store =
    "mov.u32 %c0, 1006648320; mov.u32 %c1, %c0; mov.u32 %c2, %c0; mov.u32 %c3, "
    "%c0; mov.u32 %c4, %c0; mov.u32 %c5, %c0; mov.u32 %c6, %c0; mov.u32 %c7, "
    "%c0;\n"
    "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+16], {%c0, %c1, %c2, %c3, %c4, "
    "%c5, %c6, %c7};\n"
    "tcgen05.wait::st.sync.aligned;\n"
    "tcgen05.fence::before_thread_sync;\n"
    "bar.sync 0; // stored\n";
const std::string product =
    "@!%p1 bra N;\n"
    "tcgen05.fence::after_thread_sync; // of the product\n"
    "shr.u32 %r8, %r1, 4; cvt.u64.u32 %rd3, %r8;"
    "or.b64 %rd3, %rd3, 0xc000401000010000; mov.u32 %r7, 0x8040010;"
    "add.u32 %r9, %r5, 16; setp.ne.u32 %p4, %r0, %r0;\n"
    "tcgen05.mma.cta_group::1.kind::f16 [%r5], [%r9], %rd3, %r7, %p4;\n" +
    commit + "N:\n";
const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%a0}, [%r6];\n"
                         "tcgen05.wait::ld.sync.aligned;\n"
                         "st.global.u32 [%rd1], %a0;\n";
const std::string whole = store + product + waitForProduct + load;

/// B of ones.
std::string findingOf(const std::string &ptx, Options options,
                      uint32_t threads = 128) {
  std::vector<uint32_t> buffer(128 + 128, 0x3c003c00);
  LaunchReport report = runOn(buffer, ptx, options, {threads});
  if (report.diagnostics.empty()) {
    for (uint32_t row = 0; row < 128; ++row)
      EXPECT_EQ(toFloat(buffer[128 + row]), 16.f) << row;
    return "";
  }
  const Diagnostic &first = report.diagnostics.front();
  return first.file.empty() ? first.message : first.str();
}

void expectText(const std::string &ptx, const std::string &part) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Options options;
    options.seed = seed;
    options.slice = seed ? 3 + seed : 4096;
    std::string text = findingOf(ptx, options);
    if (part.empty())
      EXPECT_EQ(text, "") << "seed " << seed;
    else
      EXPECT_NE(text.find(part), std::string::npos)
          << "seed " << seed << ", expected " << part << ", got " << text;
  }
}

/// Expects the finding in every schedule.
void expectBody(const std::string &body, const std::string &part) {
  expectText(tensorKernel(body, 32, 512, 4), part);
}

void expectWithout(const std::string &text, const std::string &part) {
  expectBody(replaced(whole, text, ""), part);
}

/// The whole kernel, with `from` replaced in it.
void expectChanged(const std::string &from, const std::string &to,
                   const std::string &part) {
  expectText(replaced(tensorKernel(whole, 32, 512, 4), from, to), part);
}

TEST(TensorMemory, ProductOfStoredOperand) { expectBody(whole, ""); }

TEST(TensorMemory, StoresBeforeProducts) {
  expectWithout("tcgen05.wait::st.sync.aligned;\n",
                "read-after-write hazard: A of tcgen05.mma of tensor memory, "
                "lanes 0 to 15, column 496, is not ordered after a tcgen05.st "
                "of warp 0 without tcgen05.wait::st");
  expectWithout("tcgen05.fence::before_thread_sync;\n",
                "a tcgen05.st of warp 1: no tcgen05.fence::before_thread_sync "
                "behind its wait");
  expectWithout("tcgen05.fence::after_thread_sync; // of the product\n",
                "a tcgen05.st of warp 1: no tcgen05.fence::after_thread_sync "
                "behind the barrier");
  expectWithout("bar.sync 0; // stored\n", "tensor memory");
  expectBody(replaced(whole, "bar.sync 0; // stored\n",
                      "bar.sync 1, 128; bar.sync 1, 128;\n"),
             "");
}

TEST(TensorMemory, ProductsBeforeLoads) {
  expectBody(replaced(whole,
                      "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, "
                      "[%r2], 0;@!%p3 bra W;\n",
                      "bar.sync 0;"),
             "a tcgen05.mma of warp 0 that has not been waited for");
  expectBody(replaced(whole, waitForProduct,
                      "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], "
                      "0; @!%p3 bra W;\n"),
             "a tcgen05.mma of warp 0: no tcgen05.fence::after_thread_sync "
             "behind the wait");
  expectWithout(commit, "deadlock");
  // A commit before the product covers nothing.
  expectBody(replaced(replaced(whole, commit, ""), "tcgen05.mma.",
                      commit + "tcgen05.mma."),
             "a tcgen05.mma of warp 0 that has not been waited for");
  // Nor does one by another thread.
  expectBody(replaced(whole, commit + "N:\n",
                      "N: setp.eq.u32 %p5, %r0, 1; @!%p5 bra M;\n" + commit +
                          "M: bar.sync 0;\n"),
             "a tcgen05.mma of warp 0 that has not been waited for");
}

TEST(TensorMemory, LoadsBeforeUses) {
  expectBody(replaced(whole, "tcgen05.wait::ld.sync.aligned;\n", ""),
             "is the destination of a tcgen05.ld "
             "that has not been waited for");
  // Without the check, what is used early is NaN.
  Options options;
  options.keepGoing = true;
  std::vector<uint32_t> buffer(256, 0x3c003c00);
  runOn(buffer,
        tensorKernel(replaced(whole, "tcgen05.wait::ld.sync.aligned;\n", ""),
                     32, 512, 4),
        options, {128});
  EXPECT_EQ(buffer[128], ~0u);
}

/// Kernels that do without fences or waits run when these are not asked for;
/// what no barrier orders is found all the same.
TEST(TensorMemory, WithoutFencesAndWaits) {
  const std::string fences[] = {
      "tcgen05.fence::before_thread_sync;\n",
      "tcgen05.fence::after_thread_sync; // of the product\n",
      "tcgen05.fence::after_thread_sync;\n"};
  std::string body = whole;
  for (const std::string &fence : fences)
    body = replaced(body, fence, "");
  Options options;
  EXPECT_NE(findingOf(tensorKernel(body, 32, 512, 4), options), "");
  options.checks.tensorFence = false;
  EXPECT_EQ(findingOf(tensorKernel(body, 32, 512, 4), options), "");
  EXPECT_NE(
      findingOf(tensorKernel(replaced(body, "bar.sync 0; // stored\n", ""), 32,
                             512, 4),
                options),
      "");
  for (const char *wait :
       {"tcgen05.wait::st.sync.aligned;\n", "tcgen05.wait::ld.sync.aligned;\n"})
    body = replaced(body, wait, "");
  EXPECT_NE(findingOf(tensorKernel(body, 32, 512, 4), options), "");
  options.checks.tensorWait = false;
  EXPECT_EQ(findingOf(tensorKernel(body, 32, 512, 4), options), "");
}

TEST(TensorMemory, AccessesBeforeOverwrites) {
  std::string again = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6+16], {%c0};\n"
                      "tcgen05.wait::st.sync.aligned;\n";
  expectBody(whole + again, "");
  expectBody(store + product + "bar.sync 0;" + again + waitForProduct + load,
             "column 496, is not ordered after a tcgen05.mma of warp 0 that "
             "has not been waited for");
  expectBody(replaced(whole, "tcgen05.wait::ld.sync.aligned;\n",
                      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6], {%c0};\n"
                      "tcgen05.wait::ld.sync.aligned;\n"),
             "without tcgen05.wait::ld");
}

TEST(TensorMemory, OperandsInSharedMemory) {
  expectText(replaced(tensorKernel(whole, 32, 512, 4),
                      "fence.proxy.async.shared::cta;", ""),
             "proxycheck: ");
  expectBody(store + product + "bar.sync 0; st.shared.u32 [%r1], %r0;\n" +
                 waitForProduct + load,
             "is not ordered after the read by a tcgen05.mma of warp 0 that "
             "has not been waited for");
}

TEST(TensorMemory, OnlyOneThreadIssues) {
  expectBody(replaced(whole, "@!%p1 bra N;", "@!%p2 bra N;"),
             "tcgen05.mma executed by 32 threads of a warp");
}

TEST(TensorMemory, SumOfUninitializedCells) {
  expectBody(replaced(whole, "setp.ne.u32 %p4, %r0, %r0;",
                      "setp.eq.u32 %p4, %r0, %r0;"),
             "initcheck: D of tcgen05.mma reads uninitialized tensor memory, "
             "lanes 0 to 15, column 480");
  expectBody(replaced(whole, "add.u32 %r9, %r5, 16;", "add.u32 %r9, %r5, 24;"),
             "initcheck: A of tcgen05.mma reads uninitialized tensor memory, "
             "lanes 0 to 15, column 504");
}

/// In the order of the pipe, a product may overwrite what an earlier one reads;
/// by the letter of the ISA not.
TEST(TensorMemory, OrderOfThePipe) {
  std::string mma =
      "tcgen05.mma.cta_group::1.kind::f16 [%r5], [%r9], %rd3, %r7, %p4;\n";
  std::string ptx = tensorKernel(
      replaced(whole, mma,
               mma + "tcgen05.mma.cta_group::1.kind::f16 [%r9], [%r9], %rd3, "
                     "%r7, %p4;\n"),
      32, 512, 4);
  expectText(ptx, "");
  Options options;
  options.strictTensorOrder = true;
  EXPECT_NE(findingOf(ptx, options)
                .find("a tcgen05.mma with another accumulator, which only the "
                      "order of the pipe puts before it"),
            std::string::npos);
  EXPECT_EQ(findingOf(tensorKernel(replaced(whole, mma, mma + mma), 32, 512, 4),
                      options),
            "");
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

TEST(TensorMemory, Allocation) {
  const std::string alloc =
      "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4], ";
  const std::string dealloc =
      "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;";
  const std::string relinquish =
      "@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  expectChanged(alloc + "32;", alloc + "48;",
                "tcgen05.alloc of 48 columns, expected a power of two from 32 "
                "to 512");
  expectChanged(alloc + "32;", alloc + "16;", "tcgen05.alloc of 16 columns");
  expectChanged(alloc + "32;", alloc + "32;" + alloc + "64;",
                "tcgen05.alloc of 64 columns after one of 32: sizes may not "
                "grow");
  expectChanged(alloc + "32;", alloc + "512;" + alloc + "32;",
                "tcgen05.alloc of 32 columns blocks for ever");
  expectChanged(relinquish, relinquish + alloc + "32;\n",
                "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  expectChanged(
      dealloc, "",
      "the CTA exits with 32 columns of tensor memory allocated, from "
      "column 480 on");
  expectChanged(dealloc, dealloc + dealloc,
                "tcgen05.dealloc of 32 columns from lane 0, column 480 on, "
                "which is no allocation");
  expectChanged(dealloc,
                "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 64;",
                "tcgen05.dealloc of 64 columns");
  // Before the loads of the other warps, or beside them.
  expectBody(store + product + waitForProduct +
                 "@%p2 bra E;\n tcgen05.ld.sync.aligned.32x32b.x1.b32 {%a0}, "
                 "[%r6]; tcgen05.wait::ld.sync.aligned; bra E;\nE:\n" +
                 "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;",
             "column");
}

TEST(TensorMemory, Addresses) {
  // An address that the kernel assumes.
  expectBody(replaced(whole,
                      "tcgen05.fence::after_thread_sync; // of the "
                      "product\n",
                      "tcgen05.fence::after_thread_sync; mov.u32 %r5, 0;\n"),
             "D of tcgen05.mma of columns 0 to 15 of tensor memory, which are "
             "not inside one allocation");
  expectBody(replaced(whole, "[%r6+16]", "[%r6+32]"),
             "tcgen05.st of columns 512 to 519");
  expectBody("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r6], 32, {%r0};",
             "tcgen05.st of columns 512 to 512 of tensor memory");
  expectBody(replaced(whole, "{%a0}, [%r6]", "{%a0}, [%r5]"),
             "tcgen05.ld of lanes 0 to 31 of tensor memory by warp ");
  expectBody(replaced(whole, "{%a0}, [%r6]", "{%a0}, [%r0]"),
             "tensor-memory address differs between lanes: 0x000000");
  expectBody(replaced(whole, "tcgen05.ld.sync", "@%p1 tcgen05.ld.sync"),
             "divergent thread(s) in warp");
  expectBody(replaced(whole, "[%r5], [%r9], %rd3", "[%r5+65536], [%r9], %rd3"),
             "D of tcgen05.mma: lane 1 of tensor memory, expected 0");
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

TEST(TensorMemory, InstructionDescriptors) {
  auto expect = [](const char *bits, const std::string &part) {
    expectBody(replaced(whole, "0x8040010", bits), part);
  };
  expect("0x8040014", "bits 0 to 2, sparsity: expected 0, got 4");
  expect("0x8040018", "bits 3 to 3, saturation: expected 0, got 1");
  expect("0x8040000", "bits 4 to 5, the type of D (f32 is supported)");
  expect("0x8040050", "bits 6 to 6, reserved: expected 0, got 1");
  expect("0x8840010", "bits 23 to 23, reserved: expected 0, got 1");
  expect("0x28040010", "bits 29 to 29, reserved: expected 0, got 1");
  expect("0x48040010", "bits 30 to 31, the maximum shift of .ws");
  expect("0x8040110", "bits 7 to 9, the type of A: expected 0 (f16) or 1 "
                      "(bf16), got 2");
  expect("0x8040c10", "bits 10 to 12, the type of B: expected 0 (f16) or 1 "
                      "(bf16), got 3");
  expect("0x8020010", "M 128 and N 8, expected M 64 with N 8 to 256 by 8, or M "
                      "128 with N 16 to 256 by 16");
  expect("0x6040010", "M 96 and N 16");
  expect("0x8048010", "A of tcgen05.mma in tensor memory is K-major, but the "
                      "instruction descriptor says MN-major");
}

TEST(TensorMemory, MatrixDescriptors) {
  auto expect = [](const char *bits, const std::string &part) {
    expectBody(replaced(whole, "0xc000401000010000", bits), part);
  };
  expect("0xc000001000010000", "of B: bits 46 to 48: expected 1, got 0");
  expect("0xc000401000014000", "bits 14 to 15: expected 0, got 1");
  expect("0xc000401040010000", "bits 30 to 31: expected 0, got 1");
  expect("0xc010401000010000", "bits 52 to 52: expected 0, got 1");
  expect("0xc020401000010000", "bits 53 to 60: expected 0, got 1");
  // The codes of wgmma: 1, 2, 3 in bits 62 and 63.
  expect("0x2000401000010000",
         "swizzle 1, 128 bytes with atoms of 32, is not supported");
  expect("0x6000401000010000", "swizzle 3: expected 0 (none), 2 (128 bytes), 4 "
                               "(64) or 6 (32)");
  expect("0xc002401000010000",
         "the matrix starts 0 bytes into the pattern of its swizzle, but its "
         "base offset is 1");
  expect("0xc000401000000000", "");
  expect("0xc000401000010020", "B of tcgen05.mma: shared offset");
}

//===----------------------------------------------------------------------===//
// What is not supported
//===----------------------------------------------------------------------===//

TEST(TensorMemory, NotSupported) {
  auto expect = [](const std::string &instruction, const std::string &part) {
    std::string text = findingOf(tensorKernel(instruction, 32, 512, 4), {});
    EXPECT_NE(text.find(part), std::string::npos)
        << instruction << " gives " << text;
  };
  const std::string mma = " [%r5], %rd3, %rd3, %r7, %p4;";
  expect("tcgen05.mma.cta_group::2.kind::f16" + mma,
         ".cta_group::2, but the kernel has instructions of .cta_group::1; all "
         "must have the same");
  expect("tcgen05.mma.kind::f16" + mma,
         "expected .cta_group::1 or .cta_group::2");
  expect("tcgen05.mma.cta_group::1.kind::mxf4" + mma,
         "expected .kind::f16, .kind::tf32, .kind::f8f6f4 or .kind::i8; others "
         "are not supported");
  expect("tcgen05.mma.ws.cta_group::1.kind::f16" + mma,
         ".sp, .ws and .block_scale are not supported");
  expect("tcgen05.mma.cta_group::1.kind::f16 [%r5], %rd3, %rd3, %r7, %p4, 1;",
         "scale-input-d is not supported");
  expect("tcgen05.mma.cta_group::1.kind::f16 [%r5], %rd3, %rd3, %r7, {%r8, "
         "%r9}, %p4;",
         "expected 4 words of lanes, got 2");
  expect("tcgen05.commit.cta_group::1.b64 [%r2];",
         "expected .mbarrier::arrive::one");
  expect("tcgen05.cp.cta_group::1.64x128b [%r5], %rd3;",
         "expected shape .128x256b, .4x256b, .128x128b, ");
  expect("tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%r5], %rd3;",
         "decompression (.b8x16) is not supported");
  expect("tcgen05.shift.cta_group::1 [%r5];", "expected .down");
  expect("tcgen05.ld.sync.aligned.8x32b.x1.b32 {%a0}, [%r6];",
         "expected shape .32x32b, .16x32bx2, .16x64b, .16x128b or .16x256b");
  expect("tcgen05.ld.sync.aligned.32x32b.b32 {%a0}, [%r6];",
         "expected .x1 to .x128");
  expect("tcgen05.ld.sync.aligned.16x256b.x64.b32 {%a0}, [%r6];",
         "expected at most .x32");
  expect("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%a0}, [%r6];",
         "expected 2 registers, got 1");
  expect("tcgen05.ld.sync.aligned.32x32b.x1.b32 {_}, [%r6];",
         "expected registers as destinations");
  expect("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%a0}, [%r6];",
         ".pack::16b and .unpack::16b are not supported");
  expect("tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%a0, %a1}, %a2, "
         "[%r6];",
         "tcgen05.ld.red is not supported");
}

} // namespace
