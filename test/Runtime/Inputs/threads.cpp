// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads launch on two devices at once, with more shapes than are kept; then
// the time of a launch, all but what a real driver would do.
#include "attn/Runtime/CudaProgram.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

using namespace attn::runtime;

static std::string readText(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

static LaunchResult<CudaProgram> load(int ordinal, const std::string &base) {
  LaunchResult<CudaDevice> device = CudaDevice::open(ordinal);
  if (!device)
    return device.status();
  return CudaProgram::load(*device, *readManifest(readText(base + ".json")),
                           readText(base + ".ptx"));
}

static void launchOften(CudaProgram program, int count, int64_t shapes,
                        int *failures) {
  for (int i = 0; i < count; ++i) {
    int64_t rows = 128 * (1 + i % shapes); // an even number of CTAs
    *failures += !program.launch(
        {{{2, rows, 64}, {}, 0x10000}, {{2, rows}, {}, 0x20000}});
  }
}

int main(int, char **argv) {
  LaunchResult<CudaProgram> programs[] = {load(0, argv[1]), load(1, argv[1])};
  if (!programs[0] || !programs[1])
    return 1;
  constexpr int numThreads = 8;
  std::vector<std::thread> threads;
  std::vector<int> failures(numThreads);
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back(launchOften, *programs[i % 2], 400, 300, &failures[i]);
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
  launchOften(*programs[0], count, 1, &total);
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;
  std::printf("%.2f us for a launch\n", time.count() / count);
}
