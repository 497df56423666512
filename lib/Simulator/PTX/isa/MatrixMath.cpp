//===- MatrixMath.cpp - Fragments and the product of matrices -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixMath.h"

#include <algorithm>
#include <array>
#include <cstdio>

#ifdef __AVX2__
#include <immintrin.h>
#endif

using namespace attn::sim;

std::optional<ElementKind> attn::sim::elementKind(Type type) {
  switch (type) {
  case Type::F16:
    return ElementKind::F16;
  case Type::BF16:
    return ElementKind::BF16;
  case Type::TF32:
    return ElementKind::TF32;
  case Type::E4M3:
    return ElementKind::E4M3;
  case Type::E5M2:
    return ElementKind::E5M2;
  case Type::S8:
    return ElementKind::S8;
  case Type::U8:
    return ElementKind::U8;
  default:
    return std::nullopt;
  }
}

const float *attn::sim::fp8Table(ElementKind kind) {
  using Table = std::array<float, 256>;
  static const std::array<Table, 2> tables = [] {
    std::array<Table, 2> result;
    for (u32 bits = 0; bits < 256; ++bits) {
      result[0][bits] = e4m3ToFloat(u8(bits));
      result[1][bits] = e5m2ToFloat(u8(bits));
    }
    return result;
  }();
  return tables[kind == ElementKind::E5M2].data();
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

namespace {

constexpr u32 strideA = 64; // floats of one k: two halves of 32 lanes

#if defined(__AVX512F__)

/// One block of 8 columns. A lane's value of B depends on lane % 4 only.
void multiplyBlock(float *const *d, const float *a, const float *b, u32 numK,
                   u32 strideB) {
  __m512 sum[4][2];
  for (u32 c = 0; c < 4; ++c) {
    sum[c][0] = _mm512_loadu_ps(d[c]);
    sum[c][1] = _mm512_loadu_ps(d[c] + 16);
  }
  for (u32 k = 0; k < numK; ++k, a += strideA, b += strideB) {
    __m512 even = _mm512_broadcast_f32x4(_mm_loadu_ps(b));
    __m512 odd = _mm512_broadcast_f32x4(_mm_loadu_ps(b + 4));
    __m512 upper0 = _mm512_loadu_ps(a), upper1 = _mm512_loadu_ps(a + 16);
    __m512 lower0 = _mm512_loadu_ps(a + 32), lower1 = _mm512_loadu_ps(a + 48);
    sum[0][0] = _mm512_fmadd_ps(upper0, even, sum[0][0]);
    sum[0][1] = _mm512_fmadd_ps(upper1, even, sum[0][1]);
    sum[1][0] = _mm512_fmadd_ps(upper0, odd, sum[1][0]);
    sum[1][1] = _mm512_fmadd_ps(upper1, odd, sum[1][1]);
    sum[2][0] = _mm512_fmadd_ps(lower0, even, sum[2][0]);
    sum[2][1] = _mm512_fmadd_ps(lower1, even, sum[2][1]);
    sum[3][0] = _mm512_fmadd_ps(lower0, odd, sum[3][0]);
    sum[3][1] = _mm512_fmadd_ps(lower1, odd, sum[3][1]);
  }
  for (u32 c = 0; c < 4; ++c) {
    _mm512_storeu_ps(d[c], sum[c][0]);
    _mm512_storeu_ps(d[c] + 16, sum[c][1]);
  }
}

#elif defined(__AVX2__) && defined(__FMA__)

void multiplyBlock(float *const *d, const float *a0, const float *b0, u32 numK,
                   u32 strideB) {
  for (u32 part = 0; part < warpSize; part += 8) {
    const float *a = a0 + part, *b = b0;
    __m256 sum[4];
    for (u32 c = 0; c < 4; ++c)
      sum[c] = _mm256_loadu_ps(d[c] + part);
    for (u32 k = 0; k < numK; ++k, a += strideA, b += strideB) {
      __m256 even = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(b));
      __m256 odd = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(b + 4));
      __m256 upper = _mm256_loadu_ps(a), lower = _mm256_loadu_ps(a + 32);
      sum[0] = _mm256_fmadd_ps(upper, even, sum[0]);
      sum[1] = _mm256_fmadd_ps(upper, odd, sum[1]);
      sum[2] = _mm256_fmadd_ps(lower, even, sum[2]);
      sum[3] = _mm256_fmadd_ps(lower, odd, sum[3]);
    }
    for (u32 c = 0; c < 4; ++c)
      _mm256_storeu_ps(d[c] + part, sum[c]);
  }
}

