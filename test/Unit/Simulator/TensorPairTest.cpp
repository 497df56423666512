//===- TensorPairTest.cpp - tcgen05 with cta_group::2 ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A pair of CTAs multiplies: half of A's rows and half of B's columns in the
/// memories of each. Layouts of D: PTX ISA 9.7.16.10.5, A (M 256) and B (M
/// 128).
///
//===----------------------------------------------------------------------===//

#include "TensorOperands.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

/// A kernel of 128 threads for a cluster of two. As tensorKernel, but %r15 is
/// the rank, %p5 thread 0 of rank 0, %p6 rank 0, and each CTA has its own
/// `shared` bytes of the buffer and its rows behind both. An mbarrier with one
/// arrival in each.
std::string pairKernel(const std::string &body, int shared, int rowBytes) {
  std::string bytes = std::to_string(shared);
  std::string text = kernel(
      "mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r4, place;"
      "mov.u32 %r15, %cluster_ctarank; setp.eq.u32 %p6, %r15, 0;\n"
      "shr.u32 %r3, %r0, 5; setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r3, 0;"
      "and.pred %p5, %p1, %p6;\n"
      "mul.wide.u32 %rd2, %r15, " +
          bytes +
          "; add.u64 %rd2, %rd2, %rd0;\n"
          "shl.b32 %r6, %r0, 4;\n"
          "C: setp.ge.u32 %p3, %r6, " +
          bytes +
          "; @%p3 bra D;\n"
          "cvt.u64.u32 %rd1, %r6; add.u64 %rd1, %rd1, %rd2;"
          "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd1];"
          "add.u32 %r11, %r1, %r6; st.shared.v4.u32 [%r11], {%r7, %r8, %r9, "
          "%r10}; add.u32 %r6, %r6, 2048; bra C;\n"
          "D: @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\n"
          "@%p1 fence.mbarrier_init.release.cluster;\n"
          "fence.proxy.async.shared::cta;\n"
          "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r4], "
          "128;\n"
          "@%p2 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
          "bar.sync 0; ld.shared.u32 %r5, [%r4];\n"
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; // "
          "ready\n"
          "and.b32 %r6, %r3, 3; shl.b32 %r6, %r6, 21; add.u32 %r6, %r6, %r5;\n"
          "shl.b32 %r16, %r15, 7; add.u32 %r16, %r16, %r0;"
          "mul.wide.u32 %rd1, %r16, " +
          std::to_string(rowBytes) +
          "; add.u64 %rd1, %rd1, %rd0; add.u64 %rd1, %rd1, " +
          std::to_string(2 * shared) + ";\n" + body +
          "\nbar.sync 0;\n"
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; // "
          "done\n"
          "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r5, 128;\n",
      ".shared .align 1024 .b8 s[" + bytes +
          "];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 place;\n");
  text = replaced(text, ".version 8.5\n.target sm_90a",
                  ".version 8.6\n.target sm_100a");
  return replaced(text, ".reg .b32 %r<40>;",
                  ".reg .b32 %r<40>; .reg .b32 %a<256>; .reg .b32 %c<256>;");
}

constexpr Launch pairLaunch{128, 2, 2, 0};

/// D, where its elements are.
struct PairShape {
  int m, n;

  int columns() const { return m == 256 ? n : n / 2; } // of a lane
  int place(int row, int column) const {
    int rows = m / 2, cta = row / rows, lane = row % rows;
    if (m == 128) {
      lane += column / columns() * 64;
      column %= columns();
    }
    return (cta * 128 + lane) * columns() + column;
  }
};

struct PairProduct {
  Operand a, b;
  bool isTensorA = false;
  std::string mask; // of lanes
  std::string ptx;
  std::vector<uint32_t> buffer;
  int shared = 0;

  PairShape shape() const { return {a.rows, b.rows}; }
  void build();
  std::string instructions(const Image &imageA, const Image &imageB,
                           size_t startB) const;
};

