//===- IntegerTest.cpp - Integer, bit-field and logic families ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim::test;

namespace {

TEST(Integer, AddSubSaturate) {
  EXPECT_EQ(evaluateOne("add.s32 %r3, %r1, %r2;", 0x7FFFFFFF, 1), 0x80000000u);
  EXPECT_EQ(evaluateOne("add.sat.s32 %r3, %r1, %r2;", 0x7FFFFFFF, 1),
            0x7FFFFFFFu);
  EXPECT_EQ(evaluateOne("sub.sat.s32 %r3, %r1, %r2;", 0x80000000, 1),
            0x80000000u);
}

TEST(Integer, MultiplyHighAndWide) {
  EXPECT_EQ(evaluateOne("mul.hi.u32 %r3, %r1, %r2;", 0xFFFFFFFF, 0xFFFFFFFF),
            0xFFFFFFFEu);
  EXPECT_EQ(evaluateOne("mul.hi.s32 %r3, %r1, %r2;", 0xFFFFFFFF, 2),
            0xFFFFFFFFu);
  EXPECT_EQ(evaluateOne("mul.wide.s32 %rd2, %r1, %r2; shr.u64 %rd2, %rd2, 32;"
                        "cvt.u32.u64 %r3, %rd2;",
                        0x80000000, 0x80000000),
            0x40000000u);
  EXPECT_EQ(evaluateOne("mad.lo.s32 %r3, %r1, %r2, %r4;", 7, 6, 5), 47u);
}

TEST(Integer, DivisionEdges) {
  EXPECT_EQ(evaluateOne("div.u32 %r3, %r1, %r2;", 5, 0), 0xFFFFFFFFu);
  EXPECT_EQ(evaluateOne("div.s32 %r3, %r1, %r2;", 0x80000000, 0xFFFFFFFF),
            0x80000000u);
  EXPECT_EQ(evaluateOne("rem.s32 %r3, %r1, %r2;", uint32_t(-7), 3),
            uint32_t(-1));
  EXPECT_EQ(evaluateOne("rem.u32 %r3, %r1, %r2;", 9, 0), 9u);
}

TEST(Integer, CarryChain) {
  EXPECT_EQ(evaluateOne("add.cc.u32 %r5, %r1, %r2; addc.u32 %r3, 0, 0;",
                        0xFFFFFFFF, 1),
            1u);
  EXPECT_EQ(evaluateOne("sub.cc.u32 %r5, %r1, %r2; subc.u32 %r3, 0, 0;", 0, 1),
            0xFFFFFFFFu);
}

TEST(Integer, MinMaxAbsNeg) {
  EXPECT_EQ(evaluateOne("min.s32 %r3, %r1, %r2;", uint32_t(-1), 1),
            uint32_t(-1));
  EXPECT_EQ(evaluateOne("min.u32 %r3, %r1, %r2;", uint32_t(-1), 1), 1u);
  EXPECT_EQ(evaluateOne("max.s16x2 %r3, %r1, %r2;", 0xFFFF0005, 0x00010003),
            0x00010005u);
  EXPECT_EQ(evaluateOne("abs.s32 %r3, %r1;", 0x80000000), 0x80000000u);
  EXPECT_EQ(
      evaluateOne("max.relu.s32 %r3, %r1, %r2;", uint32_t(-5), uint32_t(-3)),
      0u);
}

TEST(Integer, Dp4a) {
  EXPECT_EQ(evaluateOne("dp4a.s32.s32 %r3, %r1, %r2, %r4;", 0xFF02FF02,
                        0x01010101, 10),
            12u);
  EXPECT_EQ(evaluateOne("dp4a.u32.u32 %r3, %r1, %r2, %r4;", 0x01020304,
                        0x04030201, 100),
            120u);
}

TEST(BitField, Extract) {
  EXPECT_EQ(evaluateOne("bfe.u32 %r3, %r1, 4, 8;", 0x12345678), 0x67u);
  EXPECT_EQ(evaluateOne("bfe.s32 %r3, %r1, 28, 8;", 0x80000000), 0xFFFFFFF8u);
  EXPECT_EQ(evaluateOne("bfe.s32 %r3, %r1, 40, 4;", 0x80000000), 0xFFFFFFFFu);
  EXPECT_EQ(evaluateOne("bfe.u32 %r3, %r1, 0, 0;", 0xFFFFFFFF), 0u);
}

TEST(BitField, InsertCountFind) {
  EXPECT_EQ(evaluateOne("bfi.b32 %r3, %r1, %r2, 8, 8;", 0xAB, 0x12345678),
            0x1234AB78u);
  EXPECT_EQ(evaluateOne("popc.b32 %r3, %r1;", 0xF0F0), 8u);
  EXPECT_EQ(evaluateOne("clz.b32 %r3, %r1;", 0), 32u);
  EXPECT_EQ(evaluateOne("bfind.s32 %r3, %r1;", 0xFFFFFFFF), 0xFFFFFFFFu);
  EXPECT_EQ(evaluateOne("bfind.shiftamt.u32 %r3, %r1;", 0x00800000), 8u);
  EXPECT_EQ(evaluateOne("brev.b32 %r3, %r1;", 1), 0x80000000u);
  EXPECT_EQ(evaluateOne("fns.b32 %r3, %r1, 0, 2;", 0b101000), 5u);
}

TEST(Integer, DotProducts) {
  // 3 * 5 + (-2) * 127, on the lower and on the upper bytes.
  EXPECT_EQ(int32_t(evaluateOne("dp2a.lo.s32.s32 %r3, %r1, %r2, 100;",
                                0xFFFE0003, 0x00007F05)),
            100 + 15 - 254);
  EXPECT_EQ(int32_t(evaluateOne("dp2a.hi.s32.u32 %r3, %r1, %r2, 0;", 0xFFFE0003,
                                0xFF050000)),
            15 - 510);
}

TEST(Integer, TwentyFourBits) {
  EXPECT_EQ(evaluateOne("mul24.hi.u32 %r3, %r1, %r2;", 0xFFFFFFFF, 0xFFFFFF),
            0xFFFFFE00u);
  EXPECT_EQ(evaluateOne("mul24.hi.s32 %r3, %r1, %r2;", 0x00FFFFFF, 0x010000),
            0xFFFFFFFFu);
  EXPECT_EQ(evaluateOne("mad24.lo.s32 %r3, %r1, %r2, 7;", 0xFFFFFF, 3), 4u);
  EXPECT_EQ(evaluateOne("mad24.hi.sat.s32 %r3, %r1, %r2, 0x7FFFFFFF;", 0x7FFFFF,
                        0x7FFFFF),
            0x7FFFFFFFu);
  EXPECT_EQ(evaluateOne("mad.hi.sat.s32 %r3, %r1, %r2, 0x80000000;", 0x80000000,
                        0x7FFFFFFF),
            0x80000000u);
}

TEST(Integer, PackedHalves) {
  EXPECT_EQ(evaluateOne("add.u16x2 %r3, %r1, %r2;", 0xFFFF0001, 0x0001FFFF),
            0u);
  EXPECT_EQ(
      evaluateOne("min.relu.s16x2 %r3, %r1, %r2;", 0xFFF00005, 0x00030007), 5u);
  EXPECT_EQ(evaluateOne("max.s16x2 %r3, %r1, %r2;", 0xFFF00005, 0x00030007),
            0x00030007u);
}

TEST(Convert, PackSaturates) {
  EXPECT_EQ(
      evaluateOne("cvt.pack.sat.s16.s32 %r3, %r1, %r2;", 40000, uint32_t(-5)),
      0x7FFFFFFBu);
  EXPECT_EQ(evaluateOne("cvt.pack.sat.u8.s32.b32 %r3, %r1, %r2, 0xABCD1234;",
                        300, uint32_t(-5)),
            0x1234FF00u);
  EXPECT_EQ(evaluateOne("cvt.pack.sat.s8.s32.b32 %r3, %r1, %r2, 0;",
                        uint32_t(-300), 5),
            0x8005u);
}

TEST(BitField, Permute) {
  EXPECT_EQ(
      evaluateOne("prmt.b32 %r3, %r1, %r2, 0x5410;", 0x33221100, 0x77665544),
      0x55441100u);
  EXPECT_EQ(
      evaluateOne("prmt.b32 %r3, %r1, %r2, 0x000F;", 0x33221100, 0x80665544),
      0x000000FFu);
  EXPECT_EQ(evaluateOne("prmt.b32.rc16 %r3, %r1, %r2, 1;", 0x33221100, 0),
            0x33223322u);
}

TEST(Logic, ShiftsClamp) {
  EXPECT_EQ(evaluateOne("shl.b32 %r3, %r1, 32;", 0xFFFFFFFF), 0u);
  EXPECT_EQ(evaluateOne("shr.s32 %r3, %r1, 40;", 0x80000000), 0xFFFFFFFFu);
  EXPECT_EQ(evaluateOne("shf.l.wrap.b32 %r3, %r1, %r2, 36;", 0xF0000000, 0x1),
            0x1Fu);
  EXPECT_EQ(evaluateOne("shf.r.clamp.b32 %r3, %r1, %r2, 40;", 1, 0xABCD),
            0xABCDu);
}

TEST(Logic, LookupTable) {
  // Every truth table of the three inputs.
  for (uint32_t table : {0x96u, 0xE8u, 0xCAu, 0x01u, 0x80u, 0xFEu}) {
    uint32_t expected = 0;
    const uint32_t a = 0xF0, b = 0xCC, c = 0xAA;
    for (uint32_t bit = 0; bit < 8; ++bit) {
      uint32_t index =
          ((a >> bit) & 1) << 2 | ((b >> bit) & 1) << 1 | ((c >> bit) & 1);
      expected |= ((table >> index) & 1) << bit;
    }
    std::string text = "lop3.b32 %r3, %r1, %r2, %r4, " + std::to_string(table) +
                       "; and.b32 %r3, %r3, 0xFF;";
    EXPECT_EQ(evaluateOne(text, a, b, c), expected) << table;
  }
}

TEST(Compare, UnsignedAndUnordered) {
  EXPECT_EQ(evaluateOne("setp.lo.s32 %p1, %r1, %r2; selp.u32 %r3, 1, 0, %p1;",
                        uint32_t(-1), 1),
            0u);
  EXPECT_EQ(evaluateOne("setp.lt.s32 %p1, %r1, %r2; selp.u32 %r3, 1, 0, %p1;",
                        uint32_t(-1), 1),
            1u);
  const uint32_t nan = 0x7FC00000;
  auto compare = [&](const char *op) {
    return evaluateOne(
        std::string("mov.b32 %f1, %r1; mov.b32 %f2, %r2; setp.") + op +
            ".f32 %p1, %f1, %f2; selp.u32 %r3, 1, 0, %p1;",
        nan, f32(1));
  };
  EXPECT_EQ(compare("ne"), 0u);
  EXPECT_EQ(compare("neu"), 1u);
  EXPECT_EQ(compare("ltu"), 1u);
  EXPECT_EQ(compare("num"), 0u);
  EXPECT_EQ(compare("nan"), 1u);
}

} // namespace
