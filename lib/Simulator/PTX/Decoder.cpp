//===- Decoder.cpp - Context for decoding one instruction -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "ProgramBuilder.h"
#include "isa/Families.h"

#include <algorithm>
#include <set>

using namespace attn::sim;

using Kind = ParsedOperand::Kind;

Decoder::Decoder(ProgramBuilder &builder, Program &program,
                 Instruction &instruction,
                 const std::vector<std::string_view> &opcode,
                 const std::vector<ParsedOperand> &operands)
    : instruction(instruction), program(program), builder(builder),
      parts(opcode), operands(operands), known(opcode.size(), false) {
  for (size_t i = 1; i < parts.size(); ++i)
    if (Type type = parseType(parts[i]); type != Type::None) {
      typeList.push_back(type);
      markKnown(i);
    }
}

//===----------------------------------------------------------------------===//
// The opcode
//===----------------------------------------------------------------------===//

bool Decoder::has(std::string_view modifier) const {
  bool found = false;
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i] == modifier) {
      markKnown(i);
      found = true;
    }
  return found;
}

bool Decoder::hasPrefix(std::string_view prefix) const {
  bool found = false;
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].substr(0, prefix.size()) == prefix) {
      markKnown(i);
      found = true;
    }
  return found;
}

Space Decoder::space() const {
  static constexpr std::pair<std::string_view, Space> names[] = {
      {"global", Space::Global},
      {"shared", Space::SharedCta},
      {"shared::cta", Space::SharedCta},
      {"shared::cluster", Space::SharedCluster},
      {"local", Space::Local},
      {"const", Space::Const},
      {"param", Space::Param},
      {"param::entry", Space::Param},
      {"param::func", Space::Param}};
  for (const auto &[name, space] : names)
    if (has(name))
      return space;
  return Space::Generic;
}

int Decoder::oneOf(std::initializer_list<std::string_view> names) const {
  int index = 0;
  for (std::string_view name : names) {
    if (has(name))
      return index;
    ++index;
  }
  return -1;
}

u32 Decoder::vectorLength() const {
  return has("v2") ? 2 : has("v4") ? 4 : has("v8") ? 8 : 1;
}

/// Modifiers that a decoder need not ask for: hints, orders and scopes, of
/// which memory here knows nothing; state spaces, which addresses tell; the
/// default of a choice; words that an opcode must carry.
static bool mayBeIgnored(std::string_view modifier) {
  static const std::set<std::string_view> names = {
      // Caches.
      "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1", "L2", "fractional",
      "range", "cvt",
      // Orders and scopes.
      "weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile",
      "mmio", "cta", "cluster", "gpu", "gl", "sys", "alias", "mbarrier_init",
      "tensormap::generic", "async::generic",
      // Spaces.
      "global", "shared", "shared::cta", "shared::cluster", "local", "const",
      "param", "param::entry", "param::func", "tensormap",
      // Defaults.
      "lo", "rn", "full", "approx", "tile", "and", "any", "wrap", "l", "r",
      "x4", "row", "col", "idx", "noftz",
      // Words.
      "sync", "aligned", "uni", "async", "arrive", "wait", "launch_dependents",
      "inc", "dec", "prefetch", "replace", "m8n8", "bulk_group",
      "mbarrier::complete_tx::bytes"};
  auto startsWith = [&](std::string_view prefix) {
    return modifier.substr(0, prefix.size()) == prefix;
  };
  return names.count(modifier) || startsWith("L1::") || startsWith("L2::") ||
         startsWith("sync_restrict::");
}

void Decoder::checkModifiers() const {
  for (size_t i = 1; i < parts.size(); ++i)
    if (!known[i] && !mayBeIgnored(parts[i]))
      fail("unknown modifier '." + std::string(parts[i]) + "'");
}

//===----------------------------------------------------------------------===//
// The operands
//===----------------------------------------------------------------------===//

