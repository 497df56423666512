//===- Float.cpp - Single and double precision ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.3, Floating-Point Instructions: add, sub, mul,
/// fma, mad, div, abs, neg, min, max, rcp, sqrt, rsqrt, sin, cos, lg2, ex2,
/// tanh. The .approx forms are correctly rounded or nearly so: more exact than
/// hardware. NaN results are canonical.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"

#include <cmath>

using namespace attn::sim;

namespace {

//===----------------------------------------------------------------------===//
// Single precision
//===----------------------------------------------------------------------===//

template <bool flush>
float input(u32 bits) {
  return asFloat(flushSubnormal<flush>(bits));
}

/// .sat clamps to [0, 1] and turns NaN into 0.
template <bool flush, bool saturate>
u32 output(float value) {
  if (saturate) {
    value = value > 0.f ? value : 0.f;
    return asBits(value < 1.f ? value : 1.f);
  }
  u32 bits = asBits(value);
  bits = (bits & 0x7FFFFFFFu) > 0x7F800000u ? canonicalNaN32 : bits;
  return flushSubnormal<flush>(bits);
}

template <typename Op, bool flush, bool saturate>
Step runUnary(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a);
  forActiveLanes(warp, [&](u32 lane) {
    dst[lane] = output<flush, saturate>(Op::apply(input<flush>(a[lane])));
  });
  return Step::Next;
}

template <typename Op, bool flush, bool saturate>
Step runBinary(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b);
  forActiveLanes(warp, [&](u32 lane) {
    dst[lane] = output<flush, saturate>(
        Op::apply(input<flush>(a[lane]), input<flush>(b[lane])));
  });
  return Step::Next;
}

template <typename Op, bool flush, bool saturate>
Step runTernary(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b),
            *c = source32(warp, i.c);
  forActiveLanes(warp, [&](u32 lane) {
    dst[lane] = output<flush, saturate>(Op::apply(
        input<flush>(a[lane]), input<flush>(b[lane]), input<flush>(c[lane])));
  });
  return Step::Next;
}

/// The handler for the instruction's .ftz and .sat.
template <typename Op>
Handler pickUnary(const Instruction &i) {
  if (i.flushSubnormals)
    return i.saturate ? runUnary<Op, true, true> : runUnary<Op, true, false>;
  return i.saturate ? runUnary<Op, false, true> : runUnary<Op, false, false>;
}
template <typename Op>
Handler pickBinary(const Instruction &i) {
  if (i.flushSubnormals)
    return i.saturate ? runBinary<Op, true, true> : runBinary<Op, true, false>;
  return i.saturate ? runBinary<Op, false, true> : runBinary<Op, false, false>;
}
template <typename Op>
Handler pickTernary(const Instruction &i) {
  if (i.flushSubnormals)
    return i.saturate ? runTernary<Op, true, true>
                      : runTernary<Op, true, false>;
  return i.saturate ? runTernary<Op, false, true>
                    : runTernary<Op, false, false>;
}

