// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of two devices launch at once; then the time of a launch, all but
// what a real driver would do.
#pragma once

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

/// `launchOften(device, count, shapes)` launches `count` times, with as many
/// shapes in turn, and returns how many launches failed.
template <typename LaunchOften>
void launchInThreads(LaunchOften launchOften) {
  constexpr int numThreads = 8;
  std::vector<std::thread> threads;
  std::vector<int> failures(numThreads);
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back(
        [&, i] { failures[i] = launchOften(i % 2, 500, 300); });
  for (std::thread &thread : threads)
    thread.join();
  void *driver = dlopen(std::getenv("ATTN_LIBCUDA"), RTLD_NOW);
  auto getNumLoaded =
      reinterpret_cast<int (*)()>(dlsym(driver, "getNumLoaded"));
  std::printf("%d failures, %d modules loaded\n",
              std::accumulate(failures.begin(), failures.end(), 0),
              getNumLoaded());

  constexpr int count = 20000;
  auto start = std::chrono::steady_clock::now();
  int failed = launchOften(0, count, 1);
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;
  std::printf("%.2f us for a launch, %d failures\n", time.count() / count,
              failed);
}
