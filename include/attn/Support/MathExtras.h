//===- MathExtras.h - Integer helpers ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Division, alignment and power-of-two helpers for sizes. All take non-negative
// 64-bit values; a size in this project is never unsigned.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_MATHEXTRAS_H
#define ATTN_SUPPORT_MATHEXTRAS_H

#include <cassert>
#include <cstdint>

namespace attn {

/// Returns ceil(numerator / denominator). Requires numerator >= 0 and
/// denominator > 0.
constexpr int64_t ceilDiv(int64_t numerator, int64_t denominator) {
  assert(numerator >= 0 && denominator > 0);
  return (numerator + denominator - 1) / denominator;
}

/// Returns floor(value * numerator / denominator), whose product need not fit.
/// Requires value and numerator >= 0, denominator > 0, and numerator *
/// denominator and the result to fit.
constexpr int64_t scaleBy(int64_t value, int64_t numerator,
                          int64_t denominator) {
  assert(value >= 0 && numerator >= 0 && denominator > 0);
  return value / denominator * numerator +
         value % denominator * numerator / denominator;
}

/// Returns the smallest multiple of `alignment` that is >= `value`.
constexpr int64_t alignUp(int64_t value, int64_t alignment) {
  return ceilDiv(value, alignment) * alignment;
}

/// Returns the largest multiple of `alignment` that is <= `value`.
constexpr int64_t alignDown(int64_t value, int64_t alignment) {
  assert(value >= 0 && alignment > 0);
  return value / alignment * alignment;
}

/// True for 1, 2, 4, 8, ...
constexpr bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

/// Returns the smallest power of two that is >= `value`. Requires value > 0.
constexpr int64_t nextPowerOfTwo(int64_t value) {
  assert(value > 0);
  int64_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

/// Returns floor(sqrt(value)), exactly. Requires value >= 0.
int64_t integerSqrt(int64_t value);

} // namespace attn

#endif // ATTN_SUPPORT_MATHEXTRAS_H