const ParsedOperand &Decoder::operand(size_t index) const {
  if (index >= operands.size())
    fail("expected at least " + std::to_string(index + 1) + " operands, got " +
         std::to_string(operands.size()));
  return operands[index];
}

s64 Decoder::integer(size_t index) const {
  if (!operand(index).is(Kind::Integer))
    fail("expected operand " + std::to_string(index + 1) +
         " to be an integer constant");
  return operand(index).value;
}

Operand Decoder::source(size_t index, u32 bytes, Type type) {
  return source(operand(index), bytes, type);
}

/// The bits of a float literal in an operand of `bytes` and `type`.
static u64 encodeFloat(double value, u32 bytes, Type type) {
  if (bytes == 8)
    return asBits(value);
  if (bytes == 2)
    return isBrainHalf(type) ? doubleToBrain(value) : doubleToHalf(value);
  return asBits(float(value));
}

Operand Decoder::source(const ParsedOperand &parsed, u32 bytes, Type type) {
  if (type == Type::None)
    type = instruction.type;
  switch (parsed.kind) {
  case Kind::Register: {
    if (parsed.symbol->kind == Symbol::Kind::Predicate)
      fail("expected a register, got predicate '" + std::string(parsed.text) +
           "'");
    Operand operand;
    operand.kind = Operand::Kind::Register;
    operand.index = parsed.symbol->slot;
    operand.width = std::max<u32>(byteSize(parsed.symbol->type), 4);
    if (bytes && operand.width != std::max<u32>(bytes, 4))
      fail("expected '" + std::string(parsed.text) + "' to have " +
           std::to_string(8 * bytes) + " bits");
    return operand;
  }
  case Kind::Integer: {
    u32 width = bytes ? bytes : 4;
    u64 value = width < 4 ? parsed.value & ((1ull << 8 * width) - 1)
                          : u64(parsed.value);
    return constant(value, width);
  }
  case Kind::Float32:
    if (bytes == 0 || bytes == 4)
      return constant(u32(parsed.value), 4);
    return constant(encodeFloat(asFloat(u32(parsed.value)), bytes, type),
                    bytes);
  case Kind::Float64:
    if (bytes == 0)
      return constant(parsed.value, 8);
    return constant(encodeFloat(asDouble(parsed.value), bytes, type), bytes);
  default:
    fail("expected a register or constant, got '" + std::string(parsed.text) +
         "'");
  }
}

Operand Decoder::destination(size_t index, u32 bytes) {
  return destination(operand(index), bytes);
}

Operand Decoder::destination(const ParsedOperand &parsed, u32 bytes) {
  if (parsed.is(Kind::Sink)) {
    Operand sink;
    sink.kind = Operand::Kind::Sink;
    sink.width = bytes;
    return sink;
  }
  if (!parsed.is(Kind::Register) || parsed.isSpecialRegister())
    fail("expected a register as destination, got '" +
         std::string(parsed.text) + "'");
  return source(parsed, bytes);
}

Operand Decoder::predicate(size_t index) { return predicate(operand(index)); }

Operand Decoder::predicate(const ParsedOperand &parsed) {
  if (parsed.is(Kind::Integer)) {
    Operand operand = constant(parsed.value ? 1 : 0, 4);
    operand.negated = parsed.negated;
    return operand;
  }
  if (!parsed.is(Kind::Register) ||
      parsed.symbol->kind != Symbol::Kind::Predicate)
    fail("expected a predicate, got '" + std::string(parsed.text) + "'");
  Operand operand;
  operand.kind = Operand::Kind::Predicate;
  operand.index = parsed.symbol->slot;
  operand.negated = parsed.negated;
  return operand;
}

Operand Decoder::predicateDestination(const ParsedOperand &parsed) {
  if (parsed.is(Kind::Sink)) {
    Operand sink;
    sink.kind = Operand::Kind::Sink;
    return sink;
  }
  if (parsed.is(Kind::Integer))
    fail("expected a predicate as destination");
  return predicate(parsed);
}

