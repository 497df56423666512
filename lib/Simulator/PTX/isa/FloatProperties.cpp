//===- FloatProperties.cpp - testp and copysign ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.3.1 testp, 9.7.3.2 copysign.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"

#include <cmath>

using namespace attn::sim;

namespace {

enum Property : u32 { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

template <typename T>
bool hasProperty(T value, u32 property) {
  switch (property) {
  case Finite:
    return std::isfinite(value);
  case Infinite:
    return std::isinf(value);
  case Number:
    return !isNaN(value);
  case NotANumber:
    return isNaN(value);
  case Normal:
    return std::isnormal(value);
  default:
    return std::fpclassify(value) == FP_SUBNORMAL;
  }
}

Step runTestp(Warp &warp, const Instruction &i) {
  u32 result = 0;
  ATTN_FOR_LANES(warp.active, lane) {
    bool holds =
        i.type == Type::F64
            ? hasProperty(asDouble(source64(warp, i.a)[lane]), i.operation)
            : hasProperty(asFloat(source32(warp, i.a)[lane]), i.operation);
    result |= u32(holds) << lane;
  }
  setPredicate(warp, i.dst, result);
  return Step::Next;
}

/// The sign of a, the magnitude of b.
struct CopySign32 {
  static u32 apply(u32 a, u32 b) { return (b & 0x7FFFFFFF) | (a & 0x80000000); }
};
struct CopySign64 {
  static u64 apply(u64 a, u64 b) { return (b & ~signBit64) | (a & signBit64); }
};

/// PTX ISA 9.7.3.1 testp.
bool decodeTestp(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  i.dst = decoder.predicateDestination(decoder.operand(0));
  i.a = decoder.source(1, byteSize(i.type));
  int property = decoder.oneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (property < 0)
    decoder.fail("unknown property");
  i.operation = property;
  decoder.setHandler(runTestp, InstructionClass::FloatCompare);
  return true;
}

/// PTX ISA 9.7.3.2 copysign.
bool decodeCopysign(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  decodeOperands(decoder, byteSize(i.type), 2);
  decoder.setHandler(i.type == Type::F64
                         ? Handler(binary<u64, u64, u64, CopySign64>)
                         : Handler(binary<u32, u32, u32, CopySign32>),
                     InstructionClass::FloatAdd);
  return true;
}

} // namespace

void attn::sim::registerFloatProperties(OpcodeTable &table) {
  table.add("testp", decodeTestp);
  table.add("copysign", decodeCopysign);
}
