//===- Arguments.cpp - Options that name an argument ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "attn/Support/Format.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;

std::optional<ArgumentOption>
attn::run::parseArgumentOption(const std::string &text) {
  size_t equals = text.find('=');
  int64_t number;
  if (text.compare(0, 3, "arg") != 0 || equals == std::string::npos ||
      !parseInteger(text.substr(3, equals - 3), number) || number < 0)
    return std::nullopt;
  return ArgumentOption{static_cast<size_t>(number), text.substr(equals + 1)};
}

std::string attn::run::printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string attn::run::describeArgument(func::FuncOp function,
                                        size_t argument) {
  return "argument " + std::to_string(argument) + " of @" +
         function.getName().str() + " (" +
         printType(function.getArgumentTypes()[argument]) + ")";
}
