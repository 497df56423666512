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
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// The end of the stack
//===----------------------------------------------------------------------===//

/// What a handler of the fault may read: the lowest address of the first
/// thread's stack, the message, and who handles other faults.
static char *lowestOfStack;
static std::string *overflowMessage;
static struct sigaction otherFaults;

static void handleFault(int signal, siginfo_t *info, void * /*context*/) {
  constexpr ptrdiff_t around = 2 << 20; // the gap that the kernel leaves
  ptrdiff_t distance = static_cast<char *>(info->si_addr) - lowestOfStack;
  if (std::abs(distance) < around) {
    [[maybe_unused]] ssize_t written =
        write(STDERR_FILENO, overflowMessage->data(), overflowMessage->size());
    llvm::sys::RunInterruptHandlers(); // Removes temporary files.
    _exit(1);
  }
  // The instruction faults again, before the one who handles other faults.
  sigaction(signal, &otherFaults, nullptr);
}

/// A stack that overflows, by code of the input that calls itself without end,
/// ends in a message. Its handler needs another stack.
static void guardStack(llvm::StringRef toolName) {
  pthread_attr_t attributes;
  void *lowest = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes))
    return;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  lowestOfStack = static_cast<char *>(lowest);
  static std::string message;
  message = toolName.str() + ": error: expected to run within the stack of " +
            std::to_string(size >> 20) +
            " MiB, got no end of it: a function that calls itself without "
            "end, or IR that is nested too deep\n";
  overflowMessage = &message;
  static char space[1 << 16];
  stack_t stack = {};
  stack.ss_sp = space;
  stack.ss_size = sizeof space;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = handleFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &otherFaults);
}

int attn::runGuarded(llvm::StringRef toolName, llvm::function_ref<int()> run) {
  llvm::setBugReportMsg("");
  std::signal(SIGXFSZ, SIG_IGN); // Too large a file is an error of a write.
  llvm::CrashRecoveryContext::Enable();
  guardStack(toolName);
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
