//===- RowReductionTest.cpp - Two states of a row as one ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The combination of the states over two sets of scores is the state over all
// of them, of each reduction; and where a set is empty.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace attn;

namespace {
struct RowReduction : testing::Test {
  RowReduction() : builder(&context) {
    context.loadDialect<AttnDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  Value constant(double value) {
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                     builder.getF64FloatAttr(value));
  }

  /// What the ops behind `value` compute of constants.
  Attribute evaluate(Value value) {
    Operation *op = value.getDefiningOp();
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand));
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.empty())
      return Attribute();
    if (auto attr = dyn_cast<Attribute>(results.front()))
      return attr;
    return evaluate(cast<Value>(results.front()));
  }
  double getNumber(Value value) {
    auto attr = dyn_cast_or_null<FloatAttr>(evaluate(value));
    return attr ? attr.getValueAsDouble() : NAN;
  }

  /// The row values over `scores`, by definition.
  SmallVector<double> getState(RowReductionInterface reduction,
                               ArrayRef<double> scores) {
    double max = -INFINITY, sum = 0;
    bool hasMax = false;
    for (const RowValue &row : reduction.getRowValues())
      hasMax |= row.role == RowRole::Maximum;
    for (double score : scores)
      max = std::max(max, score);
    for (double score : scores)
      sum += hasMax ? std::exp(score - max) : score;
    SmallVector<double> state;
    for (const RowValue &row : reduction.getRowValues())
      state.push_back(row.role == RowRole::Maximum ? max : sum);
    return state;
  }

  void check(RowReductionInterface reduction, ArrayRef<double> first,
             ArrayRef<double> second) {
    ArrayRef<double> sets[] = {first, second};
    SmallVector<Value> states[2];
    for (auto [state, scores] : llvm::zip(states, sets))
      for (double number : getState(reduction, scores))
        state.push_back(constant(number));
    CombinedRows both = reduction.buildCombination(
        builder, builder.getUnknownLoc(), states[0], states[1]);
    SmallVector<double> all(first);
    all.append(second.begin(), second.end());
    SmallVector<double> expected = getState(reduction, all);
    ASSERT_EQ(both.rows.size(), expected.size());
    for (auto [row, number] : llvm::zip(both.rows, expected)) {
      if (std::isinf(number))
        EXPECT_EQ(getNumber(row), number);
      else
        EXPECT_NEAR(getNumber(row), number, 1e-12);
    }
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(RowReduction, combinesTwoSetsOfKeys) {
  RowReductionInterface reductions[] = {
      SoftmaxAttr::get(&context), NoneAttr::get(&context),
      SumAttr::get(&context, builder.getF64FloatAttr(0.5))};
  for (RowReductionInterface reduction : reductions) {
    check(reduction, {0.5, 3, -1}, {2, 700});
    check(reduction, {0.5, 3, -1}, {-2});
    check(reduction, {}, {1, 2});
    check(reduction, {1, 2}, {});
    check(reduction, {}, {});
  }
}

TEST_F(RowReduction, endsInADivisor) {
  Location loc = builder.getUnknownLoc();
  SmallVector<Value> rows = {constant(3), constant(7)};
  EXPECT_EQ(
      getNumber(SoftmaxAttr::get(&context).buildDivisor(builder, loc, rows)),
      7);
  auto sum = SumAttr::get(&context, builder.getF64FloatAttr(0.5));
  EXPECT_EQ(getNumber(sum.buildDivisor(builder, loc, constant(3))), 3.5);
  EXPECT_FALSE(NoneAttr::get(&context).buildDivisor(builder, loc, {}));
}
