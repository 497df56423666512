//===- Module.h - A PTX file ------------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Module-scope directives of a PTX file (PTX ISA 11): functions with their
/// parameters, variables with their initialisers. Bodies stay text until an
/// entry is launched.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_MODULE_H
#define ATTN_LIB_SIMULATOR_PTX_MODULE_H

#include "DeviceMemory.h"
#include "Instruction.h"
#include "Lexer.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace attn::sim {

/// What a name in PTX stands for.
struct Symbol {
  enum class Kind : u8 {
    Register,
    Predicate,
    Special, // special register
    Shared,
    Local,
    FunctionParam, // .param variable of a function or a call
    KernelParam,
    Global,
    Const,
    LabelTable, // .branchtargets
    Prototype   // .callprototype
  };
  Kind kind = Kind::Register;
  std::string name;
  Type type = Type::None;
  s32 slot = -1;
  u64 offset = 0; // address, or offset in its space
  u32 bytes = 0, alignment = 1;
  bool isExtern = false;
  std::vector<std::string> labels;
};

/// A .entry or .func.
struct FunctionDecl {
  std::string name;
  bool isEntry = false, hasBody = false;
  size_t bodyToken = 0; // of the opening brace
  std::vector<ParameterDecl> parameters, results;
  u32 maxThreads = 0;
  u32 requiredThreads[3] = {0, 0, 0};
  u32 requiredCluster[3] = {0, 0, 0};
};

class Module {
public:
  /// Parses the module scope; throws SimulationError.
  Module(DeviceMemory &memory, std::string text, const std::string &fileName);
  ~Module();

  const std::string &fileName() const { return tokens.fileName(); }
  const std::string &target() const { return targetName; }
  /// The number of the target: 90 of sm_90a.
  int chip() const;
  /// As after .version: "8.1"; empty if there is none.
  const std::string &version() const { return isaVersion; }
  const FunctionDecl *findFunction(const std::string &name) const;
  const Symbol *findVariable(const std::string &name) const;
  /// Entries with a body, in the order of the text.
  std::vector<std::string> entries() const;
  /// A number that stands for a function in registers and memory; 0: unknown.
  u64 functionAddress(const std::string &name) const;
  /// Functions whose address is stored in a variable of the module.
  std::vector<std::string> addressTakenFunctions() const;

  /// The decoded program of an entry, made on first use. With `keepRegisters`
  /// every virtual register keeps its own slot and name.
  const Program &program(const std::string &entry, bool keepRegisters);

private:
  friend class ModuleParser;

  /// An address in an initialiser, known once everything is parsed.
  struct Relocation {
    u64 address = 0;
    std::string symbol;
    s64 addend = 0;
    u32 bytes = 8;
    u32 line = 0;
  };
  void applyRelocations();

  DeviceMemory &memory;
  std::string text;
  TokenStream tokens;
  std::string targetName, isaVersion;
  std::unordered_map<std::string, FunctionDecl> functions;
  std::vector<std::string> functionOrder;
  std::unordered_map<std::string, Symbol> variables;
  std::unordered_map<std::string, u64> functionAddresses;
  std::vector<Relocation> relocations;
  std::vector<u64> ownedMemory;

  std::mutex programMutex;
  std::map<std::pair<std::string, bool>, std::unique_ptr<Program>> programs;
};

/// Decodes an entry and the functions that it calls. Moves through `tokens`.
std::unique_ptr<Program> buildProgram(const Module &module, TokenStream &tokens,
                                      const FunctionDecl &entry);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_MODULE_H
