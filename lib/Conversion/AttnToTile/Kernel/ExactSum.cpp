//===- ExactSum.cpp - Sums of f32 in any order ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/ExactSum.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;

Value ExactSum::i32(int64_t number) {
  return arith::ConstantIntOp::create(builder, loc, number, 32);
}

Value ExactSum::i64(int64_t number) {
  return arith::ConstantIntOp::create(builder, loc, number, 64);
}

Value ExactSum::toI64(Value value) {
  return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value);
}

static SmallVector<Value> append(ValueRange indices, Value word) {
  SmallVector<Value> all(indices);
  all.push_back(word);
  return all;
}

void ExactSum::clear(ValueRange indices) {
  Value zero = i64(0);
  for (int64_t word = 0; word < kWords; ++word)
    tile::InsertOp::create(builder, loc, zero, words,
                           append(indices, i64(word)));
}

void ExactSum::addToWord(Value value, ValueRange indices, Value word) {
  tile::AtomicAddOp::create(builder, loc, value, words, append(indices, word));
}

/// An f32 is its 24 bits times a power of two, and spans two words.
void ExactSum::add(Value addend, ValueRange indices) {
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  };
  auto isEqual = [&](Value a, int64_t b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                                 i32(b));
  };
  Value bits =
      arith::BitcastOp::create(builder, loc, builder.getI32Type(), addend);
  Value exponent = arith::ShRUIOp::create(builder, loc, bits, i32(23));
  exponent = arith::AndIOp::create(builder, loc, exponent, i32(255));
  Value isSubnormal = isEqual(exponent, 0),
        isNotFinite = isEqual(exponent, 255);
  Value digits = arith::AndIOp::create(builder, loc, bits, i32(0x7fffff));
  digits = select(isSubnormal, digits,
                  arith::OrIOp::create(builder, loc, digits, i32(0x800000)));
  // Where the digits begin, in bits above 2^-149.
  Value position = i32(0);
  position = select(isSubnormal, position,
                    arith::SubIOp::create(builder, loc, exponent, i32(1)));
  Value word = arith::DivUIOp::create(builder, loc, position, i32(kBits));
  Value shift = arith::RemUIOp::create(builder, loc, position, i32(kBits));
  Value wide = toI64(digits);
  wide = arith::ShLIOp::create(builder, loc, wide, toI64(shift));
  Value low = arith::AndIOp::create(builder, loc, wide, i64((1 << kBits) - 1));
  Value high = arith::ShRUIOp::create(builder, loc, wide, i64(kBits));
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, bits, i32(0));
  auto withSign = [&](Value value) {
    return select(isNegative,
                  arith::SubIOp::create(builder, loc, i64(0), value), value);
  };
  Value one = i64(1);
  low = select(isNotFinite, one, withSign(low));
  Value zero = i64(0);
  high = select(isNotFinite, zero, withSign(high));
  word = select(isNotFinite, i32(kNotFinite), word);
  addToWord(low, indices, toI64(word));
  Value hasHigh = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        high, i64(0));
  auto guarded = scf::IfOp::create(builder, loc, hasHigh);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  Value next = arith::AddIOp::create(builder, loc, word, i32(1));
  addToWord(high, indices, toI64(next));
}

/// f64 rounds each step by 2^-53 of what the words are up to there.
Value ExactSum::get(ValueRange indices) {
  Type f64 = builder.getF64Type();
  auto read = [&](int64_t word) -> Value {
    return tile::ExtractOp::create(builder, loc, builder.getI64Type(), words,
                                   append(indices, i64(word)));
  };
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(value));
  };
  Value sum = constant(0);
  for (int64_t word = 0; word < kNotFinite; ++word) {
    Value count = arith::SIToFPOp::create(builder, loc, f64, read(word));
    double unit =
        std::ldexp(1.0, static_cast<int>(kBits * word + kLeastExponent));
    Value part = arith::MulFOp::create(builder, loc, count, constant(unit));
    sum = arith::AddFOp::create(builder, loc, sum, part);
  }
  Value notFinite = read(kNotFinite);
  Value isFinite = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         notFinite, i64(0));
  return arith::SelectOp::create(
      builder, loc, isFinite, sum,
      constant(std::numeric_limits<double>::quiet_NaN()));
}
