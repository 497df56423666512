//===- Half.cpp - f16 and bf16 arithmetic ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.4, Half Precision Floating-Point Instructions: add, sub, mul,
/// fma, neg, abs, min, max, tanh, ex2, on f16, bf16 and their packed pairs.
/// Sums and products of halves are exact in f32 but for the last rounding; fma
/// goes through a double rounded to odd.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"

#include <cmath>

using namespace attn::sim;

namespace {

enum Operation : u32 {
  AddOp,
  SubOp,
  MulOp,
  FmaOp,
  MinOp,
  MaxOp,
  NegOp,
  AbsOp,
  Ex2Op,
  TanhOp,
  Min3Op,
  Max3Op
};
constexpr u32 brain = 1, packed = 2, relu = 4, propagatesNaN = 8,
              usesXorSign = 16;

bool isBrain(const Instruction &i) { return i.flags & brain; }

/// f16 subnormals as zeros; bf16 instructions have no .ftz.
u16 flushHalf(const Instruction &i, u16 bits) {
  if (!i.flushSubnormals || isBrain(i))
    return bits;
  return bits & 0x7C00 ? bits : bits & 0x8000;
}

float widen(const Instruction &i, u16 bits) {
  return isBrain(i) ? brainToFloat(bits) : halfToFloat(bits);
}

u16 narrow(const Instruction &i, float value) {
  if (isBrain(i))
    return floatToBrain(value);
  return floatToHalf(value, i.rounding == Rounding::Zero ? Rounding::Zero
                                                         : Rounding::Nearest);
}

u16 fusedMultiplyAdd(const Instruction &i, float a, float b, float c) {
  double exact =
      isNaN(a) || isNaN(b) || isNaN(c) ? NAN : fmaRoundToOdd(a, b, c);
  return isBrain(i) ? doubleToBrain(exact) : doubleToHalf(exact);
}

float minMax(const Instruction &i, float a, float b) {
  bool isMin = i.operation == MinOp || i.operation == Min3Op;
  bool propagates = i.flags & propagatesNaN;
  if (i.flags & usesXorSign) {
    if (propagates && (isNaN(a) || isNaN(b)))
      return NAN;
    float x = std::fabs(a), y = std::fabs(b);
    return xorSign(isMin ? minNumber(x, y) : maxNumber(x, y), a, b);
  }
  if (propagates)
    return isMin ? minPropagate(a, b) : maxPropagate(a, b);
  return isMin ? minNumber(a, b) : maxNumber(a, b);
}

float compute(const Instruction &i, float a, float b, float c) {
  switch (i.operation) {
  case AddOp:
    return a + b;
  case SubOp:
    return a - b;
  case MulOp:
    return a * b;
  case MinOp:
  case MaxOp:
    return minMax(i, a, b);
  case Min3Op:
  case Max3Op:
    return minMax(i, minMax(i, a, b), c);
  case Ex2Op:
    return exp2f(a);
  default:
    return tanhf(a);
  }
}

/// Canonical NaN, then .relu and .sat.
u16 finish(const Instruction &i, u16 bits) {
  bits = flushHalf(i, bits);
  bool nan = (bits & 0x7FFF) > (isBrain(i) ? 0x7F80 : 0x7C00);
  if (nan)
    return i.saturate ? 0 : canonicalNaN16;
  if ((i.flags & relu) && (bits & 0x8000))
    return 0;
  if (!i.saturate)
    return bits;
  float value = widen(i, bits);
  if (value < 0)
    return 0;
  return value > 1 ? (isBrain(i) ? 0x3F80 : 0x3C00) : bits;
}

u16 applyHalf(const Instruction &i, u16 a, u16 b, u16 c) {
  a = flushHalf(i, a);
  b = flushHalf(i, b);
  c = flushHalf(i, c);
  if (i.operation == NegOp)
    return a ^ 0x8000;
  if (i.operation == AbsOp)
    return a & 0x7FFF;
  float x = widen(i, a), y = widen(i, b), z = widen(i, c);
  u16 bits = i.operation == FmaOp ? fusedMultiplyAdd(i, x, y, z)
                                  : narrow(i, compute(i, x, y, z));
  return finish(i, bits);
}

Step runHalf(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a);
  const u32 *b = i.b ? source32(warp, i.b) : a;
  const u32 *c = i.c ? source32(warp, i.c) : a;
  ATTN_FOR_LANES(warp.active, lane) {
    u32 result = applyHalf(i, a[lane], b[lane], c[lane]);
    if (i.flags & packed)
      result |= u32(applyHalf(i, a[lane] >> 16, b[lane] >> 16, c[lane] >> 16))
                << 16;
    dst[lane] = result;
  }
  return Step::Next;
}

bool decodeHalf(Decoder &decoder, Operation operation, u32 numSources) {
  Instruction &i = decoder.instruction;
  if (!isHalf(i.type))
    return false;
  if (decoder.types().size() > 1)
    decoder.fail("expected one type");
  decodeOperands(decoder, byteSize(i.type), numSources);
  i.operation = operation;
  i.flags = (isBrainHalf(i.type) ? brain : 0) |
            (isPackedHalf(i.type) ? packed : 0) |
            (decoder.has("relu") ? relu : 0) |
            (decoder.has("NaN") ? propagatesNaN : 0) |
            (decoder.has("xorsign") && decoder.has("abs") ? usesXorSign : 0);
  decoder.setHandler(runHalf, operation == Ex2Op    ? InstructionClass::Ex2
                              : operation == TanhOp ? InstructionClass::Mufu
                                                    : InstructionClass::Half);
  return true;
}

template <Operation operation, u32 numSources>
bool decodeAs(Decoder &decoder) {
  return decodeHalf(decoder, operation, numSources);
}

/// PTX ISA 9.7.4.7 min, 9.7.4.8 max; also of three values.
bool decodeMinMax(Decoder &decoder) {
  bool isMax = decoder.opcode() == "max";
  if (decoder.numOperands() == 4)
    return decodeHalf(decoder, isMax ? Max3Op : Min3Op, 3);
  return decodeHalf(decoder, isMax ? MaxOp : MinOp, 2);
}

} // namespace

void attn::sim::registerHalf(OpcodeTable &table) {
  table.add("add", decodeAs<AddOp, 2>); // PTX ISA 9.7.4.1
  table.add("sub", decodeAs<SubOp, 2>); // 9.7.4.2
  table.add("mul", decodeAs<MulOp, 2>); // 9.7.4.3
  table.add("fma", decodeAs<FmaOp, 3>); // 9.7.4.4
  table.add("neg", decodeAs<NegOp, 1>); // 9.7.4.5
  table.add("abs", decodeAs<AbsOp, 1>); // 9.7.4.6
  table.add({"min", "max"}, decodeMinMax);
  table.add("tanh", decodeAs<TanhOp, 1>); // 9.7.4.9
  table.add("ex2", decodeAs<Ex2Op, 1>);   // 9.7.4.10
}
