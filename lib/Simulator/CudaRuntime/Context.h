//===- Context.h - State of the stand-in for the CUDA runtime ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_CUDARUNTIME_CONTEXT_H
#define ATTN_LIB_SIMULATOR_CUDARUNTIME_CONTEXT_H

#include "attn/Simulator/Simulator.h"

#include <cuda_runtime_api.h>

#include <map>
#include <string>
#include <vector>

namespace attn::sim {

/// The modules of one fat binary.
struct FatBinaryModules {
  std::vector<std::shared_ptr<Module>> modules;
};

/// A kernel or variable as the host program registered it.
struct Registration {
  FatBinaryModules *binary = nullptr;
  std::string name;
};

struct LaunchArguments {
  dim3 grid, block, cluster{1, 1, 1};
  void **arguments = nullptr;
  size_t sharedBytes = 0;
  bool isProgrammatic = false;
};

/// Takes an attribute of a launch; both APIs have the same numbers and values.
/// False, after a message, of one that is not known and may change what runs.
bool setAttribute(LaunchArguments &launch, int id, const void *value);

/// One per process. Settings come from the environment: ATTN_SIM_OPTIONS (see
/// parseOptions), ATTN_SIM_VERBOSE, ATTN_SIM_REPORT (a file for counters),
/// ATTN_SIM_PTX (a file that replaces the embedded PTX), ATTN_SIM_DUMP_PTX.
class Context {
public:
  static Context &get();

  FatBinaryModules *registerBinary(const uint8_t *fatBinary);
  void registerKernel(const void *handle, Registration kernel) {
    kernels[handle] = std::move(kernel);
  }
  void registerVariable(const void *handle, Registration variable) {
    variables[handle] = std::move(variable);
  }
  cudaError_t launch(const void *kernel, const LaunchArguments &arguments);
  cudaError_t launchEntry(Module &module, const std::string &entry,
                          const LaunchArguments &arguments);
  void *variableAddress(const void *handle) const;

  /// Device memory, filled with 0xFF bytes; null if there is no more.
  void *allocate(size_t bytes);

  cudaError_t setError(cudaError_t error) { return lastError = error; }
  cudaError_t takeError() {
    cudaError_t error = lastError;
    lastError = cudaSuccess;
    return error;
  }
  cudaError_t peekError() const { return lastError; }

  Device device;
  /// Launch configurations between <<<>>> and the kernel's stub.
  std::vector<LaunchArguments> pendingConfigurations;

private:
  std::map<const void *, Registration> kernels, variables;
  cudaError_t lastError = cudaSuccess;
};

/// The value of a cudaDeviceAttr or of the CUdevice_attribute of that number.
int deviceAttribute(int attribute);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_CUDARUNTIME_CONTEXT_H
