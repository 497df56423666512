//===- Move.cpp - Moves between registers ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.9, mov: of values, addresses, special registers (PTX ISA 10),
/// and the packing and unpacking of vectors.
///
//===----------------------------------------------------------------------===//

#include "../ProgramBuilder.h"
#include "Elementwise.h"
#include "Families.h"
#include "Predicate.h"

using namespace attn::sim;

namespace {

using Wide = unsigned __int128;

template <typename T>
struct Identity {
  static T apply(T a) { return a; }
};
struct ZeroExtend {
  static u64 apply(u32 a) { return a; }
};
struct Truncate {
  static u32 apply(u64 a) { return u32(a); }
};

/// A register of 128 bits is a row of low and a row of high halves.
Step runMove128(Warp &warp, const Instruction &i) {
  u64 *dst = dest64(warp, i.dst);
  const u64 *a = source64(warp, i.a);
  ATTN_FOR_LANES(warp.active, lane) {
    dst[lane] = a[lane];
    dst[lane + warpSize] = a[lane + warpSize];
  }
  return Step::Next;
}

Step runMoveAddress(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    setLane(warp, i.dst, lane, laneAddress(warp, i.address, lane));
  }
  return Step::Next;
}

Handler moveHandler(u32 bytes) {
  return bytes == 16  ? Handler(runMove128)
         : bytes == 8 ? unaryOf<u64, Identity>
                      : unaryOf<u32, Identity>;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// dst = {values}; `immediate` is the number of bits of an element.
Step runPack(Warp &warp, const Instruction &i) {
  u64 mask = i.immediate >= 64 ? ~0ull : (1ull << i.immediate) - 1;
  ATTN_FOR_LANES(warp.active, lane) {
    Wide packed = 0;
    u32 shift = 0;
    for (const Operand &value : i.values) {
      u64 element = value.isSink() ? 0 : laneValue(warp, value, lane) & mask;
      packed |= Wide(element) << shift;
      shift += i.immediate;
    }
    setLane(warp, i.dst, lane, u64(packed));
    if (i.dst.width == 16) {
      dest64(warp, i.dst)[lane] = u64(packed);
      dest64(warp, i.dst)[lane + warpSize] = u64(packed >> 64);
    }
  }
  return Step::Next;
}

/// {results} = a
Step runUnpack(Warp &warp, const Instruction &i) {
  u64 mask = i.immediate >= 64 ? ~0ull : (1ull << i.immediate) - 1;
  ATTN_FOR_LANES(warp.active, lane) {
    Wide packed = i.a.width == 16
                      ? Wide(source64(warp, i.a)[lane + warpSize]) << 64 |
                            source64(warp, i.a)[lane]
                      : Wide(laneValue(warp, i.a, lane));
    for (const Operand &result : i.results) {
      if (!result.isSink())
        setLane(warp, result, lane, u64(packed) & mask);
      packed >>= i.immediate;
    }
  }
  return Step::Next;
}

/// Checks that the elements of a vector fill the type.
u32 elementBits(Decoder &decoder, const ParsedOperand &vector) {
  u32 bits = 8 * byteSize(decoder.instruction.type);
  size_t count = vector.elements.size();
  if ((count != 2 && count != 4 && count != 8) || bits / count < 8)
    decoder.fail("expected 2, 4 or 8 elements that fill the type");
  return bits / count;
}

void decodePack(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.dst = decodeRegister(decoder, 0, byteSize(i.type));
  i.immediate = elementBits(decoder, decoder.operand(1));
  for (const ParsedOperand &element : decoder.operand(1).elements)
    i.values.push_back(decoder.source(element, i.immediate / 8));
  i.isByHalf = i.immediate == 32 && i.values.size() == 2;
  decoder.setHandler(runPack, InstructionClass::Move);
}

void decodeUnpack(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.a = decoder.source(1, byteSize(i.type));
  i.immediate = elementBits(decoder, decoder.operand(0));
  i.results = decoder.destinations(decoder.operand(0), i.immediate / 8);
  i.isByHalf = i.immediate == 32 && i.results.size() == 2;
  decoder.setHandler(runUnpack, InstructionClass::Move);
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

/// %clock counts 4 cycles per instruction of the host thread; %globaltimer
/// starts at one second.
template <bool isTimer, bool isHigh>
Step runClock(Warp &warp, const Instruction &i) {
  u64 value =
      isTimer ? 1000000000ull + warp.worker->clock : warp.worker->clock * 4;
  if (isHigh)
    value >>= 32;
  ATTN_FOR_LANES(warp.active, lane) { setLane(warp, i.dst, lane, value); }
  return Step::Next;
}

Handler clockHandler(const std::string &name) {
  if (name == "%clock" || name == "%clock64")
    return runClock<false, false>;
  if (name == "%clock_hi")
    return runClock<false, true>;
  if (name == "%globaltimer" || name == "%globaltimer_lo")
    return runClock<true, false>;
  if (name == "%globaltimer_hi")
    return runClock<true, true>;
  return nullptr;
}

void decodeSpecial(Decoder &decoder, u32 bytes) {
  Instruction &i = decoder.instruction;
  const ParsedOperand &source = decoder.operand(1);
  i.dst = decodeRegister(decoder, 0, bytes);
  if (Handler handler = clockHandler(source.symbol->name))
    return decoder.setHandler(handler, InstructionClass::Move);
  i.a = decoder.source(source, 0);
  Handler handler = moveHandler(bytes);
  if (i.a.width == 4 && i.dst.width == 8)
    handler = unary<u64, u32, ZeroExtend>;
  else if (i.a.width == 8 && i.dst.width == 4)
    handler = unary<u32, u64, Truncate>;
  decoder.setHandler(handler, InstructionClass::Move);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The address of a function.
void decodeFunctionAddress(Decoder &decoder, u32 bytes) {
  Instruction &i = decoder.instruction;
  std::string name(decoder.operand(1).text);
  u64 address = decoder.builder.getModule().functionAddress(name);
  if (!address)
    decoder.fail("unknown symbol '" + name + "'");
  decoder.builder.requestFunction(name);
  i.dst = decodeRegister(decoder, 0, bytes);
  i.a = decoder.constant(address, bytes);
  decoder.setHandler(moveHandler(bytes), InstructionClass::Move);
}

/// %is_explicit_cluster is a predicate.
Step runTestSpecial(Warp &warp, const Instruction &i) {
  setPredicate(warp, i.dst, source32(warp, i.a)[0] ? fullMask : 0);
  return Step::Next;
}

/// PTX ISA 9.7.9 mov.
bool decodeMov(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  const ParsedOperand &source = decoder.operand(1);
  u32 bytes = byteSize(i.type);
  if (i.type == Type::Pred && source.isSpecialRegister()) {
    i.dst = decoder.predicateDestination(decoder.operand(0));
    i.a = decoder.special(std::string(source.text), 4);
    decoder.setHandler(runTestSpecial, InstructionClass::Move);
  } else if (i.type == Type::Pred) {
    decodePredicateOp(decoder, PredicateOp::Move);
  } else if (decoder.operand(0).is(ParsedOperand::Kind::Vector)) {
    decodeUnpack(decoder);
  } else if (source.is(ParsedOperand::Kind::Vector)) {
    decodePack(decoder);
  } else if (source.is(ParsedOperand::Kind::Symbol)) {
    i.dst = decodeRegister(decoder, 0, bytes);
    i.address = decoder.address(1);
    decoder.setHandler(runMoveAddress, InstructionClass::Move);
  } else if (source.is(ParsedOperand::Kind::Name)) {
    decodeFunctionAddress(decoder, bytes);
  } else if (source.isSpecialRegister()) {
    decodeSpecial(decoder, bytes);
  } else {
    i.dst = decodeRegister(decoder, 0, bytes);
    i.a = decoder.source(1, bytes);
    decoder.setHandler(moveHandler(bytes), InstructionClass::Move);
  }
  return true;
}

} // namespace

void attn::sim::registerMove(OpcodeTable &table) {
  table.add("mov", decodeMov);
}
