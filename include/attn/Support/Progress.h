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

namespace attn {

/// From `patience` seconds after its construction to its destruction, says on
/// standard error twice a second what `describe` returns, and the time. It is
/// one line, which begins with '\r' each time. `describe` is called by a thread
/// of its own. With a `patience` of 0 nothing is said.
class Progress {
public:
  static constexpr double kPatience = 2;

  Progress(double patience, std::function<std::string()> describe);
  explicit Progress(std::string what)
      : Progress(kPatience, [what = std::move(what)] { return what; }) {}
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
