//===- Expression.h - The manifest's launch expressions ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Arithmetic over operand dimensions, as a manifest writes it:
///
///   expr    ::= term (('+' | '-') term)*
///   term    ::= factor ('*' factor)*
///   factor  ::= '-' factor | integer | float | '(' expr ')' | symbol
///             | 'dim' '(' operand ',' integer ')'
///             | 'stride' '(' operand ',' integer ')'      in elements
///             | ('floordiv' | 'ceildiv' | 'mod' | 'min' | 'max')
///               '(' expr ',' expr ')'
///
/// `symbol` is a dimension name of an operand's shape, or `sm_count`. Integer
/// arithmetic is 64-bit and checked; a float operand makes `+ - * min max`
/// floating point, and is an error in `floordiv`, `ceildiv` and `mod`, whose
/// divisor must be positive (`mod` is never negative).
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EXPRESSION_H
#define ATTN_RUNTIME_EXPRESSION_H

#include "attn/Support/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attn::runtime {

/// The value of an expression: an integer, or a double once a float took part.
struct Scalar {
  bool isFloat = false;
  int64_t integer = 0;
  double real = 0;

  static Scalar ofInteger(int64_t value) { return {false, value, 0}; }
  static Scalar ofReal(double value) { return {true, 0, value}; }
  double asReal() const { return isFloat ? real : double(integer); }
};

/// What the names in an expression stand for. A function returns nothing for a
/// name (or a dimension) that does not exist.
struct ExpressionScope {
  std::function<std::optional<int64_t>(const std::string &symbol)> symbol;
  std::function<std::optional<int64_t>(const std::string &operand, int64_t dim)>
      dim;
  std::function<std::optional<int64_t>(const std::string &operand, int64_t dim)>
      stride;
};

/// A parsed expression; immutable and cheap to copy.
class Expression {
public:
  /// Parses the whole of `text`; an error names the column (from 1).
  static Result<Expression> parse(const std::string &text);

  /// The value in `scope`, or an error: an unknown name, overflow of 64 bits,
  /// a divisor that is not positive.
  Result<Scalar> evaluate(const ExpressionScope &scope) const;

  /// A node of the tree: a leaf, or an operation on two operands.
  struct Node;

private:
  std::string text;
  std::shared_ptr<const Node> root;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_EXPRESSION_H
