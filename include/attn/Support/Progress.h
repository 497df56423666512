//===- Progress.h - How far something is that takes long --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_PROGRESS_H
#define ATTN_SUPPORT_PROGRESS_H

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace attn {

/// From `patience` seconds after its construction to its destruction, says on
/// standard error twice a second what `describe` returns, and the time. It is
/// one line, which begins with '\r' each time. `describe` is called by a thread
/// of its own. With a `patience` of 0 nothing is said.
class Progress {
public:
  /// Where standard error is a terminal, 2; else 0: what takes the output of a
  /// program takes the same however long it ran.
  static double getPatience();

  Progress(double patience, std::function<std::string()> describe);
  explicit Progress(std::string what)
      : Progress(getPatience(), [what = std::move(what)] { return what; }) {}
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

private:
  void run(double patience);

  std::function<std::string()> describe;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  bool hasPrinted = false;
};

} // namespace attn

#endif // ATTN_SUPPORT_PROGRESS_H
