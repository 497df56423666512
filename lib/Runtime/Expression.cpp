//===- Expression.cpp - The manifest's launch expressions -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A recursive-descent parser and a checked evaluator for launch expressions.
///
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Expression.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

using namespace attn;
using namespace attn::runtime;

struct Expression::Node {
  enum class Kind {
    Literal,
    Symbol,
    Dim,
    Stride,
    Negate,
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Min,
    Max
  };
  Kind kind = Kind::Literal;
  Scalar literal;
  std::string name;  // symbol or operand
  int64_t index = 0; // dimension
  std::shared_ptr<const Node> lhs, rhs;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;
using Kind = Node::Kind;

/// Longer text and deeper nesting are refused, so that hostile text cannot
/// overflow the stack.
constexpr size_t maxLength = 4096;
constexpr unsigned maxDepth = 200;

std::optional<Kind> binaryFunction(const std::string &name) {
  static const std::pair<const char *, Kind> table[] = {
      {"floordiv", Kind::FloorDiv},
      {"ceildiv", Kind::CeilDiv},
      {"mod", Kind::Mod},
      {"min", Kind::Min},
      {"max", Kind::Max}};
  for (const auto &[text, kind] : table)
    if (name == text)
      return kind;
  return std::nullopt;
}

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  Result<NodePtr> parseAll() {
    NodePtr root = parseExpr();
    skipSpace();
    if (root && position != text.size())
      root = fail("expected an operator or the end");
    if (!root)
      return Error{message};
    return root;
  }

private:
  NodePtr parseExpr() {
    NodePtr lhs = parseTerm();
    while (lhs) {
      if (accept('+'))
        lhs = binary(Kind::Add, lhs, parseTerm());
      else if (accept('-'))
        lhs = binary(Kind::Sub, lhs, parseTerm());
      else
        break;
    }
    return lhs;
  }

  NodePtr parseTerm() {
    NodePtr lhs = parseFactor();
    while (lhs && accept('*'))
      lhs = binary(Kind::Mul, lhs, parseFactor());
    return lhs;
  }

  NodePtr parseFactor() {
    if (depth >= maxDepth)
      return fail("expression is nested too deeply");
    ++depth;
    NodePtr node = parseFactorBody();
    --depth;
    return node;
  }

  NodePtr parseFactorBody() {
    skipSpace();
    if (accept('-')) {
      NodePtr operand = parseFactor();
      return operand ? makeNode(Kind::Negate, operand, nullptr) : nullptr;
    }
    if (accept('(')) {
      NodePtr inner = parseExpr();
      return inner && !expect(')') ? nullptr : inner;
    }
    char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c)))
      return parseNumber();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_')
      return parseName();
    return fail("expected a number, a name or '('");
  }

  NodePtr parseNumber() {
    const char *begin = text.c_str() + position;
    size_t digits = text.find_first_not_of("0123456789", position);
    bool isFloat = digits != std::string::npos &&
                   (text[digits] == '.' || text[digits] == 'e');
    char *end = nullptr;
    Node node;
    errno = 0;
    if (isFloat)
      node.literal = Scalar::ofReal(std::strtod(begin, &end));
    else
      node.literal = Scalar::ofInteger(std::strtoll(begin, &end, 10));
    if (errno == ERANGE)
      return fail("number is out of range");
    position = end - text.c_str();
    return std::make_shared<Node>(std::move(node));
  }

  NodePtr parseName() {
    size_t start = position;
    std::string name = parseIdentifier();
    if (name == "dim" || name == "stride")
      return parseAccess(name == "dim" ? Kind::Dim : Kind::Stride);
    if (std::optional<Kind> kind = binaryFunction(name)) {
      if (!expect('('))
        return nullptr;
      NodePtr lhs = parseExpr();
      if (!lhs || !expect(','))
        return nullptr;
      NodePtr rhs = parseExpr();
      return rhs && expect(')') ? binary(*kind, lhs, rhs) : nullptr;
    }
    if (peek() == '(') {
      position = start;
      return fail("unknown function '" + name + "'");
    }
    Node node;
    node.kind = Kind::Symbol;
    node.name = std::move(name);
    return std::make_shared<Node>(std::move(node));
  }

  /// The rest of dim(operand, i) or stride(operand, i).
  NodePtr parseAccess(Kind kind) {
    Node node;
    node.kind = kind;
    if (!expect('('))
      return nullptr;
    skipSpace();
    node.name = parseIdentifier();
    if (node.name.empty())
      return fail("expected an operand's name");
    if (!expect(','))
      return nullptr;
    skipSpace();
    if (!std::isdigit(static_cast<unsigned char>(peek())))
      return fail("expected a dimension's number");
    NodePtr number = parseNumber();
    if (!number || number->literal.isFloat)
      return fail("expected a dimension's number");
    node.index = number->literal.integer;
    return expect(')') ? std::make_shared<Node>(std::move(node)) : nullptr;
  }

  std::string parseIdentifier() {
    size_t start = position;
    while (position < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[position])) ||
            text[position] == '_'))
      ++position;
    return text.substr(start, position - start);
  }

  NodePtr binary(Kind kind, NodePtr lhs, NodePtr rhs) {
    return rhs ? makeNode(kind, std::move(lhs), std::move(rhs)) : nullptr;
  }

  static NodePtr makeNode(Kind kind, NodePtr lhs, NodePtr rhs) {
    Node node;
    node.kind = kind;
    node.lhs = std::move(lhs);
    node.rhs = std::move(rhs);
    return std::make_shared<Node>(std::move(node));
  }

  void skipSpace() {
    while (position < text.size() && text[position] == ' ')
      ++position;
  }
  char peek() {
    skipSpace();
    return position < text.size() ? text[position] : '\0';
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++position;
    return true;
  }
  bool expect(char c) {
    if (accept(c))
      return true;
    fail(std::string("expected '") + c + "'");
    return false;
  }
  /// Keeps the first message: later ones only follow from it.
  NodePtr fail(const std::string &what) {
    if (message.empty())
      message = "column " + std::to_string(position + 1) + ": " + what +
                " in '" + text + "'";
    return nullptr;
  }

  const std::string &text;
  size_t position = 0;
  unsigned depth = 0;
  std::string message;
};

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Result<Scalar> evaluateReal(Kind kind, double a, double b) {
  switch (kind) {
  case Kind::Negate:
    return Scalar::ofReal(-a);
  case Kind::Add:
    return Scalar::ofReal(a + b);
  case Kind::Sub:
    return Scalar::ofReal(a - b);
  case Kind::Mul:
    return Scalar::ofReal(a * b);
  case Kind::Min:
    return Scalar::ofReal(std::min(a, b));
  case Kind::Max:
    return Scalar::ofReal(std::max(a, b));
  default:
    return Error{"expected integers in floordiv, ceildiv and mod"};
  }
}

