//===- FloatOps.h - Scalar float operations shared by families --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_FLOATOPS_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_FLOATOPS_H

#include "../Numerics.h"

#include <cmath>

namespace attn::sim {

inline constexpr u64 signBit64 = 1ull << 63;

inline bool isSingleOrDouble(Type type) {
  return type == Type::F32 || type == Type::F64;
}

inline bool isNaN(float value) { return value != value; }
inline bool isNaN(double value) { return value != value; }

/// Subnormals as zeros of the same sign (.ftz), when `flush`.
template <bool flush>
inline u32 flushSubnormal(u32 bits) {
  if (!flush)
    return bits;
  return bits & 0x7F800000u ? bits : bits & 0x80000000u;
}

/// A NaN operand loses; -0 is less than +0 (PTX ISA 9.7.3.11).
template <typename T>
T minNumber(T a, T b) {
  if (isNaN(a))
    return b;
  if (isNaN(b))
    return a;
  if (a == 0 && b == 0)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T maxNumber(T a, T b) {
  if (isNaN(a))
    return b;
  if (isNaN(b))
    return a;
  if (a == 0 && b == 0)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
/// .NaN: a NaN operand wins.
inline float minPropagate(float a, float b) {
  return isNaN(a) || isNaN(b) ? asFloat(canonicalNaN32) : minNumber(a, b);
}
inline float maxPropagate(float a, float b) {
  return isNaN(a) || isNaN(b) ? asFloat(canonicalNaN32) : maxNumber(a, b);
}
/// .xorsign.abs: the magnitude of the chosen operand, the product's sign.
inline float xorSign(float magnitude, float a, float b) {
  return std::copysign(magnitude,
                       asFloat((asBits(a) ^ asBits(b)) & 0x80000000));
}

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_FLOATOPS_H
