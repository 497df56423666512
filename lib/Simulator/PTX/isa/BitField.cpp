//===- BitField.cpp - Bit counting and bit fields -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.1, Integer Arithmetic Instructions: popc, clz, bfind, fns, brev,
/// bfe, bfi, szext, bmsk; 9.7.9: prmt.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"

#include <algorithm>

using namespace attn::sim;

namespace {

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

template <typename T>
struct Popc {
  static u32 apply(T a) { return __builtin_popcountll(a); }
};
template <typename T>
struct Clz {
  static u32 apply(T a) {
    u32 bits = 8 * sizeof(T);
    return a ? __builtin_clzll(a) - (64 - bits) : bits;
  }
};
template <typename T>
struct Brev {
  static T apply(T a) {
    T result = 0;
    for (u32 bit = 0; bit < 8 * sizeof(T); ++bit)
      result |= ((a >> bit) & 1) << (8 * sizeof(T) - 1 - bit);
    return result;
  }
};
/// The most significant bit that differs from the sign.
template <typename T, bool shiftAmount>
struct Bfind {
  static u32 apply(T a) {
    std::make_unsigned_t<T> bits = a < 0 ? ~a : a;
    if (!bits)
      return ~0u;
    u32 position = 63 - __builtin_clzll(u64(bits));
    return shiftAmount ? 8 * sizeof(T) - 1 - position : position;
  }
};

/// A mask of `count` low bits, for any count.
template <typename T>
T lowBits(u32 count) {
  return count >= 8 * sizeof(T) ? T(~T(0)) : T((T(1) << count) - 1);
}

/// Bits beyond the register read as the sign of the field (PTX ISA 9.7.1.19).
template <typename T>
T extractField(T value, u32 position, u32 length) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 width = 8 * sizeof(T);
  if (length == 0)
    return 0;
  bool negative = false;
  if constexpr (std::is_signed_v<T>)
    negative = (U(value) >> std::min(position + length - 1, width - 1)) & 1;
  U shifted = position >= width ? 0 : U(value) >> position;
  u32 available = position >= width ? 0 : width - position;
  U mask = lowBits<U>(std::min(length, available));
  return T((shifted & mask) | (negative ? U(~mask) : 0));
}

template <typename T>
Step runBfe(Warp &warp, const Instruction &i) {
  auto *dst = Lane<T>::dest(warp, i.dst);
  auto *a = Lane<T>::source(warp, i.a);
  const u32 *position = source32(warp, i.b), *length = source32(warp, i.c);
  ATTN_FOR_LANES(warp.active, lane) {
    dst[lane] = Lane<T>::put(extractField<T>(
        Lane<T>::get(a[lane]), position[lane] & 0xFF, length[lane] & 0xFF));
  }
  return Step::Next;
}

template <typename T>
Step runBfi(Warp &warp, const Instruction &i) {
  auto *dst = Lane<T>::dest(warp, i.dst);
  auto *a = Lane<T>::source(warp, i.a), *b = Lane<T>::source(warp, i.b);
  const u32 *positions = source32(warp, i.c), *lengths = source32(warp, i.d);
  constexpr u32 width = 8 * sizeof(T);
  ATTN_FOR_LANES(warp.active, lane) {
    u32 position = positions[lane] & 0xFF, length = lengths[lane] & 0xFF;
    T result = b[lane];
    if (position < width && length) {
      T mask = T(lowBits<T>(std::min(length, width - position)) << position);
      result = T((result & ~mask) | (T(a[lane] << position) & mask));
    }
    dst[lane] = result;
  }
  return Step::Next;
}

u32 clampOrWrap(const Instruction &i, u32 value) {
  return i.flags ? std::min(value, 32u) : value & 31;
}

Step runBmsk(Warp &warp, const Instruction &i) {
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b);
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    u64 mask = (1ull << clampOrWrap(i, b[lane])) - 1;
    dst[lane] = u32(mask << clampOrWrap(i, a[lane]));
  }
  return Step::Next;
}

Step runSzext(Warp &warp, const Instruction &i) {
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b);
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    u32 bits = clampOrWrap(i, b[lane]);
    u32 mask = lowBits<u32>(bits), value = a[lane] & mask;
    bool negative = i.type == Type::S32 && bits && (value >> (bits - 1)) & 1;
    dst[lane] = bits == 0 ? 0 : negative ? value | ~mask : value;
  }
  return Step::Next;
}

/// The position of the offset-th set bit from `base`, or all ones.
u32 findNthSet(u32 mask, u32 base, s32 offset) {
  if (offset == 0)
    return base < 32 && (mask >> base) & 1 ? base : ~0u;
  s32 step = offset < 0 ? -1 : 1;
  s64 remaining = std::abs(s64(offset));
  for (s64 bit = base; bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit) & 1 && --remaining == 0)
      return u32(bit);
  return ~0u;
}

