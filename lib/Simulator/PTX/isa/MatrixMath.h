//===- MatrixMath.h - Fragments and the product of matrices -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What mma.sync and wgmma share. Matrix A of 16 x K is kept by lane as
/// a[k][half][lane] = A[lane / 4 + 8 * half][k], B of K x 8*J as b[k][j][(n &
/// 1)
/// * 4 + n / 2] = B[k][8 * j + n]: the accumulator of lane and register c of
/// column block j is row lane / 4 + 8 * (c / 2), column 8 * j + lane % 4 * 2 +
/// (c & 1) (PTX ISA 9.7.14.5, "Matrix Fragments for mma.m16n8k16").
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_MATRIXMATH_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_MATRIXMATH_H

#include "../Decoder.h"
#include "../Machine.h"

#include <optional>

namespace attn::sim {

enum class ElementKind : u8 { F16, BF16, TF32, E4M3, E5M2, S8, U8 };

std::optional<ElementKind> elementKind(Type type);

constexpr u32 elementBytes(ElementKind kind) {
  return kind == ElementKind::TF32 ? 4 : kind <= ElementKind::BF16 ? 2 : 1;
}
constexpr bool isIntegerKind(ElementKind kind) {
  return kind >= ElementKind::S8;
}

/// The values of all 256 bit patterns of an 8-bit type.
const float *fp8Table(ElementKind kind);

/// The value of an element's bits; tf32 inputs are truncated, as hardware does.
template <ElementKind kind>
inline float elementValue(u32 bits) {
  if constexpr (kind == ElementKind::F16)
    return halfToFloat(u16(bits));
  else if constexpr (kind == ElementKind::BF16)
    return brainToFloat(u16(bits));
  else if constexpr (kind == ElementKind::TF32)
    return asFloat(bits & ~0x1FFFu);
  else if constexpr (kind == ElementKind::S8)
    return float(s8(bits));
  else if constexpr (kind == ElementKind::U8)
    return float(u8(bits));
  else
    return fp8Table(kind)[bits & 255];
}

/// Calls f(std::integral_constant<ElementKind, kind>()).
template <typename F>
auto withElementKind(ElementKind kind, F f) {
  switch (kind) {
  case ElementKind::F16:
    return f(std::integral_constant<ElementKind, ElementKind::F16>());
  case ElementKind::BF16:
    return f(std::integral_constant<ElementKind, ElementKind::BF16>());
  case ElementKind::TF32:
    return f(std::integral_constant<ElementKind, ElementKind::TF32>());
  case ElementKind::E4M3:
    return f(std::integral_constant<ElementKind, ElementKind::E4M3>());
  case ElementKind::E5M2:
    return f(std::integral_constant<ElementKind, ElementKind::E5M2>());
  case ElementKind::S8:
    return f(std::integral_constant<ElementKind, ElementKind::S8>());
  default:
    return f(std::integral_constant<ElementKind, ElementKind::U8>());
  }
}

/// Accumulators d[4 * j + c] += A * B, over k in ascending order, each product
/// exact and each sum rounded to f32.
void multiplyAccumulate(float *const *d, const float *a, const float *b,
                        u32 numK, u32 numBlocks);

/// As tensor cores of sm_89 and sm_90a do it with 8-bit floats: of the terms of
/// one instruction (accumulator and products) what is below 13 fraction bits of
/// the largest one is cut off, and what is left is added exactly. The PTX ISA
/// leaves the precision open; this is what experiments have found ("about 14
/// bits", DeepSeek-V3, section 3.3.2; SageAttention2, section 3.2).
void multiplyAccumulateShort(float *const *d, const float *a, const float *b,
                             u32 numK, u32 numBlocks);

inline bool isFloat8Kind(ElementKind kind) {
  return kind == ElementKind::E4M3 || kind == ElementKind::E5M2;
}

/// Registers of an A fragment to a[k][half][lane].
void gatherFragmentA(const Warp &warp, const std::vector<Operand> &registers,
                     ElementKind kind, u32 numK, float *a);
/// Registers of a B fragment of 8 columns to b[k][0][...].
void gatherFragmentB(const Warp &warp, const std::vector<Operand> &registers,
                     ElementKind kind, u32 numK, float *b);

/// The mMnNkK modifier.
struct MatrixShape {
  int m = 0, n = 0, k = 0;
};
std::optional<MatrixShape> decodeShape(const Decoder &decoder);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_MATRIXMATH_H
