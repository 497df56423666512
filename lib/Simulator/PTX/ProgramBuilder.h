//===- ProgramBuilder.h - Function bodies to programs -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Parses the body of an entry, then the bodies of the functions that it calls,
/// into one list of instructions. Functions are not re-entrant: each has one
/// place in local memory for parameters and variables, as PTX without recursion
/// allows.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_PROGRAMBUILDER_H
#define ATTN_LIB_SIMULATOR_PTX_PROGRAMBUILDER_H

#include "Decoder.h"
#include "Module.h"

#include <deque>
#include <set>

namespace attn::sim {

class ProgramBuilder {
public:
  ProgramBuilder(const Module &module, TokenStream &tokens, Program &program)
      : module(module), tokens(tokens), program(program) {}

  void run(const FunctionDecl &entry);

  //===--- For the decoders -----------------------------------------------===//
  const Module &getModule() const { return module; }
  bool inEntry() const { return currentIsEntry; }
  /// The slot that holds the return address of the function being parsed.
  s32 currentReturnSlot() { return frames[currentFunction].returnSlot; }
  /// Sets `target` (or `targets[table]`) of the instruction to a label, once
  /// the body is complete.
  void fixLabel(const Instruction &instruction, const std::string &label,
                s32 table);

  struct Frame {
    s32 returnSlot = -1;
    std::vector<ParameterDecl> parameters, results; // offsets in local memory
  };
  /// Queues a function for parsing and gives its frame.
  const Frame &requestFunction(const std::string &name);
  /// Sets `target` of instruction `pc` to the function's first instruction.
  void fixCall(u32 pc, const std::string &name);
  /// Appends an instruction in front of the one being decoded.
  void emitBefore(Instruction instruction, Instruction &current);

  s32 specialSlot(const std::string &name, u32 bytes);
  /// The row of the constant pool that has `value` in every lane.
  s32 constantRow(u64 value, u32 bytes);
  /// Offset of a static shared variable; nothing for dynamic shared memory.
  std::optional<u32> sharedOffset(const Symbol &symbol);

private:
  struct Scope {
    s32 parent = -1;
    std::unordered_map<std::string, Symbol> symbols;
    std::unordered_map<std::string, u32> labels;
  };
  struct LabelFixup {
    u32 pc = 0;
    s32 scope = -1;
    std::string label;
    u32 line = 0;
    s32 table = -1;
  };
  struct DeclarationHead {
    std::string_view space;
    u32 alignment = 0;
    Type type = Type::B32;
    u32 vectorSize = 1;
    u32 line = 0;
  };

  void parseBody(const FunctionDecl &function);
  void declareParameters(const FunctionDecl &function);
  void parseStatement();
  bool skipDirective();
  bool parseLabel();
  void parseLabelTable(const std::string &label);
  void openScope();
  void closeScope();
  void applyLabelFixups();

  void parseDeclaration();
  DeclarationHead parseDeclarationHead();
  void declareRegisters(const DeclarationHead &head, const std::string &name);
  void declareVariable(const DeclarationHead &head, const std::string &name);
  void declareRegister(Type type, const std::string &name);

  void parseInstruction();
  void parseGuard(Instruction &instruction);
  void setModifiers(Instruction &instruction, const Decoder &decoder);
  void emitImplicitReturn();
  void emit(Instruction instruction);

  // OperandParser.cpp
  ParsedOperand parseOperand();
  ParsedOperand parseAddressOperand();
  ParsedOperand parseList(const char *close);
  ParsedOperand parseAtom();
  ParsedOperand parseUnary();
  ParsedOperand parseName();
  ParsedOperand makeSpecial(const std::string &name);

  const Symbol *find(const std::string &name) const;
  s32 newSlot(u32 bytes, const std::string &name);
  u32 allocateLocal(u32 bytes, u32 alignment);
  void resolveIndirectTargets();

  const Module &module;
  TokenStream &tokens;
  Program &program;

  std::deque<Scope> scopes;
  s32 currentScope = -1;
  std::string currentFunction;
  bool currentIsEntry = true;
  u32 operandDepth = 0;

  std::vector<LabelFixup> labelFixups;
  std::vector<std::pair<u32, std::string>> callFixups;
  std::vector<std::string> workList;
  std::unordered_map<std::string, Frame> frames;
  std::unordered_map<std::string, u32> functionPc;
  std::unordered_map<std::string, u32> sharedOffsets;
  std::unordered_map<std::string, s32> specialSlots;
  std::map<std::pair<u64, u32>, s32> constantRows; // by value and width
  std::deque<Symbol> specialSymbols;
  u32 dynamicAlignment = 16;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_PROGRAMBUILDER_H
