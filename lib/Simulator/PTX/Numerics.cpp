//===- Numerics.cpp - Number formats and directed rounding ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numerics.h"

#include <cfenv>
#include <cmath>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

using namespace attn::sim;

//===----------------------------------------------------------------------===//
// Small formats
//===----------------------------------------------------------------------===//

namespace {

/// A binary format without sign: mantissa bits, exponents of the smallest and
/// of the largest normal number.
struct SmallFormat {
  int mantissaBits;
  int minExponent;
  int maxExponent;
};
constexpr SmallFormat halfFormat{10, -14, 15};
constexpr SmallFormat brainFormat{7, -126, 127};
constexpr SmallFormat e4m3Format{3, -6, 8};
constexpr SmallFormat e5m2Format{2, -14, 15};

struct RoundedBits {
  u32 bits = 0;
  bool overflow = false;
};

bool roundsUp(Rounding rounding, bool negative, double fraction, bool odd) {
  switch (rounding) {
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative && fraction > 0;
  case Rounding::Up:
    return !negative && fraction > 0;
  case Rounding::NearestAway:
    return fraction >= 0.5;
  default:
    return fraction > 0.5 || (fraction == 0.5 && odd);
  }
}

/// Rounds |value| to the format; exact for every finite input.
RoundedBits roundToFormat(double value, SmallFormat format, Rounding rounding) {
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return {};
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent -= 1;
  if (exponent < format.minExponent)
    exponent = format.minExponent;
  double scaled = std::ldexp(magnitude, format.mantissaBits - exponent);
  double whole = std::floor(scaled);
  u64 mantissa = u64(whole);
  if (roundsUp(rounding, std::signbit(value), scaled - whole, mantissa & 1))
    ++mantissa;
  if (mantissa == (2ull << format.mantissaBits)) {
    mantissa >>= 1;
    ++exponent;
  }
  if (exponent > format.maxExponent)
    return {0, true};
  if (mantissa < (1ull << format.mantissaBits)) // subnormal
    return {u32(mantissa), false};
  u64 biased = u64(exponent - format.minExponent + 1) << format.mantissaBits;
  return {u32(biased | (mantissa & ((1ull << format.mantissaBits) - 1))),
          false};
}

u16 toHalf(double value, Rounding rounding) {
  u16 sign = std::signbit(value) ? 0x8000 : 0;
  if (value != value)
    return canonicalNaN16;
  if (std::isinf(value))
    return sign | 0x7C00;
  RoundedBits rounded = roundToFormat(value, halfFormat, rounding);
  if (!rounded.overflow)
    return sign | rounded.bits;
  bool toInfinity = isDefaultRounding(rounding) ||
                    rounding == Rounding::NearestAway ||
                    (rounding == Rounding::Up && !sign) ||
                    (rounding == Rounding::Down && sign);
  return sign | (toInfinity ? 0x7C00 : 0x7BFF);
}

} // namespace

#ifndef __F16C__
float attn::sim::halfToFloat(u16 bits) {
  u32 sign = u32(bits & 0x8000) << 16;
  u32 exponent = (bits >> 10) & 31, mantissa = bits & 0x3FF;
  if (exponent == 0) {
    float value = std::ldexp(float(mantissa), -24);
    return sign ? -value : value;
  }
  if (exponent == 31)
    return asFloat(sign | 0x7F800000 | (mantissa << 13));
  return asFloat(sign | ((exponent + 112) << 23) | (mantissa << 13));
}
#endif

u16 attn::sim::floatToHalf(float value, Rounding rounding) {
#ifdef __F16C__
  if (isDefaultRounding(rounding))
    return value != value ? canonicalNaN16 : bitCast<u16>(_Float16(value));
#endif
  return toHalf(value, rounding);
}

u16 attn::sim::doubleToHalf(double value) {
  return toHalf(value, Rounding::Nearest);
}

u16 attn::sim::floatToBrain(float value, Rounding rounding) {
  u32 bits = asBits(value);
  if (value != value)
    return canonicalNaN16;
  if ((bits & 0x7F800000) == 0x7F800000)
    return bits >> 16;
  u32 low = bits & 0xFFFF, sign = bits >> 31;
  bool up = false;
  switch (rounding) {
  case Rounding::Zero:
    break;
  case Rounding::Down:
    up = sign && low;
    break;
  case Rounding::Up:
    up = !sign && low;
    break;
  case Rounding::NearestAway:
    up = low >= 0x8000;
    break;
  default:
    up = low > 0x8000 || (low == 0x8000 && ((bits >> 16) & 1));
  }
  return (bits >> 16) + (up ? 1 : 0);
}

u16 attn::sim::doubleToBrain(double value) {
  if (value != value)
    return canonicalNaN16;
  u16 sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isinf(value))
    return sign | 0x7F80;
  RoundedBits rounded = roundToFormat(value, brainFormat, Rounding::Nearest);
  return sign | (rounded.overflow ? 0x7F80 : rounded.bits);
}