std::string PairProduct::instructions(const Image &imageA, const Image &imageB,
                                      size_t startB) const {
  auto address = [](size_t offset) {
    return "add.u32 %r8, %r1, " + std::to_string(offset) +
           "; shr.u32 %r8, %r8, 4; cvt.u64.u32 %rd3, %r8;";
  };
  std::string text;
  for (size_t k = 0; k < imageA.starts.size(); ++k)
    text += address(imageA.starts[k]) + "or.b64 %rd4, %rd3, " +
            std::to_string(layoutBits(a, imageA)) + ";\n" +
            address(startB + imageB.starts[k]) + "or.b64 %rd5, %rd3, " +
            std::to_string(layoutBits(b, imageB)) + "; add.u32 %r9, %r5, " +
            std::to_string(64 + 8 * k) + ";\n" + "setp.ne.u32 %p4, %r0, " +
            (k ? "-1" : "%r0") +
            "; tcgen05.mma.cta_group::2.kind::" + kindOf(a.element) +
            " [%r5], " + (isTensorA ? "[%r9]" : "%rd4") + ", %rd5, %r7, " +
            mask + "%p4;\n";
  return text;
}

/// Words of A's row of a thread, in tensor memory at column 64 from the place
/// where D goes later.
std::string storeA(const Operand &a) {
  int words = int(a.depth * bytesOf(a.element) / 4);
  std::string text;
  for (int k = 0; k < words; ++k)
    text += "ld.global.u32 %c" + std::to_string(k) + ", [%rd1+" +
            std::to_string(4 * k) + "];";
  return text + "\ntcgen05.st.sync.aligned.32x32b.x" + std::to_string(words) +
         ".b32 [%r6+64], " + registers("%c", words) +
         ";\ntcgen05.wait::st.sync.aligned;\n"
         "tcgen05.fence::before_thread_sync;\n"
         "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "tcgen05.fence::after_thread_sync;\n";
}

void PairProduct::build() {
  PairShape d = shape();
  Image imageA[2], imageB[2];
  for (int cta = 0; cta < 2; ++cta) {
    imageA[cta] = layOut(rowsOf(a, cta * a.rows / 2, a.rows / 2));
    imageB[cta] = layOut(rowsOf(b, cta * b.rows / 2, b.rows / 2));
  }
  size_t startB = (imageA[0].bytes.size() + 1023) / 1024 * 1024;
  shared = int(startB + imageB[0].bytes.size());
  std::string columns = std::to_string(d.columns());
  std::string body =
      (isTensorA ? storeA(a) : "") + "mov.u32 %r7, " +
      std::to_string(instructionBits(a, b)) +
      "; mov.u32 %r12, 0; mov.u32 %r13, -1; mov.u16 %h1, 3;\n@!%p5 bra N;\n" +
      instructions(imageA[0], imageB[0], startB) +
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
      "multicast::cluster.b64 [%r2], %h1;\nN:\n" +
      waitForProduct + "tcgen05.ld.sync.aligned.32x32b.x" + columns + ".b32 " +
      registers("%a", d.columns()) + ", [%r6];\n" +
      "tcgen05.wait::ld.sync.aligned;\n" + storeRow("%a", d.columns());
  ptx = pairKernel(body, shared, 4 * d.columns());
  buffer.assign(shared / 2 + 256 * d.columns(), 0);
  auto *bytes = reinterpret_cast<uint8_t *>(buffer.data());
  for (int cta = 0; cta < 2; ++cta) {
    std::copy(imageA[cta].bytes.begin(), imageA[cta].bytes.end(),
              bytes + cta * shared);
    std::copy(imageB[cta].bytes.begin(), imageB[cta].bytes.end(),
              bytes + cta * shared + startB);
  }
  if (!isTensorA)
    return;
  // Rows of A, twice where a CTA has 64.
  size_t size = bytesOf(a.element);
  for (int thread = 0; thread < 256; ++thread)
    for (int k = 0; k < a.depth; ++k) {
      int row = thread / 128 * (a.rows / 2) + thread % 128 % (a.rows / 2);
      uint32_t code = encode(a.element, a.at(row, k));
      std::memcpy(bytes + 2 * shared + thread * 4 * d.columns() + k * size,
                  &code, size);
    }
}

PairProduct makeProduct(const Operand &a, const Operand &b,
                        bool isTensorA = false, const std::string &mask = "") {
  PairProduct product{a, b, isTensorA, mask, "", {}, 0};
  product.build();
  return product;
}

float elementOf(const PairProduct &product, int row, int column) {
  uint32_t bits =
      product.buffer[product.shared / 2 + product.shape().place(row, column)];
  return product.a.element >= Element::S8 ? float(int32_t(bits))
                                          : toFloat(bits);
}