#else

void multiplyBlock(float *const *d, const float *a, const float *b, u32 numK,
                   u32 strideB) {
  for (u32 c = 0; c < 4; ++c)
    for (u32 k = 0; k < numK; ++k) {
      const float *row = a + k * strideA + (c >> 1) * warpSize;
      const float *column = b + size_t(k) * strideB + (c & 1) * 4;
      for (u32 group = 0; group < warpSize; group += 4)
        for (u32 lane = group; lane < group + 4; ++lane)
          d[c][lane] =
              __builtin_fmaf(row[lane], column[lane - group], d[c][lane]);
    }
}

#endif

constexpr int shortSumBits = 13;

/// products[lane] = a[lane] * b[lane % 4]. (Two loops: clang 22 takes b[lane &
/// 3] for b[lane] where it vectorises.)
inline void multiplyQuads(const float *a, const float *b, float *products) {
  for (u32 lane = 0; lane < warpSize; lane += 4)
    for (u32 quad = 0; quad < 4; ++quad)
      products[lane + quad] = a[lane + quad] * b[quad];
}

/// One accumulator register of a block. `a` and `b` as of its lanes.
void multiplyShort(float *d, const float *a, const float *b, u32 numK,
                   u32 strideB) {
  float product[warpSize];
  u32 largest[warpSize];
  for (u32 lane = 0; lane < warpSize; ++lane)
    largest[lane] = asBits(d[lane]) & 0x7FFFFFFF;
  for (u32 k = 0; k < numK; ++k) {
    multiplyQuads(a + k * strideA, b + k * strideB, product);
    for (u32 lane = 0; lane < warpSize; ++lane)
      largest[lane] =
          std::max(largest[lane], asBits(product[lane]) & 0x7FFFFFFF);
  }
  float unit[warpSize], inverse[warpSize];
  s32 sum[warpSize];
  for (u32 lane = 0; lane < warpSize; ++lane) {
    // Below, a unit would be no normal number: nothing of 8 bits is so small.
    int exponent = std::clamp<int>(largest[lane] >> 23, 2 * shortSumBits, 254);
    unit[lane] = asFloat(u32(exponent - shortSumBits) << 23);
    inverse[lane] = asFloat(u32(254 - exponent + shortSumBits) << 23);
    bool isFinite = largest[lane] < 0x7F800000;
    sum[lane] = isFinite ? s32(d[lane] * inverse[lane]) : 0;
  }
  for (u32 k = 0; k < numK; ++k) {
    multiplyQuads(a + k * strideA, b + k * strideB, product);
    for (u32 lane = 0; lane < warpSize; ++lane) {
      float term = product[lane] * inverse[lane];
      sum[lane] += largest[lane] < 0x7F800000 ? s32(term) : 0;
    }
  }
  for (u32 lane = 0; lane < warpSize; ++lane)
    if (largest[lane] < 0x7F800000)
      d[lane] = float(sum[lane]) * unit[lane];
    else
      for (u32 k = 0; k < numK; ++k)
        d[lane] += a[k * strideA + lane] * b[k * strideB + lane % 4];
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Where element k of a row lies: a register holds 4 / bytes elements, a group
/// of 4 lanes thus 16 / bytes, and the next ones are in the next register.
template <ElementKind kind>
struct FragmentPosition {
  static constexpr u32 bytes = elementBytes(kind);
  static constexpr u32 perRegister = 4 / bytes;
  static constexpr u32 perGroup = 4 * perRegister;
  static constexpr u32 mask = bytes == 4 ? ~0u : (1u << (8 * bytes % 32)) - 1;

  u32 group, quad, shift;
  explicit FragmentPosition(u32 k)
      : group(k / perGroup), quad(k % perGroup / perRegister),
        shift(8 * bytes * (k % perRegister)) {}
};

/// to[lane] = from[lane / 4 * 4 + quad]: the value that one lane of each group
/// of four holds, for all of the group.
template <int quad>
void broadcastQuad(const float *from, float *to) {
#if defined(__AVX512F__)
  for (u32 lane = 0; lane < warpSize; lane += 16)
    _mm512_storeu_ps(to + lane, _mm512_permute_ps(_mm512_loadu_ps(from + lane),
                                                  quad * 0x55));
#else
  for (u32 lane = 0; lane < warpSize; lane += 4)
    to[lane] = to[lane + 1] = to[lane + 2] = to[lane + 3] = from[lane + quad];
#endif
}

/// The elements at k + 2 * quad, and the next ones, of a register of 16-bit
/// elements.
template <int quad>
void spreadPair(const float *lower, const float *upper, float *a) {
  broadcastQuad<quad>(lower, a + 2 * quad * strideA);
  broadcastQuad<quad>(upper, a + (2 * quad + 1) * strideA);
}

/// gatherA for 16-bit elements, a register at a time.
template <ElementKind kind>
void gatherPairsA(const Warp &warp, const std::vector<Operand> &registers,
                  u32 numK, float *a) {
  for (u32 k = 0; k < numK; k += 8)
    for (u32 half = 0; half < 2; ++half) {
      const u32 *source = source32(warp, registers[k / 8 * 2 + half]);
      alignas(64) float lower[warpSize], upper[warpSize];
      for (u32 lane = 0; lane < warpSize; ++lane) {
        lower[lane] = elementValue<kind>(source[lane] & 0xFFFF);
        upper[lane] = elementValue<kind>(source[lane] >> 16);
      }
      float *to = a + k * strideA + half * warpSize;
      spreadPair<0>(lower, upper, to);
      spreadPair<1>(lower, upper, to);
      spreadPair<2>(lower, upper, to);
      spreadPair<3>(lower, upper, to);
    }
}

template <ElementKind kind>
void gatherA(const Warp &warp, const std::vector<Operand> &registers, u32 numK,
             float *a) {
  if constexpr (elementBytes(kind) == 2)
    return gatherPairsA<kind>(warp, registers, numK, a);
  for (u32 k = 0; k < numK; ++k) {
    FragmentPosition<kind> at(k);
    for (u32 half = 0; half < 2; ++half) {
      const u32 *source = source32(warp, registers[at.group * 2 + half]);
      float *row = a + k * strideA + half * warpSize;
      for (u32 r = 0; r < 8; ++r, row += 4) {
        u32 bits = (source[r * 4 + at.quad] >> at.shift) & at.mask;
        row[0] = row[1] = row[2] = row[3] = elementValue<kind>(bits);
      }
    }
  }
}

template <ElementKind kind>
void gatherB(const Warp &warp, const std::vector<Operand> &registers, u32 numK,
             float *b) {
  for (u32 k = 0; k < numK; ++k) {
    FragmentPosition<kind> at(k);
    const u32 *source = source32(warp, registers[at.group]);
    for (u32 n = 0; n < 8; ++n) {
      u32 bits = (source[n * 4 + at.quad] >> at.shift) & at.mask;
      b[k * 8 + (n & 1) * 4 + (n >> 1)] = elementValue<kind>(bits);
    }
  }
}

} // namespace

