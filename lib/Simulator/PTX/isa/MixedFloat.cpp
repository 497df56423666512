//===- MixedFloat.cpp - Single precision with narrower operands -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.5, Mixed Precision Floating Point Instructions (sm_100 and up):
/// add, sub and fma in f32, of which the first operand, of fma the first two,
/// is f16 or bf16.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"

#include <algorithm>

using namespace attn::sim;

namespace {

float clampToUnit(float value) {
  return value > 0.f ? std::min(value, 1.f) : 0.f;
}

/// `operation` is an ArithmeticOp; of add and sub `b` is the f32 operand.
template <bool isBrain>
Step runMixed(Warp &warp, const Instruction &i) {
  auto widen = [](u32 bits) {
    return isBrain ? brainToFloat(u16(bits)) : halfToFloat(u16(bits));
  };
  bool isFma = ArithmeticOp(i.operation) == ArithmeticOp::Fma;
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b);
  const u32 *c = i.c ? source32(warp, i.c) : b;
  ATTN_FOR_LANES(warp.active, lane) {
    float second = isFma ? widen(b[lane]) : asFloat(b[lane]);
    float result = roundedOp(ArithmeticOp(i.operation), widen(a[lane]), second,
                             asFloat(c[lane]), i.rounding);
    if (i.saturate)
      result = clampToUnit(result);
    dst[lane] = isNaN(result) ? canonicalNaN32 : asBits(result);
  }
  return Step::Next;
}

template <ArithmeticOp op>
bool decodeMixed(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (i.type != Type::F32 || decoder.types().size() != 2)
    return false;
  Type narrow = decoder.types()[1];
  if (narrow != Type::F16 && narrow != Type::BF16)
    decoder.fail("expected f16 or bf16 behind .f32");
  if (i.flushSubnormals)
    decoder.fail("expected no .ftz in mixed precision");
  constexpr bool isFma = op == ArithmeticOp::Fma;
  if (i.rounding == Rounding::None) {
    if (isFma)
      decoder.fail("expected a rounding mode");
    i.rounding = Rounding::Nearest;
  }
  i.operation = u32(op);
  i.dst = decodeRegister(decoder, 0, 4);
  i.a = decoder.source(1, 2);
  i.b = decoder.source(2, isFma ? 2 : 4);
  if (isFma)
    i.c = decoder.source(3, 4);
  decoder.setHandler(narrow == Type::BF16 ? runMixed<true> : runMixed<false>,
                     isFma ? InstructionClass::FloatFma
                           : InstructionClass::FloatAdd);
  return true;
}

} // namespace

void attn::sim::registerMixedFloat(OpcodeTable &table) {
  table.add("add", decodeMixed<ArithmeticOp::Add>);
  table.add("sub", decodeMixed<ArithmeticOp::Sub>);
  table.add("fma", decodeMixed<ArithmeticOp::Fma>);
}