Result<Scalar> divide(Kind kind, int64_t a, int64_t b) {
  if (b <= 0)
    return Error{"expected a positive divisor, got " + std::to_string(b)};
  int64_t quotient = a / b, remainder = a % b;
  if (remainder < 0) {
    quotient -= 1;
    remainder += b;
  }
  if (kind == Kind::Mod)
    return Scalar::ofInteger(remainder);
  if (kind == Kind::CeilDiv && remainder != 0)
    quotient += 1;
  return Scalar::ofInteger(quotient);
}

Result<Scalar> evaluateInteger(Kind kind, int64_t a, int64_t b) {
  int64_t value = 0;
  bool overflow = false;
  switch (kind) {
  case Kind::Negate:
    overflow = __builtin_sub_overflow(int64_t(0), a, &value);
    break;
  case Kind::Add:
    overflow = __builtin_add_overflow(a, b, &value);
    break;
  case Kind::Sub:
    overflow = __builtin_sub_overflow(a, b, &value);
    break;
  case Kind::Mul:
    overflow = __builtin_mul_overflow(a, b, &value);
    break;
  case Kind::Min:
    value = std::min(a, b);
    break;
  case Kind::Max:
    value = std::max(a, b);
    break;
  default:
    return divide(kind, a, b);
  }
  if (overflow)
    return Error{"64-bit overflow"};
  return Scalar::ofInteger(value);
}

Result<Scalar> evaluateLeaf(const Node &node, const ExpressionScope &scope) {
  std::optional<int64_t> value;
  std::string what = node.name;
  if (node.kind == Kind::Symbol) {
    value = scope.symbol(node.name);
  } else {
    bool isDim = node.kind == Kind::Dim;
    value = (isDim ? scope.dim : scope.stride)(node.name, node.index);
    what = std::string(isDim ? "dim(" : "stride(") + node.name + ", " +
           std::to_string(node.index) + ")";
  }
  if (!value)
    return Error{"unknown name '" + what + "'"};
  return Scalar::ofInteger(*value);
}

Result<Scalar> evaluateNode(const Node &node, const ExpressionScope &scope) {
  if (node.kind == Kind::Literal)
    return node.literal;
  if (!node.lhs)
    return evaluateLeaf(node, scope);
  Result<Scalar> lhs = evaluateNode(*node.lhs, scope);
  if (!lhs)
    return lhs;
  Result<Scalar> rhs = node.rhs ? evaluateNode(*node.rhs, scope) : lhs;
  if (!rhs)
    return rhs;
  if (lhs->isFloat || rhs->isFloat)
    return evaluateReal(node.kind, lhs->asReal(), rhs->asReal());
  return ::evaluateInteger(node.kind, lhs->integer, rhs->integer);
}

} // namespace

Result<Expression> Expression::parse(const std::string &text) {
  if (text.size() > maxLength)
    return Error{"expected at most " + std::to_string(maxLength) +
                 " characters in an expression, got " +
                 std::to_string(text.size())};
  Result<NodePtr> root = Parser(text).parseAll();
  if (!root)
    return Error{root.error()};
  Expression expression;
  expression.text = text;
  expression.root = *root;
  return expression;
}

Result<Scalar> Expression::evaluate(const ExpressionScope &scope) const {
  Result<Scalar> value = evaluateNode(*root, scope);
  if (!value)
    return Error{value.error() + " in '" + text + "'"};
  return value;
}
