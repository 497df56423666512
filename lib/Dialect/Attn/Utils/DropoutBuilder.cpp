//===- DropoutBuilder.cpp - What dropout keeps ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/DropoutBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace attn;

// Multipliers and the increments of the key (Salmon et al., section 4.3 and
// Random123's philox.h).
static constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
static constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
static constexpr int kRounds = 10;
/// Of i and j, the bit that chooses among the words of a call.
static constexpr uint32_t kGroupBit = 8;

uint32_t Dropout::getThreshold() const {
  return static_cast<uint32_t>(std::floor(rate * 4294967296.0));
}

/// `number` of type i32, or a vector of it.
static Value createConstant(OpBuilder &builder, Location loc, Type type,
                            uint32_t number) {
  TypedAttr attr = builder.getI32IntegerAttr(static_cast<int32_t>(number));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}

PhiloxWords attn::buildPhilox(OpBuilder &builder, Location loc,
                              PhiloxWords counter, Value key0, Value key1) {
  ImplicitLocOpBuilder b(loc, builder);
  Type type = key0.getType();
  auto constant = [&](uint32_t number) {
    return createConstant(builder, loc, type, number);
  };
  auto exclusiveOr = [&](Value x, Value y, Value z) -> Value {
    return arith::XOrIOp::create(b, arith::XOrIOp::create(b, x, y), z);
  };
  Value multiplier0 = constant(kMultiplier0);
  Value multiplier1 = constant(kMultiplier1);
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) {
      key0 = arith::AddIOp::create(b, key0, constant(kWeyl0));
      key1 = arith::AddIOp::create(b, key1, constant(kWeyl1));
    }
    auto a = arith::MulUIExtendedOp::create(b, counter[0], multiplier0);
    auto c = arith::MulUIExtendedOp::create(b, counter[2], multiplier1);
    counter = {exclusiveOr(c.getHigh(), counter[1], key0), c.getLow(),
               exclusiveOr(a.getHigh(), counter[3], key1), a.getLow()};
  }
  return counter;
}

PhiloxWords attn::buildHeadWords(OpBuilder &builder, Location loc, Value seed,
                                 Value offset, Value b, Value h) {
  Type i32 = builder.getI32Type();
  auto low = [&](Value wide) -> Value {
    return arith::TruncIOp::create(builder, loc, i32, wide);
  };
  auto high = [&](Value wide) -> Value {
    Value bits = arith::ConstantIntOp::create(builder, loc, 32, 64);
    return low(arith::ShRUIOp::create(builder, loc, wide, bits));
  };
  PhiloxWords counter = {low(offset), high(offset), b, h};
  Value key = low(seed);
  return buildPhilox(builder, loc, counter, key, high(seed));
}

PhiloxWords attn::buildElementWords(OpBuilder &builder, Location loc,
                                    const PhiloxWords &head, Value i, Value j) {
  return buildPhilox(builder, loc, {i, j, head[2], head[3]}, head[0], head[1]);
}

Value attn::buildKeep(OpBuilder &builder, Location loc, const Dropout &dropout,
                      ValueRange at) {
  ImplicitLocOpBuilder b(loc, builder);
  Type i32 = b.getI32Type(), type = i32;
  if (auto vector = dyn_cast<VectorType>(at[3].getType()))
    type = vector.clone(i32);
  auto spread = [&](Value word) -> Value {
    return word.getType() == type
               ? word
               : vector::BroadcastOp::create(b, type, word).getResult();
  };
  auto toI32 = [&](Value index) -> Value {
    Type narrow = isa<VectorType>(index.getType()) ? type : i32;
    return arith::IndexCastOp::create(b, narrow, index);
  };
  Value batch = toI32(at[0]);
  PhiloxWords head = buildHeadWords(builder, loc, dropout.seed, dropout.offset,
                                    batch, toI32(at[1]));
  llvm::transform(head, head.begin(), spread);
  Value i = spread(toI32(at[2])), j = toI32(at[3]);
  Value bit = createConstant(builder, loc, type, kGroupBit);
  Value others = createConstant(builder, loc, type, ~kGroupBit);
  auto clear = [&](Value x) -> Value {
    return arith::AndIOp::create(b, x, others);
  };
  auto isSet = [&](Value x) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                 arith::AndIOp::create(b, x, bit), bit);
  };
  auto select = [&](Value condition, Value ifSet, Value otherwise) -> Value {
    return arith::SelectOp::create(b, condition, ifSet, otherwise);
  };
  Value firstRow = clear(i);
  PhiloxWords words = buildElementWords(builder, loc, head, firstRow, clear(j));
  Value isSecond = isSet(j), isSecondRow = isSet(i);
  Value ofSecond = select(isSecond, words[3], words[2]);
  Value word =
      select(isSecondRow, ofSecond, select(isSecond, words[1], words[0]));
  Value threshold = createConstant(builder, loc, type, dropout.getThreshold());
  return arith::CmpIOp::create(b, arith::CmpIPredicate::uge, word, threshold);
}
