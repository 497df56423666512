//===- CudaDriver.cpp - A stand-in for libcuda ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The part of the driver API that a launcher of PTX needs: modules, launches
/// with attributes, memory. A program that loads libcuda.so.1 by name can load
/// this library in its place. Everything is synchronous and there is one
/// device.
///
//===----------------------------------------------------------------------===//

#include "Context.h"

#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace attn::sim;

#define API extern "C" __attribute__((visibility("default")))

/// A function of a module; what a CUfunction points to.
struct CUfunc_st {
  Module *module;
  std::string entry;
  int maxDynamicSharedBytes = 48 * 1024; // until cuFuncSetAttribute
};

/// What a CUmodule points to. Functions live as long as their module.
struct CUmod_st {
  std::shared_ptr<Module> module;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

static Context &context() { return Context::get(); }

//===----------------------------------------------------------------------===//
// Device and context
//===----------------------------------------------------------------------===//

API CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
API CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return CUDA_SUCCESS;
}
API CUresult cuDeviceGet(CUdevice *device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
API CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::strncpy(name, "attn-sim", length);
  return CUDA_SUCCESS;
}
/// Both APIs number the attributes alike.
API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                  CUdevice) {
  *value = deviceAttribute(int(attribute));
  return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice) {
  *handle = reinterpret_cast<CUcontext>(&context());
  return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
API CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
API CUresult cuCtxGetCurrent(CUcontext *handle) {
  return cuDevicePrimaryCtxRetain(handle, 0);
}
API CUresult cuCtxGetId(CUcontext, unsigned long long *id) {
  *id = 1;
  return CUDA_SUCCESS;
}
API CUresult cuCtxGetDevice(CUdevice *device) { return cuDeviceGet(device, 0); }
API CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

API CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  *pointer = reinterpret_cast<CUdeviceptr>(context().allocate(bytes));
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
API CUresult cuMemFree_v2(CUdeviceptr pointer) {
  context().device.release(pointer);
  return CUDA_SUCCESS;
}
API CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream) {
  return cuMemAlloc_v2(pointer, bytes);
}
API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream) {
  return cuMemFree_v2(pointer);
}
/// Host memory is device memory here.
API CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  *pointer = context().allocate(bytes);
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host,
                                          unsigned) {
  *pointer = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return CUDA_SUCCESS;
}
API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}
API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes) {
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return CUDA_SUCCESS;
}
API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                             CUstream) {
  return cuMemsetD8_v2(to, value, bytes);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

// There is no clock: what is launched has ended, and took no time that means
// something.
API CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(&context());
  return CUDA_SUCCESS;
}
API CUresult cuEventDestroy_v2(CUevent) { return CUDA_SUCCESS; }
API CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
API CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
// The header names the newer version, programs the older.
#undef cuEventElapsedTime
API CUresult cuEventElapsedTime(float *, CUevent, CUevent) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Where the caller wants the text of an error, if anywhere.
static void writeErrorLog(const std::string &message, unsigned count,
                          const CUjit_option *options, void **values) {
  char *log = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      log = static_cast<char *>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (log && bytes)
    std::strncpy(log, message.c_str(), bytes - 1);
}

API CUresult cuModuleLoadDataEx(CUmodule *handle, const void *image,
                                unsigned optionCount, CUjit_option *options,
                                void **values) {
  auto module =
      context().device.load(static_cast<const char *>(image), "module.ptx");
  if (!module) {
    writeErrorLog(module.error(), optionCount, options, values);
    return CUDA_ERROR_INVALID_PTX;
  }
  *handle = new CUmod_st{*module, {}};
  return CUDA_SUCCESS;
}
API CUresult cuModuleLoadData(CUmodule *handle, const void *image) {
  return cuModuleLoadDataEx(handle, image, 0, nullptr, nullptr);
}
API CUresult cuModuleUnload(CUmodule handle) {
  delete handle;
  return CUDA_SUCCESS;
}
API CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle,
                                 const char *entry) {
  std::vector<std::string> names = entryNames(*handle->module);
  if (std::find(names.begin(), names.end(), entry) == names.end())
    return CUDA_ERROR_NOT_FOUND;
  handle->functions.push_back(
      std::make_unique<CUfunc_st>(CUfunc_st{handle->module.get(), entry}));
  *function = handle->functions.back().get();
  return CUDA_SUCCESS;
}
API CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes,
                                  CUmodule handle, const char *name) {
  uint64_t size = 0;
  *pointer = symbolAddress(*handle->module, name, &size);
  if (bytes)
    *bytes = size;
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

//===----------------------------------------------------------------------===//
// Functions and launches
//===----------------------------------------------------------------------===//

API CUresult cuFuncSetAttribute(CUfunction function,
                                CUfunction_attribute attribute, int value) {
  int limit = deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return CUDA_SUCCESS;
  if (value < 0 || value > limit)
    return CUDA_ERROR_INVALID_VALUE;
  function->maxDynamicSharedBytes = value;
  return CUDA_SUCCESS;
}
API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute, CUfunction) {
  *value = 0;
  return CUDA_SUCCESS;
}

API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                              void **arguments, void **extra) {
  if (extra ||
      config->sharedMemBytes > unsigned(function->maxDynamicSharedBytes))
    return CUDA_ERROR_INVALID_VALUE;
  LaunchArguments launch;
  launch.grid = dim3(config->gridDimX, config->gridDimY, config->gridDimZ);
  launch.block = dim3(config->blockDimX, config->blockDimY, config->blockDimZ);
  launch.arguments = arguments;
  launch.sharedBytes = config->sharedMemBytes;
  for (unsigned k = 0; k < config->numAttrs; ++k)
    if (!setAttribute(launch, config->attrs[k].id, &config->attrs[k].value))
      return CUDA_ERROR_INVALID_VALUE;
  // Kernels run one after the other, whichever threads launch them.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  cudaError_t error =
      context().launchEntry(*function->module, function->entry, launch);
  return error == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}
