//===- ConvertPack.cpp - cvt.pack -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.10.23, cvt.pack: two 32-bit integers saturated to 16 or 8 bits
/// and packed, the second one in the lower bits; with 8 bits, above the lower
/// bits of a third operand's.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// The bits of `value` saturated to `type`.
u32 saturateTo(Type type, s32 value) {
  switch (type) {
  case Type::S8:
    return u8(std::clamp(value, -128, 127));
  case Type::U8:
    return u8(std::clamp(value, 0, 255));
  case Type::S16:
    return u16(std::clamp(value, -32768, 32767));
  default:
    return u16(std::clamp(value, 0, 65535));
  }
}

Step runPack(Warp &warp, const Instruction &i) {
  u32 width = 8 * byteSize(i.type);
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    u32 a = saturateTo(i.type, s32(laneValue32(warp, i.a, lane)));
    u32 b = saturateTo(i.type, s32(laneValue32(warp, i.b, lane)));
    u32 rest = width == 8 ? laneValue32(warp, i.c, lane) << 16 : 0;
    dst[lane] = rest | a << width | b;
  }
  return Step::Next;
}

/// cvt.pack.sat.{u16,s16}.s32 d, a, b and .{u8,s8}.s32.b32 d, a, b, c
bool decodePack(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!decoder.has("pack"))
    return false;
  bool isByte = i.type == Type::S8 || i.type == Type::U8;
  bool isShort = i.type == Type::S16 || i.type == Type::U16;
  if ((!isByte && !isShort) || i.type2 != Type::S32)
    decoder.fail("expected a conversion from s32 to 8 or 16 bits");
  i.dst = decodeRegister(decoder, 0, 4);
  i.a = decoder.source(1, 4, Type::S32);
  i.b = decoder.source(2, 4, Type::S32);
  if (isByte)
    i.c = decoder.source(3, 4, Type::B32);
  decoder.setHandler(runPack, InstructionClass::Convert);
  return true;
}

} // namespace

void attn::sim::registerConvertPack(OpcodeTable &table) {
  table.add("cvt", decodePack);
}