struct Add {
  static float apply(float a, float b) { return a + b; }
};
struct Sub {
  static float apply(float a, float b) { return a - b; }
};
struct Mul {
  static float apply(float a, float b) { return a * b; }
};
struct Div {
  static float apply(float a, float b) { return a / b; }
};
struct Fma {
  static float apply(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
  }
};
// Without branches, so that the loop over lanes vectorises: equal operands
// differ at most in the sign of zero.
struct Min {
  static float apply(float a, float b) {
    u32 x = asBits(a), y = asBits(b);
    u32 result = a == b ? x | y : asBits(a < b ? a : b);
    result = b != b ? x : result;
    return asFloat(a != a ? y : result);
  }
};
struct Max {
  static float apply(float a, float b) {
    u32 x = asBits(a), y = asBits(b);
    u32 result = a == b ? x & y : asBits(a > b ? a : b);
    result = b != b ? x : result;
    return asFloat(a != a ? y : result);
  }
};
struct MinNaN {
  static float apply(float a, float b) { return minPropagate(a, b); }
};
struct MaxNaN {
  static float apply(float a, float b) { return maxPropagate(a, b); }
};
struct Min3 {
  static float apply(float a, float b, float c) {
    return minNumber(minNumber(a, b), c);
  }
};
struct Max3 {
  static float apply(float a, float b, float c) {
    return maxNumber(maxNumber(a, b), c);
  }
};
struct Min3NaN {
  static float apply(float a, float b, float c) {
    return minPropagate(minPropagate(a, b), c);
  }
};
struct Max3NaN {
  static float apply(float a, float b, float c) {
    return maxPropagate(maxPropagate(a, b), c);
  }
};
struct MinXorSign {
  static float apply(float a, float b) {
    return xorSign(minNumber(std::fabs(a), std::fabs(b)), a, b);
  }
};
struct MaxXorSign {
  static float apply(float a, float b) {
    return xorSign(maxNumber(std::fabs(a), std::fabs(b)), a, b);
  }
};
struct Ex2 {
  static float apply(float a) { return exp2f(a); }
};
struct Lg2 {
  static float apply(float a) { return log2f(a); }
};
struct Rcp {
  static float apply(float a) { return 1.0f / a; }
};
struct Sqrt {
  static float apply(float a) { return sqrtf(a); }
};
struct Rsqrt {
  static float apply(float a) { return float(1.0 / std::sqrt(double(a))); }
};
struct Sin {
  static float apply(float a) { return sinf(a); }
};
struct Cos {
  static float apply(float a) { return cosf(a); }
};
struct Tanh {
  static float apply(float a) { return tanhf(a); }
};

/// abs and neg work on bits: they keep a NaN's payload.
template <bool flush, bool negate>
Step runSign(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a);
  forActiveLanes(warp, [&](u32 lane) {
    u32 bits = flushSubnormal<flush>(a[lane]);
    dst[lane] = negate ? bits ^ 0x80000000 : bits & 0x7FFFFFFF;
  });
  return Step::Next;
}

