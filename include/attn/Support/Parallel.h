//===- Parallel.h - Parallel loop over an index range -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The process keeps threads for its loops, which begin with the first loop that
// needs them and never end. A loop waits for none that has not begun to help:
// its caller works, too, and on a busy machine may do all of it. Any thread may
// call, in the child of a fork, too, and within a body, where the inner loop
// stays in its thread. The bodies must not throw.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_PARALLEL_H
#define ATTN_SUPPORT_PARALLEL_H

#include <cstddef>
#include <cstdint>
#include <functional>

namespace attn {

/// Calls body(i) for 0 <= i < count, on as many threads as the machine has
/// (at most `maxThreads` where that is positive). The order is not defined;
/// the body must be safe to call concurrently for different indices. Returns
/// when all calls have returned.
void parallelFor(int64_t count, const std::function<void(int64_t)> &body,
                 int64_t maxThreads = 0);

using ParallelBody = void (*)(void *context, int64_t begin, int64_t end);

/// The same with a body for each of the ranges that make up 0 to `count`: what
/// code for the CPU runs its loops by.
void parallelForRanges(ParallelBody body, void *context, int64_t count);

/// The name by which that code calls it.
inline constexpr const char *kParallelForName = "attnParallelFor";

/// How many threads loops of this thread may take, its own among them, as long
/// as this lives; 0: one for each core.
class ThreadLimit {
public:
  explicit ThreadLimit(size_t limit);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;
  ThreadLimit &operator=(const ThreadLimit &) = delete;

private:
  size_t previous;
};

} // namespace attn

#endif // ATTN_SUPPORT_PARALLEL_H
