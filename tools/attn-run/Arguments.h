//===- Arguments.h - Options that name an argument --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_ARGUMENTS_H
#define ATTN_TOOLS_ATTNRUN_ARGUMENTS_H

#include "attn/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace attn::run {

/// "arg3=value" as (3, "value"); nothing where the text does not begin so.
struct ArgumentOption {
  size_t argument;
  std::string value;
};
std::optional<ArgumentOption> parseArgumentOption(const std::string &text);

/// "argument 2 of @f (tensor<?x8xf32>)", as errors name it.
std::string describeArgument(mlir::func::FuncOp function, size_t argument);

/// "tensor<2x?xf32>"
std::string printType(mlir::Type type);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_ARGUMENTS_H
