//===- Parallel.cpp - Parallel loop over an index range -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace attn {

void parallelFor(int64_t count, const std::function<void(int64_t)> &body,
                 int64_t maxThreads) {
  int64_t threads = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  if (maxThreads > 0)
    threads = std::min(threads, maxThreads);
  threads = std::min(threads, count);

  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i = next++; i < count; i = next++)
      body(i);
  };
  std::vector<std::thread> pool;
  for (int64_t i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace attn
