//===- ExtendedPrecision.cpp - Arithmetic with carry ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.2, Extended-Precision Integer Arithmetic Instructions: add.cc,
/// addc, sub.cc, subc, mad.cc, madc. The carry is one bit per lane.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"

using namespace attn::sim;

namespace {

enum Operation : u32 { AddOp, SubOp, MadLowOp, MadHighOp };
constexpr u32 writesCarry = 1, readsCarry = 2, signedProduct = 4;

using Wide = unsigned __int128;

template <typename T>
Wide product(const Instruction &i, T a, T b) {
  if (i.flags & signedProduct)
    return Wide(__int128(std::make_signed_t<T>(a)) * std::make_signed_t<T>(b));
  return Wide(a) * b;
}

/// The sum before truncation; bit 8 * sizeof(T) is the carry (or borrow) out.
template <typename T>
Wide wideResult(const Instruction &i, T a, T b, T c, u32 carryIn) {
  constexpr u32 bits = 8 * sizeof(T);
  switch (i.operation) {
  case AddOp:
    return Wide(a) + b + carryIn;
  case SubOp:
    return Wide(a) - b - carryIn;
  case MadLowOp:
    return Wide(T(product<T>(i, a, b))) + c + carryIn;
  default:
    return Wide(T(product<T>(i, a, b) >> bits)) + c + carryIn;
  }
}

template <typename T>
Step runCarry(Warp &warp, const Instruction &i) {
  auto *a = Lane<T>::source(warp, i.a), *b = Lane<T>::source(warp, i.b);
  auto *c = i.c ? Lane<T>::source(warp, i.c) : a;
  auto *dst = Lane<T>::dest(warp, i.dst);
  u32 carryOut = warp.carry;
  ATTN_FOR_LANES(warp.active, lane) {
    u32 carryIn = i.flags & readsCarry ? (warp.carry >> lane) & 1 : 0;
    Wide result = wideResult<T>(i, a[lane], b[lane], c[lane], carryIn);
    dst[lane] = T(result);
    u32 bit = u32(result >> (8 * sizeof(T))) & 1;
    if (i.flags & writesCarry)
      carryOut = (carryOut & ~(1u << lane)) | bit << lane;
  }
  warp.carry = carryOut;
  return Step::Next;
}

bool decodeCarry(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  std::string_view opcode = decoder.opcode();
  bool reads = opcode.back() == 'c';
  bool writes = decoder.has("cc");
  if (!reads && !writes)
    return false; // plain add, sub, mad
  bool isMad = opcode.substr(0, 3) == "mad";
  u32 bytes = byteSize(i.type);
  if (bytes != 4 && bytes != 8)
    decoder.fail("expected a type of 32 or 64 bits");
  decodeOperands(decoder, bytes, isMad ? 3 : 2);
  i.operation = isMad ? (decoder.has("hi") ? MadHighOp : MadLowOp)
                : opcode.substr(0, 3) == "add" ? AddOp
                                               : SubOp;
  i.flags = (writes ? writesCarry : 0) | (reads ? readsCarry : 0) |
            (isSigned(i.type) ? signedProduct : 0);
  decoder.setHandler(bytes == 8 ? runCarry<u64> : runCarry<u32>,
                     InstructionClass::Integer);
  return true;
}

} // namespace

void attn::sim::registerExtendedPrecision(OpcodeTable &table) {
  table.add({"add", "addc", "sub", "subc", "mad", "madc"}, decodeCarry);
}
