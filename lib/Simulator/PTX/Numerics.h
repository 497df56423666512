//===- Numerics.h - Number formats and directed rounding --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Conversions between float32/float64 and f16, bf16, tf32, e4m3 and e5m2, and
/// arithmetic in the rounding modes of PTX (PTX ISA 6.5.2). All are exact or
/// correctly rounded. NaN results are the canonical NaN of their format.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_NUMERICS_H
#define ATTN_LIB_SIMULATOR_PTX_NUMERICS_H

#include "Types.h"

namespace attn::sim {

/// Rounding modifiers; the `i` forms round to an integer.
enum class Rounding : u8 {
  Nearest,     // .rn
  Zero,        // .rz
  Down,        // .rm
  Up,          // .rp
  NearestAway, // .rna
  NearestInt,  // .rni
  ZeroInt,     // .rzi
  DownInt,     // .rmi
  UpInt,       // .rpi
  None
};

inline bool isIntegerRounding(Rounding rounding) {
  return rounding >= Rounding::NearestInt && rounding <= Rounding::UpInt;
}
/// True where plain C++ arithmetic rounds as asked.
inline bool isDefaultRounding(Rounding rounding) {
  return rounding == Rounding::Nearest || rounding == Rounding::None;
}

inline constexpr u32 canonicalNaN32 = 0x7FFFFFFF;
inline constexpr u64 canonicalNaN64 = 0x7FFFFFFFFFFFFFFFull;
inline constexpr u16 canonicalNaN16 = 0x7FFF;

#ifdef __F16C__
inline float halfToFloat(u16 bits) { return float(bitCast<_Float16>(bits)); }
#else
float halfToFloat(u16 bits);
#endif
u16 floatToHalf(float value, Rounding rounding = Rounding::Nearest);
u16 doubleToHalf(double value);

inline float brainToFloat(u16 bits) { return asFloat(u32(bits) << 16); }
u16 floatToBrain(float value, Rounding rounding = Rounding::Nearest);
u16 doubleToBrain(double value);

float e4m3ToFloat(u8 bits);
float e5m2ToFloat(u8 bits);
/// Infinity and overflow saturate to the largest finite value (.satfinite).
u8 floatToE4M3(float value);
u8 floatToE5M2(float value);

/// tf32 in the bits of an f32; the low 13 bits of the result are zero.
u32 floatToTF32(float value, Rounding rounding);

/// a * b + c rounded to odd, for products that are exact in double: rounding
/// the result once more gives a correctly rounded fma.
double fmaRoundToOdd(double a, double b, double c);

enum class ArithmeticOp : u8 { Add, Sub, Mul, Fma, Div, Sqrt };

/// One operation in a rounding mode of the floating-point environment.
float roundedOp(ArithmeticOp op, float a, float b, float c, Rounding rounding);
double roundedOp(ArithmeticOp op, double a, double b, double c,
                 Rounding rounding);
float doubleToFloat(double value, Rounding rounding);
/// Rounds to an integral value.
double roundToIntegral(double value, Rounding rounding);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_NUMERICS_H