Step runFns(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    dst[lane] =
        findNthSet(laneValue32(warp, i.a, lane), laneValue32(warp, i.b, lane),
                   s32(laneValue32(warp, i.c, lane)));
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// prmt
//===----------------------------------------------------------------------===//

enum PermuteMode : u32 { Default, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

/// Byte selectors of the modes, by mode - 1, by the two low bits of c, from
/// byte 0 (PTX ISA, prmt, "selection modes").
constexpr u8 permuteTable[6][4][4] = {
    {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}, // f4e
    {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}, // b4e
    {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}, // rc8
    {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}, // ecl
    {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}, // ecr
    {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}  // rc16
};

u32 permute(u64 bytes, u32 selector, u32 mode) {
  auto byteAt = [&](u32 index) {
    return u32(bytes >> (8 * (index & 7))) & 255;
  };
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    u32 byte;
    if (mode != Default) {
      byte = byteAt(permuteTable[mode - 1][selector & 3][i]);
    } else {
      u32 nibble = (selector >> (4 * i)) & 15;
      byte = byteAt(nibble);
      if (nibble & 8) // replicate the sign
        byte = byte & 0x80 ? 0xFF : 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

Step runPrmt(Warp &warp, const Instruction &i) {
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b),
            *c = source32(warp, i.c);
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    dst[lane] = permute(u64(b[lane]) << 32 | a[lane], c[lane], i.operation);
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void setInteger(Decoder &decoder, Handler handler) {
  decoder.setHandler(handler, InstructionClass::Integer);
}

u32 wordBytes(Decoder &decoder) {
  u32 bytes = byteSize(decoder.instruction.type);
  if (bytes != 4 && bytes != 8)
    decoder.fail("expected a type of 32 or 64 bits");
  return bytes;
}

/// PTX ISA 9.7.1.14 popc, 9.7.1.15 clz.
bool decodeCount(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  u32 bytes = wordBytes(decoder);
  i.dst = decodeRegister(decoder, 0, 4);
  i.a = decoder.source(1, bytes);
  bool isPopc = decoder.opcode() == "popc";
  if (bytes == 8)
    setInteger(decoder,
               isPopc ? unary<u32, u64, Popc<u64>> : unary<u32, u64, Clz<u64>>);
  else
    setInteger(decoder,
               isPopc ? unary<u32, u32, Popc<u32>> : unary<u32, u32, Clz<u32>>);
  return true;
}

template <typename T>
Handler bfindHandler(bool shiftAmount) {
  return shiftAmount ? Handler(unary<u32, T, Bfind<T, true>>)
                     : Handler(unary<u32, T, Bfind<T, false>>);
}

/// PTX ISA 9.7.1.16 bfind.
bool decodeBfind(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.dst = decodeRegister(decoder, 0, 4);
  i.a = decoder.source(1, wordBytes(decoder));
  bool shiftAmount = decoder.has("shiftamt");
  setInteger(decoder, pickInteger(decoder, i.type, [&](auto tag) {
               return bfindHandler<typename decltype(tag)::type>(shiftAmount);
             }));
  return true;
}

/// PTX ISA 9.7.1.17 fns.
bool decodeFns(Decoder &decoder) {
  decodeOperands(decoder, 4, 3);
  setInteger(decoder, runFns);
  return true;
}

/// PTX ISA 9.7.1.18 brev.
bool decodeBrev(Decoder &decoder) {
  u32 bytes = wordBytes(decoder);
  decodeOperands(decoder, bytes, 1);
  setInteger(decoder, bytes == 8 ? unaryOf<u64, Brev> : unaryOf<u32, Brev>);
  return true;
}

/// PTX ISA 9.7.1.19 bfe.
bool decodeBfe(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  u32 bytes = wordBytes(decoder);
  i.dst = decodeRegister(decoder, 0, bytes);
  i.a = decoder.source(1, bytes);
  i.b = decoder.source(2, 4);
  i.c = decoder.source(3, 4);
  setInteger(decoder, pickInteger(decoder, i.type, [](auto tag) -> Handler {
               return runBfe<typename decltype(tag)::type>;
             }));
  return true;
}

/// PTX ISA 9.7.1.20 bfi.
bool decodeBfi(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  u32 bytes = wordBytes(decoder);
  i.dst = decodeRegister(decoder, 0, bytes);
  i.a = decoder.source(1, bytes);
  i.b = decoder.source(2, bytes);
  i.c = decoder.source(3, 4);
  i.d = decoder.source(4, 4);
  setInteger(decoder, bytes == 8 ? runBfi<u64> : runBfi<u32>);
  return true;
}

/// PTX ISA 9.7.1.21 szext, 9.7.1.22 bmsk.
bool decodeClampOrWrap(Decoder &decoder) {
  decodeOperands(decoder, 4, 2);
  decoder.instruction.flags = decoder.has("clamp");
  setInteger(decoder, decoder.opcode() == "bmsk" ? runBmsk : runSzext);
  return true;
}

/// PTX ISA 9.7.9 prmt.
bool decodePrmt(Decoder &decoder) {
  decodeOperands(decoder, 4, 3);
  decoder.instruction.operation =
      decoder.oneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1;
  setInteger(decoder, runPrmt);
  return true;
}

} // namespace

void attn::sim::registerBitField(OpcodeTable &table) {
  table.add({"popc", "clz"}, decodeCount);
  table.add("bfind", decodeBfind);
  table.add("fns", decodeFns);
  table.add("brev", decodeBrev);
  table.add("bfe", decodeBfe);
  table.add("bfi", decodeBfi);
  table.add({"szext", "bmsk"}, decodeClampOrWrap);
  table.add("prmt", decodePrmt);
}
