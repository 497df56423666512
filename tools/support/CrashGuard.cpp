//===- CrashGuard.cpp - A crash ends in a message -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CrashGuard.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

int attn::runGuarded(llvm::StringRef toolName, llvm::function_ref<int()> run) {
  llvm::setBugReportMsg("");
  std::signal(SIGXFSZ, SIG_IGN); // Too large a file is an error of a write.
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext context;
  context.DumpStackAndCleanupOnFailure = true;
  int code = crashExitCode;
  if (context.RunSafely([&] { code = run(); }))
    return code;
  llvm::WithColor::error(llvm::errs(), toolName)
      << "expected to accept or to reject the input, got a crash; the stack "
         "above says where, please report it with the input\n";
  llvm::sys::RunInterruptHandlers(); // Removes temporary files.
  // The process is in no state to run destructors.
  llvm::sys::Process::Exit(crashExitCode, /*NoCleanup=*/true);
}
