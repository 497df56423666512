//===- ProgramBuilder.cpp - Function bodies to programs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "ModuleParser.h"

#include <algorithm>

using namespace attn::sim;

std::unique_ptr<Program> attn::sim::buildProgram(const Module &module,
                                                 TokenStream &tokens,
                                                 const FunctionDecl &entry) {
  auto program = std::make_unique<Program>();
  program->module = &module;
  ProgramBuilder(module, tokens, *program).run(entry);
  return program;
}

void ProgramBuilder::run(const FunctionDecl &entry) {
  program.name = entry.name;
  program.parameters = entry.parameters;
  for (const ParameterDecl &parameter : entry.parameters)
    program.parameterBytes =
        std::max(program.parameterBytes, parameter.offset + parameter.bytes);
  program.maxThreads = entry.maxThreads;
  std::copy_n(entry.requiredThreads, 3, program.requiredThreads);
  std::copy_n(entry.requiredCluster, 3, program.requiredCluster);
  specialSlot("%__parambase", 8);
  parseBody(entry);
  bool hasIndirectCall = std::any_of(
      program.code.begin(), program.code.end(), [](const Instruction &i) {
        return i.instructionClass == InstructionClass::Call && i.a;
      });
  if (hasIndirectCall)
    for (const std::string &name : module.addressTakenFunctions())
      requestFunction(name);
  while (!workList.empty()) {
    std::string name = workList.back();
    workList.pop_back();
    parseBody(*module.findFunction(name));
  }
  for (const auto &[pc, name] : callFixups)
    if (functionPc.count(name))
      program.code[pc].target = functionPc[name];
  resolveIndirectTargets();
  program.dynamicSharedOffset =
      alignUp(program.staticSharedBytes, dynamicAlignment);
  program.localBytes = alignUp(program.localBytes, 16);
}

