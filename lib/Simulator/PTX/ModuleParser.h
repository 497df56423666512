//===- ModuleParser.h - Directives at module scope --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_MODULEPARSER_H
#define ATTN_LIB_SIMULATOR_PTX_MODULEPARSER_H

#include "Module.h"

namespace attn::sim {

/// Largest variable or array that a file may declare: a limit against
/// malformed text, far above what hardware allows.
inline constexpr s64 maxVariableBytes = 1ll << 30;

class ModuleParser {
public:
  explicit ModuleParser(Module &module)
      : module(module), tokens(module.tokens) {}

  void run();

private:
  struct VariableHead {
    std::string_view space;
    u32 alignment = 0;
    Type type = Type::B8;
    u32 vectorSize = 1;
    bool isExtern = false;
  };
  struct Initializer {
    bool present = false;
    std::vector<u8> bytes;
    std::vector<Module::Relocation> relocations; // addresses from 0
  };

  bool parseIgnoredDirective();
  void parseLinkage(bool &isExtern);
  void parseAlias();

  void parseFunction();
  FunctionDecl parseFunctionHead(bool isEntry);
  std::vector<ParameterDecl> parseParameters();
  ParameterDecl parseParameter(u32 &offset);
  void parseFunctionDirectives(FunctionDecl &function);
  void parseDimensions(u32 (&dims)[3]);

  void parseVariables(bool isExtern);
  VariableHead parseVariableHead();
  Symbol parseDeclarator(const VariableHead &head);
  Initializer parseInitializer(Type type);
  void parseInitializerValue(Type type, Initializer &initializer);
  void parseInitializerSymbol(Type type, Initializer &initializer);
  void placeVariable(Symbol &symbol, const Initializer &initializer);

  Module &module;
  TokenStream &tokens;
};

/// "[n][m]" after a name: the number of elements; sets `unsized` for "[]".
u64 parseArrayDimensions(TokenStream &tokens, bool &unsized);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_MODULEPARSER_H
