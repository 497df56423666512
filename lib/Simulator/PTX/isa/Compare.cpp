//===- Compare.cpp - Comparison and selection -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.6, Comparison and Selection Instructions (set, setp, selp,
/// slct), 9.7.7, Half Precision Comparison Instructions, and operations on
/// predicates.
///
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"
#include "Predicate.h"

#include <unordered_map>

using namespace attn::sim;

namespace {

//===----------------------------------------------------------------------===//
// Comparison operators
//===----------------------------------------------------------------------===//

/// The unordered forms are true where an operand is NaN.
enum Comparison : int {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};
constexpr int numIntegerComparisons = 6, numComparisons = 14;

template <typename T, int comparison>
bool compare(T a, T b) {
  switch (comparison) {
  case Eq:
    return a == b;
  case Ne: // ordered: false for NaN
    return a < b || a > b;
  case Lt:
    return a < b;
  case Le:
    return a <= b;
  case Gt:
    return a > b;
  case Ge:
    return a >= b;
  case Equ:
    return !(a < b || a > b);
  case Neu:
    return a != b;
  case Ltu:
    return !(a >= b);
  case Leu:
    return !(a > b);
  case Gtu:
    return !(a <= b);
  case Geu:
    return !(a < b);
  case Num:
    return a == a && b == b;
  default:
    return a != a || b != b;
  }
}

/// lo, ls, hi, hs are lt, le, gt, ge on unsigned integers.
int parseComparison(Decoder &decoder) {
  static const std::unordered_map<std::string_view, int> names = {
      {"eq", Eq},   {"ne", Ne},   {"lt", Lt},   {"le", Le},   {"gt", Gt},
      {"ge", Ge},   {"lo", Lt},   {"ls", Le},   {"hi", Gt},   {"hs", Ge},
      {"equ", Equ}, {"neu", Neu}, {"ltu", Ltu}, {"leu", Leu}, {"gtu", Gtu},
      {"geu", Geu}, {"num", Num}, {"nan", Nan}};
  const auto &parts = decoder.modifiers();
  for (size_t k = 1; k < parts.size(); ++k) {
    auto it = names.find(parts[k]);
    if (it == names.end())
      continue;
    decoder.markKnown(k);
    return it->second;
  }
  decoder.fail("expected a comparison operator");
}

//===----------------------------------------------------------------------===//
// set, setp
//===----------------------------------------------------------------------===//

/// How the result combines with the predicate operand c.
enum Combination : u32 { NoCombination, CombineAnd, CombineOr, CombineXor };

u32 combine(Warp &warp, const Instruction &i, u32 mask) {
  switch (i.operation) {
  case CombineAnd:
    return mask & predicateMask(warp, i.c);
  case CombineOr:
    return mask | predicateMask(warp, i.c);
  case CombineXor:
    return mask ^ predicateMask(warp, i.c);
  default:
    return mask;
  }
}

/// p|q = comparison, not comparison; each combined with c.
void writePredicates(Warp &warp, const Instruction &i, u32 mask) {
  u32 first = combine(warp, i, mask), second = combine(warp, i, ~mask);
  setPredicate(warp, i.dst, first);
  setPredicate(warp, i.dst2, second);
}

/// set: 1.0f or all ones where the comparison holds.
void writeValues(Warp &warp, const Instruction &i, u32 mask) {
  mask = combine(warp, i, mask);
  u32 one = i.type == Type::F32 ? asBits(1.0f) : fullMask;
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    dst[lane] = (mask >> lane) & 1 ? one : 0;
  }
}

/// All lanes are compared, so that the loop vectorises.
template <typename T, int comparison, bool flush>
u32 compareLanes(Warp &warp, const Instruction &i) {
  auto *a = Lane<T>::source(warp, i.a), *b = Lane<T>::source(warp, i.b);
  u32 mask = 0;
  for (u32 lane = 0; lane < warpSize; ++lane) {
    T x, y;
    if constexpr (std::is_same_v<T, float>) {
      x = asFloat(flushSubnormal<flush>(a[lane]));
      y = asFloat(flushSubnormal<flush>(b[lane]));
    } else {
      x = Lane<T>::get(a[lane]);
      y = Lane<T>::get(b[lane]);
    }
    mask |= u32(compare<T, comparison>(x, y)) << lane;
  }
  return mask;
}

template <typename T, int comparison, bool flush>
Step runSetp(Warp &warp, const Instruction &i) {
  writePredicates(warp, i, compareLanes<T, comparison, flush>(warp, i));
  return Step::Next;
}
template <typename T, int comparison, bool flush>
Step runSet(Warp &warp, const Instruction &i) {
  writeValues(warp, i, compareLanes<T, comparison, flush>(warp, i));
  return Step::Next;
}

