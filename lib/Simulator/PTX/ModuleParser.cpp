//===- ModuleParser.cpp - Directives at module scope ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 11 (Directives) and 5.4 (Variables). Debug sections, file and line
/// directives are skipped.
///
//===----------------------------------------------------------------------===//

#include "ModuleParser.h"

#include <algorithm>

using namespace attn::sim;

u64 attn::sim::parseArrayDimensions(TokenStream &tokens, bool &unsized) {
  u64 count = 1;
  unsized = false;
  while (tokens.accept("[")) {
    if (tokens.is("]"))
      unsized = true;
    else
      count *= tokens.integer(0, maxVariableBytes, "array size");
    if (count > u64(maxVariableBytes))
      tokens.fail("array is too large");
    tokens.expect("]");
  }
  return count;
}

void ModuleParser::run() {
  while (!tokens.atEnd()) {
    if (parseIgnoredDirective())
      continue;
    bool isExtern = false;
    parseLinkage(isExtern);
    if (tokens.is(".entry") || tokens.is(".func"))
      parseFunction();
    else if (tokens.is(".global") || tokens.is(".const") ||
             tokens.is(".shared") || tokens.is(".local") || tokens.is(".tex"))
      parseVariables(isExtern);
    else
      tokens.fail("expected a directive");
  }
}

bool ModuleParser::parseIgnoredDirective() {
  if (tokens.accept(".version")) {
    module.isaVersion = std::string(tokens.next().text);
  } else if (tokens.accept(".target")) {
    module.targetName = std::string(tokens.expectIdentifier("a target"));
    while (tokens.accept(","))
      tokens.expectIdentifier("a target");
  } else if (tokens.is(".file") || tokens.is(".loc")) {
    tokens.skipLine();
  } else if (tokens.accept(".address_size")) {
    u32 line = tokens.peek().line;
    if (s64 bits = tokens.integer(); bits != 64)
      tokens.failAt(
          line, format("expected 64-bit addresses, got %lld", (long long)bits));
  } else if (tokens.accept(".section")) {
    while (!tokens.is("{") && !tokens.atEnd())
      tokens.next();
    tokens.skipBraces();
  } else if (tokens.is(".pragma")) {
    tokens.skipStatement();
  } else if (tokens.is(".alias")) {
    parseAlias();
  } else if (!tokens.accept(";")) {
    return false;
  }
  return true;
}

void ModuleParser::parseLinkage(bool &isExtern) {
  while (tokens.is(".visible") || tokens.is(".extern") || tokens.is(".weak") ||
         tokens.is(".common")) {
    isExtern |= tokens.is(".extern");
    tokens.next();
  }
}

