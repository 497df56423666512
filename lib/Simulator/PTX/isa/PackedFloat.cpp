//===- PackedFloat.cpp - Pairs of single precision ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.3, add, sub, mul and fma with .f32x2 (sm_100 and up): a 64-bit
/// register holds two f32, the first one in the low half, and each is computed
/// as the scalar instruction would.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"

using namespace attn::sim;

namespace {

/// One half of a pair; `operation` is an ArithmeticOp.
u32 applySingle(const Instruction &i, u32 a, u32 b, u32 c) {
  auto in = [&](u32 bits) {
    return asFloat(i.flushSubnormals ? flushSubnormal<true>(bits) : bits);
  };
  float result =
      roundedOp(ArithmeticOp(i.operation), in(a), in(b), in(c), i.rounding);
  if (isNaN(result))
    return canonicalNaN32;
  return i.flushSubnormals ? flushSubnormal<true>(asBits(result))
                           : asBits(result);
}

Step runPacked(Warp &warp, const Instruction &i) {
  u64 *dst = dest64(warp, i.dst);
  const u64 *a = source64(warp, i.a), *b = source64(warp, i.b);
  const u64 *c = i.c ? source64(warp, i.c) : a;
  ATTN_FOR_LANES(warp.active, lane) {
    u32 low = applySingle(i, u32(a[lane]), u32(b[lane]), u32(c[lane]));
    u32 high = applySingle(i, u32(a[lane] >> 32), u32(b[lane] >> 32),
                           u32(c[lane] >> 32));
    dst[lane] = u64(high) << 32 | low;
  }
  return Step::Next;
}

template <ArithmeticOp op, u32 numSources>
bool decodePacked(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (i.type != Type::F32x2)
    return false;
  if (i.saturate)
    decoder.fail(".sat is not allowed with .f32x2");
  if (i.rounding == Rounding::None) {
    if (numSources == 3)
      decoder.fail("expected a rounding mode with fma.f32x2");
    i.rounding = Rounding::Nearest;
  }
  i.operation = u32(op);
  i.isByHalf = true;
  decodeOperands(decoder, 8, numSources);
  decoder.setHandler(runPacked,
                     op == ArithmeticOp::Fma   ? InstructionClass::FloatFma
                     : op == ArithmeticOp::Mul ? InstructionClass::FloatMul
                                               : InstructionClass::FloatAdd);
  return true;
}

} // namespace

void attn::sim::registerPackedFloat(OpcodeTable &table) {
  table.add("add", decodePacked<ArithmeticOp::Add, 2>);
  table.add("sub", decodePacked<ArithmeticOp::Sub, 2>);
  table.add("mul", decodePacked<ArithmeticOp::Mul, 2>);
  table.add("fma", decodePacked<ArithmeticOp::Fma, 3>);
}
