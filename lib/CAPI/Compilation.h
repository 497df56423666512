//===- Compilation.h - What both ways into the compiler share ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CAPI_COMPILATION_H
#define ATTN_LIB_CAPI_COMPILATION_H

#include "attn-c/Compiler.h"
#include "attn/Pipelines/Compiler.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

struct AttnCompilation {
  attn::CompileResult result;
};

namespace attn::capi {

/// The options, with all fields that this library has; prints an error if the
/// size of what is given cannot be right. Null remains nothing, without a word.
std::optional<AttnCompileOptions> readOptions(const AttnCompileOptions *given);

/// Passes an error without a location to the handler.
void reportError(const AttnCompileOptions &options, llvm::StringRef message);

/// Adds every dialect of MLIR and of this project.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Compiles what `getModule` returns (null: it has reported why), with the
/// diagnostics of `context` going to the handler. Lets no exception through.
AttnCompilation *compileGuarded(mlir::MLIRContext &context,
                                const AttnCompileOptions &options,
                                llvm::function_ref<mlir::ModuleOp()> getModule);

} // namespace attn::capi

#endif // ATTN_LIB_CAPI_COMPILATION_H