/// One operation in a directed rounding mode; `operation` is an ArithmeticOp.
Step runRounded(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a);
  const u32 *b = i.b ? source32(warp, i.b) : a;
  const u32 *c = i.c ? source32(warp, i.c) : a;
  auto in = [&](u32 bits) {
    return i.flushSubnormals ? input<true>(bits) : asFloat(bits);
  };
  ATTN_FOR_LANES(warp.active, lane) {
    float result = roundedOp(ArithmeticOp(i.operation), in(a[lane]),
                             in(b[lane]), in(c[lane]), i.rounding);
    dst[lane] = i.saturate          ? output<false, true>(result)
                : i.flushSubnormals ? output<true, false>(result)
                                    : output<false, false>(result);
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Double precision
//===----------------------------------------------------------------------===//

Step runDouble(Warp &warp, const Instruction &i) {
  u64 *dst = dest64(warp, i.dst);
  const u64 *a = source64(warp, i.a);
  const u64 *b = i.b ? source64(warp, i.b) : a;
  const u64 *c = i.c ? source64(warp, i.c) : a;
  ATTN_FOR_LANES(warp.active, lane) {
    double result = roundedOp(ArithmeticOp(i.operation), asDouble(a[lane]),
                              asDouble(b[lane]), asDouble(c[lane]), i.rounding);
    dst[lane] = isNaN(result) ? canonicalNaN64 : asBits(result);
  }
  return Step::Next;
}

struct MinDouble {
  static double apply(double a, double b) { return minNumber(a, b); }
};
struct MaxDouble {
  static double apply(double a, double b) { return maxNumber(a, b); }
};
struct RcpDouble {
  static double apply(double a) { return 1.0 / a; }
};
struct RsqrtDouble {
  static double apply(double a) { return 1.0 / std::sqrt(a); }
};
struct SqrtDouble {
  static double apply(double a) { return std::sqrt(a); }
};
struct NegDouble {
  static u64 apply(u64 a) { return a ^ signBit64; }
};
struct AbsDouble {
  static u64 apply(u64 a) { return a & ~signBit64; }
};

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Operands and the handler of an operation that has rounding modes.
/// `plain` is the fast handler for round-to-nearest in single precision.
void decodeRounded(Decoder &decoder, ArithmeticOp op, u32 numSources,
                   Handler plain, InstructionClass instructionClass) {
  Instruction &i = decoder.instruction;
  i.operation = u32(op);
  decodeOperands(decoder, byteSize(i.type), numSources);
  if (i.type == Type::F64) {
    if (i.rounding == Rounding::None)
      i.rounding = Rounding::Nearest;
    decoder.setHandler(runDouble, InstructionClass::Double);
    return;
  }
  decoder.setHandler(isDefaultRounding(i.rounding) ? plain : runRounded,
                     instructionClass);
}

/// PTX ISA 9.7.3.3 add, 9.7.3.4 sub, 9.7.3.5 mul.
bool decodeArithmetic(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  if (decoder.types().size() > 1)
    decoder.fail("expected one type");
  if (decoder.opcode() == "add")
    decodeRounded(decoder, ArithmeticOp::Add, 2, pickBinary<Add>(i),
                  InstructionClass::FloatAdd);
  else if (decoder.opcode() == "sub")
    decodeRounded(decoder, ArithmeticOp::Sub, 2, pickBinary<Sub>(i),
                  InstructionClass::FloatAdd);
  else
    decodeRounded(decoder, ArithmeticOp::Mul, 2, pickBinary<Mul>(i),
                  InstructionClass::FloatMul);
  return true;
}

/// PTX ISA 9.7.3.6 fma, 9.7.3.7 mad.
bool decodeFma(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  if (decoder.types().size() > 1)
    decoder.fail("expected one type");
  decodeRounded(decoder, ArithmeticOp::Fma, 3, pickTernary<Fma>(i),
                InstructionClass::FloatFma);
  return true;
}

/// PTX ISA 9.7.3.8 div.
bool decodeDiv(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  decodeRounded(decoder, ArithmeticOp::Div, 2, pickBinary<Div>(i),
                InstructionClass::Mufu);
  return true;
}

/// PTX ISA 9.7.3.9 abs, 9.7.3.10 neg.
bool decodeSign(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  bool isNeg = decoder.opcode() == "neg";
  decodeOperands(decoder, byteSize(i.type), 1);
  if (i.type == Type::F64)
    decoder.setHandler(isNeg ? unary<u64, u64, NegDouble>
                             : unary<u64, u64, AbsDouble>,
                       InstructionClass::Double);
  else if (i.flushSubnormals)
    decoder.setHandler(isNeg ? runSign<true, true> : runSign<true, false>,
                       InstructionClass::FloatAdd);
  else
    decoder.setHandler(isNeg ? runSign<false, true> : runSign<false, false>,
                       InstructionClass::FloatAdd);
  return true;
}

Handler minMaxHandler(Decoder &decoder, bool isMax, bool three) {
  const Instruction &i = decoder.instruction;
  bool propagates = decoder.has("NaN"), takesAbs = decoder.has("abs");
  if (decoder.has("xorsign")) {
    if (three || propagates)
      decoder.fail("unsupported combination with .xorsign");
    return isMax ? pickBinary<MaxXorSign>(i) : pickBinary<MinXorSign>(i);
  }
  if (takesAbs)
    decoder.fail(".abs without .xorsign is not supported");
  if (three && propagates)
    return isMax ? pickTernary<Max3NaN>(i) : pickTernary<Min3NaN>(i);
  if (three)
    return isMax ? pickTernary<Max3>(i) : pickTernary<Min3>(i);
  if (propagates)
    return isMax ? pickBinary<MaxNaN>(i) : pickBinary<MinNaN>(i);
  return isMax ? pickBinary<Max>(i) : pickBinary<Min>(i);
}

/// PTX ISA 9.7.3.11 min, 9.7.3.12 max.
bool decodeMinMax(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  bool isMax = decoder.opcode() == "max";
  bool three = decoder.numOperands() == 4;
  decodeOperands(decoder, byteSize(i.type), three ? 3 : 2);
  if (i.type == Type::F64)
    decoder.setHandler(isMax ? binary<double, double, double, MaxDouble>
                             : binary<double, double, double, MinDouble>,
                       InstructionClass::Double);
  else
    decoder.setHandler(minMaxHandler(decoder, isMax, three),
                       InstructionClass::FloatCompare);
  return true;
}

void decodeDoubleFunction(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  std::string_view opcode = decoder.opcode();
  if (opcode == "sqrt" && !isDefaultRounding(i.rounding))
    return decodeRounded(decoder, ArithmeticOp::Sqrt, 1, nullptr,
                         InstructionClass::Double);
  decodeOperands(decoder, 8, 1);
  if (opcode == "rcp" && !isDefaultRounding(i.rounding)) {
    i.operation = u32(ArithmeticOp::Div);
    i.b = i.a;
    i.a = decoder.constant(asBits(1.0), 8);
    return decoder.setHandler(runDouble, InstructionClass::Double);
  }
  Handler handler = opcode == "rcp"     ? unary<double, double, RcpDouble>
                    : opcode == "sqrt"  ? unary<double, double, SqrtDouble>
                    : opcode == "rsqrt" ? unary<double, double, RsqrtDouble>
                                        : nullptr;
  if (!handler)
    decoder.fail("expected type f32");
  decoder.setHandler(handler, InstructionClass::Double);
}

Handler functionHandler(std::string_view opcode, const Instruction &i) {
  if (opcode == "ex2")
    return pickUnary<Ex2>(i);
  if (opcode == "lg2")
    return pickUnary<Lg2>(i);
  if (opcode == "rcp")
    return pickUnary<Rcp>(i);
  if (opcode == "sqrt")
    return pickUnary<Sqrt>(i);
  if (opcode == "rsqrt")
    return pickUnary<Rsqrt>(i);
  if (opcode == "sin")
    return pickUnary<Sin>(i);
  if (opcode == "cos")
    return pickUnary<Cos>(i);
  return pickUnary<Tanh>(i);
}

/// PTX ISA 9.7.3.13 rcp to 9.7.3.22 tanh.
bool decodeFunction(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!isSingleOrDouble(i.type))
    return false;
  if (i.type == Type::F64) {
    decodeDoubleFunction(decoder);
    return true;
  }
  std::string_view opcode = decoder.opcode();
  bool directed = !isDefaultRounding(i.rounding);
  if (opcode == "sqrt" && directed) {
    decodeRounded(decoder, ArithmeticOp::Sqrt, 1, nullptr,
                  InstructionClass::Mufu);
    return true;
  }
  decodeOperands(decoder, 4, 1);
  decoder.setHandler(functionHandler(opcode, i), opcode == "ex2"
                                                     ? InstructionClass::Ex2
                                                     : InstructionClass::Mufu);
  if (opcode == "rcp" && directed) {
    i.operation = u32(ArithmeticOp::Div);
    i.b = i.a;
    i.a = decoder.constant(asBits(1.0f), 4);
    i.run = runRounded;
  }
  return true;
}

} // namespace

void attn::sim::registerFloat(OpcodeTable &table) {
  table.add({"add", "sub", "mul"}, decodeArithmetic);
  table.add({"fma", "mad"}, decodeFma);
  table.add("div", decodeDiv);
  table.add({"abs", "neg"}, decodeSign);
  table.add({"min", "max"}, decodeMinMax);
  table.add({"ex2", "lg2", "rcp", "sqrt", "rsqrt", "sin", "cos", "tanh"},
            decodeFunction);
}
