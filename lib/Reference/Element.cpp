//===- Element.cpp - Rounding to an element type --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Element.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace attn {
namespace reference {

namespace {
/// A binary floating-point format that is narrower than double.
struct Format {
  int precisionBits; ///< significand, hidden bit included
  int minExponent;   ///< exponent of the smallest normal value
  double maxFinite;
  bool hasInfinity;
};
} // namespace

/// Requires a floating-point type other than f64.
static Format getFormat(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
    return {4, -6, 448.0, false};
  case ElementType::F8E5M2:
    return {3, -14, 57344.0, true};
  case ElementType::F16:
    return {11, -14, 65504.0, true};
  case ElementType::BF16:
    return {8, -126, 0x1.FEp127, true};
  default:
    return {24, -126, std::numeric_limits<float>::max(), true};
  }
}

/// The nearest value of the format, ties to even, if its range had no end.
static double roundFinite(double value, const Format &format) {
  constexpr int kFractionBits = 52, kBias = 1023;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  int exponent = static_cast<int>(bits >> kFractionBits & 0x7FF) - kBias;
  if (exponent >= format.minExponent) {
    // A carry out of the fraction raises the exponent, as it should.
    int dropped = kFractionBits - (format.precisionBits - 1);
    uint64_t isOdd = bits >> dropped & 1;
    bits += (uint64_t(1) << (dropped - 1)) - 1 + isOdd;
    bits &= ~((uint64_t(1) << dropped) - 1);
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  // Subnormal: nearbyint rounds ties to even in the default rounding mode; the
  // scaling by a power of two on both sides is exact.
  int ulpExponent = format.minExponent - (format.precisionBits - 1);
  return std::ldexp(std::nearbyint(std::ldexp(value, -ulpExponent)),
                    ulpExponent);
}

double roundToElement(double value, ElementType type) {
  if (type == ElementType::I1)
    return value != 0 ? 1 : 0;
  if (type == ElementType::I8)
    return std::isnan(value) ? 0
                             : std::nearbyint(std::clamp(value, -128.0, 127.0));
  if (type == ElementType::F64 || !std::isfinite(value) || value == 0) {
    if (std::isinf(value) && type == ElementType::F8E4M3FN)
      return std::numeric_limits<double>::quiet_NaN();
    return value;
  }
  if (type == ElementType::F32)
    return static_cast<float>(value);
  Format format = getFormat(type);
  double rounded = roundFinite(value, format);
  if (std::fabs(rounded) <= format.maxFinite)
    return rounded;
  if (!format.hasInfinity)
    return std::numeric_limits<double>::quiet_NaN();
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

double maxMagnitude(double largest, double value) {
  // Not a comparison that a NaN would fail.
  bool isKept = std::isnan(largest) || std::fabs(value) <= largest;
  return isKept ? largest : std::fabs(value);
}

double getTokenScale(double largest, ElementType type) {
  double most = type == ElementType::I8 ? 127 : getFormat(type).maxFinite;
  double scale = static_cast<float>(largest / most);
  return scale < std::numeric_limits<float>::min()
             ? std::numeric_limits<float>::min()
             : scale;
}

double quantize(double value, double descale, ElementType type) {
  double quotient = static_cast<float>(value / descale);
  if (type == ElementType::I8)
    return roundToElement(quotient, type);
  double largest = getFormat(type).maxFinite;
  if (std::fabs(quotient) > largest)
    quotient = std::copysign(largest, quotient);
  return roundToElement(quotient, type);
}

/// Stored exponent field width and bias follow from the format: bias is
/// 1 - minExponent, and the field takes what sign and fraction leave.
uint64_t encodeElement(double value, ElementType type) {
  if (type == ElementType::I1)
    return value != 0 ? 1 : 0;
  if (type == ElementType::I8)
    return static_cast<uint8_t>(
        static_cast<int8_t>(roundToElement(value, type)));
  if (type == ElementType::F64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return std::isnan(value) ? 0x7FF8000000000000u : bits;
  }
  Format format = getFormat(type);
  int fractionBits = format.precisionBits - 1;
  int totalBits = static_cast<int>(getSizeBytes(type)) * 8;
  uint64_t exponentMask = (uint64_t(1) << (totalBits - 1 - fractionBits)) - 1;
  double rounded = roundToElement(value, type);
  uint64_t sign = uint64_t(std::signbit(rounded)) << (totalBits - 1);
  if (std::isnan(rounded)) {
    uint64_t fraction = type == ElementType::F8E4M3FN
                            ? (uint64_t(1) << fractionBits) - 1
                            : uint64_t(1) << (fractionBits - 1);
    return exponentMask << fractionBits | fraction;
  }
  if (std::isinf(rounded))
    return sign | exponentMask << fractionBits;
  if (rounded == 0)
    return sign;
  int exponent = std::max(std::ilogb(rounded), format.minExponent);
  // The significand as an integer; below 2^fractionBits the value is subnormal.
  auto significand = static_cast<uint64_t>(
      std::ldexp(std::fabs(rounded), fractionBits - exponent));
  if (significand < uint64_t(1) << fractionBits)
    return sign | significand;
  int field = exponent - format.minExponent + 1;
  auto biased = static_cast<uint64_t>(field);
  return sign | biased << fractionBits |
         (significand - (uint64_t(1) << fractionBits));
}

double decodeElement(uint64_t bits, ElementType type) {
  if (type == ElementType::I1)
    return bits & 0xFF ? 1 : 0;
  if (type == ElementType::I8)
    return static_cast<int8_t>(bits);
  if (type == ElementType::F64) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  Format format = getFormat(type);
  int fractionBits = format.precisionBits - 1;
  int totalBits = static_cast<int>(getSizeBytes(type)) * 8;
  uint64_t exponentMask = (uint64_t(1) << (totalBits - 1 - fractionBits)) - 1;
  uint64_t fractionMask = (uint64_t(1) << fractionBits) - 1;
  uint64_t fraction = bits & fractionMask;
  uint64_t biased = bits >> fractionBits & exponentMask;
  double sign = bits >> (totalBits - 1) & 1 ? -1.0 : 1.0;
  if (format.hasInfinity && biased == exponentMask)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (!format.hasInfinity && biased == exponentMask && fraction == fractionMask)
    return std::numeric_limits<double>::quiet_NaN();
  int exponent = format.minExponent - fractionBits;
  if (biased == 0)
    return sign * std::ldexp(static_cast<double>(fraction), exponent);
  return sign * std::ldexp(static_cast<double>(fraction | (fractionMask + 1)),
                           exponent + static_cast<int>(biased) - 1);
}

double getUnitRoundoff(ElementType type) {
  return std::ldexp(1.0, -getPrecisionBits(type));
}

double roundToTf32(double value) {
  float number = static_cast<float>(value);
  if (!std::isfinite(number))
    return number;
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t(0x1fff);
  std::memcpy(&number, &bits, sizeof bits);
  return number;
}

} // namespace reference
} // namespace attn
