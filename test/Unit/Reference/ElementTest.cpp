//===- ElementTest.cpp - Tests of rounding and tensors --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Element.h"
#include "attn/Reference/Tensor.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::reference;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Element, roundsTiesToEven) {
  // bf16 has 8 significant bits: between 256 and 512 the spacing is 2.
  EXPECT_EQ(roundToElement(257, ElementType::BF16), 256);
  EXPECT_EQ(roundToElement(259, ElementType::BF16), 260);
  EXPECT_EQ(roundToElement(257.001, ElementType::BF16), 258);
  // f16 has 11: between 2048 and 4096 the spacing is 2.
  EXPECT_EQ(roundToElement(2049, ElementType::F16), 2048);
  EXPECT_EQ(roundToElement(-2051, ElementType::F16), -2052);
  // f32 has 24.
  EXPECT_EQ(roundToElement(16777217, ElementType::F32), 16777216);
  EXPECT_EQ(roundToElement(0.1, ElementType::F64), 0.1);
}

TEST(Element, overflowsByTheIeeeRule) {
  EXPECT_EQ(roundToElement(65519.9, ElementType::F16), 65504);
  EXPECT_EQ(roundToElement(65520, ElementType::F16), kInfinity);
  EXPECT_EQ(roundToElement(-1e30, ElementType::F16), -kInfinity);
  EXPECT_EQ(roundToElement(1e39, ElementType::BF16), kInfinity);
  EXPECT_EQ(roundToElement(464, ElementType::F8E4M3FN), 448);
  EXPECT_TRUE(std::isnan(roundToElement(500, ElementType::F8E4M3FN)));
}

TEST(Element, roundsSubnormals) {
  double tiny = std::ldexp(1, -24); // the smallest f16
  EXPECT_EQ(roundToElement(tiny, ElementType::F16), tiny);
  EXPECT_EQ(roundToElement(tiny / 2, ElementType::F16), 0);
  EXPECT_EQ(roundToElement(tiny * 1.5, ElementType::F16), 2 * tiny);
  EXPECT_TRUE(std::signbit(roundToElement(-tiny / 4, ElementType::F16)));
}

TEST(Element, encodesKnownBits) {
  EXPECT_EQ(encodeElement(1, ElementType::F16), 0x3C00u);
  EXPECT_EQ(encodeElement(-2, ElementType::BF16), 0xC000u);
  EXPECT_EQ(encodeElement(65504, ElementType::F16), 0x7BFFu);
  EXPECT_EQ(encodeElement(kInfinity, ElementType::F16), 0x7C00u);
  EXPECT_EQ(encodeElement(std::nan(""), ElementType::BF16), 0x7FC0u);
  EXPECT_EQ(encodeElement(448, ElementType::F8E4M3FN), 0x7Eu);
  EXPECT_EQ(encodeElement(1, ElementType::F8E5M2), 0x3Cu);
  EXPECT_EQ(encodeElement(-0.0, ElementType::F32), 0x80000000u);
  EXPECT_EQ(encodeElement(1.5, ElementType::F32), 0x3FC00000u);
  EXPECT_EQ(encodeElement(3, ElementType::I1), 1u);
}

TEST(Element, decodeInvertsEncodeForEveryBitPattern) {
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2,
                           ElementType::F16, ElementType::BF16}) {
    uint64_t count = uint64_t(1) << (8 * getSizeBytes(type));
    for (uint64_t bits = 0; bits < count; ++bits) {
      double value = decodeElement(bits, type);
      if (std::isnan(value)) {
        EXPECT_TRUE(
            std::isnan(decodeElement(encodeElement(value, type), type)));
        continue;
      }
      ASSERT_EQ(encodeElement(value, type), bits) << getName(type).data();
    }
  }
}

TEST(Element, f32AgreesWithTheHost) {
  for (double value : {0.1, 1e-40, 3e38, 1.0 / 3, -1e-45})
    EXPECT_EQ(roundToElement(value, ElementType::F32),
              static_cast<double>(static_cast<float>(value)));
}

TEST(Element, tf32) {
  // 10 bits of fraction; a tie (half a unit of the last bit) goes away from 0.
  EXPECT_EQ(roundToTf32(1.0), 1.0);
  EXPECT_EQ(roundToTf32(1.0 + 0x1p-10), 1.0 + 0x1p-10);
  EXPECT_EQ(roundToTf32(1.0 + 0x1p-11), 1.0 + 0x1p-10);
  EXPECT_EQ(roundToTf32(-1.0 - 0x1p-11), -1.0 - 0x1p-10);
  EXPECT_EQ(roundToTf32(1.0 + 0x1p-11 - 0x1p-20), 1.0);
  EXPECT_EQ(roundToTf32(-std::numeric_limits<double>::infinity()),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(roundToTf32(std::nan(""))));
}

TEST(Tensor, readsAndWritesStridedMemory) {
  // A 2x3 matrix stored by columns, as f16 bits.
  const uint16_t memory[] = {0x3C00, 0x4400, 0x4000, 0x4500, 0x4200, 0x4600};
  Tensor tensor = Tensor::fromMemory(memory, {2, 3}, {1, 2}, ElementType::F16);
  EXPECT_EQ(tensor.getValues(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  uint16_t rows[6] = {};
  tensor.toMemory(rows, {3, 1});
  EXPECT_EQ(rows[1], 0x4000);
  EXPECT_EQ(rows[3], 0x4400);
}

TEST(Tensor, strideZeroBroadcasts) {
  const float memory[] = {1.5f, 2.5f};
  Tensor tensor = Tensor::fromMemory(memory, {3, 2}, {0, 1}, ElementType::F32);
  EXPECT_EQ(tensor.getValues(),
            (std::vector<double>{1.5, 2.5, 1.5, 2.5, 1.5, 2.5}));
}

TEST(Tensor, roundsWhatIsStored) {
  Tensor tensor({2}, ElementType::BF16);
  tensor.set(0, 257);
  EXPECT_EQ(tensor[0], 256);
  Tensor wide({1}, ElementType::F64);
  wide.set(0, 2049);
  EXPECT_EQ(wide.convertTo(ElementType::F16)[0], 2048);
  EXPECT_EQ(formatShape({2, 8, 128, 64}), "2x8x128x64");
  EXPECT_EQ(getRowMajorStrides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
}

TEST(Tensor, unwrittenIsNoOtherNan) {
  const double unwritten = getUnwritten(), nan = std::nan("");
  EXPECT_TRUE(std::isnan(unwritten));
  EXPECT_TRUE(isUnwritten(unwritten));
  EXPECT_TRUE(isUnwritten(-unwritten));
  // What is computed from it, and from numbers, is as undefined.
  EXPECT_TRUE(isUnwritten(2 * unwritten + 1));
  EXPECT_TRUE(isUnwritten(roundToElement(unwritten, ElementType::F16)));
  for (double other : {0.0, 1.0, nan, -nan, std::sqrt(-1.0),
                       std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(isUnwritten(other)) << other;
}