/// The handlers of all comparisons of a type, by Comparison.
template <typename T, bool flush, int... comparisons>
Handler pickHandler(int comparison, bool isSet,
                    std::integer_sequence<int, comparisons...>) {
  static constexpr Handler setp[] = {runSetp<T, comparisons, flush>...};
  static constexpr Handler set[] = {runSet<T, comparisons, flush>...};
  constexpr int count = sizeof...(comparisons);
  return comparison >= count ? nullptr
                             : (isSet ? set[comparison] : setp[comparison]);
}

template <typename T, bool flush = false>
Handler pickComparison(int comparison, bool isSet) {
  if constexpr (std::is_floating_point_v<T>)
    return pickHandler<T, flush>(
        comparison, isSet, std::make_integer_sequence<int, numComparisons>());
  else
    return pickHandler<T, flush>(
        comparison, isSet,
        std::make_integer_sequence<int, numIntegerComparisons>());
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

constexpr u32 brain = 1, packed = 2;

template <int... comparisons>
bool compareFloats(int comparison, float a, float b,
                   std::integer_sequence<int, comparisons...>) {
  static constexpr bool (*functions[])(float, float) = {
      compare<float, comparisons>...};
  return functions[comparison](a, b);
}

/// The lanes where the low (shift 0) or high (shift 16) halves compare true.
u32 compareHalves(Warp &warp, const Instruction &i, u32 shift) {
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b);
  auto widen = [&](u16 bits) {
    return i.flags & brain ? brainToFloat(bits) : halfToFloat(bits);
  };
  u32 mask = 0;
  for (u32 lane = 0; lane < warpSize; ++lane)
    mask |= u32(compareFloats(
                i.immediate, widen(a[lane] >> shift), widen(b[lane] >> shift),
                std::make_integer_sequence<int, numComparisons>()))
            << lane;
  return mask;
}

Step runSetpHalf(Warp &warp, const Instruction &i) {
  u32 low = compareHalves(warp, i, 0);
  if (!(i.flags & packed)) {
    writePredicates(warp, i, low);
    return Step::Next;
  }
  u32 high = compareHalves(warp, i, 16);
  low = combine(warp, i, low);
  high = combine(warp, i, high);
  setPredicate(warp, i.dst, low);
  setPredicate(warp, i.dst2, high);
  return Step::Next;
}

/// What `set` stores for true.
u32 trueValue(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return 0x3C00;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3F80;
  case Type::F32:
    return asBits(1.0f);
  case Type::U32:
  case Type::S32:
    return fullMask;
  default:
    return 0xFFFF;
  }
}

