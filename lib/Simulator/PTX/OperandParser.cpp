//===- OperandParser.cpp - Instruction operands ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 6 (Instruction Operands).
///
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

using namespace attn::sim;

using Kind = ParsedOperand::Kind;

/// Nesting of lists and parentheses beyond this is an error.
static constexpr u32 maxOperandDepth = 16;

static bool isSpecialRegisterName(std::string_view name) {
  // PTX ISA 10 (Special Registers); several have a component or a number.
  static constexpr std::string_view prefixes[] = {"%tid",
                                                  "%ntid",
                                                  "%ctaid",
                                                  "%nctaid",
                                                  "%laneid",
                                                  "%warpid",
                                                  "%nwarpid",
                                                  "%smid",
                                                  "%nsmid",
                                                  "%gridid",
                                                  "%clusterid",
                                                  "%nclusterid",
                                                  "%cluster_",
                                                  "%lanemask_",
                                                  "%is_explicit_cluster",
                                                  "%clock",
                                                  "%globaltimer",
                                                  "%dynamic_smem_size",
                                                  "%total_smem_size",
                                                  "%aggr_smem_size",
                                                  "%envreg",
                                                  "%reserved_smem",
                                                  "%current_graph_exec"};
  for (std::string_view prefix : prefixes)
    if (name.substr(0, prefix.size()) == prefix)
      return true;
  return false;
}

ParsedOperand ProgramBuilder::parseOperand() {
  if (++operandDepth > maxOperandDepth)
    tokens.fail("operand is nested too deeply");
  ParsedOperand operand;
  if (tokens.accept("{")) {
    operand = parseList("}");
  } else if (tokens.accept("(")) {
    operand = parseList(")");
  } else if (tokens.accept("[")) {
    operand = parseAddressOperand();
  } else {
    operand = parseAtom();
    if (tokens.accept("|")) {
      ParsedOperand pair;
      pair.kind = Kind::Pair;
      pair.elements = {operand, parseAtom()};
      operand = pair;
    } else if (operand.is(Kind::Symbol) && tokens.accept("[")) {
      operand.value += tokens.integer() * byteSize(operand.symbol->type);
      tokens.expect("]");
    }
  }
  --operandDepth;
  return operand;
}

ParsedOperand ProgramBuilder::parseList(const char *close) {
  ParsedOperand list;
  list.kind = Kind::Vector;
  while (!tokens.accept(close)) {
    list.elements.push_back(parseOperand());
    if (!tokens.is(close))
      tokens.expect(",");
  }
  return list;
}

/// "[base + offset, ...]"; what follows the comma are tensor coordinates.
ParsedOperand ProgramBuilder::parseAddressOperand() {
  ParsedOperand operand;
  operand.kind = Kind::Address;
  operand.text = tokens.peek().text;
  operand.elements.push_back(parseAtom());
  if (tokens.is("+") || tokens.is("-")) {
    bool negative = tokens.next().text == "-";
    ParsedOperand offset = parseAtom();
    if (!offset.is(Kind::Integer))
      tokens.fail("expected a constant offset in an address");
    operand.value = negative ? s64(0 - u64(offset.value)) : offset.value;
  }
  while (tokens.accept(","))
    operand.elements.push_back(parseOperand());
  tokens.expect("]");
  return operand;
}

ParsedOperand ProgramBuilder::parseAtom() {
  if (tokens.is("-") || tokens.is("!") || tokens.is("~") || tokens.is("(")) {
    if (++operandDepth > maxOperandDepth)
      tokens.fail("operand is nested too deeply");
    ParsedOperand operand = parseUnary();
    --operandDepth;
    return operand;
  }
  const Token &token = tokens.peek();
  if (token.kind == Token::Kind::Identifier)
    return parseName();
  if (token.kind != Token::Kind::Number)
    tokens.fail("expected an operand");
  ParsedOperand operand;
  operand.text = token.text;
  Literal literal = parseLiteral(tokens.next().text);
  operand.value = s64(literal.bits);
  operand.kind = literal.kind == Literal::Kind::Float32   ? Kind::Float32
                 : literal.kind == Literal::Kind::Float64 ? Kind::Float64
                                                          : Kind::Integer;
  return operand;
}

ParsedOperand ProgramBuilder::parseUnary() {
  std::string_view sign = tokens.next().text;
  ParsedOperand operand = parseAtom();
  if (sign == "(") {
    tokens.expect(")");
  } else if (sign == "!") {
    operand.negated = !operand.negated;
  } else if (sign == "~") {
    operand.value = ~operand.value;
  } else if (operand.is(Kind::Float32)) {
    operand.value ^= 0x80000000;
  } else if (operand.is(Kind::Float64)) {
    operand.value ^= s64(1ull << 63);
  } else {
    operand.value = s64(0 - u64(operand.value));
  }
  return operand;
}

ParsedOperand ProgramBuilder::parseName() {
  ParsedOperand operand;
  operand.text = tokens.next().text;
  std::string name(operand.text);
  if (name == "_") {
    operand.kind = Kind::Sink;
    return operand;
  }
  if (name == "WARP_SZ") {
    operand.kind = Kind::Integer;
    operand.value = warpSize;
    return operand;
  }
  operand.symbol = find(name);
  if (!operand.symbol) {
    if (name[0] == '%' && isSpecialRegisterName(name))
      return makeSpecial(name);
    operand.kind = Kind::Name;
    return operand;
  }
  if (operand.symbol->kind == Symbol::Kind::Register ||
      operand.symbol->kind == Symbol::Kind::Predicate) {
    operand.kind = Kind::Register;
    return operand;
  }
  operand.kind = Kind::Symbol;
  if ((tokens.is("+") || tokens.is("-")) &&
      tokens.peek(1).kind == Token::Kind::Number) {
    bool negative = tokens.next().text == "-";
    s64 offset = tokens.integer();
    operand.value = negative ? s64(0 - u64(offset)) : offset;
  }
  return operand;
}

ParsedOperand ProgramBuilder::makeSpecial(const std::string &name) {
  bool wide = name == "%clock64" || name == "%globaltimer" || name == "%gridid";
  Symbol symbol;
  symbol.kind = Symbol::Kind::Special;
  symbol.name = name;
  symbol.type = wide ? Type::U64 : Type::U32;
  symbol.slot = specialSlot(name, wide ? 8 : 4);
  specialSymbols.push_back(symbol);
  ParsedOperand operand;
  operand.kind = Kind::Register;
  operand.text = specialSymbols.back().name;
  operand.symbol = &specialSymbols.back();
  return operand;
}