void Decoder::destinationPair(size_t index, u32 bytes, Operand &value,
                              Operand &predicate) {
  const ParsedOperand &parsed = operand(index);
  if (!parsed.is(Kind::Pair)) {
    value = destination(parsed, bytes);
    return;
  }
  value = destination(parsed.elements[0], bytes);
  predicate = predicateDestination(parsed.elements[1]);
}

Address Decoder::address(size_t index) { return address(operand(index)); }

Address Decoder::address(const ParsedOperand &parsed) {
  Address result;
  result.valid = true;
  const ParsedOperand &base =
      parsed.is(Kind::Address) ? parsed.elements[0] : parsed;
  if (parsed.is(Kind::Address))
    result.offset = parsed.value;
  if (base.is(Kind::Register)) {
    result.base = source(base, 0);
    if (result.base.width > 8)
      fail("expected an address register of 32 or 64 bits");
    return result;
  }
  result.offset += base.value;
  if (base.is(Kind::Integer))
    return result;
  if (!base.is(Kind::Symbol))
    fail("expected an address, got '" + std::string(base.text) + "'");
  const Symbol &symbol = *base.symbol;
  switch (symbol.kind) {
  case Symbol::Kind::Shared:
    if (std::optional<u32> offset = builder.sharedOffset(symbol)) {
      result.base = special("%__sharedbase", 4);
      result.offset += *offset;
    } else {
      result.base = special("%__dynamicbase", 4);
    }
    return result;
  case Symbol::Kind::KernelParam:
    result.base = special("%__parambase", 8);
    [[fallthrough]];
  case Symbol::Kind::Local:
  case Symbol::Kind::FunctionParam:
  case Symbol::Kind::Global:
  case Symbol::Kind::Const:
    result.offset += symbol.offset;
    return result;
  default:
    fail("expected a variable, got '" + std::string(base.text) + "'");
  }
}

std::vector<Operand> Decoder::sources(const ParsedOperand &parsed, u32 bytes) {
  std::vector<Operand> list;
  if (!parsed.is(Kind::Vector))
    return {source(parsed, bytes)};
  for (const ParsedOperand &element : parsed.elements)
    list.push_back(source(element, bytes));
  return list;
}

std::vector<Operand> Decoder::destinations(const ParsedOperand &parsed,
                                           u32 bytes) {
  std::vector<Operand> list;
  if (!parsed.is(Kind::Vector))
    return {destination(parsed, bytes)};
  for (const ParsedOperand &element : parsed.elements)
    list.push_back(destination(element, bytes));
  return list;
}

Operand Decoder::constant(u64 value, u32 bytes) {
  Operand operand;
  operand.kind = Operand::Kind::Constant;
  operand.width = std::max<u32>(bytes, 4);
  operand.index = builder.constantRow(value, operand.width);
  return operand;
}

Operand Decoder::special(const std::string &name, u32 bytes) {
  Operand operand;
  operand.kind = Operand::Kind::Register;
  operand.width = bytes;
  operand.index = builder.specialSlot(name, bytes);
  return operand;
}

void Decoder::fail(const std::string &why) const {
  std::string name;
  for (std::string_view part : parts)
    name += (name.empty() ? "" : ".") + std::string(part);
  failPtx(builder.getModule().fileName(), instruction.line, name + ": " + why);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

bool OpcodeTable::decode(Decoder &decoder) const {
  auto it = table.find(decoder.opcode());
  if (it == table.end())
    return false;
  return std::any_of(it->second.begin(), it->second.end(),
                     [&](DecodeFunction decode) { return decode(decoder); });
}

const OpcodeTable &OpcodeTable::get() {
  static const OpcodeTable table = [] {
    OpcodeTable result;
    registerAllFamilies(result);
    return result;
  }();
  return table;
}
