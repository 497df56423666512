//===- CppNames.cpp - Manifest names and expressions in C++ ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar of expressions (Expression.h) is C++'s but for the functions
// `dim` and `stride`, and for integers, which have 64 bits.
//
//===----------------------------------------------------------------------===//

#include "CppNames.h"

#include <cctype>
#include <set>

static bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

static bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string attn::toIdentifier(const std::string &name) {
  static const std::set<std::string> keywords = {
      "and",      "auto",   "bool",    "break",    "case",   "char",
      "class",    "const",  "default", "delete",   "do",     "double",
      "else",     "enum",   "extern",  "false",    "float",  "for",
      "if",       "inline", "int",     "long",     "new",    "not",
      "operator", "or",     "private", "public",   "return", "short",
      "signed",   "sizeof", "static",  "struct",   "switch", "template",
      "this",     "true",   "union",   "unsigned", "using",  "void",
      "while",    "xor"};
  std::string result;
  for (char c : name)
    result += isWord(c) ? c : '_';
  if (result.empty() || isDigit(result.front()))
    result.insert(result.begin(), '_');
  if (keywords.count(result))
    result += '_';
  return result;
}

std::string attn::toLiteral(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

/// The end of the number that starts at `begin`: "128", "0.125", "1e-05".
static size_t endOfNumber(const std::string &text, size_t begin) {
  size_t end = begin;
  while (end < text.size() &&
         (isDigit(text[end]) || text[end] == '.' || text[end] == 'e' ||
          text[end] == 'E' ||
          ((text[end] == '-' || text[end] == '+') && end > begin &&
           (text[end - 1] == 'e' || text[end - 1] == 'E'))))
    ++end;
  return end;
}

/// `operand, 2)` after `dim(` or `stride(`, as `args.operand.FIELD[2]`; moves
/// `at` past the parenthesis.
static std::string toAccess(const std::string &text, size_t &at,
                            const std::string &field) {
  size_t comma = text.find(',', at), close = text.find(')', at);
  std::string operand = text.substr(at, comma - at);
  std::string dim = text.substr(comma + 1, close - comma - 1);
  operand.erase(0, operand.find_first_not_of(' '));
  operand.erase(operand.find_last_not_of(' ') + 1);
  dim.erase(0, dim.find_first_not_of(' '));
  at = close + 1;
  return "args." + attn::toIdentifier(operand) + "." + field + "[" + dim + "]";
}

std::string attn::toCpp(const std::string &expression) {
  std::string result;
  for (size_t at = 0; at < expression.size();) {
    char c = expression[at];
    if (isDigit(c)) {
      size_t end = endOfNumber(expression, at);
      std::string number = expression.substr(at, end - at);
      bool isInteger = number.find_first_of(".eE") == std::string::npos;
      result += isInteger ? "int64_t{" + number + "}" : number;
      at = end;
      continue;
    }
    if (!isWord(c)) {
      result += c;
      ++at;
      continue;
    }
    size_t end = at;
    while (end < expression.size() && isWord(expression[end]))
      ++end;
    std::string word = expression.substr(at, end - at);
    at = end;
    size_t next = expression.find_first_not_of(' ', at);
    if (next == std::string::npos || expression[next] != '(') {
      result += "size_" + word;
    } else if (word == "dim" || word == "stride") {
      at = next + 1;
      result += toAccess(expression, at, word == "dim" ? "shape" : "strides");
    } else {
      result += "attn_launch::" + word;
    }
  }
  return result;
}