Step runSetHalf(Warp &warp, const Instruction &i) {
  u32 low = combine(warp, i, compareHalves(warp, i, 0));
  u32 high =
      i.flags & packed ? combine(warp, i, compareHalves(warp, i, 16)) : 0;
  bool isPacked = i.flags & packed;
  u32 one = isPacked && byteSize(i.type) == 4 && !isHalf(i.type)
                ? 0xFFFF
                : trueValue(i.type);
  u32 *dst = dest32(warp, i.dst);
  ATTN_FOR_LANES(warp.active, lane) {
    dst[lane] =
        ((low >> lane) & 1 ? one : 0) | ((high >> lane) & 1 ? one << 16 : 0);
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding of set, setp
//===----------------------------------------------------------------------===//

/// The type that is compared: lo, ls, hi, hs force an unsigned one.
Type comparedType(Decoder &decoder, Type type) {
  bool isUnsigned = decoder.oneOf({"lo", "ls", "hi", "hs"}) >= 0;
  if (!isUnsigned)
    return type;
  u32 bytes = byteSize(type);
  return bytes == 2 ? Type::U16 : bytes == 4 ? Type::U32 : Type::U64;
}

Handler comparisonHandler(Decoder &decoder, Type type, int comparison,
                          bool isSet) {
  if (type == Type::F32)
    return decoder.instruction.flushSubnormals
               ? pickComparison<float, true>(comparison, isSet)
               : pickComparison<float>(comparison, isSet);
  if (type == Type::F64)
    return pickComparison<double>(comparison, isSet);
  return pickInteger(decoder, type, [&](auto tag) {
    return pickComparison<typename decltype(tag)::type>(comparison, isSet);
  });
}

/// PTX ISA 9.7.6.1 set, 9.7.6.2 setp, 9.7.7.1 and 9.7.7.2 for halves.
bool decodeSet(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool isSet = decoder.opcode() == "set";
  Type type = isSet ? i.type2 : i.type;
  u32 bytes = byteSize(type);
  int comparison = parseComparison(decoder);
  i.operation = decoder.oneOf({"and", "or", "xor"}) + 1;
  const ParsedOperand &dst = decoder.operand(0);
  if (isSet) {
    i.dst = decodeRegister(decoder, 0, byteSize(i.type));
    if (i.dst.width != 4)
      decoder.fail("expected a 32-bit destination");
  } else if (dst.is(ParsedOperand::Kind::Pair)) {
    i.dst = decoder.predicateDestination(dst.elements[0]);
    i.dst2 = decoder.predicateDestination(dst.elements[1]);
  } else {
    i.dst = decoder.predicateDestination(dst);
  }
  i.a = decoder.source(1, bytes, type);
  i.b = decoder.source(2, bytes, type);
  if (i.operation != NoCombination)
    i.c = decoder.predicate(3);
  InstructionClass instructionClass = isFloat(type)
                                          ? InstructionClass::FloatCompare
                                          : InstructionClass::Integer;
  if (isHalf(type)) {
    i.immediate = comparison;
    i.flags =
        (isBrainHalf(type) ? brain : 0) | (isPackedHalf(type) ? packed : 0);
    decoder.setHandler(isSet ? runSetHalf : runSetpHalf, instructionClass);
    return true;
  }
  Handler handler = comparisonHandler(decoder, comparedType(decoder, type),
                                      comparison, isSet);
  if (!handler)
    decoder.fail("this comparison operator needs a floating-point type");
  decoder.setHandler(handler, instructionClass);
  return true;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

template <typename T>
Step runSelp(Warp &warp, const Instruction &i) {
  auto *dst = Lane<T>::dest(warp, i.dst);
  auto *a = Lane<T>::source(warp, i.a), *b = Lane<T>::source(warp, i.b);
  u32 mask = predicateMask(warp, i.c);
  forActiveLanes(warp, [&](u32 lane) {
    dst[lane] = (mask >> lane) & 1 ? a[lane] : b[lane];
  });
  return Step::Next;
}

template <typename T>
Step runSlct(Warp &warp, const Instruction &i) {
  auto *dst = Lane<T>::dest(warp, i.dst);
  auto *a = Lane<T>::source(warp, i.a), *b = Lane<T>::source(warp, i.b);
  const u32 *c = source32(warp, i.c);
  ATTN_FOR_LANES(warp.active, lane) {
    bool first =
        i.type2 == Type::F32 ? asFloat(c[lane]) >= 0 : s32(c[lane]) >= 0;
    dst[lane] = first ? a[lane] : b[lane];
  }
  return Step::Next;
}

/// PTX ISA 9.7.6.3 selp.
bool decodeSelp(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (i.type == Type::Pred) {
    decodePredicateOp(decoder, PredicateOp::Select);
    return true;
  }
  decodeOperands(decoder, byteSize(i.type), 2);
  if (i.dst.width > 8)
    decoder.fail("unsupported type");
  i.c = decoder.predicate(3);
  decoder.setHandler(i.dst.width == 8 ? runSelp<u64> : runSelp<u32>,
                     InstructionClass::Integer);
  return true;
}

/// PTX ISA 9.7.6.4 slct.
bool decodeSlct(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  decodeOperands(decoder, byteSize(i.type), 2);
  if (i.dst.width > 8)
    decoder.fail("unsupported type");
  i.c = decoder.source(3, 4, i.type2);
  decoder.setHandler(i.dst.width == 8 ? runSlct<u64> : runSlct<u32>,
                     InstructionClass::Integer);
  return true;
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

Step runPredicateOp(Warp &warp, const Instruction &i) {
  u32 a = predicateMask(warp, i.a), b = predicateMask(warp, i.b);
  u32 result = 0;
  switch (PredicateOp(i.operation)) {
  case PredicateOp::And:
    result = a & b;
    break;
  case PredicateOp::Or:
    result = a | b;
    break;
  case PredicateOp::Xor:
    result = a ^ b;
    break;
  case PredicateOp::Not:
    result = ~a;
    break;
  case PredicateOp::Move:
    result = a;
    break;
  case PredicateOp::Select: {
    u32 c = predicateMask(warp, i.c);
    result = (a & c) | (b & ~c);
    break;
  }
  }
  setPredicate(warp, i.dst, result);
  return Step::Next;
}

} // namespace

void attn::sim::decodePredicateOp(Decoder &decoder, PredicateOp op) {
  Instruction &i = decoder.instruction;
  i.operation = u32(op);
  i.dst = decoder.predicateDestination(decoder.operand(0));
  i.a = decoder.predicate(1);
  if (op != PredicateOp::Not && op != PredicateOp::Move)
    i.b = decoder.predicate(2);
  if (op == PredicateOp::Select)
    i.c = decoder.predicate(3);
  decoder.setHandler(runPredicateOp, op == PredicateOp::Move
                                         ? InstructionClass::Move
                                         : InstructionClass::Integer);
}

void attn::sim::registerCompare(OpcodeTable &table) {
  table.add({"set", "setp"}, decodeSet);
  table.add("selp", decodeSelp);
  table.add("slct", decodeSlct);
}
