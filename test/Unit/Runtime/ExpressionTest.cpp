//===- ExpressionTest.cpp - Launch expressions ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Expression.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::runtime;

namespace {

/// B = 3, M = 1000; query is [3, 8, 1000, 128], row-major.
ExpressionScope testScope() {
  static const int64_t shape[] = {3, 8, 1000, 128};
  static const int64_t strides[] = {1024000, 128000, 128, 1};
  ExpressionScope scope;
  scope.symbol = [](const std::string &name) -> std::optional<int64_t> {
    if (name == "B")
      return 3;
    if (name == "M")
      return 1000;
    if (name == "sm_count")
      return 132;
    return std::nullopt;
  };
  auto access = [](const int64_t *values) {
    return [values](const std::string &name, int64_t i) {
      return name == "query" && i < 4 ? std::optional<int64_t>(values[i])
                                      : std::nullopt;
    };
  };
  scope.dim = access(shape);
  scope.stride = access(strides);
  return scope;
}

Scalar evaluate(const std::string &text) {
  Result<Expression> expression = Expression::parse(text);
  EXPECT_TRUE(bool(expression)) << text;
  Result<Scalar> value = expression->evaluate(testScope());
  EXPECT_TRUE(bool(value)) << text;
  return *value;
}

int64_t integer(const std::string &text) {
  Scalar value = evaluate(text);
  EXPECT_FALSE(value.isFloat) << text;
  return value.integer;
}

std::string parseError(const std::string &text) {
  Result<Expression> expression = Expression::parse(text);
  EXPECT_FALSE(bool(expression)) << text;
  return expression ? "" : expression.error();
}

std::string evaluationError(const std::string &text) {
  Result<Expression> expression = Expression::parse(text);
  EXPECT_TRUE(bool(expression)) << text;
  Result<Scalar> value = expression->evaluate(testScope());
  EXPECT_FALSE(bool(value)) << text;
  return value ? "" : value.error();
}

TEST(Expression, Precedence) {
  EXPECT_EQ(integer("1 + 2 * 3"), 7);
  EXPECT_EQ(integer("(1 + 2) * 3"), 9);
  EXPECT_EQ(integer("10 - 3 - 2"), 5);
  EXPECT_EQ(integer("-2 * -3"), 6);
}

TEST(Expression, Names) {
  EXPECT_EQ(integer("B * dim(query, 1)"), 24);
  EXPECT_EQ(integer("stride(query,2)*2"), 256);
  EXPECT_EQ(integer("min(sm_count, ceildiv(M, 128) * B)"), 24);
}

TEST(Expression, DivisionRoundsAsNamed) {
  EXPECT_EQ(integer("floordiv(7, 2)"), 3);
  EXPECT_EQ(integer("floordiv(-7, 2)"), -4);
  EXPECT_EQ(integer("ceildiv(7, 2)"), 4);
  EXPECT_EQ(integer("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(integer("ceildiv(8, 2)"), 4);
  EXPECT_EQ(integer("mod(7, 4)"), 3);
  EXPECT_EQ(integer("mod(-7, 4)"), 1);
}

TEST(Expression, FloatsAreContagious) {
  Scalar value = evaluate("0.5 * M + 1e2");
  EXPECT_TRUE(value.isFloat);
  EXPECT_EQ(value.real, 600.0);
  EXPECT_EQ(evaluate("max(0.25, B)").real, 3.0);
}

TEST(Expression, ParseErrorsNameTheColumn) {
  EXPECT_EQ(parseError("1 +"),
            "column 4: expected a number, a name or '(' in '1 +'");
  EXPECT_EQ(parseError("(1"), "column 3: expected ')' in '(1'");
  EXPECT_EQ(parseError("1 2"),
            "column 3: expected an operator or the end in '1 2'");
  EXPECT_EQ(parseError("pow(2, 3)"),
            "column 1: unknown function 'pow' in 'pow(2, 3)'");
  EXPECT_EQ(parseError("dim(query, M)"),
            "column 12: expected a dimension's number in 'dim(query, M)'");
  EXPECT_EQ(parseError("dim(, 1)"),
            "column 5: expected an operand's name in 'dim(, 1)'");
  EXPECT_EQ(parseError("9223372036854775808"),
            "column 1: number is out of range in '9223372036854775808'");
  EXPECT_NE(parseError("").find("column 1"), std::string::npos);
}

TEST(Expression, HostileTextIsRefused) {
  EXPECT_NE(parseError(std::string(300, '(')).find("nested too deeply"),
            std::string::npos);
  EXPECT_EQ(parseError(std::string(5000, '1')),
            "expected at most 4096 characters in an expression, got 5000");
}

TEST(Expression, EvaluationErrors) {
  EXPECT_EQ(evaluationError("N"), "unknown name 'N' in 'N'");
  EXPECT_EQ(evaluationError("dim(query, 4)"),
            "unknown name 'dim(query, 4)' in 'dim(query, 4)'");
  EXPECT_EQ(evaluationError("mod(B, B - 3)"),
            "expected a positive divisor, got 0 in 'mod(B, B - 3)'");
  EXPECT_EQ(evaluationError("9223372036854775807 + 1"),
            "64-bit overflow in '9223372036854775807 + 1'");
  EXPECT_EQ(evaluationError("4611686018427387904 * 2"),
            "64-bit overflow in '4611686018427387904 * 2'");
  EXPECT_EQ(evaluationError("floordiv(1.5, 1)"),
            "expected integers in floordiv, ceildiv and mod in "
            "'floordiv(1.5, 1)'");
}

} // namespace
