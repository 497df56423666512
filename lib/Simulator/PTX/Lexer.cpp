//===- Lexer.cpp - PTX text to tokens -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include <cctype>
#include <cstdlib>

using namespace attn::sim;

namespace {

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool isAlpha(char c) { return std::isalpha(static_cast<unsigned char>(c)); }
bool isAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)); }
bool isIdentifierStart(char c) {
  return isAlpha(c) || c == '_' || c == '$' || c == '%' || c == '.';
}
bool isIdentifierChar(char c) {
  return isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '%';
}

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    while (position < text.size()) {
      if (!skipBlank())
        lexToken();
    }
    // Two, so that one token of look-ahead is always there.
    add("", Token::Kind::End);
    add("", Token::Kind::End);
    return std::move(tokens);
  }

private:
  char at(size_t index) const { return index < text.size() ? text[index] : 0; }

  /// Steps over white space or a comment; false when there is neither.
  bool skipBlank() {
    char c = text[position];
    if (c == '\n') {
      ++line;
      ++position;
      return true;
    }
    if (std::isspace(static_cast<unsigned char>(c)) || c == '\0') {
      ++position;
      return true;
    }
    if (c == '#' || (c == '/' && at(position + 1) == '/')) {
      while (position < text.size() && text[position] != '\n')
        ++position;
      return true;
    }
    if (c != '/' || at(position + 1) != '*')
      return false;
    position += 2;
    while (position < text.size() &&
           !(text[position] == '*' && at(position + 1) == '/'))
      line += text[position++] == '\n';
    position = std::min(position + 2, text.size());
    return true;
  }

  void lexToken() {
    char c = text[position];
    if (c == '"')
      return lexString();
    if (isDigit(c))
      return take(numberEnd(), Token::Kind::Number);
    if (isIdentifierStart(c))
      return take(identifierEnd(), Token::Kind::Identifier);
    take(position + 1, Token::Kind::Punctuation);
  }

  void lexString() {
    size_t end = position + 1;
    while (end < text.size() && text[end] != '"')
      end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, text.size());
    add(text.substr(position + 1, end - position - 1), Token::Kind::String);
    position = std::min(end + 1, text.size());
  }

  size_t numberEnd() const {
    char prefix = text[position] == '0' ? at(position + 1) : 0;
    bool byBits = prefix == 'x' || prefix == 'X' || prefix == 'f' ||
                  prefix == 'F' || prefix == 'd' || prefix == 'D';
    size_t end = position;
    while (end < text.size()) {
      char c = text[end];
      bool sign = (c == '+' || c == '-') && !byBits &&
                  (text[end - 1] == 'e' || text[end - 1] == 'E');
      if (!isAlnum(c) && c != '.' && !sign)
        break;
      ++end;
    }
    return end;
  }

  /// "::" belongs to an opcode where a name follows ("shared::cta"). Directives
  /// and types may follow each other without a space (".reg.b32").
  size_t identifierEnd() const {
    size_t end = position + 1;
    bool isDirective = text[position] == '.';
    while (end < text.size()) {
      if (isDirective && text[end] == '.')
        break;
      if (isIdentifierChar(text[end]))
        ++end;
      else if (text[end] == ':' && at(end + 1) == ':' && isAlnum(at(end + 2)))
        end += 2;
      else
        break;
    }
    return end;
  }

  void take(size_t end, Token::Kind kind) {
    add(text.substr(position, end - position), kind);
    position = end;
  }
  void add(std::string_view token, Token::Kind kind) {
    tokens.push_back({token, line, kind});
  }

  std::string_view text;
  size_t position = 0;
  u32 line = 1;
  std::vector<Token> tokens;
};

bool hasPrefix(std::string_view text, char letter) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

} // namespace

Literal attn::sim::parseLiteral(std::string_view view) {
  std::string text(view);
  const char *digits = text.c_str() + 2;
  if (hasPrefix(text, 'f'))
    return {Literal::Kind::Float32, std::strtoull(digits, nullptr, 16)};
  if (hasPrefix(text, 'd'))
    return {Literal::Kind::Float64, std::strtoull(digits, nullptr, 16)};
  if (hasPrefix(text, 'b'))
    return {Literal::Kind::Integer, std::strtoull(digits, nullptr, 2)};
  if (!hasPrefix(text, 'x') && text.find_first_of(".eE") != std::string::npos)
    return {Literal::Kind::Float64, asBits(std::strtod(text.c_str(), nullptr))};
  return {Literal::Kind::Integer, std::strtoull(text.c_str(), nullptr, 0)};
}

TokenStream::TokenStream(std::string_view text, std::string fileName)
    : file(std::move(fileName)), tokens(Lexer(text).run()) {}

bool TokenStream::accept(std::string_view text) {
  if (!is(text))
    return false;
  next();
  return true;
}

void TokenStream::expect(std::string_view text) {
  if (!accept(text))
    fail("expected '" + std::string(text) + "'");
}

std::string_view TokenStream::expectIdentifier(const char *what) {
  if (peek().kind != Token::Kind::Identifier)
    fail(std::string("expected ") + what);
  return next().text;
}

s64 TokenStream::integer() {
  bool negative = false;
  size_t parentheses = 0;
  while (is("-") || is("(")) {
    negative ^= is("-");
    parentheses += is("(");
    next();
  }
  if (peek().kind != Token::Kind::Number)
    fail("expected an integer");
  s64 value = s64(parseLiteral(next().text).bits);
  while (parentheses--)
    expect(")");
  return negative ? s64(0 - u64(value)) : value;
}

s64 TokenStream::integer(s64 low, s64 high, const char *what) {
  u32 line = peek().line;
  s64 value = integer();
  if (value < low || value > high)
    failAt(line, format("expected %s between %lld and %lld, got %lld", what,
                        (long long)low, (long long)high, (long long)value));
  return value;
}

void TokenStream::skipStatement() {
  while (!is(";") && !atEnd())
    next();
  accept(";");
}

void TokenStream::skipLine() {
  u32 line = peek().line;
  while (!atEnd() && peek().line == line)
    next();
}

void TokenStream::skipParentheses() {
  expect("(");
  while (!is(")") && !atEnd())
    next();
  expect(")");
}

void TokenStream::skipBraces() {
  u32 line = peek().line;
  size_t depth = 0;
  do {
    if (atEnd())
      failAt(line, "expected '}' before the end of the file");
    depth += is("{");
    depth -= is("}");
    next();
  } while (depth);
}

std::string TokenStream::textBetween(size_t first, size_t last) const {
  constexpr size_t maxText = 400;
  const char *begin = tokens[first].text.data();
  const char *end = tokens[last].text.data() + tokens[last].text.size();
  std::string text(begin, end);
  for (char &c : text)
    if (c == '\n' || c == '\t' || c == '\r')
      c = ' ';
  if (text.size() > maxText)
    text.resize(maxText);
  return text;
}

void TokenStream::fail(const std::string &message) const {
  std::string found =
      atEnd() ? "the end of the file" : "'" + std::string(peek().text) + "'";
  failPtx(file, peek().line, message + ", found " + found);
}

void TokenStream::failAt(u32 line, const std::string &message) const {
  failPtx(file, line, message);
}
