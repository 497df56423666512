//===- Serve.h - Many calls of one compiled function ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_SERVE_H
#define ATTN_TOOLS_ATTNRUN_SERVE_H

#include "Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn::run {

/// Compiles the function for the CPU and prints "ready"; then, for each line of
/// standard input, calls it. A line holds .npy files, separated by tabs: one to
/// read for each argument, then one to write for each result. The answer is a
/// line "ok" or, after a diagnostic, "failed". Returns at the end of input;
/// false if the function does not compile.
bool serve(mlir::func::FuncOp function, const Options &options);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_SERVE_H
