//===- Context.cpp - State of the stand-in for the CUDA runtime -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "FatBinary.h"
#include "attn/Simulator/OptionText.h"
#include "attn/Simulator/Timing.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace attn::sim;

static void printError(const std::string &message) {
  std::fprintf(stderr, "attn-sim: %s\n", message.c_str());
}

/// A program that cannot load its kernels cannot go on.
[[noreturn]] static void die(const std::string &message) {
  printError(message);
  std::exit(1);
}

Context &Context::get() {
  // Never destroyed: the host program may free memory in static destructors.
  static Context &context = *new Context;
  return context;
}

FatBinaryModules *Context::registerBinary(const uint8_t *fatBinary) {
  auto texts = extractPtx(fatBinary);
  if (!texts)
    die(texts.error());
  auto *binary = new FatBinaryModules; // lives as long as the program
  for (std::string &text : *texts) {
    if (const char *path = std::getenv("ATTN_SIM_PTX")) {
      std::ifstream file(path);
      std::stringstream content;
      content << file.rdbuf();
      text = content.str();
    }
    if (const char *path = std::getenv("ATTN_SIM_DUMP_PTX"))
      std::ofstream(path) << text;
    auto module = device.load(text, "embedded.ptx");
    if (!module)
      die(module.error());
    binary->modules.push_back(*module);
  }
  return binary;
}

static Module *findModule(const FatBinaryModules &binary,
                          const std::string &entry) {
  for (const std::shared_ptr<Module> &module : binary.modules) {
    std::vector<std::string> names = entryNames(*module);
    if (std::find(names.begin(), names.end(), entry) != names.end())
      return module.get();
  }
  return nullptr;
}

static std::vector<uint8_t> packArguments(const Module &module,
                                          const std::string &entry,
                                          void **arguments) {
  std::vector<uint8_t> block;
  auto parameters = entryParameters(module, entry);
  for (size_t k = 0; parameters && k < parameters->size(); ++k) {
    const EntryParameter &parameter = (*parameters)[k];
    block.resize(
        std::max<size_t>(block.size(), parameter.offset + parameter.bytes));
    std::memcpy(&block[parameter.offset], arguments[k], parameter.bytes);
  }
  return block;
}

/// ATTN_SIM_VERBOSE, ATTN_SIM_REPORT and ATTN_SIM_TIMING.
static void printReport(const std::string &kernel, const LaunchReport &report,
                        uint32_t smCount) {
  const Counters &counters = report.counters;
  if (std::getenv("ATTN_SIM_VERBOSE"))
    printError(kernel + ": " + std::to_string(report.seconds) + " s, " +
               std::to_string(counters.totalWarpInstructions()) +
               " warp instructions");
  if (const char *path = std::getenv("ATTN_SIM_REPORT"))
    std::ofstream(path, std::ios::app) << counters.json() << "\n";
  if (const char *path = std::getenv("ATTN_SIM_TIMING"))
    std::ofstream(path, std::ios::app)
        << kernel << "\n"
        << getTiming(report, smCount).print() << "\n";
}

bool attn::sim::setAttribute(LaunchArguments &launch, int id,
                             const void *value) {
  cudaLaunchAttributeValue given;
  std::memcpy(&given, value, sizeof given);
  switch (id) {
  case cudaLaunchAttributeClusterDimension:
    launch.cluster =
        dim3(given.clusterDim.x, given.clusterDim.y, given.clusterDim.z);
    return true;
  case cudaLaunchAttributeProgrammaticStreamSerialization:
    launch.isProgrammatic = given.programmaticStreamSerializationAllowed != 0;
    return true;
  // Where and when CTAs run, which is open here.
  case cudaLaunchAttributeIgnore:
  case cudaLaunchAttributeAccessPolicyWindow:
  case cudaLaunchAttributeCooperative:
  case cudaLaunchAttributeSynchronizationPolicy:
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
  case cudaLaunchAttributePriority:
  case cudaLaunchAttributePreferredSharedMemoryCarveout:
    return true;
  default:
    printError("expected a launch attribute that the simulator knows, got " +
               std::to_string(id));
    return false;
  }
}

cudaError_t Context::launch(const void *handle,
                            const LaunchArguments &arguments) {
  auto it = kernels.find(handle);
  Module *module = it == kernels.end()
                       ? nullptr
                       : findModule(*it->second.binary, it->second.name);
  if (!module) {
    printError("no PTX for the kernel");
    return setError(cudaErrorInvalidDeviceFunction);
  }
  return launchEntry(*module, it->second.name, arguments);
}

cudaError_t Context::launchEntry(Module &module, const std::string &entry,
                                 const LaunchArguments &arguments) {
  Options options;
  if (const char *text = std::getenv("ATTN_SIM_OPTIONS")) {
    std::string error = parseOptions(text, options);
    if (!error.empty())
      die("ATTN_SIM_OPTIONS: " + error);
  }
  if (std::getenv("ATTN_SIM_TIMING"))
    setTiming(options);
  auto toDim3 = [](dim3 dims) { return Dim3{dims.x, dims.y, dims.z}; };
  LaunchConfig config;
  config.grid = toDim3(arguments.grid);
  config.block = toDim3(arguments.block);
  config.cluster = toDim3(arguments.cluster);
  config.dynamicSharedBytes = arguments.sharedBytes;
  config.isProgrammatic = arguments.isProgrammatic;
  config.mayBeFollowed = true; // what comes next is not known yet
  config.parameters = packArguments(module, entry, arguments.arguments);
  LaunchReport report = device.launch(module, entry, config, options);
  for (const Diagnostic &diagnostic : report.diagnostics)
    printError(diagnostic.str());
  printReport(entry, report, device.smCount());
  return report.completed ? cudaSuccess : setError(cudaErrorLaunchFailure);
}

void *Context::allocate(size_t bytes) {
  // More is a mistake that would fill the host's memory.
  constexpr size_t maxBytes = size_t(1) << 34;
  uint64_t address =
      bytes <= maxBytes ? device.allocate(bytes, "device memory") : 0;
  if (address)
    std::memset(reinterpret_cast<void *>(address), 0xFF, bytes);
  return reinterpret_cast<void *>(address);
}

void *Context::variableAddress(const void *handle) const {
  auto it = variables.find(handle);
  if (it == variables.end())
    return nullptr;
  for (const std::shared_ptr<Module> &module : it->second.binary->modules)
    if (uint64_t address = symbolAddress(*module, it->second.name))
      return reinterpret_cast<void *>(address);
  return nullptr;
}
