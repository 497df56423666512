// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of two contexts launch at once; then the time of a launch, all but
// what a real driver would do.
#include "one.h"

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

static one_Args getArgs() {
  one_Args args;
  args.in = attn_launch::Tensor<3>::rowMajor(0x10000, {2, 100, 64});
  args.default_ = attn_launch::Tensor<2>::rowMajor(0x20000, {2, 100});
  return args;
}

static void launchOften(int device, int count, int *failures) {
  *failures = !attn_launch::useDevice(device);
  one_Args args = getArgs();
  for (int i = 0; i < count; ++i)
    *failures += !one_launch(args, nullptr);
}

int main() {
  constexpr int numThreads = 8;
  std::vector<std::thread> threads;
  std::vector<int> failures(numThreads);
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back(launchOften, i % 2, 500, &failures[i]);
  for (std::thread &thread : threads)
    thread.join();
  int total = 0;
  for (int count : failures)
    total += count;
  void *driver = dlopen(std::getenv("ATTN_LIBCUDA"), RTLD_NOW);
  auto getNumLoaded =
      reinterpret_cast<int (*)()>(dlsym(driver, "getNumLoaded"));
  std::printf("%d failures, %d modules loaded\n", total, getNumLoaded());

  constexpr int count = 20000;
  auto start = std::chrono::steady_clock::now();
  launchOften(0, count, &total);
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;
  std::printf("%.2f us for a launch\n", time.count() / count);
}
