//===- CrashGuard.h - A crash ends in a message -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's parsers and passes have bugs of their own. Whatever the input does to
// them, a tool ends with a message, an exit code and no partial file.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_SUPPORT_CRASHGUARD_H
#define ATTN_TOOLS_SUPPORT_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace attn {

/// The exit code after a crash: "internal software error" of sysexits.h.
inline constexpr int crashExitCode = 70;

/// Returns what `run` returns. If it crashes, prints a stack trace and an error
/// under the name of the tool, and ends the process with crashExitCode.
int runGuarded(llvm::StringRef toolName, llvm::function_ref<int()> run);

} // namespace attn

#endif // ATTN_TOOLS_SUPPORT_CRASHGUARD_H
