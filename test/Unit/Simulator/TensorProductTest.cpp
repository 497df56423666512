//===- TensorProductTest.cpp - tcgen05.mma against double -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Operands are laid out here from the drawings of PTX ISA 9.7.16.4 and .10,
/// and products of small integers are exact: every element must be right.
///
//===----------------------------------------------------------------------===//

#include "TensorHarness.h"

#include <cmath>

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

enum class Element { F16, BF16, TF32, E4M3, E5M2 };

unsigned bytesOf(Element element) {
  return element == Element::TF32 ? 4 : element <= Element::BF16 ? 2 : 1;
}

/// The bits of an integer from -8 to 8.
uint32_t encode(Element element, int value) {
  if (value == 0)
    return 0;
  uint32_t sign = value < 0, magnitude = value < 0 ? -value : value;
  uint32_t exponent = 31 - __builtin_clz(magnitude);
  uint32_t fraction = magnitude ^ (1u << exponent); // of `exponent` bits
  auto pack = [&](unsigned exponentBits, unsigned fractionBits) {
    uint32_t bias = (1u << (exponentBits - 1)) - 1;
    return sign << (exponentBits + fractionBits) |
           (exponent + bias) << fractionBits |
           fraction << (fractionBits - exponent);
  };
  switch (element) {
  case Element::F16:
    return pack(5, 10);
  case Element::BF16:
    return pack(8, 7);
  case Element::TF32:
    return pack(8, 23);
  case Element::E4M3:
    return pack(4, 3);
  case Element::E5M2:
    return magnitude > 4 ? 0 : pack(5, 2); // two bits of fraction
  }
  return 0;
}

/// An operand of `rows` (M or N) x `depth`.
struct Operand {
  int rows = 0, depth = 0;
  Element element = Element::F16;
  bool mnMajor = false;
  int swizzle = 128;
  std::vector<int> values; // [row][k]

  int at(int row, int k) const { return values[row * depth + k]; }
};

Operand makeOperand(int rows, int depth, Element element, bool mnMajor,
                    int swizzle, int seed) {
  Operand operand{rows, depth, element, mnMajor, swizzle, {}};
  uint32_t state = seed;
  int range = element == Element::E5M2 ? 4 : 8;
  for (int k = 0; k < rows * depth; ++k) {
    state = state * 1664525u + 1013904223u;
    operand.values.push_back(int(state >> 16) % (2 * range + 1) - range);
  }
  return operand;
}

struct Image {
  std::vector<uint8_t> bytes;
  uint32_t leading = 16, stride = 0;
  /// Bytes from one instruction's part to the next one's.
  std::vector<uint32_t> starts;
};

/// K-major: panels of `swizzle` bytes of k, rows of `swizzle` bytes. MN-major:
/// the same with k for rows. Without a swizzle: matrices of 8 rows of 16 bytes,
/// neighbours along the row first.
Image layOut(const Operand &operand) {
  const int bytes = bytesOf(operand.element);
  const int outer = operand.mnMajor ? operand.depth : operand.rows;
  const int inner = operand.mnMajor ? operand.rows : operand.depth;
  Image image;
  image.bytes.resize(size_t(outer) * inner * bytes);
  auto put = [&](size_t offset, int value) {
    uint32_t code = encode(operand.element, value);
    std::memcpy(&image.bytes[offset], &code, bytes);
  };
  auto place = [&](int o, int byte) -> size_t {
    if (!operand.swizzle) {
      int core = byte / 16 * (outer / 8) + o / 8;
      return core * 128 + o % 8 * 16 + byte % 16;
    }
    int panel = byte / operand.swizzle, inPanel = byte % operand.swizzle;
    size_t offset = size_t(panel) * outer * operand.swizzle +
                    size_t(o) * operand.swizzle + inPanel;
    int mask = operand.swizzle / 16 - 1;
    return offset ^ ((offset >> 7 & mask) << 4);
  };
  for (int row = 0; row < operand.rows; ++row)
    for (int k = 0; k < operand.depth; ++k) {
      int o = operand.mnMajor ? k : row, i = operand.mnMajor ? row : k;
      put(place(o, i * bytes), operand.at(row, k));
    }
  int step = 32 / bytes; // k of an instruction
  if (operand.swizzle) {
    image.stride = 8 * operand.swizzle;
    if (operand.mnMajor)
      image.leading = outer * operand.swizzle;
  } else if (operand.mnMajor) {
    image.leading = 128;            // between groups of 8 k
    image.stride = outer / 8 * 128; // between chunks of rows
  } else {
    image.leading = outer / 8 * 128; // between chunks of k
    image.stride = 128;              // between groups of 8 rows
  }
  for (int k = 0; k < operand.depth; k += step) {
    if (operand.mnMajor)
      image.starts.push_back(operand.swizzle ? k * operand.swizzle : k * 16);
    else if (!operand.swizzle)
      image.starts.push_back(k * bytes / 16 * image.leading);
    else
      image.starts.push_back(k * bytes / operand.swizzle * outer *
                                 operand.swizzle +
                             k * bytes % operand.swizzle);
  }
  return image;
}

/// The constant bits of a matrix descriptor.
uint64_t layoutBits(const Operand &operand, const Image &image) {
  uint64_t mode = operand.swizzle == 128  ? 2
                  : operand.swizzle == 64 ? 4
                  : operand.swizzle == 32 ? 6
                                          : 0;
  return uint64_t(image.leading >> 4) << 16 |
         uint64_t(image.stride >> 4) << 32 | uint64_t(1) << 46 | mode << 61;
}

uint32_t typeCode(Element element) {
  switch (element) {
  case Element::TF32:
    return 2;
  case Element::BF16:
  case Element::E5M2:
    return 1;
  default:
    return 0;
  }
}

uint32_t instructionBits(const Operand &a, const Operand &b) {
  return 1u << 4 | typeCode(a.element) << 7 | typeCode(b.element) << 10 |
         uint32_t(a.mnMajor) << 15 | uint32_t(b.mnMajor) << 16 |
         uint32_t(b.rows / 8) << 17 | uint32_t(a.rows / 16) << 24;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::string kindOf(Element element) {
  return element == Element::TF32 ? "tf32"
         : bytesOf(element) == 1  ? "f8f6f4"
                                  : "f16";
}

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
    d.push_back(toFloat(buffer[k]));
  return d;
}

void expectProduct(const Operand &a, const Operand &b) {
  std::vector<float> d = multiply(a, b);
  int wrong = 0;
  for (int row = 0; row < a.rows; ++row)
    for (int column = 0; column < b.rows; ++column) {
      double sum = 0;
      for (int k = 0; k < a.depth; ++k)
        sum += double(a.at(row, k)) * b.at(column, k);
      // 64 rows: 16 in each quarter of the lanes.
      int lane = a.rows == 64 ? row / 16 * 32 + row % 16 : row;
      wrong += d[lane * b.rows + column] != float(sum);
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
