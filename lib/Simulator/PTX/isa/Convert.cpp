//===- Convert.cpp - Type conversion --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.9, Data Movement and Conversion Instructions: cvt and cvta.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "../ProgramBuilder.h"
#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace attn::sim;

namespace {

constexpr u32 relu = 1;

u32 bitsOf(Type type) { return 8 * byteSize(type); }

u64 truncateTo(u64 value, u32 bits) {
  return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

/// The value of an integer type in the low bits of a register.
s64 extend(u64 value, Type type) {
  u32 unused = 64 - bitsOf(type);
  if (isSigned(type))
    return s64(value << unused) >> unused;
  return s64(truncateTo(value, bitsOf(type)));
}

//===----------------------------------------------------------------------===//
// From integers
//===----------------------------------------------------------------------===//

/// .sat: clamps to the range of the destination.
s64 clampInteger(s64 value, Type from, Type to) {
  bool isUnsigned64 = from == Type::U64;
  u32 bits = bitsOf(to);
  if (isSigned(to)) {
    s64 high = s64(truncateTo(~0ull, bits - 1)), low = -high - 1;
    if (isUnsigned64)
      return u64(value) > u64(high) ? high : value;
    return std::clamp(value, low, high);
  }
  if (!isUnsigned64 && isSigned(from) && value < 0)
    return 0;
  return s64(std::min(u64(value), truncateTo(~0ull, bits)));
}

u64 integerToInteger(const Instruction &i, u64 bits) {
  s64 value = extend(bits, i.type2);
  if (i.saturate)
    value = clampInteger(value, i.type2, i.type);
  return u64(extend(u64(value), i.type));
}

/// Moves a nearest-rounded result to the neighbour that the mode asks for.
template <typename T>
T adjustRounding(T rounded, long double exact, Rounding rounding) {
  long double value = rounded;
  if (isDefaultRounding(rounding) || value == exact)
    return rounded;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  bool wrong = rounding == Rounding::Zero ? std::fabs(value) > std::fabs(exact)
               : rounding == Rounding::Down ? value > exact
                                            : value < exact;
  if (!wrong)
    return rounded;
  T toward = rounding == Rounding::Zero   ? T(0)
             : rounding == Rounding::Down ? -infinity
                                          : infinity;
  return std::nextafter(rounded, toward);
}

/// A double that rounds to small formats as the exact value does.
double roundToOdd(long double exact) {
  double value = double(exact);
  if ((long double)value == exact)
    return value;
  u64 bits = asBits(value);
  if (bits & 1)
    return value;
  bool away = (exact > (long double)value) == (value > 0);
  return asDouble(away ? bits | 1 : bits - 1);
}

u64 integerToFloat(const Instruction &i, u64 bits) {
  s64 value = extend(bits, i.type2);
  bool isUnsigned64 = i.type2 == Type::U64;
  long double exact =
      isUnsigned64 ? (long double)u64(value) : (long double)value;
  switch (i.type) {
  case Type::F64: {
    double nearest = isUnsigned64 ? double(u64(value)) : double(value);
    return asBits(adjustRounding(nearest, exact, i.rounding));
  }
  case Type::F32: {
    float nearest = isUnsigned64 ? float(u64(value)) : float(value);
    float result = adjustRounding(nearest, exact, i.rounding);
    return asBits(i.saturate ? std::clamp(result, 0.f, 1.f) : result);
  }
  case Type::F16:
    return doubleToHalf(roundToOdd(exact));
  default:
    return doubleToBrain(roundToOdd(exact));
  }
}

//===----------------------------------------------------------------------===//
// From floats
//===----------------------------------------------------------------------===//

double readFloat(const Instruction &i, u64 bits) {
  switch (i.type2) {
  case Type::F16:
    return halfToFloat(bits);
  case Type::BF16:
    return brainToFloat(bits);
  case Type::F64:
    return asDouble(bits);
  case Type::TF32:
    return asFloat(u32(bits) & ~0x1FFFu);
  default:
    return i.flushSubnormals ? asFloat(flushSubnormal<true>(u32(bits)))
                             : asFloat(u32(bits));
  }
}

/// Out-of-range values clamp. NaN gives 0, or 2^63 for 64-bit results.
u64 floatToInteger(const Instruction &i, u64 bits) {
  double value = readFloat(i, bits);
  u32 width = bitsOf(i.type);
  if (isNaN(value))
    return width == 64 ? 1ull << 63 : 0;
  value = roundToIntegral(
      value, i.rounding == Rounding::None ? Rounding::ZeroInt : i.rounding);
  u64 result;
  if (isSigned(i.type)) {
    double limit = std::ldexp(1.0, width - 1);
    s64 high = s64(truncateTo(~0ull, width - 1));
    result = value >= limit   ? u64(high)
             : value < -limit ? u64(-high - 1)
                              : u64(s64(value));
  } else {
    double limit = std::ldexp(1.0, width);
    result = value >= limit ? truncateTo(~0ull, width)
             : value <= 0   ? 0
                            : u64(value);
  }
  return u64(extend(result, i.type));
}

/// Integer rounding, .sat and .relu of a conversion between floats.
double modifyFloat(const Instruction &i, double value) {
  if (isIntegerRounding(i.rounding) && std::isfinite(value)) {
    double rounded = roundToIntegral(value, i.rounding);
    value = rounded == 0 ? std::copysign(0.0, value) : rounded;
  }
  if (i.saturate)
    value = isNaN(value) || value <= 0 ? 0 : std::min(value, 1.0);
  if ((i.flags & relu) && (value < 0 || (value == 0 && std::signbit(value))))
    value = 0;
  return value;
}

u64 floatToFloat(const Instruction &i, u64 bits) {
  double value = modifyFloat(i, readFloat(i, bits));
  bool fromDouble = i.type2 == Type::F64;
  Rounding rounding =
      i.rounding == Rounding::None || isIntegerRounding(i.rounding)
          ? Rounding::Nearest
          : i.rounding;
  bool nearest = rounding == Rounding::Nearest;
  switch (i.type) {
  case Type::F16:
    return fromDouble && nearest
               ? doubleToHalf(value)
               : floatToHalf(doubleToFloat(value, rounding), rounding);
  case Type::BF16:
    return fromDouble && nearest
               ? doubleToBrain(value)
               : floatToBrain(doubleToFloat(value, rounding), rounding);
  case Type::F32: {
    float result = nearest ? float(value) : doubleToFloat(value, rounding);
    if (isNaN(result))
      return canonicalNaN32;
    u32 out = asBits(result);
    return i.flushSubnormals ? flushSubnormal<true>(out) : out;
  }
  case Type::TF32:
    return floatToTF32(float(value), i.rounding == Rounding::None
                                         ? Rounding::NearestAway
                                         : rounding);
  default:
    return isNaN(value) ? canonicalNaN64 : asBits(value);
  }
}

using Conversion = u64 (*)(const Instruction &, u64);

/// A register of 32 bits holds smaller unsigned and float results
/// zero-extended, signed ones sign-extended.
template <Conversion convert>
Step runConvert(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    setLane(warp, i.dst, lane, convert(i, laneValue(warp, i.a, lane)));
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Frequent conversions
//===----------------------------------------------------------------------===//

u32 roundToBrain(u32 bits) {
  u32 rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? canonicalNaN16 : rounded;
}
struct PackBrain {
  static u32 apply(u32 high, u32 low) {
    return roundToBrain(high) << 16 | roundToBrain(low);
  }
};
template <typename T>
struct ToFloat {
  static float apply(T value) { return float(value); }
};
template <typename R, typename A>
struct Cast {
  static R apply(A value) { return R(value); }
};

/// A fast handler for the conversion, or null.
Handler fastConversion(const Instruction &i) {
  bool plain = !i.saturate && !isFloat(i.type2);
  u32 from = byteSize(i.type2), to = byteSize(i.type);
  if (!plain)
    return nullptr;
  if (i.type == Type::F32 && i.rounding == Rounding::Nearest &&
      i.dst.width == 4 && i.a.width == 4) {
    if (i.type2 == Type::S32)
      return unary<float, s32, ToFloat<s32>>;
    if (i.type2 == Type::U32)
      return unary<float, u32, ToFloat<u32>>;
  }
  if (isFloat(i.type) || i.dst.width != to || i.a.width != from)
    return nullptr;
  if (to == 8 && from == 4)
    return isSigned(i.type2) ? Handler(unary<s64, s32, Cast<s64, s32>>)
                             : Handler(unary<u64, u32, Cast<u64, u32>>);
  if (to == 4 && from == 8)
    return unary<u32, u64, Cast<u32, u64>>;
  if (to == 4 && from == 4)
    return unary<u32, u32, Cast<u32, u32>>;
  if (to == 8 && from == 8)
    return unary<u64, u64, Cast<u64, u64>>;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Packed conversions
//===----------------------------------------------------------------------===//

float applyRelu(const Instruction &i, float value) {
  bool negative = value < 0 || (value == 0 && std::signbit(value));
  return (i.flags & relu) && negative ? 0.f : value;
}

/// .satfinite of f16 and bf16: infinity becomes the largest finite value.
u16 clampFinite(const Instruction &i, u16 bits) {
  u16 infinity = i.type == Type::F16x2 ? 0x7C00 : 0x7F80;
  if (!i.saturate || (bits & 0x7FFF) != infinity)
    return bits;
  return u16((bits & 0x8000) | (infinity - 1));
}

u32 narrowHalf(const Instruction &i, float value) {
  Rounding rounding =
      i.rounding == Rounding::None ? Rounding::Nearest : i.rounding;
  value = applyRelu(i, value);
  return clampFinite(i, i.type == Type::F16x2 ? floatToHalf(value, rounding)
                                              : floatToBrain(value, rounding));
}

u32 narrowFp8(const Instruction &i, float value) {
  value = applyRelu(i, value);
  return i.type == Type::E4M3x2 ? floatToE4M3(value) : floatToE5M2(value);
}

float widenHalf(Type type, u16 bits) {
  return type == Type::BF16x2 ? brainToFloat(bits) : halfToFloat(bits);
}

float widenFp8(Type type, u8 bits) {
  return type == Type::E4M3x2 ? e4m3ToFloat(bits) : e5m2ToFloat(bits);
}

/// f16x2, bf16x2 <- f32, f32; the first source goes to the high half.
struct PackHalves {
  static u32 apply(const Instruction &i, u32 a, u32 b) {
    return narrowHalf(i, asFloat(a)) << 16 | narrowHalf(i, asFloat(b));
  }
};
/// e4m3x2, e5m2x2 <- f32, f32
struct PackFp8 {
  static u32 apply(const Instruction &i, u32 a, u32 b) {
    return narrowFp8(i, asFloat(a)) << 8 | narrowFp8(i, asFloat(b));
  }
};
/// e4m3x2, e5m2x2 <- f16x2, bf16x2
struct NarrowHalves {
  static u32 apply(const Instruction &i, u32 a, u32) {
    return narrowFp8(i, widenHalf(i.type2, a >> 16)) << 8 |
           narrowFp8(i, widenHalf(i.type2, a));
  }
};
/// f16x2, bf16x2 <- e4m3x2, e5m2x2
struct WidenFp8 {
  static u32 apply(const Instruction &i, u32 a, u32) {
    return narrowHalf(i, widenFp8(i.type2, a >> 8)) << 16 |
           narrowHalf(i, widenFp8(i.type2, a));
  }
};

template <typename Op>
Step runPacked(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a);
  const u32 *b = i.b ? source32(warp, i.b) : a;
  ATTN_FOR_LANES(warp.active, lane) {
    dst[lane] = Op::apply(i, a[lane], b[lane]);
  }
  return Step::Next;
}

bool isPackedFp8(Type type) {
  return type == Type::E4M3x2 || type == Type::E5M2x2;
}

Handler packedHandler(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool toHalf = isPackedHalf(i.type);
  if (i.type2 == Type::F32) {
    if (decoder.numOperands() > 3)
      decoder.fail("stochastic rounding is not supported");
    i.b = decoder.source(2, 4);
    if (!toHalf)
      return runPacked<PackFp8>;
    bool plain = i.type == Type::BF16x2 && i.rounding == Rounding::Nearest &&
                 !i.flags && !i.saturate;
    return plain ? Handler(binary<u32, u32, u32, PackBrain>)
                 : Handler(runPacked<PackHalves>);
  }
  if (isPackedHalf(i.type2) && !toHalf)
    return runPacked<NarrowHalves>;
  if (isPackedFp8(i.type2) && toHalf)
    return runPacked<WidenFp8>;
  decoder.fail("unsupported conversion");
}

/// PTX ISA 9.7.9.21 cvt, "Target ISA Notes": of sm_90, and from version 8.1 on
/// of sm_89.
void checkFp8Target(const Decoder &decoder) {
  const Module &module = decoder.builder.getModule();
  double version = std::atof(module.version().c_str());
  if (module.chip() < 89)
    decoder.fail("expected a target of sm_89 or later for 8-bit floats, got " +
                 module.target());
  if (module.chip() == 89 && version < 8.1)
    decoder.fail("expected .version 8.1 or later for 8-bit floats of sm_89, "
                 "got " +
                 module.version());
}

void decodePacked(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (isPackedFp8(i.type) || isPackedFp8(i.type2))
    checkFp8Target(decoder);
  i.dst = decodeRegister(decoder, 0, byteSize(i.type));
  i.a = decoder.source(1, byteSize(i.type2), i.type2);
  decoder.setHandler(packedHandler(decoder), InstructionClass::Convert);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool isScalarFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64 || type == Type::TF32;
}
bool isInteger(Type type) { return type >= Type::U8 && type <= Type::S64; }

/// PTX ISA 9.7.9 cvt.
bool decodeCvt(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.types().size() != 2 || decoder.has("pack"))
    decoder.fail("expected two types");
  i.flags = decoder.has("relu") ? relu : 0;
  if (isPackedHalf(i.type) || isPackedFp8(i.type)) {
    decodePacked(decoder);
    return true;
  }
  bool known = (isScalarFloat(i.type) || isInteger(i.type)) &&
               (isScalarFloat(i.type2) || isInteger(i.type2));
  if (!known || (i.type == Type::TF32 && i.type2 != Type::F32))
    decoder.fail("unsupported conversion");
  i.dst = decodeRegister(decoder, 0, 0);
  const ParsedOperand &source = decoder.operand(1);
  // A source register may be wider than its type.
  i.a = decoder.source(
      1, source.is(ParsedOperand::Kind::Register) ? 0 : byteSize(i.type2),
      i.type2);
  if (i.dst.width < byteSize(i.type) || i.a.width < byteSize(i.type2) ||
      i.dst.width > 8 || i.a.width > 8)
    decoder.fail("a register is too narrow for its type");
  Handler handler = fastConversion(i);
  if (!handler && isScalarFloat(i.type2))
    handler = isScalarFloat(i.type) ? runConvert<floatToFloat>
                                    : runConvert<floatToInteger>;
  else if (!handler)
    handler = isScalarFloat(i.type) ? runConvert<integerToFloat>
                                    : runConvert<integerToInteger>;
  decoder.setHandler(handler, InstructionClass::Convert);
  return true;
}

//===----------------------------------------------------------------------===//
// cvta
//===----------------------------------------------------------------------===//

Step runAddress(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    setLane(warp, i.dst, lane, laneAddress(warp, i.address, lane));
  }
  return Step::Next;
}

struct AddWindow {
  static u64 apply(u64 a, u64 b) { return a + b; }
};

/// PTX ISA 9.7.9 cvta: adds or takes away the base of the space's window.
bool decodeCvta(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  Space space = decoder.space();
  u64 window = space == Space::SharedCta || space == Space::SharedCluster
                   ? sharedWindow
               : space == Space::Local ? localWindow
                                       : 0;
  if (decoder.has("to"))
    window = 0 - window;
  i.dst = decodeRegister(decoder, 0, 0);
  decoder.setHandler(runAddress, InstructionClass::Integer);
  if (decoder.operand(1).is(ParsedOperand::Kind::Symbol)) {
    i.address = decoder.address(1);
    i.address.offset += s64(window);
    return true;
  }
  i.a = decoder.source(1, 0);
  if (i.dst.width == 8 && i.a.width == 8) {
    i.b = decoder.constant(window, 8);
    i.run = binary<u64, u64, u64, AddWindow>;
    return true;
  }
  if (window)
    decoder.fail("32-bit generic addresses are not supported");
  i.run = i.dst.width == 8 ? Handler(unary<u64, u32, Cast<u64, u32>>)
                           : Handler(unary<u32, u32, Cast<u32, u32>>);
  return true;
}

} // namespace

void attn::sim::registerConvert(OpcodeTable &table) {
  table.add("cvt", decodeCvt);
  table.add("cvta", decodeCvta);
}
