//===- Integer.cpp - Integer arithmetic -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.1, Integer Arithmetic Instructions: add, sub, mul, mad, mul24,
/// mad24, sad, div, rem, abs, neg, min, max, dp4a, dp2a. Division by zero gives
/// all ones, the remainder the dividend, as hardware does (PTX leaves both
/// open).
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"

#include <algorithm>
#include <limits>

using namespace attn::sim;

namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

template <typename T>
struct Add {
  static T apply(T a, T b) { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
};
template <typename T>
struct Sub {
  static T apply(T a, T b) { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
};
template <typename T>
struct MulLow {
  static T apply(T a, T b) { return T(u64(a) * u64(b)); }
};
template <typename T>
struct MulHigh {
  static T apply(T a, T b) {
    using Wide = std::conditional_t<
        sizeof(T) == 8,
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
        std::conditional_t<std::is_signed_v<T>, s64, u64>>;
    return T((Wide(a) * Wide(b)) >> (8 * sizeof(T)));
  }
};
template <typename T>
struct MadLow {
  static T apply(T a, T b, T c) { return T(u64(a) * u64(b) + u64(c)); }
};
template <typename T>
struct MadHigh {
  static T apply(T a, T b, T c) {
    return T(Unsigned<T>(MulHigh<T>::apply(a, b)) + Unsigned<T>(c));
  }
};
template <typename T, typename Wide>
struct MulWide {
  static Wide apply(T a, T b) { return Wide(a) * Wide(b); }
};
template <typename T, typename Wide>
struct MadWide {
  static Wide apply(T a, T b, Wide c) {
    return Wide(Unsigned<Wide>(Wide(a) * Wide(b)) + Unsigned<Wide>(c));
  }
};
template <typename T>
struct Div {
  static T apply(T a, T b) {
    if (b == 0)
      return T(~T(0));
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return T(0 - Unsigned<T>(a));
    return a / b;
  }
};
template <typename T>
struct Rem {
  static T apply(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return a % b;
  }
};
template <typename T>
struct Min {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <typename T>
struct Max {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <typename T>
struct Min3 {
  static T apply(T a, T b, T c) { return std::min({a, b, c}); }
};
template <typename T>
struct Max3 {
  static T apply(T a, T b, T c) { return std::max({a, b, c}); }
};
template <typename T>
struct Neg {
  static T apply(T a) { return T(0 - Unsigned<T>(a)); }
};
template <typename T>
struct Abs {
  static T apply(T a) { return a < 0 ? T(0 - Unsigned<T>(a)) : a; }
};
/// |a - b| + c
template <typename T>
struct Sad {
  static T apply(T a, T b, T c) {
    Unsigned<T> difference = a < b ? Unsigned<T>(b) - Unsigned<T>(a)
                                   : Unsigned<T>(a) - Unsigned<T>(b);
    return T(Unsigned<T>(c) + difference);
  }
};

s32 saturate32(s64 value) {
  return s32(std::clamp<s64>(value, std::numeric_limits<s32>::min(),
                             std::numeric_limits<s32>::max()));
}
struct AddSaturated {
  static s32 apply(s32 a, s32 b) { return saturate32(s64(a) + b); }
};
struct SubSaturated {
  static s32 apply(s32 a, s32 b) { return saturate32(s64(a) - b); }
};
struct MinRelu {
  static s32 apply(s32 a, s32 b) { return std::max(0, std::min(a, b)); }
};
struct MaxRelu {
  static s32 apply(s32 a, s32 b) { return std::max({0, a, b}); }
};

s64 signExtend24(s32 value) { return s32(u32(value) << 8) >> 8; }
struct Mul24Signed {
  static s32 apply(s32 a, s32 b) {
    return s32(signExtend24(a) * signExtend24(b));
  }
};
struct Mul24Unsigned {
  static u32 apply(u32 a, u32 b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
};

/// The upper 32 of the 48 bits of a product of 24-bit integers.
struct Mul24HighSigned {
  static s32 apply(s32 a, s32 b) {
    return s32((signExtend24(a) * signExtend24(b)) >> 16);
  }
};
struct Mul24HighUnsigned {
  static u32 apply(u32 a, u32 b) {
    return u32((u64(a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16);
  }
};
template <typename T, typename Mul>
struct Mad24 {
  static T apply(T a, T b, T c) { return T(u32(Mul::apply(a, b)) + u32(c)); }
};
struct Mad24HighSaturated {
  static s32 apply(s32 a, s32 b, s32 c) {
    return saturate32(s64(Mul24HighSigned::apply(a, b)) + c);
  }
};
struct MadHighSaturated {
  static s32 apply(s32 a, s32 b, s32 c) {
    return saturate32(s64(MulHigh<s32>::apply(a, b)) + c);
  }
};

/// Sums of two packed 16-bit integers.
struct PackedAdd {
  static u32 apply(u32 a, u32 b) {
    return ((a + b) & 0xFFFF) | ((a & 0xFFFF0000u) + (b & 0xFFFF0000u));
  }
};

/// min and max of two packed 16-bit integers.
template <typename T, bool isMax, bool relu = false>
struct PackedMinMax {
  static u32 apply(u32 a, u32 b) {
    u32 result = 0;
    for (u32 shift : {0, 16}) {
      T x = T(a >> shift), y = T(b >> shift);
      T chosen = ((x < y) != isMax) ? x : y;
      if (relu && chosen < 0)
        chosen = 0;
      result |= u32(u16(chosen)) << shift;
    }
    return result;
  }
};

/// dp2a: c + the dot product of two 16-bit integers and the lower (`operation`
/// 0) or upper two bytes of b.
Step runDp2a(Warp &warp, const Instruction &i) {
  bool signedA = i.type == Type::S32, signedB = i.type2 == Type::S32;
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b),
            *c = source32(warp, i.c);
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    s64 sum = c[lane];
    for (u32 k = 0; k < 2; ++k) {
      u16 x = a[lane] >> (16 * k);
      u8 y = b[lane] >> (8 * k + 16 * i.operation);
      sum += (signedA ? s64(s16(x)) : x) * (signedB ? s64(s8(y)) : y);
    }
    dst[lane] = u32(sum);
  }
  return Step::Next;
}

/// dp4a: c + the dot product of four bytes; the types of a and b may differ.
Step runDp4a(Warp &warp, const Instruction &i) {
  bool signedA = i.type == Type::S32, signedB = i.type2 == Type::S32;
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b),
            *c = source32(warp, i.c);
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    s64 sum = signedA || signedB ? s64(s32(c[lane])) : s64(c[lane]);
    for (u32 shift = 0; shift < 32; shift += 8) {
      u8 x = a[lane] >> shift, y = b[lane] >> shift;
      sum += (signedA ? s64(s8(x)) : x) * (signedB ? s64(s8(y)) : y);
    }
    dst[lane] = u32(sum);
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void setInteger(Decoder &decoder, Handler handler) {
  decoder.setHandler(handler, InstructionClass::Integer);
}

/// PTX ISA 9.7.1.1 add, 9.7.1.2 sub.
bool decodeAddSub(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool isAdd = decoder.opcode() == "add";
  decodeOperands(decoder, byteSize(i.type), 2);
  if (isAdd && (i.type == Type::U16x2 || i.type == Type::S16x2)) {
    setInteger(decoder, binary<u32, u32, u32, PackedAdd>);
    return true;
  }
  if (!i.saturate) {
    setInteger(decoder, isAdd ? pickBinary<Add>(decoder, i.type)
                              : pickBinary<Sub>(decoder, i.type));
    return true;
  }
  if (i.type != Type::S32)
    decoder.fail("expected type s32 with .sat");
  setInteger(decoder, isAdd ? binary<s32, s32, s32, AddSaturated>
                            : binary<s32, s32, s32, SubSaturated>);
  return true;
}

template <typename T, typename Wide>
Handler wideHandler(bool isMad) {
  return isMad ? Handler(ternary<Wide, T, Wide, MadWide<T, Wide>>)
               : Handler(binary<Wide, T, T, MulWide<T, Wide>>);
}

/// mul.wide and mad.wide: the result is twice as wide.
void decodeWide(Decoder &decoder, bool isMad) {
  Instruction &i = decoder.instruction;
  u32 bytes = byteSize(i.type);
  if (bytes > 4)
    decoder.fail("expected a type of 16 or 32 bits with .wide");
  i.dst = decodeRegister(decoder, 0, 2 * bytes);
  i.a = decoder.source(1, bytes);
  i.b = decoder.source(2, bytes);
  if (isMad)
    i.c = decoder.source(3, 2 * bytes);
  switch (i.type) {
  case Type::U16:
    return setInteger(decoder, wideHandler<u16, u32>(isMad));
  case Type::S16:
    return setInteger(decoder, wideHandler<s16, s32>(isMad));
  case Type::U32:
    return setInteger(decoder, wideHandler<u32, u64>(isMad));
  case Type::S32:
    return setInteger(decoder, wideHandler<s32, s64>(isMad));
  default:
    decoder.fail("expected an integer type");
  }
}

/// PTX ISA 9.7.1.3 mul.
bool decodeMul(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.has("wide")) {
    decodeWide(decoder, /*isMad=*/false);
    return true;
  }
  decodeOperands(decoder, byteSize(i.type), 2);
  bool isHigh = decoder.oneOf({"hi", "lo"}) == 0;
  setInteger(decoder, isHigh ? pickBinary<MulHigh>(decoder, i.type)
                             : pickBinary<MulLow>(decoder, i.type));
  return true;
}

/// PTX ISA 9.7.1.4 mad.
bool decodeMad(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.has("wide")) {
    decodeWide(decoder, /*isMad=*/true);
    return true;
  }
  decodeOperands(decoder, byteSize(i.type), 3);
  if (i.saturate) {
    if (i.type != Type::S32 || !decoder.has("hi"))
      decoder.fail("expected mad.hi.sat.s32");
    setInteger(decoder, ternary<s32, s32, s32, MadHighSaturated>);
    return true;
  }
  bool isHigh = decoder.oneOf({"hi", "lo"}) == 0;
  setInteger(decoder, isHigh ? pickTernary<MadHigh>(decoder, i.type)
                             : pickTernary<MadLow>(decoder, i.type));
  return true;
}

/// PTX ISA 9.7.1.5 mul24.
bool decodeMul24(Decoder &decoder) {
  decodeOperands(decoder, 4, 2);
  bool isSigned = decoder.instruction.type == Type::S32;
  if (decoder.oneOf({"hi", "lo"}) == 0)
    setInteger(decoder,
               isSigned ? Handler(binary<s32, s32, s32, Mul24HighSigned>)
                        : Handler(binary<u32, u32, u32, Mul24HighUnsigned>));
  else
    setInteger(decoder, isSigned
                            ? Handler(binary<s32, s32, s32, Mul24Signed>)
                            : Handler(binary<u32, u32, u32, Mul24Unsigned>));
  return true;
}

template <typename T, typename High, typename Low>
Handler mad24(bool isHigh) {
  return isHigh ? Handler(ternary<T, T, T, Mad24<T, High>>)
                : Handler(ternary<T, T, T, Mad24<T, Low>>);
}

/// PTX ISA 9.7.1.6 mad24.
bool decodeMad24(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  decodeOperands(decoder, 4, 3);
  bool isHigh = decoder.oneOf({"hi", "lo"}) == 0;
  if (i.saturate) {
    if (!isHigh || i.type != Type::S32)
      decoder.fail("expected mad24.hi.sat.s32");
    setInteger(decoder, ternary<s32, s32, s32, Mad24HighSaturated>);
  } else if (i.type == Type::S32) {
    setInteger(decoder, mad24<s32, Mul24HighSigned, Mul24Signed>(isHigh));
  } else {
    setInteger(decoder, mad24<u32, Mul24HighUnsigned, Mul24Unsigned>(isHigh));
  }
  return true;
}

/// PTX ISA 9.7.1.7 sad.
bool decodeSad(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  decodeOperands(decoder, byteSize(i.type), 3);
  setInteger(decoder, pickTernary<Sad>(decoder, i.type));
  return true;
}

/// PTX ISA 9.7.1.8 div, 9.7.1.9 rem.
bool decodeDivRem(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  decodeOperands(decoder, byteSize(i.type), 2);
  setInteger(decoder, decoder.opcode() == "div"
                          ? pickBinary<Div>(decoder, i.type)
                          : pickBinary<Rem>(decoder, i.type));
  return true;
}

/// PTX ISA 9.7.1.10 abs, 9.7.1.11 neg.
bool decodeAbsNeg(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool isNeg = decoder.opcode() == "neg";
  decodeOperands(decoder, byteSize(i.type), 1);
  switch (byteSize(i.type)) {
  case 2:
    setInteger(decoder, isNeg ? unaryOf<s16, Neg> : unaryOf<s16, Abs>);
    return true;
  case 4:
    setInteger(decoder, isNeg ? unaryOf<s32, Neg> : unaryOf<s32, Abs>);
    return true;
  case 8:
    setInteger(decoder, isNeg ? unaryOf<s64, Neg> : unaryOf<s64, Abs>);
    return true;
  }
  decoder.fail("expected a type of 16, 32 or 64 bits");
}

Handler packedMinMax(bool isMax, bool isSignedPair) {
  if (isSignedPair)
    return isMax ? Handler(binary<u32, u32, u32, PackedMinMax<s16, true>>)
                 : Handler(binary<u32, u32, u32, PackedMinMax<s16, false>>);
  return isMax ? Handler(binary<u32, u32, u32, PackedMinMax<u16, true>>)
               : Handler(binary<u32, u32, u32, PackedMinMax<u16, false>>);
}

/// PTX ISA 9.7.1.12 min, 9.7.1.13 max; also of three values.
bool decodeMinMax(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool isMax = decoder.opcode() == "max";
  bool three = decoder.numOperands() == 4;
  decodeOperands(decoder, byteSize(i.type), three ? 3 : 2);
  if (i.type == Type::S16x2 && decoder.has("relu"))
    setInteger(
        decoder,
        isMax
            ? Handler(
                  binary<u32, u32, u32, PackedMinMax<s16, true, /*relu=*/true>>)
            : Handler(binary<u32, u32, u32,
                             PackedMinMax<s16, false, /*relu=*/true>>));
  else if (i.type == Type::U16x2 || i.type == Type::S16x2)
    setInteger(decoder, packedMinMax(isMax, i.type == Type::S16x2));
  else if (three)
    setInteger(decoder, isMax ? pickTernary<Max3>(decoder, i.type)
                              : pickTernary<Min3>(decoder, i.type));
  else if (decoder.has("relu") && i.type == Type::S32)
    setInteger(decoder, isMax ? binary<s32, s32, s32, MaxRelu>
                              : binary<s32, s32, s32, MinRelu>);
  else
    setInteger(decoder, isMax ? pickBinary<Max>(decoder, i.type)
                              : pickBinary<Min>(decoder, i.type));
  return true;
}

/// PTX ISA 9.7.1.23 dp4a, 9.7.1.24 dp2a.
bool decodeDotProduct(Decoder &decoder) {
  decodeOperands(decoder, 4, 3);
  bool isDp4a = decoder.opcode() == "dp4a";
  if (!isDp4a)
    decoder.instruction.operation = decoder.oneOf({"lo", "hi"}) == 1;
  setInteger(decoder, isDp4a ? runDp4a : runDp2a);
  return true;
}

} // namespace

void attn::sim::registerInteger(OpcodeTable &table) {
  table.add({"add", "sub"}, decodeAddSub);
  table.add("mul", decodeMul);
  table.add("mad", decodeMad);
  table.add("mul24", decodeMul24);
  table.add("mad24", decodeMad24);
  table.add("sad", decodeSad);
  table.add({"div", "rem"}, decodeDivRem);
  table.add({"abs", "neg"}, decodeAbsNeg);
  table.add({"min", "max"}, decodeMinMax);
  table.add({"dp4a", "dp2a"}, decodeDotProduct);
}