void ProgramBuilder::resolveIndirectTargets() {
  for (const auto &[name, frame] : frames)
    if (u64 address = module.functionAddress(name))
      if (functionPc.count(name))
        program.indirectTargets[address] = {functionPc[name], frame.returnSlot,
                                            frame.parameters, frame.results};
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void ProgramBuilder::parseBody(const FunctionDecl &function) {
  currentFunction = function.name;
  currentIsEntry = function.isEntry;
  functionPc[function.name] = program.code.size();
  tokens.seek(function.bodyToken);
  currentScope = -1;
  openScope();
  s32 outermost = currentScope;
  declareParameters(function);
  tokens.expect("{");
  while (currentScope != -1) {
    if (tokens.atEnd())
      tokens.fail("expected '}'");
    if (tokens.accept("{"))
      openScope();
    else if (!tokens.is("}"))
      parseStatement();
    else if (tokens.next(), currentScope != outermost)
      closeScope();
    else
      break;
  }
  emitImplicitReturn();
  applyLabelFixups();
}

void ProgramBuilder::openScope() {
  scopes.push_back({currentScope, {}, {}});
  currentScope = scopes.size() - 1;
}

void ProgramBuilder::closeScope() {
  currentScope = scopes[currentScope].parent;
}

void ProgramBuilder::declareParameters(const FunctionDecl &function) {
  auto declare = [&](const std::vector<ParameterDecl> &parameters,
                     Symbol::Kind kind) {
    for (const ParameterDecl &parameter : parameters) {
      Symbol symbol;
      symbol.kind = kind;
      symbol.name = parameter.name;
      symbol.offset = parameter.offset;
      symbol.bytes = parameter.bytes;
      symbol.type = parameter.type;
      scopes[currentScope].symbols[parameter.name] = symbol;
    }
  };
  if (function.isEntry)
    return declare(function.parameters, Symbol::Kind::KernelParam);
  const Frame &frame = frames.at(function.name);
  declare(frame.parameters, Symbol::Kind::FunctionParam);
  declare(frame.results, Symbol::Kind::FunctionParam);
}

void ProgramBuilder::parseStatement() {
  if (skipDirective())
    return;
  if (tokens.is(".reg") || tokens.is(".local") || tokens.is(".shared") ||
      tokens.is(".param"))
    return parseDeclaration();
  if (!parseLabel())
    parseInstruction();
}

bool ProgramBuilder::skipDirective() {
  if (tokens.is(".loc") || tokens.is(".file"))
    tokens.skipLine();
  else if (tokens.is(".pragma"))
    tokens.skipStatement();
  else if (!tokens.accept(";"))
    return false;
  return true;
}

bool ProgramBuilder::parseLabel() {
  const Token &colon = tokens.peek(1);
  if (tokens.peek().kind != Token::Kind::Identifier ||
      colon.kind != Token::Kind::Punctuation || colon.text != ":")
    return false;
  std::string label(tokens.next().text);
  tokens.next();
  if (tokens.is(".branchtargets") || tokens.is(".calltargets")) {
    parseLabelTable(label);
  } else if (tokens.is(".callprototype")) {
    tokens.skipStatement();
    Symbol symbol;
    symbol.kind = Symbol::Kind::Prototype;
    symbol.name = label;
    scopes[currentScope].symbols[label] = symbol;
  } else if (!scopes[currentScope]
                  .labels.emplace(label, program.code.size())
                  .second) {
    tokens.failAt(colon.line, "label '" + label + "' is defined twice");
  }
  return true;
}

void ProgramBuilder::parseLabelTable(const std::string &label) {
  tokens.next();
  Symbol symbol;
  symbol.kind = Symbol::Kind::LabelTable;
  symbol.name = label;
  do
    symbol.labels.emplace_back(tokens.expectIdentifier("a label"));
  while (tokens.accept(","));
  tokens.expect(";");
  scopes[currentScope].symbols[label] = symbol;
}

void ProgramBuilder::fixLabel(const Instruction &instruction,
                              const std::string &label, s32 table) {
  labelFixups.push_back(
      {instruction.pc, currentScope, label, instruction.line, table});
}

void ProgramBuilder::applyLabelFixups() {
  for (const LabelFixup &fixup : labelFixups) {
    s32 scope = fixup.scope;
    while (scope >= 0 && !scopes[scope].labels.count(fixup.label))
      scope = scopes[scope].parent;
    if (scope < 0)
      tokens.failAt(fixup.line, "unknown label '" + fixup.label + "'");
    u32 pc = scopes[scope].labels[fixup.label];
    Instruction &instruction = program.code[fixup.pc];
    if (fixup.table >= 0)
      instruction.targets[fixup.table] = pc;
    else
      instruction.target = pc;
  }
  labelFixups.clear();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

const ProgramBuilder::Frame &
ProgramBuilder::requestFunction(const std::string &name) {
  auto it = frames.find(name);
  if (it != frames.end())
    return it->second;
  const FunctionDecl *function = module.findFunction(name);
  Frame frame;
  frame.returnSlot = newSlot(4, "return address of " + name);
  auto place = [&](std::vector<ParameterDecl> parameters) {
    for (ParameterDecl &parameter : parameters)
      parameter.offset = allocateLocal(parameter.bytes,
                                       std::max<u32>(parameter.alignment, 16));
    return parameters;
  };
  if (function) {
    frame.parameters = place(function->parameters);
    frame.results = place(function->results);
    if (function->hasBody)
      workList.push_back(name);
  }
  return frames[name] = frame;
}

void ProgramBuilder::fixCall(u32 pc, const std::string &name) {
  callFixups.push_back({pc, name});
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static std::vector<std::string_view> splitOpcode(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('.', begin), text.size());
    if (end > begin)
      parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void ProgramBuilder::parseInstruction() {
  Instruction instruction;
  size_t first = tokens.tell();
  parseGuard(instruction);
  instruction.line = tokens.peek().line;
  std::string_view name = tokens.expectIdentifier("an instruction");
  std::vector<std::string_view> opcode = splitOpcode(name);
  if (opcode.empty())
    tokens.failAt(instruction.line, "expected an instruction");
  std::vector<ParsedOperand> operands;
  while (!tokens.is(";")) {
    operands.push_back(parseOperand());
    // "call (r), f, (a)" and "call (r) f" both occur; others need commas.
    if (!tokens.accept(",") && !tokens.is(";") &&
        !(opcode[0] == "call" && operands.size() < 3))
      tokens.fail("expected ',' or ';'");
  }
  instruction.text = tokens.textBetween(first, tokens.tell());
  tokens.expect(";");
  instruction.pc = program.code.size();
  Decoder decoder(*this, program, instruction, opcode, operands);
  setModifiers(instruction, decoder);
  if (!OpcodeTable::get().decode(decoder))
    decoder.fail("unsupported instruction");
  decoder.checkModifiers();
  emit(std::move(instruction));
}

void ProgramBuilder::parseGuard(Instruction &instruction) {
  if (!tokens.accept("@"))
    return;
  instruction.guardNegated = tokens.accept("!");
  ParsedOperand guard = parseAtom();
  if (!guard.symbol || guard.symbol->kind != Symbol::Kind::Predicate)
    tokens.fail("expected a predicate as guard");
  instruction.guard = guard.symbol->slot;
}

void ProgramBuilder::setModifiers(Instruction &instruction,
                                  const Decoder &decoder) {
  const std::vector<Type> &types = decoder.types();
  if (types.size() > 0)
    instruction.type = types[0];
  if (types.size() > 1)
    instruction.type2 = types[1];
  if (types.size() > 2)
    instruction.type3 = types[2];
  instruction.flushSubnormals = decoder.has("ftz");
  instruction.saturate = decoder.has("sat") || decoder.has("satfinite");
  static constexpr std::pair<std::string_view, Rounding> names[] = {
      {"rn", Rounding::Nearest},      {"rz", Rounding::Zero},
      {"rm", Rounding::Down},         {"rp", Rounding::Up},
      {"rna", Rounding::NearestAway}, {"rni", Rounding::NearestInt},
      {"rzi", Rounding::ZeroInt},     {"rmi", Rounding::DownInt},
      {"rpi", Rounding::UpInt}};
  for (const auto &[name, rounding] : names)
    if (decoder.has(name)) {
      instruction.rounding = rounding;
      break;
    }
}

/// A limit against malformed text; compilers stay far below it.
static constexpr u32 maxInstructions = 1u << 22;

void ProgramBuilder::emit(Instruction instruction) {
  if (program.code.size() >= maxInstructions)
    tokens.fail("too many instructions");
  instruction.noteRegisters();
  program.code.push_back(std::move(instruction));
}

void ProgramBuilder::emitBefore(Instruction instruction, Instruction &current) {
  instruction.pc = program.code.size();
  emit(std::move(instruction));
  current.pc = program.code.size();
}

void ProgramBuilder::emitImplicitReturn() {
  Instruction instruction;
  instruction.line = tokens.peek().line;
  instruction.pc = program.code.size();
  instruction.text = "<end of " + currentFunction + ">";
  std::vector<std::string_view> opcode{"ret"};
  std::vector<ParsedOperand> operands;
  Decoder decoder(*this, program, instruction, opcode, operands);
  OpcodeTable::get().decode(decoder);
  emit(std::move(instruction));
}
