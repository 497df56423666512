//===- IntervalMath.cpp - Arithmetic on intervals ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntervalMath.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace attn;

/// Numbers further away count as anything.
static Interval limit(Interval x) {
  return x.low < -kFar || x.high > kFar ? kAnything : x;
}

Interval attn::addIntervals(Interval a, Interval b) {
  return limit({a.low + b.low, a.high + b.high});
}

Interval attn::subtractIntervals(Interval a, Interval b) {
  return limit({a.low - b.high, a.high - b.low});
}

Interval attn::multiplyIntervals(Interval a, Interval b) {
  int64_t low = kFar, high = -kFar;
  for (int64_t x : {a.low, a.high})
    for (int64_t y : {b.low, b.high}) {
      int64_t product;
      if (llvm::MulOverflow(x, y, product))
        return kAnything;
      low = std::min(low, product);
      high = std::max(high, product);
    }
  return limit({low, high});
}

static int64_t divide(int64_t a, int64_t b, Rounding rounding) {
  switch (rounding) {
  case Rounding::Down:
    return llvm::divideFloorSigned(a, b);
  case Rounding::Up:
    return llvm::divideCeilSigned(a, b);
  case Rounding::ToZero:
    return a / b;
  }
  llvm_unreachable("unknown rounding");
}

/// Monotone in each operand as long as the divisor does not change its sign.
Interval attn::divideIntervals(Interval a, Interval b, Rounding rounding) {
  if (b.low <= 0 && b.high >= 0)
    return kAnything;
  int64_t low = kFar, high = -kFar;
  for (int64_t x : {a.low, a.high})
    for (int64_t y : {b.low, b.high}) {
      low = std::min(low, divide(x, y, rounding));
      high = std::max(high, divide(x, y, rounding));
    }
  return {low, high};
}

Interval attn::remainderOfIntervals(Interval a, Interval b) {
  Interval quotient = divideIntervals(a, b, Rounding::ToZero);
  if (quotient.isSingle() && b.isSingle())
    return subtractIntervals(a, multiplyIntervals(b, quotient));
  if (b.low <= 0)
    return kAnything;
  int64_t largest = b.high - 1;
  return {a.low < 0 ? -largest : 0, a.high > 0 ? largest : 0};
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

namespace {
/// Bits that all numbers of an interval have in common.
struct CommonBits {
  uint64_t value, isKnown;

  explicit CommonBits(Interval x) {
    uint64_t difference = static_cast<uint64_t>(x.low ^ x.high);
    unsigned unknown = 64 - llvm::countl_zero(difference);
    isKnown = unknown == 64 ? 0 : ~uint64_t(0) << unknown;
    value = static_cast<uint64_t>(x.low) & isKnown;
  }
};
} // namespace

/// The numbers with `value` in the known bits.
static Interval fromBits(uint64_t value, uint64_t isKnown) {
  if (!(isKnown >> 63))
    return kAnything;
  return limit(
      {static_cast<int64_t>(value), static_cast<int64_t>(value | ~isKnown)});
}

Interval attn::combineBits(Interval a, Interval b, Bitwise operation) {
  CommonBits x(a), y(b);
  uint64_t both = x.isKnown & y.isKnown;
  switch (operation) {
  case Bitwise::And: {
    uint64_t zero = (x.isKnown & ~x.value) | (y.isKnown & ~y.value);
    return fromBits(x.value & y.value, both | zero);
  }
  case Bitwise::Or:
    return fromBits(x.value | y.value, both | x.value | y.value);
  case Bitwise::Xor:
    return fromBits((x.value ^ y.value) & both, both);
  }
  llvm_unreachable("unknown operation");
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static Interval isBelow(Interval a, Interval b) {
  return {a.high < b.low, a.low < b.high};
}

static Interval negate(Interval truth) {
  return {1 - truth.high, 1 - truth.low};
}

/// As unsigned numbers, where the signs are known.
static Interval isBelowUnsigned(Interval a, Interval b) {
  bool signA = a.high < 0, signB = b.high < 0;
  if ((!signA && a.low < 0) || (!signB && b.low < 0))
    return kAnyTruth;
  return signA == signB ? isBelow(a, b) : Interval{signB, signB};
}

Interval attn::compareIntervals(arith::CmpIPredicate predicate, Interval a,
                                Interval b) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::eq:
    return {a.isSingle() && b.isSingle() && a.low == b.low,
            a.low <= b.high && b.low <= a.high};
  case Predicate::ne:
    return negate(compareIntervals(Predicate::eq, a, b));
  case Predicate::slt:
    return isBelow(a, b);
  case Predicate::sge:
    return negate(isBelow(a, b));
  case Predicate::sgt:
    return isBelow(b, a);
  case Predicate::sle:
    return negate(isBelow(b, a));
  case Predicate::ult:
    return isBelowUnsigned(a, b);
  case Predicate::uge:
    return negate(isBelowUnsigned(a, b));
  case Predicate::ugt:
    return isBelowUnsigned(b, a);
  case Predicate::ule:
    return negate(isBelowUnsigned(b, a));
  }
  llvm_unreachable("unknown predicate");
}