int countWrong(const PairProduct &product) {
  int wrong = 0;
  for (int row = 0; row < product.a.rows; ++row)
    for (int column = 0; column < product.b.rows; ++column)
      wrong += elementOf(product, row, column) !=
               float(dot(product.a, row, product.b, column));
  return wrong;
}

void expectProduct(PairProduct product) {
  LaunchReport report =
      runOn(product.buffer, product.ptx, Options(), pairLaunch);
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << diagnostic.str();
  EXPECT_EQ(countWrong(product), 0);
  EXPECT_EQ(report.counters.mmaFlops,
            2ull * product.a.rows * product.b.rows * product.a.depth);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST(TensorPair, Layouts) {
  for (int m : {128, 256})
    for (bool mnMajorA : {false, true})
      for (bool mnMajorB : {false, true}) {
        SCOPED_TRACE(testing::Message() << m << mnMajorA << mnMajorB);
        expectProduct(
            makeProduct(makeOperand(m, 64, Element::BF16, mnMajorA, 64, 1),
                        makeOperand(64, 64, Element::BF16, mnMajorB, 64, 2)));
      }
}

TEST(TensorPair, Types) {
  for (Element element : {Element::F16, Element::TF32, Element::E4M3,
                          Element::E5M2, Element::S8, Element::U8})
    for (int m : {128, 256}) {
      SCOPED_TRACE(testing::Message() << int(element) << " " << m);
      int depth = int(128 / bytesOf(element));
      expectProduct(
          makeProduct(makeOperand(m, depth, element, false, 128, 3),
                      makeOperand(32, depth, element, false, 128, 4)));
    }
}

TEST(TensorPair, OperandInTensorMemory) {
  for (int m : {128, 256}) {
    SCOPED_TRACE(m);
    expectProduct(makeProduct(makeOperand(m, 32, Element::F16, false, 64, 5),
                              makeOperand(64, 32, Element::F16, false, 64, 6),
                              /*isTensorA=*/true));
    expectProduct(makeProduct(makeOperand(m, 64, Element::E4M3, false, 64, 5),
                              makeOperand(64, 64, Element::E4M3, false, 64, 6),
                              /*isTensorA=*/true));
  }
}

/// Words 0 to 3 are for the lanes of rank 0.
TEST(TensorPair, DisabledLanesKeepTheirSums) {
  PairProduct product =
      makeProduct(makeOperand(256, 32, Element::F16, false, 64, 9),
                  makeOperand(16, 32, Element::F16, false, 64, 10), false,
                  "{%r12, %r13, %r12, %r12, %r12, %r12, %r12, %r13}, ");
  Options options;
  options.keepGoing = true;
  runOn(product.buffer, product.ptx, options, pairLaunch);
  int kept = 0, wrong = 0;
  for (int row = 0; row < 256; ++row) {
    bool isKept = row / 32 == 1 || row / 32 == 7;
    for (int column = 0; column < 16; ++column) {
      float value = elementOf(product, row, column);
      kept += isKept && value != value;
      wrong +=
          !isKept && value != float(dot(product.a, row, product.b, column));
    }
  }
  EXPECT_EQ(kept, 64 * 16);
  EXPECT_EQ(wrong, 0);
}

/// What lies in the memories of the wrong CTA is another product: nothing but
/// the numbers shows it.
TEST(TensorPair, OperandsOfTheWrongCta) {
  PairProduct product =
      makeProduct(makeOperand(256, 64, Element::F16, false, 128, 7),
                  makeOperand(64, 64, Element::F16, false, 128, 8));
  auto half = product.buffer.begin() + product.shared / 4;
  std::swap_ranges(product.buffer.begin(), half, half);
  LaunchReport report =
      runOn(product.buffer, product.ptx, Options(), pairLaunch);
  EXPECT_TRUE(report.diagnostics.empty());
  EXPECT_GT(countWrong(product), 256 * 64 / 2);
  // It is the product of the halves, exchanged.
  int wrong = 0;
  for (int row = 0; row < 256; ++row)
    for (int column = 0; column < 64; ++column)
      wrong += elementOf(product, row, column) !=
               float(dot(product.a, row ^ 128, product.b, column ^ 32));
  EXPECT_EQ(wrong, 0);
}

/// Each CTA copies from its own shared memory into its own tensor memory.
TEST(TensorPair, Copies) {
  std::string body =
      "mov.u16 %h1, 3;\n@!%p5 bra N;\n"
      "shr.u32 %r8, %r1, 4; cvt.u64.u32 %rd3, %r8; or.b64 %rd3, %rd3, " +
      std::to_string(uint64_t(8) << 32 | uint64_t(32) << 16 |
                     uint64_t(1) << 46) +
      ";\ntcgen05.cp.cta_group::2.32x128b.warpx4 [%r5], %rd3;\n"
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
      "multicast::cluster.b64 [%r2], %h1;\nN:\n" +
      waitForProduct +
      "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%a0, %a1, %a2, %a3}, [%r6];\n"
      "tcgen05.wait::ld.sync.aligned;\n" +
      storeRow("%a", 4);
  std::vector<uint32_t> buffer(256 + 256 * 4);
  for (uint32_t word = 0; word < 256; ++word)
    buffer[word] = word;
  LaunchReport report =
      runOn(buffer, pairKernel(body, 512, 16), Options(), pairLaunch);
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << diagnostic.str();
  for (uint32_t thread = 0; thread < 256; ++thread)
    for (uint32_t column = 0; column < 4; ++column)
      ASSERT_EQ(buffer[256 + 4 * thread + column],
                thread / 128 * 128 + thread % 32 * 4 + column);
}

//===----------------------------------------------------------------------===//
// What must hold
//===----------------------------------------------------------------------===//

const PairProduct &sample() {
  static const PairProduct product =
      makeProduct(makeOperand(256, 32, Element::F16, false, 64, 7),
                  makeOperand(32, 32, Element::F16, false, 64, 8), true);
  return product;
}

std::string findingOf(const std::string &ptx, Options options,
                      Launch launch = pairLaunch) {
  std::vector<uint32_t> buffer = sample().buffer;
  LaunchReport report = runOn(buffer, ptx, options, launch);
  if (report.diagnostics.empty())
    return "";
  const Diagnostic &first = report.diagnostics.front();
  return first.file.empty() ? first.message : first.str();
}

/// Expects the finding in every schedule.
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

void expectChanged(const std::string &from, const std::string &to,
                   const std::string &part) {
  expectText(replaced(sample().ptx, from, to), part);
}

const std::string clusterBarrier =
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ";

TEST(TensorPair, IsClean) { expectText(sample().ptx, ""); }

TEST(TensorPair, Commits) {
  const std::string commit =
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
      "multicast::cluster.b64 [%r2], %h1;\n";
  expectChanged(commit, "", "deadlock");
  expectChanged("mov.u16 %h1, 3;", "mov.u16 %h1, 1;", "deadlock");
  expectChanged("mov.u16 %h1, 3;", "mov.u16 %h1, 2;", "deadlock");
  expectChanged("mov.u16 %h1, 3;", "mov.u16 %h1, 4;",
                "multicast mask 0004 of tcgen05.commit in a cluster of 2 CTAs");
  expectChanged("mov.u16 %h1, 3;", "mov.u16 %h1, 0;",
                "multicast mask 0000 of tcgen05.commit");
  // Without multicast only the mbarrier of the address.
  expectChanged(commit,
                "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::"
                "cluster.b64 [%r2];\n",
                "deadlock");
  expectChanged(commit,
                "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::"
                "cluster.b64 [%r2];\n"
                "mapa.shared::cluster.u32 %r17, %r2, 1;\n"
                "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::"
                "cluster.b64 [%r17];\n",
                "");
  expectChanged("@!%p5 bra N;", "@!%p1 bra N;",
                "is not ordered after a tcgen05.mma of warp 0 of CTA rank ");
}

TEST(TensorPair, OrderOfBothCtas) {
  expectChanged(waitForProduct,
                replaced(waitForProduct, "tcgen05.fence::after_thread_sync",
                         "@%p6 tcgen05.fence::after_thread_sync"),
                "a tcgen05.mma of warp 0 of CTA rank 0: no "
                "tcgen05.fence::after_thread_sync behind the wait");
  expectChanged("fence.proxy.async.shared::cta;\n",
                "@%p6 fence.proxy.async.shared::cta;\n",
                "by warp 0 (CTA rank 1) without fence.proxy.async");
  expectChanged(
      "tcgen05.fence::before_thread_sync;\n",
      "@%p6 tcgen05.fence::before_thread_sync;\n",
      "A of tcgen05.mma of tensor memory of CTA rank 1, lanes 0 to "
      "15, column 448, is not ordered after a tcgen05.st of warp 0 of "
      "CTA rank 1: no tcgen05.fence::before_thread_sync");
  expectChanged("tcgen05.wait::st.sync.aligned;\n", "\n", "tcgen05.wait::st");
}

TEST(TensorPair, ClusterBarriers) {
  // Before the peer's memories are used: both barriers in front of the product.
  std::string ptx = replaced(sample().ptx, clusterBarrier + "// ready", "");
  ptx = replaced(ptx,
                 "barrier.cluster.arrive.aligned; "
                 "barrier.cluster.wait.aligned;\n",
                 "bar.sync 0;\n");
  expectText(ptx, "of CTA rank 1");
  // Before they are freed.
  expectChanged(clusterBarrier + "// done", "",
                "is not ordered after a tcgen05.ld of warp ");
  // The peer goes.
  expectChanged("@!%p5 bra N;", "@!%p6 exit; @!%p5 bra N;", "exits");
}

TEST(TensorPair, Allocation) {
  const std::string alloc =
      "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r4], "
      "128;\n";
  const std::string dealloc =
      "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r5, 128;";
  const std::string ofRank0 = "and.pred %p2, %p2, %p6; ";
  expectChanged(dealloc, ofRank0 + dealloc,
                "the CTA exits with 128 columns of tensor memory allocated");
  expectChanged(dealloc,
                ofRank0 + dealloc +
                    "\n@!%p6 barrier.cluster.arrive; @!%p6 "
                    "barrier.cluster.wait;",
                "CTA rank 1, the peer, to execute the same");
  expectChanged(alloc, ofRank0 + alloc,
                "CTA rank 1, the peer, to execute the same");
  expectChanged(alloc,
                "selp.b32 %r17, 128, 64, %p6;\n" +
                    replaced(alloc, "128;", "%r17;"),
                "executes another instruction of the pair");
  expectChanged(dealloc, replaced(dealloc, "128;", "64;"),
                "tcgen05.dealloc of 64 columns");
  expectChanged(alloc, replaced(alloc, "@%p2 ", "@%p6 "),
                "waits for a warp of the peer CTA already, in line ");
  expectChanged("@%p2 tcgen05.relinquish_alloc_permit.cta_group::2",
                "@%p2 tcgen05.relinquish_alloc_permit.cta_group::1",
                ".cta_group::1, but the kernel has instructions of "
                ".cta_group::2; all must have the same");
}

TEST(TensorPair, NeedsAPeer) {
  std::string text = findingOf(sample().ptx, {}, {128, 1, 1, 0});
  EXPECT_NE(text.find("cta_group::2 in CTA rank 0 of a cluster of 1, which has "
                      "no peer"),
            std::string::npos)
      << text;
  // One that has exited.
  expectChanged("mov.u32 %r1, s;",
                "mov.u32 %r15, %cluster_ctarank; setp.eq.u32 %p6, %r15, 0; "
                "@!%p6 exit; mov.u32 %r7, 0; Y: add.u32 %r7, %r7, 1; "
                "setp.lt.u32 %p3, %r7, 4096; @%p3 bra Y;\nmov.u32 %r1, s;",
                "cta_group::2 in CTA rank 0, but its peer, CTA rank 1, has "
                "exited");
}

TEST(TensorPair, Descriptors) {
  auto expect = [](uint32_t m, uint32_t n, const std::string &part) {
    uint32_t bits = instructionBits(sample().a, sample().b);
    uint32_t changed = (bits & ~(31u << 24 | 63u << 17)) | m << 24 | n << 17;
    expectChanged("mov.u32 %r7, " + std::to_string(bits),
                  "mov.u32 %r7, " + std::to_string(changed), part);
  };
  expect(4, 4,
         "M 64 and N 32 of a pair, expected M 128 or 256 with N 32 to "
         "256 by 32");
  expect(16, 6, "M 256 and N 48 of a pair");
  expectChanged("%rd5, %r7, %p4;", "%rd5, %r7, {%r12, %r12, %r12, %r12}, %p4;",
                "expected 8 words of lanes, got 4");
}

} // namespace
