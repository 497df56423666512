//===- FloatTest.cpp - Float, half and convert families -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

#include <cmath>

using namespace attn::sim::test;

namespace {

constexpr uint32_t canonicalNaN = 0x7FFFFFFF;
constexpr uint32_t subnormal = 0x00000001;

/// Loads %f1, %f2 from %r1, %r2, runs `op` and stores %f3 to %r3.
uint32_t evaluateFloat(const std::string &op, uint32_t a, uint32_t b = 0) {
  return evaluateOne(
      "mov.b32 %f1, %r1; mov.b32 %f2, %r2;" + op + "mov.b32 %r3, %f3;", a, b);
}
float evaluateFloat(const std::string &op, float a, float b) {
  return toFloat(evaluateFloat(op, f32(a), f32(b)));
}

TEST(Float, DirectedRounding) {
  // 1 + 2^-24 is halfway between 1 and its successor.
  float tie = std::ldexp(1.f, -24);
  EXPECT_EQ(evaluateFloat("add.rn.f32 %f3, %f1, %f2;", 1.f, tie), 1.f);
  EXPECT_EQ(evaluateFloat("add.rp.f32 %f3, %f1, %f2;", 1.f, tie),
            std::nextafter(1.f, 2.f));
  EXPECT_EQ(evaluateFloat("add.rz.f32 %f3, %f1, %f2;", -1.f, -tie), -1.f);
  EXPECT_EQ(evaluateFloat("add.rm.f32 %f3, %f1, %f2;", -1.f, -tie),
            std::nextafter(-1.f, -2.f));
}

TEST(Float, FmaRoundsOnce) {
  float a = 1.f + std::ldexp(1.f, -12);
  EXPECT_EQ(evaluateFloat("fma.rn.f32 %f3, %f1, %f1, %f2;", a, -1.f),
            std::fma(a, a, -1.f));
  EXPECT_NE(std::fma(a, a, -1.f), a * a - 1.f);
}

/// Stores both halves of `op` on the pairs (a, b), (c, d), (e, f).
std::vector<float> evaluatePair(const std::string &op,
                                const std::vector<float> &values) {
  std::vector<uint32_t> buffer(8);
  for (size_t k = 0; k < 6; ++k)
    buffer[k] = f32(values[k]);
  std::string ptx = kernel("ld.global.u64 %rd1, [%rd0];"
                           "ld.global.u64 %rd2, [%rd0+8];"
                           "ld.global.u64 %rd3, [%rd0+16];" +
                           op + "st.global.u64 [%rd0+24], %rd4;");
  attn::sim::LaunchReport report = runOn(buffer, ptx, {}, {1});
  EXPECT_TRUE(report.clean());
  return {toFloat(buffer[6]), toFloat(buffer[7])};
}

TEST(Float, Pairs) {
  float tie = std::ldexp(1.f, -24), up = std::nextafter(1.f, 2.f);
  std::vector<float> v = {1, -3, tie, 5, 7, 0.5f};
  using Pair = std::vector<float>;
  EXPECT_EQ(evaluatePair("add.rn.f32x2 %rd4, %rd1, %rd2;", v), (Pair{1, 2}));
  EXPECT_EQ(evaluatePair("add.rp.f32x2 %rd4, %rd1, %rd2;", v), (Pair{up, 2}));
  EXPECT_EQ(evaluatePair("sub.f32x2 %rd4, %rd3, %rd1;", v), (Pair{6, 3.5f}));
  EXPECT_EQ(evaluatePair("mul.rn.f32x2 %rd4, %rd1, %rd3;", v),
            (Pair{7, -1.5f}));
  EXPECT_EQ(evaluatePair("fma.rn.f32x2 %rd4, %rd1, %rd2, %rd3;", v),
            (Pair{std::fma(1.f, tie, 7.f), -14.5f}));
  v[0] = std::ldexp(1.f, -140);
  EXPECT_EQ(evaluatePair("mul.ftz.f32x2 %rd4, %rd1, %rd3;", v),
            (Pair{0, -1.5f}));
}

/// Of f16 1.5 and bf16 -3 in %h1 and %h2, and of `c` in %f1.
float evaluateMixed(const std::string &op, float c) {
  return toFloat(evaluateOne("mov.b32 %f1, %r1; mov.b16 %h1, 0x3E00;"
                             "mov.b16 %h2, 0xC040;" +
                                 op + "mov.b32 %r3, %f3;",
                             f32(c), 0));
}

TEST(Float, NarrowOperands) {
  float up = std::nextafter(1.5f, 2.f), tiny = std::ldexp(1.f, -40);
  EXPECT_EQ(evaluateMixed("add.f32.f16 %f3, %h1, %f1;", 0.25f), 1.75f);
  EXPECT_EQ(evaluateMixed("add.rp.f32.f16 %f3, %h1, %f1;", tiny), up);
  EXPECT_EQ(evaluateMixed("sub.rn.f32.bf16 %f3, %h2, %f1;", 0.5f), -3.5f);
  EXPECT_EQ(evaluateMixed("sub.rn.sat.f32.bf16 %f3, %h2, %f1;", 0.5f), 0.f);
  EXPECT_EQ(evaluateMixed("fma.rn.f32.bf16 %f3, %h2, %h2, %f1;", 0.5f), 9.5f);
  EXPECT_EQ(evaluateMixed("fma.rm.f32.f16 %f3, %h1, %h1, %f1;", -tiny),
            std::nextafter(2.25f, 2.f));
}

TEST(Float, SubnormalsAndFlush) {
  EXPECT_EQ(evaluateFloat("add.f32 %f3, %f1, %f2;", subnormal, subnormal), 2u);
  EXPECT_EQ(evaluateFloat("add.ftz.f32 %f3, %f1, %f2;", subnormal, subnormal),
            0u);
  EXPECT_EQ(evaluateFloat("mul.ftz.f32 %f3, %f1, %f2;", 0x80000001, f32(1)),
            0x80000000u);
}

TEST(Float, NaNIsCanonicalAndSaturationRemovesIt) {
  EXPECT_EQ(evaluateFloat("add.f32 %f3, %f1, %f2;", 0xFFC12345, f32(1)),
            canonicalNaN);
  EXPECT_EQ(evaluateFloat("add.sat.f32 %f3, %f1, %f2;", 0xFFC12345, f32(1)),
            0u);
  EXPECT_EQ(evaluateFloat("mul.sat.f32 %f3, %f1, %f2;", 3.f, 2.f), 1.f);
}

TEST(Float, MinMax) {
  uint32_t nan = 0x7FC00000;
  EXPECT_EQ(evaluateFloat("max.f32 %f3, %f1, %f2;", nan, f32(2)), f32(2));
  EXPECT_EQ(evaluateFloat("max.NaN.f32 %f3, %f1, %f2;", nan, f32(2)),
            canonicalNaN);
  EXPECT_EQ(evaluateFloat("min.f32 %f3, %f1, %f2;", f32(0.f), f32(-0.f)),
            f32(-0.f));
  EXPECT_EQ(evaluateFloat("max.f32 %f3, %f1, %f2;", f32(0.f), f32(-0.f)),
            f32(0.f));
  EXPECT_EQ(evaluateFloat("max.f32 %f3, %f1, %f2;", -INFINITY, -3.f), -3.f);
}

TEST(Float, Functions) {
  EXPECT_EQ(evaluateFloat("ex2.approx.ftz.f32 %f3, %f1;", 3.f, 0), 8.f);
  EXPECT_EQ(evaluateFloat("ex2.approx.f32 %f3, %f1;", -INFINITY, 0), 0.f);
  EXPECT_EQ(evaluateFloat("lg2.approx.f32 %f3, %f1;", 8.f, 0), 3.f);
  EXPECT_EQ(evaluateFloat("lg2.approx.f32 %f3, %f1;", 0.f, 0), -INFINITY);
  EXPECT_EQ(evaluateFloat("rcp.approx.f32 %f3, %f1;", 0.f, 0), INFINITY);
  // The nearest f32 to 1/3 lies above it.
  EXPECT_EQ(evaluateFloat("rcp.rp.f32 %f3, %f1;", f32(3)), 0x3EAAAAABu);
  EXPECT_EQ(evaluateFloat("rcp.rm.f32 %f3, %f1;", f32(3)), 0x3EAAAAAAu);
  EXPECT_EQ(evaluateFloat("sqrt.rn.f32 %f3, %f1;", 2.f, 0), std::sqrt(2.f));
}

TEST(Half, TiesGoToEven) {
  // 2049 is halfway between the f16 values 2048 and 2050.
  auto toHalf = [](float value) {
    return evaluateOne("mov.b32 %f1, %r1; cvt.rn.f16.f32 %h1, %f1;"
                       "cvt.u32.u16 %r3, %h1;",
                       f32(value));
  };
  EXPECT_EQ(toHalf(2049.f), 0x6800u);
  EXPECT_EQ(toHalf(2051.f), 0x6802u);
  EXPECT_EQ(toHalf(65519.f), 0x7BFFu);
  EXPECT_EQ(toHalf(65520.f), 0x7C00u);
  EXPECT_EQ(toHalf(std::ldexp(1.f, -24)), 1u);
  EXPECT_EQ(toHalf(std::ldexp(1.f, -25)), 0u);
  EXPECT_EQ(toHalf(NAN), 0x7FFFu);
}

TEST(Half, PackedArithmetic) {
  // {1, 2} * {3, 4} + {1, 1} in f16 and bf16.
  EXPECT_EQ(evaluateOne("mov.u32 %r5, 0x3C003C00;"
                        "fma.rn.f16x2 %r3, %r1, %r2, %r5;",
                        0x40003C00, 0x44004200),
            0x48804400u);
  EXPECT_EQ(evaluateOne("mul.bf16x2 %r3, %r1, %r2;", 0x40003F80, 0x40804040),
            0x41004040u);
  EXPECT_EQ(evaluateOne("fma.rn.relu.bf16x2 %r3, %r1, %r2, %r4;", 0xBF803F80,
                        0x3F803F80, 0),
            0x00003F80u);
}

TEST(Half, FmaRoundsOnce) {
  // In f16, 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; minus 1 - 2^-9 it is exact.
  EXPECT_EQ(evaluateOne("cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2;"
                        "fma.rn.f16 %h3, %h1, %h1, %h2; cvt.u32.u16 %r3, %h3;",
                        0x3C01, 0xBC02),
            0x0010u);
}

TEST(Convert, BrainFloat) {
  EXPECT_EQ(evaluateOne("mov.b32 %f1, %r1; mov.b32 %f2, %r2;"
                        "cvt.rn.bf16x2.f32 %r3, %f1, %f2;",
                        0x3F808000, 0x3F818000),
            0x3F803F82u);
  EXPECT_EQ(evaluateOne("mov.b32 %f1, %r1; cvt.rn.bf16x2.f32 %r3, %f1, %f1;",
                        0x7F800001),
            0x7FFF7FFFu);
  EXPECT_EQ(evaluateOne("mov.b32 %f1, %r1; cvt.rz.bf16x2.f32 %r3, %f1, %f1;",
                        0x3F80FFFF),
            0x3F803F80u);
}

TEST(Convert, Fp8Saturates) {
  auto pack = [](float high, float low) {
    return evaluateOne("mov.b32 %f1, %r1; mov.b32 %f2, %r2;"
                       "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;"
                       "cvt.u32.u16 %r3, %h1;",
                       f32(high), f32(low));
  };
  EXPECT_EQ(pack(1.f, -2.f), 0x38C0u);
  EXPECT_EQ(pack(1e9f, -INFINITY), 0x7EFEu);
  EXPECT_EQ(pack(NAN, std::ldexp(1.f, -9)), 0x7F01u);
  EXPECT_EQ(evaluateOne("cvt.u16.u32 %h1, %r1; cvt.rn.f16x2.e4m3x2 %r3, %h1;",
                        0x7E38),
            0x5F003C00u);
}

// PTX ISA 9.7.9.21 cvt: of sm_89 from version 8.1 on.
TEST(Convert, Fp8NeedsItsTarget) {
  auto run = [](const std::string &version, const std::string &target) {
    std::string ptx =
        kernel("mov.b16 %h1, 0x7E38; cvt.rn.f16x2.e4m3x2 %r3, %h1;");
    ptx.replace(ptx.find("8.5"), 3, version);
    ptx.replace(ptx.find("sm_90a"), 6, target);
    std::vector<uint32_t> buffer(1);
    auto report = runOn(buffer, ptx);
    return report.diagnostics.empty() ? std::string()
                                      : report.diagnostics[0].message;
  };
  EXPECT_EQ(run("7.8", "sm_90"), "");
  EXPECT_EQ(run("8.1", "sm_89"), "");
  EXPECT_NE(run("7.8", "sm_89")
                .find("expected .version 8.1 or later for 8-bit "
                      "floats of sm_89, got 7.8"),
            std::string::npos);
  EXPECT_NE(run("8.5", "sm_86")
                .find("expected a target of sm_89 or later for "
                      "8-bit floats, got sm_86"),
            std::string::npos);
}

TEST(Convert, FloatToInteger) {
  auto toInt = [](const char *op, float value) {
    return int32_t(evaluateOne(
        std::string("mov.b32 %f1, %r1; cvt.") + op + " %r3, %f1;", f32(value)));
  };
  EXPECT_EQ(toInt("rzi.s32.f32", -1.9f), -1);
  EXPECT_EQ(toInt("rni.s32.f32", 2.5f), 2);
  EXPECT_EQ(toInt("rmi.s32.f32", -1.1f), -2);
  EXPECT_EQ(toInt("rpi.s32.f32", 1.1f), 2);
  EXPECT_EQ(toInt("rzi.s32.f32", 1e20f), INT32_MAX);
  EXPECT_EQ(toInt("rzi.s32.f32", NAN), 0);
  EXPECT_EQ(toInt("rzi.u32.f32", -5.f), 0);
  EXPECT_EQ(toInt("rzi.s8.f32", 300.f), 127);
}

TEST(Convert, IntegerSaturation) {
  EXPECT_EQ(int32_t(evaluateOne("cvt.sat.s8.s32 %r3, %r1;", uint32_t(-300))),
            -128);
  EXPECT_EQ(evaluateOne("cvt.sat.u8.s32 %r3, %r1;", uint32_t(-5)), 0u);
  EXPECT_EQ(evaluateOne("cvt.s32.s8 %r3, %r1;", 0x80), 0xFFFFFF80u);
}

TEST(Convert, TF32) {
  EXPECT_EQ(
      evaluateOne("mov.b32 %f1, %r1; cvt.rna.tf32.f32 %r3, %f1;", 0x3F801000),
      0x3F802000u);
  EXPECT_EQ(
      evaluateOne("mov.b32 %f1, %r1; cvt.rna.tf32.f32 %r3, %f1;", 0x3F800FFF),
      0x3F800000u);
}

} // namespace
