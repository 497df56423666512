//===- Lexer.h - PTX text to tokens -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Tokens of PTX (PTX ISA 4.1 to 4.5) and a stream over them with located
/// errors. Opcodes with their modifiers ("ld.global.v4.f32") are one token.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_LEXER_H
#define ATTN_LIB_SIMULATOR_PTX_LEXER_H

#include "Error.h"
#include "Types.h"

#include <string>
#include <string_view>
#include <vector>

namespace attn::sim {

struct Token {
  enum class Kind : u8 { Identifier, Number, String, Punctuation, End };
  std::string_view text;
  u32 line = 0;
  Kind kind = Kind::End;
};

/// A literal (PTX ISA 4.5): an integer, or a float given by value or by bits.
struct Literal {
  enum class Kind : u8 { Integer, Float32, Float64 };
  Kind kind = Kind::Integer;
  u64 bits = 0;
};

Literal parseLiteral(std::string_view text);

class TokenStream {
public:
  TokenStream(std::string_view text, std::string fileName);

  const Token &peek(size_t ahead = 0) const {
    size_t index = position + ahead;
    return tokens[index < tokens.size() ? index : tokens.size() - 1];
  }
  /// Returns the current token and steps over it; stays at the end.
  const Token &next() {
    const Token &token = peek();
    if (position + 1 < tokens.size())
      ++position;
    return token;
  }
  bool atEnd() const { return peek().kind == Token::Kind::End; }
  bool is(std::string_view text) const {
    return peek().kind != Token::Kind::String && peek().text == text;
  }
  /// True at an identifier that starts with '.', a directive or a modifier.
  bool atDirective() const {
    return peek().kind == Token::Kind::Identifier && peek().text[0] == '.';
  }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string_view expectIdentifier(const char *what);
  /// An integer with an optional sign, possibly in parentheses.
  s64 integer();
  /// An integer in [low, high].
  s64 integer(s64 low, s64 high, const char *what);

  /// Steps over the tokens up to and including the next ";".
  void skipStatement();
  /// Steps over the tokens of the current line.
  void skipLine();
  /// Steps over "( ... )".
  void skipParentheses();
  /// Steps over "{ ... }", nested.
  void skipBraces();

  size_t tell() const { return position; }
  void seek(size_t where) { position = where; }
  /// The text between two tokens, the second included.
  std::string textBetween(size_t first, size_t last) const;

  [[noreturn]] void fail(const std::string &message) const;
  [[noreturn]] void failAt(u32 line, const std::string &message) const;
  const std::string &fileName() const { return file; }

private:
  std::string file;
  std::vector<Token> tokens;
  size_t position = 0;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_LEXER_H
