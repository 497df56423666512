// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches kernel.mlir by its manifest, rightly and wrongly, as
// test/Target/Header/Inputs/launch.cpp does by its header.
#include "attn/Runtime/CudaProgram.h"

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace attn;
using namespace attn::runtime;
using Operands = std::vector<OperandBinding>;

static void report(const LaunchStatus &status) {
  std::printf("%d '%s'\n", static_cast<int>(status.code),
              status.message.c_str());
}

static std::string readText(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Launches after `change` of operands that are right.
template <typename Change>
static void launchWith(const CudaProgram &program, Change change) {
  Operands operands = {{{2, 100, 64}, {}, 0x10000}, {{2, 100}, {}, 0x20000}};
  change(operands);
  report(program.launch(operands));
}

static void launchAll(const CudaProgram &program) {
  launchWith(program, [](Operands &) {});
  launchWith(program, [](Operands &) {});
  launchWith(program, [](Operands &o) { o.pop_back(); });
  launchWith(program, [](Operands &o) { o[0].shape[2] = 32; });
  launchWith(program, [](Operands &o) { o[1].shape[1] = 98; });
  launchWith(program, [](Operands &o) { o[0].strides = {6800, 68, 1}; });
  launchWith(program, [](Operands &o) { o[0].strides = {12800, 128, 2}; });
  launchWith(program, [](Operands &o) { o[0].address += 8; });
  launchWith(program, [](Operands &o) { o[0].address = 0; });
  launchWith(program, [](Operands &o) { o[0].shape[0] = -2; });
  launchWith(program, [](Operands &o) { o[0].shape[1] = o[1].shape[1] = 99; });
  launchWith(program, [](Operands &o) { o[0].shape[1] = o[1].shape[1] = 0; });
}

int main(int, char **argv) {
  std::string base = argv[1];
  report(CudaDevice::open(7).status());
  LaunchResult<CudaDevice> device = CudaDevice::open(1);
  report(device.status());
  if (!device)
    return 1;
  std::printf("%s %d %ld\n", device->getName().c_str(),
              device->getComputeCapability(), long(device->getSmCount()));
  Result<Manifest> manifest = readManifest(readText(base + ".json"));
  if (!manifest)
    return 1;
  auto program = CudaProgram::load(*device, *manifest, readText(base + ".ptx"));
  report(program.status());
  if (!program)
    return 1;
  launchAll(*program);
  manifest->kernels.clear();
  report(CudaProgram::load(*device, *manifest, "").status());
}
