//===- Logic.cpp - Logic and shifts ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.8, Logic and Shift Instructions: and, or, xor, not, cnot, lop3,
/// shf, shl, shr; the first four also on predicates.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"
#include "Predicate.h"

#include <algorithm>

using namespace attn::sim;

namespace {

template <typename T>
struct And {
  static T apply(T a, T b) { return a & b; }
};
template <typename T>
struct Or {
  static T apply(T a, T b) { return a | b; }
};
template <typename T>
struct Xor {
  static T apply(T a, T b) { return a ^ b; }
};
template <typename T>
struct Not {
  static T apply(T a) { return T(~a); }
};
template <typename T>
struct Cnot {
  static T apply(T a) { return a == 0; }
};
/// Shift amounts are clamped to the width.
template <typename T>
struct Shl {
  static T apply(T a, u32 b) {
    using U = std::make_unsigned_t<T>;
    return b >= 8 * sizeof(T) ? T(0) : T(U(a) << b);
  }
};
template <typename T>
struct Shr {
  static T apply(T a, u32 b) {
    if (b >= 8 * sizeof(T))
      return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
    return T(a >> b);
  }
};

void setInteger(Decoder &decoder, Handler handler) {
  decoder.setHandler(handler, InstructionClass::Integer);
}

template <template <typename> class Op>
Handler bitwiseHandler(u32 bytes) {
  return bytes == 8 ? binaryOf<u64, Op> : binaryOf<u32, Op>;
}

/// PTX ISA 9.7.8.1 and, 9.7.8.2 or, 9.7.8.3 xor.
bool decodeBitwise(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  std::string_view opcode = decoder.opcode();
  if (i.type == Type::Pred) {
    decodePredicateOp(decoder, opcode == "and"  ? PredicateOp::And
                               : opcode == "or" ? PredicateOp::Or
                                                : PredicateOp::Xor);
    return true;
  }
  u32 bytes = byteSize(i.type);
  if (bytes > 8)
    decoder.fail("unsupported type");
  decodeOperands(decoder, bytes, 2);
  setInteger(decoder, opcode == "and"  ? bitwiseHandler<And>(bytes)
                      : opcode == "or" ? bitwiseHandler<Or>(bytes)
                                       : bitwiseHandler<Xor>(bytes));
  return true;
}

/// PTX ISA 9.7.8.4 not, 9.7.8.5 cnot.
bool decodeNot(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool isNot = decoder.opcode() == "not";
  if (i.type == Type::Pred) {
    decodePredicateOp(decoder, PredicateOp::Not);
    return true;
  }
  decodeOperands(decoder, byteSize(i.type), 1);
  setInteger(decoder, isNot ? pickUnary<Not>(decoder, i.type)
                            : pickUnary<Cnot>(decoder, i.type));
  return true;
}

template <template <typename> class Op, typename T>
constexpr Handler shift = binary<T, T, u32, Op<T>>;

/// PTX ISA 9.7.8.8 shl, 9.7.8.9 shr.
bool decodeShift(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  u32 bytes = byteSize(i.type);
  i.dst = decodeRegister(decoder, 0, bytes);
  i.a = decoder.source(1, bytes);
  i.b = decoder.source(2, 4);
  bool isLeft = decoder.opcode() == "shl";
  setInteger(decoder, pickInteger(decoder, i.type, [&](auto tag) {
               using T = typename decltype(tag)::type;
               using U = std::make_unsigned_t<T>;
               return isLeft ? shift<Shl, U> : shift<Shr, T>;
             }));
  return true;
}

//===----------------------------------------------------------------------===//
// shf, lop3
//===----------------------------------------------------------------------===//

/// A funnel shift of the 64 bits b:a.
template <bool isLeft, bool clamps>
Step runShf(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b),
            *c = source32(warp, i.c);
  forActiveLanes(warp, [&](u32 lane) {
    u32 amount = clamps ? std::min(c[lane], 32u) : c[lane] & 31;
    u64 value = u64(b[lane]) << 32 | a[lane];
    dst[lane] = isLeft ? u32((value << amount) >> 32) : u32(value >> amount);
  });
  return Step::Next;
}

/// PTX ISA 9.7.8.7 shf.
bool decodeShf(Decoder &decoder) {
  decodeOperands(decoder, 4, 3);
  bool clamps = decoder.has("clamp");
  if (decoder.has("l"))
    setInteger(decoder, clamps ? runShf<true, true> : runShf<true, false>);
  else
    setInteger(decoder, clamps ? runShf<false, true> : runShf<false, false>);
  return true;
}

/// Bit k of the table is the result for bits (a, b, c) = k; `operation` 1 and 2
/// combine "result is not zero" with a predicate by or, and.
Step runLop3(Warp &warp, const Instruction &i) {
  u32 *dst = dest32(warp, i.dst);
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b),
            *c = source32(warp, i.c);
  u32 table[8];
  for (u32 k = 0; k < 8; ++k)
    table[k] = (i.immediate >> k) & 1 ? fullMask : 0;
  forActiveLanes(warp, [&](u32 lane) {
    u32 x = a[lane], y = b[lane], z = c[lane];
    u32 low = (~z & table[0]) | (z & table[1]);
    u32 lowMiddle = (~z & table[2]) | (z & table[3]);
    u32 highMiddle = (~z & table[4]) | (z & table[5]);
    u32 high = (~z & table[6]) | (z & table[7]);
    dst[lane] = (~x & ((~y & low) | (y & lowMiddle))) |
                (x & ((~y & highMiddle) | (y & high)));
  });
  if (!i.dst2)
    return Step::Next;
  u32 nonZero = 0, predicate = predicateMask(warp, i.d);
  ATTN_FOR_LANES(warp.active, lane) { nonZero |= u32(dst[lane] != 0) << lane; }
  setPredicate(warp, i.dst2,
               i.operation == 1 ? nonZero | predicate : nonZero & predicate);
  return Step::Next;
}

/// PTX ISA 9.7.8.6 lop3.
bool decodeLop3(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  decoder.destinationPair(0, 4, i.dst, i.dst2);
  if (i.dst.isSink())
    decoder.fail("expected a register as destination");
  i.a = decoder.source(1, 4);
  i.b = decoder.source(2, 4);
  i.c = decoder.source(3, 4);
  i.immediate = decoder.integer(4);
  if (i.dst2) {
    i.operation = decoder.has("or") ? 1 : 2;
    i.d = decoder.predicate(5);
  }
  setInteger(decoder, runLop3);
  return true;
}

} // namespace

void attn::sim::registerLogic(OpcodeTable &table) {
  table.add({"and", "or", "xor"}, decodeBitwise);
  table.add({"not", "cnot"}, decodeNot);
  table.add({"shl", "shr"}, decodeShift);
  table.add("shf", decodeShf);
  table.add("lop3", decodeLop3);
}
