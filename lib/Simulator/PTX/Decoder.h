//===- Decoder.h - Context for decoding one instruction ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What an instruction family sees of one instruction: opcode, modifiers and
/// parsed operands, and the means to turn operands into slots and constants.
/// Every accessor checks what it is asked for: malformed text ends in a located
/// error.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_DECODER_H
#define ATTN_LIB_SIMULATOR_PTX_DECODER_H

#include "Instruction.h"
#include "Module.h"

#include <string>
#include <string_view>
#include <vector>

namespace attn::sim {

class ProgramBuilder;

/// An operand as written.
struct ParsedOperand {
  enum class Kind : u8 {
    None,
    Register, // registers, predicates, special registers
    Integer,
    Float32,
    Float64,
    Symbol,  // a variable, with an optional offset
    Address, // [base + offset] and what follows in the brackets
    Vector,  // {...} or (...)
    Sink,    // _
    Pair,    // a|b
    Name     // a label or function
  };
  Kind kind = Kind::None;
  std::string_view text;
  const Symbol *symbol = nullptr;
  bool negated = false;
  s64 value = 0; // literal, or offset
  std::vector<ParsedOperand> elements;

  bool is(Kind wanted) const { return kind == wanted; }
  bool isSpecialRegister() const {
    return kind == Kind::Register && symbol->kind == Symbol::Kind::Special;
  }
};

class Decoder {
public:
  Decoder(ProgramBuilder &builder, Program &program, Instruction &instruction,
          const std::vector<std::string_view> &opcode,
          const std::vector<ParsedOperand> &operands);

  Instruction &instruction;
  Program &program;
  ProgramBuilder &builder;

  //===--- The opcode -----------------------------------------------------===//
  std::string_view opcode() const { return parts.front(); }
  /// True if the modifier is there, without its dot.
  bool has(std::string_view modifier) const;
  bool hasPrefix(std::string_view prefix) const;
  /// All of them, from index 1 on. Who reads one here calls markKnown.
  const std::vector<std::string_view> &modifiers() const { return parts; }
  void markKnown(size_t index) const { known[index] = true; }
  /// The types named by the opcode, in order.
  const std::vector<Type> &types() const { return typeList; }
  Space space() const;
  /// The index of the one modifier that is present in `names`, or -1.
  int oneOf(std::initializer_list<std::string_view> names) const;
  /// 1, 2, 4 or 8 from .v2, .v4 and .v8.
  u32 vectorLength() const;

  //===--- The operands ---------------------------------------------------===//
  size_t numOperands() const { return operands.size(); }
  const ParsedOperand &operand(size_t index) const;
  s64 integer(size_t index) const;
  /// A register or constant of `bytes` (0: any width). `type` says how float
  /// literals are encoded; None: the instruction's type.
  Operand source(size_t index, u32 bytes, Type type = Type::None);
  Operand source(const ParsedOperand &operand, u32 bytes,
                 Type type = Type::None);
  /// A register or `_`, of `bytes` (0: any width).
  Operand destination(size_t index, u32 bytes);
  Operand destination(const ParsedOperand &operand, u32 bytes);
  Operand predicate(size_t index);
  Operand predicate(const ParsedOperand &operand);
  Operand predicateDestination(const ParsedOperand &operand);
  Address address(size_t index);
  Address address(const ParsedOperand &operand);
  std::vector<Operand> sources(const ParsedOperand &operand, u32 bytes);
  std::vector<Operand> destinations(const ParsedOperand &operand, u32 bytes);
  /// "d|p": a destination and a predicate; or the destination alone.
  void destinationPair(size_t index, u32 bytes, Operand &value,
                       Operand &predicate);

  Operand constant(u64 value, u32 bytes);
  Operand special(const std::string &name, u32 bytes);
  void setHandler(Handler handler, InstructionClass instructionClass) {
    instruction.run = handler;
    instruction.instructionClass = instructionClass;
  }

  /// Fails on a modifier that no one asked for and that could matter.
  void checkModifiers() const;

  /// "FILE:LINE: OPCODE: WHY".
  [[noreturn]] void fail(const std::string &why) const;

private:
  const std::vector<std::string_view> &parts;
  const std::vector<ParsedOperand> &operands;
  std::vector<Type> typeList;
  mutable std::vector<bool> known; // as parts
};

/// True once a family has decoded the instruction; false: not its business.
using DecodeFunction = bool (*)(Decoder &);

/// The decoders of each opcode, in the order in which families registered.
class OpcodeTable {
public:
  void add(std::string_view opcode, DecodeFunction decode) {
    table[opcode].push_back(decode);
  }
  void add(std::initializer_list<std::string_view> opcodes,
           DecodeFunction decode) {
    for (std::string_view opcode : opcodes)
      add(opcode, decode);
  }
  bool decode(Decoder &decoder) const;

  /// The table with all families of isa/.
  static const OpcodeTable &get();

private:
  std::unordered_map<std::string_view, std::vector<DecodeFunction>> table;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_DECODER_H