u32 attn::sim::floatToTF32(float value, Rounding rounding) {
  u32 bits = asBits(value);
  if (value != value)
    return canonicalNaN32;
  if ((bits & 0x7F800000) == 0x7F800000)
    return bits;
  u32 low = bits & 0x1FFF;
  bool up = false;
  if (rounding == Rounding::Nearest)
    up = low > 0x1000 || (low == 0x1000 && ((bits >> 13) & 1));
  else if (rounding != Rounding::Zero)
    up = low >= 0x1000;
  return (bits & ~0x1FFFu) + (up ? 0x2000 : 0);
}

float attn::sim::e4m3ToFloat(u8 bits) {
  int exponent = (bits >> 3) & 15, mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7)
    return asFloat(canonicalNaN32);
  float value = exponent == 0 ? std::ldexp(float(mantissa), -9)
                              : std::ldexp(float(8 + mantissa), exponent - 10);
  return bits & 0x80 ? -value : value;
}

float attn::sim::e5m2ToFloat(u8 bits) { return halfToFloat(u16(bits) << 8); }

u8 attn::sim::floatToE4M3(float value) {
  u8 sign = std::signbit(value) ? 0x80 : 0;
  if (value != value)
    return 0x7F;
  if (std::isinf(value))
    return sign | 0x7E;
  RoundedBits rounded = roundToFormat(value, e4m3Format, Rounding::Nearest);
  bool saturates = rounded.overflow || rounded.bits >= 0x7F;
  return sign | (saturates ? 0x7E : rounded.bits);
}

u8 attn::sim::floatToE5M2(float value) {
  u8 sign = std::signbit(value) ? 0x80 : 0;
  if (value != value)
    return 0x7F;
  if (std::isinf(value))
    return sign | 0x7B;
  RoundedBits rounded = roundToFormat(value, e5m2Format, Rounding::Nearest);
  return sign | (rounded.overflow ? 0x7B : rounded.bits);
}

//===----------------------------------------------------------------------===//
// Directed rounding
//===----------------------------------------------------------------------===//

double attn::sim::fmaRoundToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  // Knuth's two-sum: the exact error of `sum`.
  double rest = sum - product;
  double error = (product - (sum - rest)) + (c - rest);
  if (error == 0)
    return sum;
  u64 bits = asBits(sum);
  if (bits & 1)
    return sum;
  bool away = (error > 0) == (sum > 0);
  return asDouble(away ? bits | 1 : bits - 1);
}

namespace {

#ifdef __SSE2__
/// Sets the mode of SSE, which computes all floats; fesetround sets x87's, too,
/// and takes several times as long.
class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) : saved(_mm_getcsr()) {
    _mm_setcsr((saved & ~u32(_MM_ROUND_MASK)) | modeOf(rounding));
  }
  ~RoundingScope() { _mm_setcsr(saved); }

private:
  static u32 modeOf(Rounding rounding) {
    switch (rounding) {
    case Rounding::Zero:
    case Rounding::ZeroInt:
      return _MM_ROUND_TOWARD_ZERO;
    case Rounding::Down:
    case Rounding::DownInt:
      return _MM_ROUND_DOWN;
    case Rounding::Up:
    case Rounding::UpInt:
      return _MM_ROUND_UP;
    default:
      return _MM_ROUND_NEAREST;
    }
  }

  u32 saved;
};
#else
int environmentRounding(Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
  case Rounding::ZeroInt:
    return FE_TOWARDZERO;
  case Rounding::Down:
  case Rounding::DownInt:
    return FE_DOWNWARD;
  case Rounding::Up:
  case Rounding::UpInt:
    return FE_UPWARD;
  default:
    return FE_TONEAREST;
  }
}

class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) : saved(std::fegetround()) {
    std::fesetround(environmentRounding(rounding));
  }
  ~RoundingScope() { std::fesetround(saved); }

private:
  int saved;
};
#endif

/// Volatile operands keep the operation between the two mode changes.
template <typename T>
__attribute__((noinline)) T apply(ArithmeticOp op, T a0, T b0, T c0,
                                  Rounding rounding) {
  RoundingScope scope(rounding);
  volatile T a = a0, b = b0, c = c0, result = 0;
  switch (op) {
  case ArithmeticOp::Add:
    result = a + b;
    break;
  case ArithmeticOp::Sub:
    result = a - b;
    break;
  case ArithmeticOp::Mul:
    result = a * b;
    break;
  case ArithmeticOp::Fma:
    result = std::fma(T(a), T(b), T(c));
    break;
  case ArithmeticOp::Div:
    result = a / b;
    break;
  case ArithmeticOp::Sqrt:
    result = std::sqrt(T(a));
    break;
  }
  return result;
}

} // namespace

float attn::sim::roundedOp(ArithmeticOp op, float a, float b, float c,
                           Rounding rounding) {
  return apply<float>(op, a, b, c, rounding);
}

double attn::sim::roundedOp(ArithmeticOp op, double a, double b, double c,
                            Rounding rounding) {
  return apply<double>(op, a, b, c, rounding);
}

__attribute__((noinline)) float attn::sim::doubleToFloat(double value,
                                                         Rounding rounding) {
  RoundingScope scope(rounding);
  volatile double input = value;
  volatile float result = float(input);
  return result;
}

double attn::sim::roundToIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
  case Rounding::ZeroInt:
    return std::trunc(value);
  case Rounding::Down:
  case Rounding::DownInt:
    return std::floor(value);
  case Rounding::Up:
  case Rounding::UpInt:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}
