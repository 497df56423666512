//===- Progress.cpp - How far something is that takes long ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Progress.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace attn {

double Progress::getPatience() { return isatty(STDERR_FILENO) ? 2 : 0; }

Progress::Progress(double patience, std::function<std::string()> describe)
    : describe(std::move(describe)) {
  if (patience > 0)
    thread = std::thread([this, patience] { run(patience); });
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isDone = true;
  }
  changed.notify_one(); // What has ended need not wait for the next look.
  thread.join();
  if (hasPrinted)
    std::fputc('\n', stderr);
}

void Progress::run(double patience) {
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kInterval(0.5);
  auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex);
  for (Seconds wait(patience);
       !changed.wait_for(lock, wait, [this] { return isDone; });
       wait = kInterval) {
    Seconds elapsed = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "\r%s, %.1f s", describe().c_str(), elapsed.count());
    std::fflush(stderr);
    hasPrinted = true;
  }
}

} // namespace attn
