//===- TensorProductTest.cpp - tcgen05.mma against double -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorOperands.h"

#include <cmath>

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A and B from shared memory; D row by row behind the operands.
std::vector<float> multiply(const Operand &a, const Operand &b,
                            const std::string &mask = "") {
  Image imageA = layOut(a), imageB = layOut(b);
  size_t startB = (imageA.bytes.size() + 1023) / 1024 * 1024;
  size_t shared = startB + imageB.bytes.size();
  auto address = [](size_t offset) {
    return "add.u32 %r8, %r1, " + std::to_string(offset) +
           "; shr.u32 %r8, %r8, 4; cvt.u64.u32 %rd3, %r8;";
  };
  std::string body = "mov.u32 %r7, " + std::to_string(instructionBits(a, b)) +
                     "; mov.u32 %r12, 0; mov.u32 %r13, -1; mov.u32 %r14, 1;"
                     "\n@!%p1 bra N;\n";
  for (size_t k = 0; k < imageA.starts.size(); ++k)
    body += address(imageA.starts[k]) + "or.b64 %rd4, %rd3, " +
            std::to_string(layoutBits(a, imageA)) + ";\n" +
            address(startB + imageB.starts[k]) + "or.b64 %rd5, %rd3, " +
            std::to_string(layoutBits(b, imageB)) + ";\n" +
            "setp.ne.u32 %p4, %r0, " + (k ? "-1" : "%r0") +
            "; tcgen05.mma.cta_group::1.kind::" + kindOf(a.element) +
            " [%r5], %rd4, %rd5, %r7, " + mask + "%p4;\n";
  std::string n = std::to_string(b.rows);
  body += commit + "N:\n" + waitForProduct +
          "tcgen05.ld.sync.aligned.32x32b.x" + n + ".b32 " +
          registers("%a", b.rows) + ", [%r6];\n" +
          "tcgen05.wait::ld.sync.aligned;\n" + storeRow("%a", b.rows);
  std::vector<uint32_t> buffer((shared + 128 * b.rows * 4) / 4, 0);
  std::memcpy(buffer.data(), imageA.bytes.data(), imageA.bytes.size());
  std::memcpy(reinterpret_cast<uint8_t *>(buffer.data()) + startB,
              imageB.bytes.data(), imageB.bytes.size());
  // Products of 64 rows leave half of the lanes alone.
  Options options;
  options.keepGoing = a.rows == 64;
  LaunchReport report = runOn(
      buffer, tensorKernel(body, 128, int(shared), b.rows * 4), options, {128});
  if (a.rows != 64) {
    for (const Diagnostic &diagnostic : report.diagnostics)
      ADD_FAILURE() << diagnostic.str();
  }
  EXPECT_EQ(report.counters.mmaFlops, 2ull * a.rows * b.rows * a.depth);
  std::vector<float> d;
  for (size_t k = shared / 4; k < buffer.size(); ++k)
    d.push_back(a.element >= Element::S8 ? float(int32_t(buffer[k]))
                                         : toFloat(buffer[k]));
  return d;
}

void expectProduct(const Operand &a, const Operand &b) {
  std::vector<float> d = multiply(a, b);
  int wrong = 0;
  for (int row = 0; row < a.rows; ++row)
    for (int column = 0; column < b.rows; ++column) {
      // 64 rows: 16 in each quarter of the lanes.
      int lane = a.rows == 64 ? row / 16 * 32 + row % 16 : row;
      wrong += d[lane * b.rows + column] != float(dot(a, row, b, column));
    }
  EXPECT_EQ(wrong, 0);
}

TEST(TensorProduct, LayoutsOfSharedOperands) {
  for (int swizzle : {0, 32, 64, 128})
    for (bool mnMajorA : {false, true})
      for (bool mnMajorB : {false, true}) {
        SCOPED_TRACE(testing::Message() << swizzle << mnMajorA << mnMajorB);
        expectProduct(makeOperand(128, 64, Element::BF16, mnMajorA, swizzle, 1),
                      makeOperand(64, 64, Element::BF16, mnMajorB, swizzle, 2));
      }
}

TEST(TensorProduct, Types) {
  for (Element element : {Element::F16, Element::BF16, Element::TF32,
                          Element::E4M3, Element::E5M2}) {
    SCOPED_TRACE(int(element));
    int depth = 128 / bytesOf(element);
    expectProduct(makeOperand(128, depth, element, false, 128, 3),
                  makeOperand(32, depth, element, false, 128, 4));
  }
  expectProduct(makeOperand(128, 128, Element::E4M3, false, 128, 3),
                makeOperand(32, 128, Element::E5M2, false, 64, 4));
}

TEST(TensorProduct, Integers) {
  for (Element a : {Element::S8, Element::U8})
    for (Element b : {Element::S8, Element::U8}) {
      expectProduct(makeOperand(128, 128, a, false, 128, 3),
                    makeOperand(32, 128, b, false, 64, 4));
      expectProduct(makeOperand(128, 64, a, true, 128, 5),
                    makeOperand(64, 64, b, true, 32, 6));
    }
}

TEST(TensorProduct, BytesMayBeMnMajor) {
  for (int swizzle : {0, 32, 128})
    expectProduct(makeOperand(128, 64, Element::E4M3, true, swizzle, 5),
                  makeOperand(128, 64, Element::E4M3, true, swizzle, 6));
}

TEST(TensorProduct, HalfOfTheRows) {
  expectProduct(makeOperand(64, 64, Element::F16, false, 128, 7),
                makeOperand(8, 64, Element::F16, false, 128, 8));
}

TEST(TensorProduct, DisabledLanesKeepTheirSums) {
  Operand a = makeOperand(128, 32, Element::F16, false, 64, 9);
  Operand b = makeOperand(16, 32, Element::F16, false, 64, 10);
  std::vector<float> all = multiply(a, b);
  // Lanes 32 to 63, and lane 96: never written, 0xFF bytes.
  std::vector<float> part = multiply(a, b, "{%r12, %r13, %r12, %r14}, ");
  int same = 0, kept = 0;
  for (int row = 0; row < 128; ++row)
    for (int column = 0; column < 16; ++column) {
      float value = part[row * 16 + column];
      same += value == all[row * 16 + column];
      kept += std::isnan(value);
    }
  EXPECT_EQ(kept, 33 * 16);
  EXPECT_EQ(same, 95 * 16);
}

} // namespace
