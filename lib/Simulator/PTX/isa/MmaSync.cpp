//===- MmaSync.cpp - mma.sync ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.14.5, mma.sync: m16n8kK of f16, bf16, tf32, e4m3, e5m2 and 8-bit
/// integers, m8n8k16 of 8-bit integers, f64. Products are exact, sums are
/// rounded to f32 in the order of k; hardware's order and truncation differ
/// (that of 8-bit floats on sm_89 is simulated: multiplyAccumulateShort).
///
//===----------------------------------------------------------------------===//

#include "../ProgramBuilder.h"
#include "Families.h"
#include "MatrixMath.h"

#include <algorithm>
#include <limits>

using namespace attn::sim;

namespace {

struct MmaPayload : Payload {
  std::vector<Operand> d, a, b, c;
  u32 numK = 0;
  ElementKind kindA = ElementKind::F16, kindB = ElementKind::F16;
  Type typeD = Type::None, typeC = Type::None;
  bool hasShortSums = false;

  void forEachOperand(const OperandVisitor &visit) override {
    for (std::vector<Operand> *list : {&a, &b, &c})
      for (Operand &operand : *list)
        visit(operand, /*writes=*/false, /*reads=*/true);
    for (Operand &operand : d)
      visit(operand, /*writes=*/true, /*reads=*/false);
  }
};

const MmaPayload &payload(const Instruction &i) {
  return static_cast<const MmaPayload &>(*i.payload);
}

constexpr u32 maxK = 32;
using Accumulators = float[4][warpSize];

void loadAccumulators(const Warp &warp, const MmaPayload &mma,
                      Accumulators &sums) {
  for (u32 c = 0; c < 4; ++c) {
    if (isIntegerKind(mma.kindA)) {
      std::fill_n(sums[c], warpSize, 0.f);
    } else if (mma.typeC == Type::F16) {
      const u32 *source = source32(warp, mma.c[c >> 1]);
      for (u32 lane = 0; lane < warpSize; ++lane)
        sums[c][lane] = halfToFloat(u16(source[lane] >> 16 * (c & 1)));
    } else {
      std::memcpy(sums[c], source32(warp, mma.c[c]), sizeof sums[c]);
    }
  }
}

/// Sums of 8-bit products are exact in f32.
void storeIntegers(Warp &warp, const Instruction &i, const MmaPayload &mma,
                   const Accumulators &sums) {
  using Limits = std::numeric_limits<s32>;
  for (u32 c = 0; c < 4; ++c) {
    u32 results[warpSize];
    const u32 *source = source32(warp, mma.c[c]);
    for (u32 lane = 0; lane < warpSize; ++lane) {
      s64 sum = s64(s32(source[lane])) + s64(sums[c][lane]);
      if (i.saturate)
        sum = std::clamp<s64>(sum, Limits::min(), Limits::max());
      results[lane] = u32(sum);
    }
    std::memcpy(dest32(warp, mma.d[c]), results, sizeof results);
  }
}

void storeFloats(Warp &warp, const MmaPayload &mma, const Accumulators &sums) {
  if (mma.typeD == Type::F16) {
    for (u32 r = 0; r < 2; ++r)
      for (u32 lane = 0; lane < warpSize; ++lane)
        dest32(warp, mma.d[r])[lane] = floatToHalf(sums[2 * r][lane]) |
                                       u32(floatToHalf(sums[2 * r + 1][lane]))
                                           << 16;
    return;
  }
  for (u32 c = 0; c < 4; ++c)
    for (u32 lane = 0; lane < warpSize; ++lane) {
      float sum = sums[c][lane];
      dest32(warp, mma.d[c])[lane] = sum != sum ? canonicalNaN32 : asBits(sum);
    }
}

Step runMma(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const MmaPayload &mma = payload(i);
  alignas(64) float a[maxK * 64], b[maxK * 8];
  alignas(64) Accumulators sums;
  float *d[4] = {sums[0], sums[1], sums[2], sums[3]};
  gatherFragmentA(warp, mma.a, mma.kindA, mma.numK, a);
  gatherFragmentB(warp, mma.b, mma.kindB, mma.numK, b);
  loadAccumulators(warp, mma, sums);
  auto multiply =
      mma.hasShortSums ? multiplyAccumulateShort : multiplyAccumulate;
  multiply(d, a, b, mma.numK, 1);
  if (isIntegerKind(mma.kindA))
    storeIntegers(warp, i, mma, sums);
  else
    storeFloats(warp, mma, sums);
  return Step::Next;
}

/// f64, m8n8k4 and m16n8kK. Lane l, with g = l / 4 and t = l % 4, holds in
/// register r of A row g + 8 (r % (m / 8)), column t + 4 (r / (m / 8)); of B
/// row t + 4 r, column g; of C and D row g + 8 (r / 2), column 2 t + r % 2.
Step runMmaDouble(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const MmaPayload &mma = payload(i);
  double a[16][16], b[16][8], results[4][warpSize];
  size_t halves = mma.d.size() / 2;
  for (u32 lane = 0; lane < warpSize; ++lane) {
    u32 g = lane / 4, t = lane % 4;
    for (size_t r = 0; r < mma.a.size(); ++r)
      a[g + 8 * (r % halves)][t + 4 * (r / halves)] =
          asDouble(laneValue(warp, mma.a[r], lane));
    for (size_t r = 0; r < mma.b.size(); ++r)
      b[t + 4 * r][g] = asDouble(laneValue(warp, mma.b[r], lane));
  }
  for (size_t c = 0; c < mma.c.size(); ++c)
    for (u32 lane = 0; lane < warpSize; ++lane) {
      double sum = asDouble(laneValue(warp, mma.c[c], lane));
      for (u32 k = 0; k < mma.numK; ++k)
        sum = __builtin_fma(a[lane / 4 + 8 * (c / 2)][k],
                            b[k][lane % 4 * 2 + c % 2], sum);
      results[c][lane] = sum;
    }
  for (size_t c = 0; c < mma.d.size(); ++c)
    std::memcpy(dest64(warp, mma.d[c]), results[c], sizeof results[c]);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void decodeFragments(Decoder &decoder, MmaPayload &mma, u32 bytes) {
  mma.d = decoder.destinations(decoder.operand(0), bytes);
  mma.a = decoder.sources(decoder.operand(1), bytes);
  mma.b = decoder.sources(decoder.operand(2), bytes);
  mma.c = decoder.sources(decoder.operand(3), bytes);
  for (const Operand &operand : mma.d)
    if (operand.isSink())
      decoder.fail("expected registers as destination");
}

void checkSizes(Decoder &decoder, const MmaPayload &mma, size_t d, size_t a,
                size_t b, size_t c) {
  if (mma.d.size() != d || mma.a.size() != a || mma.b.size() != b ||
      mma.c.size() != c)
    decoder.fail(format("expected fragments of %zu, %zu, %zu and %zu "
                        "registers, got %zu, %zu, %zu and %zu",
                        d, a, b, c, mma.d.size(), mma.a.size(), mma.b.size(),
                        mma.c.size()));
}

void decodeSmallFloatMma(Decoder &decoder, MmaPayload &mma,
                         const MatrixShape &shape) {
  std::optional<ElementKind> kindA = elementKind(decoder.types()[1]);
  std::optional<ElementKind> kindB = elementKind(decoder.types()[2]);
  if (shape.m != 16 || shape.n != 8 || shape.k < 1 || shape.k > int(maxK))
    decoder.fail("unsupported shape");
  if (!kindA || !kindB || elementBytes(*kindA) != elementBytes(*kindB) ||
      isIntegerKind(*kindA) != isIntegerKind(*kindB))
    decoder.fail("unsupported element types");
  mma.kindA = *kindA;
  mma.kindB = *kindB;
  // sm_90a and sm_100a make such products of conversions and f16.
  mma.hasShortSums = isFloat8Kind(*kindA) && mma.typeD == Type::F32 &&
                     decoder.builder.getModule().target() == "sm_89";
  decodeFragments(decoder, mma, 4);
  u32 registersA = 16 * shape.k * elementBytes(*kindA) / 128;
  if (registersA % 2 || registersA == 0)
    decoder.fail("unsupported shape");
  checkSizes(decoder, mma, mma.typeD == Type::F16 ? 2 : 4, registersA,
             registersA / 2, mma.typeC == Type::F16 ? 2 : 4);
  decoder.setHandler(runMma, InstructionClass::Mma);
}

/// PTX ISA 9.7.14.5 mma.sync.
bool decodeMma(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  std::optional<MatrixShape> shape = decodeShape(decoder);
  if (!shape || decoder.types().size() != 4)
    decoder.fail("expected a shape and four types");
  if (decoder.has("sp") || decoder.hasPrefix("sp::"))
    decoder.fail("sparse mma is not supported");
  auto mma = std::make_shared<MmaPayload>();
  mma->typeD = decoder.types()[0];
  mma->typeC = decoder.types()[3];
  mma->numK = shape->k;
  i.payload = mma;
  i.flops = 2ull * shape->m * shape->n * shape->k;
  if (decoder.types()[1] != Type::F64) {
    decodeSmallFloatMma(decoder, *mma, *shape);
    return true;
  }
  bool isSmall = shape->m == 8 && shape->k == 4;
  bool isLarge =
      shape->m == 16 && (shape->k == 4 || shape->k == 8 || shape->k == 16);
  if (shape->n != 8 || (!isSmall && !isLarge))
    decoder.fail("unsupported shape");
  decodeFragments(decoder, *mma, 8);
  size_t halves = shape->m / 8, steps = shape->k / 4;
  checkSizes(decoder, *mma, 2 * halves, halves * steps, steps, 2 * halves);
  decoder.setHandler(runMmaDouble, InstructionClass::Mma);
  return true;
}

} // namespace

void attn::sim::registerMmaSync(OpcodeTable &table) {
  table.add("mma", decodeMma);
}
