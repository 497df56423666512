// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime library in threads, with more shapes than it keeps.
#include "attn/Runtime/CudaProgram.h"

#include "threads.h"

#include <fstream>
#include <sstream>

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

int main(int, char **argv) {
  LaunchResult<CudaProgram> programs[] = {load(0, argv[1]), load(1, argv[1])};
  if (!programs[0] || !programs[1])
    return 1;
  launchInThreads([&](int device, int count, int shapes) {
    int failures = 0;
    for (int i = 0; i < count; ++i) {
      int64_t rows = 128 * (1 + i % shapes); // an even number of CTAs
      failures += !programs[device]->launch(
          {{{2, rows, 64}, {}, 0x10000}, {{2, rows}, {}, 0x10000000}});
    }
    return failures;
  });
}
