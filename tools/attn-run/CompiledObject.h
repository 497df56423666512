//===- CompiledObject.h - Compiled functions in files -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_COMPILEDOBJECT_H
#define ATTN_TOOLS_ATTNRUN_COMPILEDOBJECT_H

#include "Options.h"

#include "attn/Target/CPU/CpuJit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn::run {

/// The function for the CPU: from the file that --object names if it was
/// written for the same module, options, version and processor, else compiled,
/// and written there. Prints diagnostics; those of a file are none.
mlir::FailureOr<std::unique_ptr<CpuJit>>
getCompiled(mlir::func::FuncOp function, const Options &options);

/// Writes the compiled function to `options.emitObject`.
bool emitObject(mlir::func::FuncOp function, const Options &options);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_COMPILEDOBJECT_H
