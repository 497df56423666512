//===- RowReduction.cpp - Row reductions ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reductions of the dialect (AttnAttrs.td).
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;

#include "attn/Dialect/Attn/IR/AttnInterfaces.cpp.inc"

static constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// RunningState
//===----------------------------------------------------------------------===//

RunningState::RunningState(RowReductionInterface reduction, ValueRange values)
    : kinds(reduction.getRowValues()), values(values) {
  assert(values.size() == kinds.size() + 1 &&
         "expected an accumulator and the row values of the reduction");
}

Value RunningState::get(RowRole role) const {
  for (auto [kind, value] : llvm::zip_equal(kinds, getRows()))
    if (kind.role == role)
      return value;
  return Value();
}

void RunningState::set(RowRole role, Value value) {
  for (auto [i, kind] : llvm::enumerate(kinds))
    if (kind.role == role)
      values[i + 1] = value;
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

ArrayRef<RowValue> SoftmaxAttr::getRowValues() const {
  static constexpr RowValue rows[] = {{"max", RowRole::Maximum, kMinusInf},
                                      {"sum", RowRole::Sum, 0}};
  return rows;
}

double SoftmaxAttr::getHiddenScore() const { return kMinusInf; }

bool SoftmaxAttr::hasLse() const { return true; }

Value SoftmaxAttr::buildDivisor(OpBuilder &, Location, ValueRange rows) const {
  return rows[1];
}

CombinedRows SoftmaxAttr::buildCombination(OpBuilder &builder, Location loc,
                                           ValueRange first,
                                           ValueRange second) const {
  Type type = first[0].getType();
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, number));
  };
  Value max = arith::MaxNumFOp::create(builder, loc, first[0], second[0]);
  Value isEmpty = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                        max, constant(kMinusInf));
  // exp(-inf - 0) is 0; exp(-inf - -inf) would be NaN.
  Value safe = arith::SelectOp::create(builder, loc, isEmpty, constant(0), max);
  auto decay = [&](Value before) -> Value {
    return math::ExpOp::create(
        builder, loc, arith::SubFOp::create(builder, loc, before, safe));
  };
  CombinedRows result;
  result.first = decay(first[0]);
  Value ofFirst =
      builder.createOrFold<arith::MulFOp>(loc, first[1], result.first);
  result.second = decay(second[0]);
  Value ofSecond =
      builder.createOrFold<arith::MulFOp>(loc, result.second, second[1]);
  result.rows = {max, arith::AddFOp::create(builder, loc, ofFirst, ofSecond)};
  return result;
}

//===----------------------------------------------------------------------===//
// none
//===----------------------------------------------------------------------===//

ArrayRef<RowValue> NoneAttr::getRowValues() const { return {}; }

double NoneAttr::getHiddenScore() const { return 0; }

bool NoneAttr::hasLse() const { return false; }

Value NoneAttr::buildDivisor(OpBuilder &, Location, ValueRange) const {
  return Value();
}

CombinedRows NoneAttr::buildCombination(OpBuilder &, Location, ValueRange,
                                        ValueRange) const {
  return {};
}

//===----------------------------------------------------------------------===//
// sum
//===----------------------------------------------------------------------===//

LogicalResult
SumAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                FloatAttr epsilon) {
  double number = epsilon.getValueAsDouble();
  if (std::isfinite(number) && number >= 0)
    return success();
  return emitError() << "expected epsilon to be finite and at least 0, got "
                     << number;
}

ArrayRef<RowValue> SumAttr::getRowValues() const {
  static constexpr RowValue rows[] = {{"sum", RowRole::Sum, 0}};
  return rows;
}

double SumAttr::getHiddenScore() const { return 0; }

bool SumAttr::hasLse() const { return false; }

Value SumAttr::buildDivisor(OpBuilder &builder, Location loc,
                            ValueRange rows) const {
  Value epsilon = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(rows[0].getType(), getEpsilon().getValueAsDouble()));
  return builder.createOrFold<arith::AddFOp>(loc, rows[0], epsilon);
}

CombinedRows SumAttr::buildCombination(OpBuilder &builder, Location loc,
                                       ValueRange first,
                                       ValueRange second) const {
  Value sum = arith::AddFOp::create(builder, loc, first[0], second[0]);
  return {{sum}, Value(), Value()};
}
