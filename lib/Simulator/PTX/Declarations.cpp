//===- Declarations.cpp - Registers and variables of a function -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 5.4, Variables, inside of functions: what names mean, and the slots,
/// constants, local and shared memory that they get.
///
//===----------------------------------------------------------------------===//

#include "ModuleParser.h"
#include "ProgramBuilder.h"

#include <algorithm>

using namespace attn::sim;

namespace {
// Limits against malformed text; compilers stay far below them.
constexpr u32 maxSlots = 1u << 17;
constexpr u32 maxLocalBytes = 512u << 10; // PTX ISA: 512 KB per thread
constexpr u32 maxStaticShared = 1u << 22;
} // namespace

void ProgramBuilder::parseDeclaration() {
  DeclarationHead head = parseDeclarationHead();
  do {
    std::string name(tokens.expectIdentifier("a name"));
    if (head.space == ".reg")
      declareRegisters(head, name);
    else
      declareVariable(head, name);
  } while (tokens.accept(","));
  tokens.expect(";");
}

ProgramBuilder::DeclarationHead ProgramBuilder::parseDeclarationHead() {
  DeclarationHead head;
  head.line = tokens.peek().line;
  head.space = tokens.next().text;
  while (tokens.atDirective()) {
    std::string_view word = tokens.next().text.substr(1);
    if (word == "align")
      head.alignment = tokens.integer(1, 4096, "alignment");
    else if (word == "v2" || word == "v4")
      head.vectorSize = word[1] - '0';
    else if (Type type = parseType(word); type != Type::None)
      head.type = type;
    else
      tokens.fail("unknown type '." + std::string(word) + "'");
  }
  return head;
}

/// ".reg .b32 %r;" or ".reg .b32 %r<10>;" (PTX ISA 5.4.8).
void ProgramBuilder::declareRegisters(const DeclarationHead &head,
                                      const std::string &name) {
  if (head.vectorSize > 1)
    tokens.failAt(head.line, "vector registers are not supported");
  if (!tokens.accept("<"))
    return declareRegister(head.type, name);
  s64 count = tokens.integer(0, maxSlots, "number of registers");
  tokens.expect(">");
  for (s64 i = 0; i < count; ++i)
    declareRegister(head.type, name + std::to_string(i));
}

void ProgramBuilder::declareRegister(Type type, const std::string &name) {
  Symbol symbol;
  symbol.name = name;
  symbol.type = type;
  if (type == Type::Pred) {
    symbol.kind = Symbol::Kind::Predicate;
    symbol.slot = program.numPredicates++;
    program.predicateNames.push_back(name);
  } else {
    symbol.slot = newSlot(std::max<u32>(byteSize(type), 4), name);
  }
  scopes[currentScope].symbols[name] = symbol;
}

void ProgramBuilder::declareVariable(const DeclarationHead &head,
                                     const std::string &name) {
  Symbol symbol;
  bool unsized = false;
  u64 count = head.vectorSize * parseArrayDimensions(tokens, unsized);
  u64 bytes = unsized ? 0 : count * byteSize(head.type);
  if (bytes > u64(maxVariableBytes))
    tokens.fail("variable is too large");
  symbol.name = name;
  symbol.type = head.type;
  symbol.bytes = bytes;
  symbol.alignment = std::max(head.alignment, byteSize(head.type));
  if (head.space == ".shared") {
    symbol.kind = Symbol::Kind::Shared;
    // Equal names in different functions and scopes are different variables.
    symbol.name =
        currentFunction + "::" + std::to_string(currentScope) + "::" + name;
    symbol.isExtern = unsized;
  } else {
    symbol.kind = head.space == ".local" ? Symbol::Kind::Local
                                         : Symbol::Kind::FunctionParam;
    symbol.offset = allocateLocal(symbol.bytes, symbol.alignment);
  }
  scopes[currentScope].symbols[name] = symbol;
}

u32 ProgramBuilder::allocateLocal(u32 bytes, u32 alignment) {
  u32 offset = alignUp(program.localBytes, std::max<u32>(alignment, 8));
  if (u64(offset) + bytes > maxLocalBytes)
    tokens.fail("more than 512 KB of local memory");
  program.localBytes = offset + std::max<u32>(bytes, 8);
  return offset;
}

std::optional<u32> ProgramBuilder::sharedOffset(const Symbol &symbol) {
  if (symbol.isExtern || symbol.bytes == 0) {
    program.usesDynamicShared = true;
    dynamicAlignment = std::max(dynamicAlignment, symbol.alignment);
    return std::nullopt;
  }
  auto it = sharedOffsets.find(symbol.name);
  if (it != sharedOffsets.end())
    return it->second;
  u32 offset = alignUp(program.staticSharedBytes, symbol.alignment);
  if (u64(offset) + symbol.bytes > maxStaticShared)
    tokens.fail("too much static shared memory");
  program.staticSharedBytes = offset + symbol.bytes;
  sharedOffsets[symbol.name] = offset;
  return offset;
}

s32 ProgramBuilder::newSlot(u32 bytes, const std::string &name) {
  u32 slots = bytes / 4;
  // Rows of u64 are aligned to their size for vector loads.
  if (slots > 1)
    program.numSlots = alignUp(program.numSlots, 2);
  if (program.numSlots + slots > maxSlots)
    tokens.fail("too many registers");
  s32 slot = program.numSlots;
  program.numSlots += slots;
  program.slotNames.resize(program.numSlots, name);
  return slot;
}

s32 ProgramBuilder::specialSlot(const std::string &name, u32 bytes) {
  auto it = specialSlots.find(name);
  if (it != specialSlots.end())
    return it->second;
  s32 slot = newSlot(bytes, name);
  specialSlots[name] = slot;
  program.specials.push_back({slot, u8(bytes), name});
  return slot;
}

s32 ProgramBuilder::constantRow(u64 value, u32 bytes) {
  std::vector<u32> &pool = program.constants;
  auto [it, isNew] =
      constantRows.emplace(std::pair(value, bytes), pool.size() / warpSize);
  if (!isNew)
    return it->second;
  size_t begin = pool.size();
  pool.resize(begin + bytes / 4 * warpSize);
  u32 *row = &pool[begin];
  for (u32 lane = 0; lane < warpSize; ++lane) {
    if (bytes == 4) {
      row[lane] = u32(value);
      continue;
    }
    u64 high = s64(value) < 0 ? ~0ull : 0;
    std::memcpy(row + 2 * lane, &value, 8);
    if (bytes == 16)
      std::memcpy(row + 2 * (warpSize + lane), &high, 8);
  }
  return it->second;
}

const Symbol *ProgramBuilder::find(const std::string &name) const {
  for (s32 scope = currentScope; scope >= 0; scope = scopes[scope].parent) {
    auto it = scopes[scope].symbols.find(name);
    if (it != scopes[scope].symbols.end())
      return &it->second;
  }
  return module.findVariable(name);
}
