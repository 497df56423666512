//===- IndexMath.cpp - Folded index arithmetic ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/IndexMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

using Number = IndexMath::Number;

static AffineMap getIdentity(OpBuilder &builder, unsigned count) {
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < count; ++i)
    exprs.push_back(builder.getAffineSymbolExpr(i));
  return AffineMap::get(0, count, exprs, builder.getContext());
}

/// The constant that an i1 is, if it is one.
static std::optional<bool> getTruth(Number condition) {
  if (std::optional<int64_t> number = getConstantIntValue(condition))
    return *number != 0;
  return std::nullopt;
}

Number IndexMath::apply(AffineExpr expr, ArrayRef<Number> symbols) {
  return affine::makeComposedFoldedAffineApply(builder, loc, expr, symbols);
}
/// The numbers, if all are constants: then no affine map is needed.
static std::optional<SmallVector<int64_t, 4>>
getConstants(ArrayRef<Number> numbers) {
  SmallVector<int64_t, 4> constants;
  for (Number number : numbers) {
    std::optional<int64_t> constant = getConstantIntValue(number);
    if (!constant)
      return std::nullopt;
    constants.push_back(*constant);
  }
  return constants;
}

Number IndexMath::add(Number a, Number b) {
  if (auto numbers = getConstants({a, b}))
    return constant((*numbers)[0] + (*numbers)[1]);
  return apply(symbol(0) + symbol(1), {a, b});
}
Number IndexMath::sub(Number a, Number b) {
  if (auto numbers = getConstants({a, b}))
    return constant((*numbers)[0] - (*numbers)[1]);
  return apply(symbol(0) - symbol(1), {a, b});
}
Number IndexMath::floorDiv(Number a, int64_t divisor) {
  if (auto number = getConstantIntValue(a))
    return constant(llvm::divideFloorSigned(*number, divisor));
  return apply(symbol(0).floorDiv(divisor), {a});
}
Number IndexMath::ceilDiv(Number a, int64_t divisor) {
  if (auto number = getConstantIntValue(a))
    return constant(llvm::divideCeilSigned(*number, divisor));
  return apply(symbol(0).ceilDiv(divisor), {a});
}
Number IndexMath::mul(Number a, int64_t factor) {
  return apply(symbol(0) * factor, {a});
}
Number IndexMath::min(ArrayRef<Number> numbers) {
  if (auto constants = getConstants(numbers))
    return constant(*llvm::min_element(*constants));
  return affine::makeComposedFoldedAffineMin(
      builder, loc, getIdentity(builder, numbers.size()), numbers);
}
Number IndexMath::max(ArrayRef<Number> numbers) {
  if (auto constants = getConstants(numbers))
    return constant(*llvm::max_element(*constants));
  return affine::makeComposedFoldedAffineMax(
      builder, loc, getIdentity(builder, numbers.size()), numbers);
}

Value IndexMath::toValue(Number number) {
  if (auto attribute = dyn_cast_if_present<Attribute>(number))
    if (auto flag = dyn_cast<BoolAttr>(attribute))
      return arith::ConstantOp::create(builder, loc, flag);
  return getValueOrCreateConstantIndexOp(builder, loc, number);
}

Number IndexMath::atMost(Number a, Number b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return truth(*x <= *y);
  if (a == b)
    return truth(true);
  Value left = toValue(a), right = toValue(b);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, left,
                               right)
      .getResult();
}

Number IndexMath::both(Number a, Number b) {
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (std::optional<bool> known = getTruth(x))
      return *known ? y : x;
  Value left = toValue(a), right = toValue(b);
  return arith::AndIOp::create(builder, loc, left, right).getResult();
}

Number IndexMath::either(Number a, Number b) {
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (std::optional<bool> known = getTruth(x))
      return *known ? x : y;
  Value left = toValue(a), right = toValue(b);
  return arith::OrIOp::create(builder, loc, left, right).getResult();
}

Number IndexMath::select(Number condition, Number a, Number b) {
  if (std::optional<bool> known = getTruth(condition))
    return *known ? a : b;
  if (a == b)
    return a;
  Value isA = toValue(condition), left = toValue(a), right = toValue(b);
  return arith::SelectOp::create(builder, loc, isA, left, right).getResult();
}