void attn::sim::multiplyAccumulate(float *const *d, const float *a,
                                   const float *b, u32 numK, u32 numBlocks) {
  for (u32 block = 0; block < numBlocks; ++block)
    multiplyBlock(d + 4 * block, a, b + 8 * block, numK, 8 * numBlocks);
}

void attn::sim::multiplyAccumulateShort(float *const *d, const float *a,
                                        const float *b, u32 numK,
                                        u32 numBlocks) {
  for (u32 c = 0; c < 4 * numBlocks; ++c)
    multiplyShort(d[c], a + (c >> 1 & 1) * warpSize,
                  b + 8 * (c / 4) + 4 * (c & 1), numK, 8 * numBlocks);
}

void attn::sim::gatherFragmentA(const Warp &warp,
                                const std::vector<Operand> &registers,
                                ElementKind kind, u32 numK, float *a) {
  withElementKind(kind, [&](auto tag) {
    gatherA<decltype(tag)::value>(warp, registers, numK, a);
  });
}

void attn::sim::gatherFragmentB(const Warp &warp,
                                const std::vector<Operand> &registers,
                                ElementKind kind, u32 numK, float *b) {
  withElementKind(kind, [&](auto tag) {
    gatherB<decltype(tag)::value>(warp, registers, numK, b);
  });
}

std::optional<MatrixShape> attn::sim::decodeShape(const Decoder &decoder) {
  const auto &parts = decoder.modifiers();
  for (size_t i = 1; i < parts.size(); ++i) {
    MatrixShape shape;
    if (std::sscanf(std::string(parts[i]).c_str(), "m%dn%dk%d", &shape.m,
                    &shape.n, &shape.k) != 3)
      continue;
    decoder.markKnown(i);
    return shape;
  }
  return std::nullopt;
}