/// PTX ISA 11.1 .alias: a second name for a function.
void ModuleParser::parseAlias() {
  tokens.expect(".alias");
  std::string alias(tokens.expectIdentifier("a name"));
  tokens.expect(",");
  std::string name(tokens.expectIdentifier("a function"));
  tokens.expect(";");
  auto it = module.functions.find(name);
  if (it != module.functions.end())
    module.functions[alias] = FunctionDecl(it->second);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void ModuleParser::parseFunction() {
  bool isEntry = tokens.next().text == ".entry";
  while (tokens.is(".attribute") || tokens.is(".noreturn"))
    if (tokens.next().text == ".attribute")
      tokens.skipParentheses();
  FunctionDecl function = parseFunctionHead(isEntry);
  bool known = module.functions.count(function.name);
  if (!known)
    module.functionOrder.push_back(function.name);
  if (!known || function.hasBody)
    module.functions[function.name] = std::move(function);
}

FunctionDecl ModuleParser::parseFunctionHead(bool isEntry) {
  FunctionDecl function;
  function.isEntry = isEntry;
  if (!isEntry && tokens.is("("))
    function.results = parseParameters();
  function.name = std::string(tokens.expectIdentifier("a function's name"));
  if (tokens.is("("))
    function.parameters = parseParameters();
  parseFunctionDirectives(function);
  if (tokens.accept(";"))
    return function;
  if (!tokens.is("{"))
    tokens.fail("expected a function body");
  function.bodyToken = tokens.tell();
  function.hasBody = true;
  tokens.skipBraces();
  return function;
}

std::vector<ParameterDecl> ModuleParser::parseParameters() {
  std::vector<ParameterDecl> parameters;
  u32 offset = 0;
  tokens.expect("(");
  if (tokens.accept(")"))
    return parameters;
  do
    parameters.push_back(parseParameter(offset));
  while (tokens.accept(","));
  tokens.expect(")");
  return parameters;
}

ParameterDecl ModuleParser::parseParameter(u32 &offset) {
  // PTX ISA 5.1.6: kernel parameters take at most 32764 bytes.
  constexpr s64 maxParameterBytes = 32764;
  ParameterDecl parameter;
  u32 alignment = 0;
  Type type = Type::B32;
  while (tokens.atDirective()) {
    std::string_view word = tokens.next().text.substr(1);
    if (word == "align")
      alignment = tokens.integer(1, 256, "alignment");
    else if (Type named = parseType(word); named != Type::None)
      type = named;
  }
  parameter.name = std::string(tokens.expectIdentifier("a parameter's name"));
  bool unsized = false;
  u64 count = parseArrayDimensions(tokens, unsized);
  u64 bytes = unsized ? 0 : count * byteSize(type);
  parameter.type = type;
  parameter.alignment = std::max(alignment, byteSize(type));
  offset = alignUp(offset, parameter.alignment);
  if (bytes + offset > u64(maxParameterBytes))
    tokens.fail("parameters take more than 32764 bytes");
  parameter.bytes = bytes;
  parameter.offset = offset;
  offset += parameter.bytes;
  return parameter;
}

/// PTX ISA 11.4 (Performance-Tuning Directives) and 11.7 (Cluster Dimension
/// Directives).
void ModuleParser::parseFunctionDirectives(FunctionDecl &function) {
  while (tokens.atDirective()) {
    if (tokens.accept(".maxntid")) {
      u32 dims[3];
      parseDimensions(dims);
      function.maxThreads = dims[0] * dims[1] * dims[2];
    } else if (tokens.accept(".reqntid")) {
      parseDimensions(function.requiredThreads);
    } else if (tokens.accept(".reqnctapercluster")) {
      parseDimensions(function.requiredCluster);
    } else if (tokens.is(".minnctapersm") || tokens.is(".maxnctapersm") ||
               tokens.is(".maxnreg") || tokens.is(".maxclusterrank") ||
               tokens.is(".abi_preserve") ||
               tokens.is(".abi_preserve_control")) {
      tokens.next();
      tokens.integer();
    } else if (tokens.is(".pragma")) {
      tokens.skipStatement();
    } else if (tokens.accept(".attribute")) {
      tokens.skipParentheses();
    } else if (!tokens.accept(".explicitcluster") &&
               !tokens.accept(".noreturn") &&
               !tokens.accept(".blocksareclusters")) {
      tokens.fail("unknown function directive");
    }
  }
}

void ModuleParser::parseDimensions(u32 (&dims)[3]) {
  size_t count = 0;
  dims[0] = dims[1] = dims[2] = 1;
  do {
    if (count == 3)
      tokens.fail("expected at most 3 dimensions");
    dims[count++] = tokens.integer(1, 1 << 20, "dimension");
  } while (tokens.accept(","));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

void ModuleParser::parseVariables(bool isExtern) {
  VariableHead head = parseVariableHead();
  head.isExtern = isExtern;
  do {
    Symbol symbol = parseDeclarator(head);
    Initializer initializer;
    if (tokens.accept("="))
      initializer = parseInitializer(symbol.type);
    if (symbol.bytes == 0 && initializer.present)
      symbol.bytes = initializer.bytes.size();
    placeVariable(symbol, initializer);
    auto it = module.variables.find(symbol.name);
    if (it == module.variables.end() || it->second.isExtern)
      module.variables[symbol.name] = symbol;
  } while (tokens.accept(","));
  tokens.expect(";");
}

ModuleParser::VariableHead ModuleParser::parseVariableHead() {
  VariableHead head;
  head.space = tokens.next().text;
  while (tokens.atDirective()) {
    std::string_view word = tokens.next().text.substr(1);
    if (word == "align")
      head.alignment = tokens.integer(1, 4096, "alignment");
    else if (word == "attribute")
      tokens.skipParentheses();
    else if (word == "v2" || word == "v4")
      head.vectorSize = word[1] - '0';
    else if (word == "texref" || word == "samplerref" || word == "surfref")
      head.type = Type::B64;
    else if (Type named = parseType(word); named != Type::None)
      head.type = named;
    else
      tokens.fail("unknown variable attribute");
  }
  return head;
}

Symbol ModuleParser::parseDeclarator(const VariableHead &head) {
  Symbol symbol;
  symbol.name = std::string(tokens.expectIdentifier("a variable's name"));
  bool unsized = false;
  u64 count = head.vectorSize * parseArrayDimensions(tokens, unsized);
  u64 bytes = unsized ? 0 : count * byteSize(head.type);
  if (bytes > u64(maxVariableBytes))
    tokens.fail("variable is too large");
  symbol.bytes = bytes;
  symbol.alignment = std::max(head.alignment, byteSize(head.type));
  symbol.type = head.type;
  symbol.isExtern = head.isExtern;
  symbol.kind = head.space == ".shared"  ? Symbol::Kind::Shared
                : head.space == ".local" ? Symbol::Kind::Local
                : head.space == ".const" ? Symbol::Kind::Const
                                         : Symbol::Kind::Global;
  return symbol;
}

ModuleParser::Initializer ModuleParser::parseInitializer(Type type) {
  Initializer initializer;
  initializer.present = true;
  size_t depth = 0;
  do {
    if (tokens.atEnd())
      tokens.fail("expected an initialiser");
    if (tokens.accept("{"))
      ++depth;
    else if (depth && tokens.accept("}"))
      --depth;
    else if (!tokens.accept(","))
      parseInitializerValue(type, initializer);
  } while (depth > 0);
  return initializer;
}

void ModuleParser::parseInitializerValue(Type type, Initializer &initializer) {
  bool negative = tokens.accept("-");
  if (tokens.peek().kind == Token::Kind::Identifier)
    return parseInitializerSymbol(type, initializer);
  if (tokens.peek().kind != Token::Kind::Number)
    tokens.fail("expected a value");
  Literal literal = parseLiteral(tokens.next().text);
  u32 bytes = byteSize(type);
  u64 value = literal.bits;
  bool isFloatLiteral = literal.kind != Literal::Kind::Integer;
  double real = literal.kind == Literal::Kind::Float32
                    ? asFloat(u32(literal.bits))
                    : asDouble(literal.bits);
  if (isFloatLiteral && type == Type::F64)
    value = asBits(real);
  else if (isFloatLiteral && type == Type::F32)
    value = asBits(float(real));
  else if (isFloatLiteral && type == Type::F16)
    value = floatToHalf(float(real));
  if (negative)
    value = isFloat(type) ? value ^ (1ull << (bytes * 8 - 1)) : 0 - value;
  size_t at = initializer.bytes.size();
  initializer.bytes.resize(at + bytes);
  std::memcpy(&initializer.bytes[at], &value, std::min<u32>(bytes, 8));
}

/// symbol, symbol+offset or generic(symbol)+offset.
void ModuleParser::parseInitializerSymbol(Type type, Initializer &initializer) {
  Module::Relocation relocation;
  relocation.line = tokens.peek().line;
  bool generic = tokens.accept("generic");
  if (generic)
    tokens.expect("(");
  relocation.symbol = std::string(tokens.expectIdentifier("a symbol"));
  if (tokens.accept("+"))
    relocation.addend += tokens.integer();
  if (generic) {
    tokens.expect(")");
    if (tokens.accept("+"))
      relocation.addend += tokens.integer();
  }
  relocation.address = initializer.bytes.size();
  relocation.bytes = std::min<u32>(byteSize(type), 8);
  initializer.relocations.push_back(relocation);
  initializer.bytes.resize(initializer.bytes.size() + byteSize(type));
}

/// Global and constant variables get device memory at once.
void ModuleParser::placeVariable(Symbol &symbol,
                                 const Initializer &initializer) {
  bool inMemory =
      symbol.kind == Symbol::Kind::Global || symbol.kind == Symbol::Kind::Const;
  if (!inMemory || (symbol.isExtern && symbol.bytes == 0))
    return;
  u32 bytes = std::max<u32>(symbol.bytes, 1);
  u32 allocated = bytes + std::max<u32>(symbol.alignment, 16);
  u64 base = module.memory.allocate(allocated, "module variable " + symbol.name,
                                    /*readOnly=*/false);
  module.ownedMemory.push_back(base);
  symbol.offset =
      (base + symbol.alignment - 1) / symbol.alignment * symbol.alignment;
  std::copy_n(initializer.bytes.begin(),
              std::min<size_t>(initializer.bytes.size(), symbol.bytes),
              reinterpret_cast<u8 *>(symbol.offset));
  for (Module::Relocation relocation : initializer.relocations) {
    if (relocation.address + relocation.bytes > symbol.bytes)
      continue;
    relocation.address += symbol.offset;
    module.relocations.push_back(std::move(relocation));
  }
}
