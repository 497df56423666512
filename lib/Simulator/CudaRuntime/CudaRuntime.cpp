//===- CudaRuntime.cpp - A stand-in for libcudart -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Lets a program compiled by nvcc run its kernels in the simulator: link with
/// `-cudart none -lattn_sim_cudart` and embed PTX uncompressed
/// (`-gencode arch=compute_90a,code=compute_90a --no-compress`). Everything is
/// synchronous; streams and events do nothing.
///
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "attn/Simulator/TensorMap.h"

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#undef cudaGetDriverEntryPoint

using namespace attn::sim;

#define API extern "C" __attribute__((visibility("default")))

static Context &context() { return Context::get(); }

// The names are CUDA's.
// NOLINTBEGIN(readability-identifier-naming)

//===----------------------------------------------------------------------===//
// Registration, called from static constructors of the program
//===----------------------------------------------------------------------===//

API void **__cudaRegisterFatBinary(void *wrapper) {
  struct Wrapper {
    int magic, version;
    const uint8_t *data;
    void *filename;
  };
  return reinterpret_cast<void **>(
      context().registerBinary(static_cast<Wrapper *>(wrapper)->data));
}
API void __cudaRegisterFatBinaryEnd(void **) {}
API void __cudaUnregisterFatBinary(void **) {}
API char __cudaInitModule(void **) { return 1; }

static FatBinaryModules *binary(void **handle) {
  return reinterpret_cast<FatBinaryModules *>(handle);
}
API void __cudaRegisterFunction(void **handle, const char *host, char *,
                                const char *name, int, uint3 *, uint3 *, dim3 *,
                                dim3 *, int *) {
  context().registerKernel(host, {binary(handle), name});
}
API void __cudaRegisterVar(void **handle, char *host, char *, const char *name,
                           int, size_t, int, int) {
  context().registerVariable(host, {binary(handle), name});
}
API void __cudaRegisterManagedVar(void **handle, void **host, char *,
                                  const char *name, int, size_t, int, int) {
  context().registerVariable(host, {binary(handle), name});
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st *) {
  LaunchArguments arguments;
  arguments.grid = grid;
  arguments.block = block;
  arguments.sharedBytes = shared;
  context().pendingConfigurations.push_back(arguments);
  return 0;
}
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                           size_t *shared, void *stream) {
  auto &pending = context().pendingConfigurations;
  if (pending.empty())
    return cudaErrorInvalidConfiguration;
  *grid = pending.back().grid;
  *block = pending.back().block;
  *shared = pending.back().sharedBytes;
  *static_cast<cudaStream_t *>(stream) = nullptr;
  pending.pop_back();
  return cudaSuccess;
}
API cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                                 void **arguments, size_t shared,
                                 cudaStream_t) {
  LaunchArguments launch;
  launch.grid = grid;
  launch.block = block;
  launch.arguments = arguments;
  launch.sharedBytes = shared;
  return context().launch(kernel, launch);
}
API cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid,
                                            dim3 block, void **arguments,
                                            size_t shared,
                                            cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void *>(function));
  return cudaSuccess;
}
API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                   void **arguments, size_t shared,
                                   cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                    const void *kernel, void **arguments) {
  LaunchArguments launch;
  launch.grid = config->gridDim;
  launch.block = config->blockDim;
  launch.arguments = arguments;
  launch.sharedBytes = config->dynamicSmemBytes;
  for (unsigned k = 0; k < config->numAttrs; ++k)
    if (!setAttribute(launch, config->attrs[k].id, &config->attrs[k].val))
      return context().setError(cudaErrorInvalidValue);
  return context().launch(kernel, launch);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

API cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  *pointer = context().allocate(bytes);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
API cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t) {
  return cudaMalloc(p, bytes);
}
API cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned) {
  return cudaMalloc(p, bytes);
}
API cudaError_t cudaMallocHost(void **p, size_t bytes) {
  return cudaMalloc(p, bytes);
}
API cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) {
  return cudaMalloc(p, bytes);
}
API cudaError_t cudaFree(void *pointer) {
  context().device.release(reinterpret_cast<uint64_t>(pointer));
  return cudaSuccess;
}
API cudaError_t cudaFreeHost(void *pointer) { return cudaFree(pointer); }
API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) {
  return cudaFree(pointer);
}
API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                           cudaMemcpyKind) {
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
API cudaError_t cudaMemcpy2D(void *to, size_t toPitch, const void *from,
                             size_t fromPitch, size_t width, size_t height,
                             cudaMemcpyKind) {
  for (size_t row = 0; row < height; ++row)
    std::memcpy(static_cast<char *>(to) + row * toPitch,
                static_cast<const char *>(from) + row * fromPitch, width);
  return cudaSuccess;
}
API cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}
API cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                                cudaStream_t) {
  return cudaMemset(pointer, value, bytes);
}
API cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
  *pointer = context().variableAddress(symbol);
  return *pointer ? cudaSuccess : cudaErrorInvalidSymbol;
}
API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from,
                                   size_t bytes, size_t offset,
                                   cudaMemcpyKind) {
  void *address = context().variableAddress(symbol);
  if (!address)
    return cudaErrorInvalidSymbol;
  std::memcpy(static_cast<char *>(address) + offset, from, bytes);
  return cudaSuccess;
}
API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                     size_t offset, cudaMemcpyKind) {
  void *address = context().variableAddress(symbol);
  if (!address)
    return cudaErrorInvalidSymbol;
  std::memcpy(to, static_cast<char *>(address) + offset, bytes);
  return cudaSuccess;
}
API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                         const void *pointer) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->type = cudaMemoryTypeDevice;
  attributes->devicePointer = attributes->hostPointer =
      const_cast<void *>(pointer);
  return cudaSuccess;
}
API cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = *total = size_t(64) << 30;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Errors, device properties
//===----------------------------------------------------------------------===//

API cudaError_t cudaDeviceSynchronize() { return context().peekError(); }
API cudaError_t cudaGetLastError() { return context().takeError(); }
API cudaError_t cudaPeekAtLastError() { return context().peekError(); }
API const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error"
                              : "simulated launch failed (see stderr)";
}
API const char *cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}
API cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
API cudaError_t cudaSetDevice(int) { return cudaSuccess; }
API cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
API cudaError_t cudaDeviceReset() { return cudaSuccess; }

/// 10 * major + minor: of Hopper, unless ATTN_SIM_COMPUTE says otherwise
/// ("80"), to see what a program does on another device.
static int computeCapability() {
  const char *text = std::getenv("ATTN_SIM_COMPUTE");
  return text ? std::atoi(text) : 90;
}

int attn::sim::deviceAttribute(int attribute) {
  switch (attribute) {
  case cudaDevAttrComputeCapabilityMajor:
    return computeCapability() / 10;
  case cudaDevAttrComputeCapabilityMinor:
    return computeCapability() % 10;
  case cudaDevAttrMultiProcessorCount:
    return int(context().device.smCount());
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    return 232448;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    return 233472;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    return 49152;
  case cudaDevAttrWarpSize:
    return 32;
  case cudaDevAttrMaxThreadsPerBlock:
    return 1024;
  case cudaDevAttrCooperativeLaunch:
  case cudaDevAttrClusterLaunch:
    return 1;
  default:
    return 0;
  }
}
API cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute,
                                       int) {
  *value = deviceAttribute(attribute);
  return cudaSuccess;
}
API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "attn-sim");
  properties->major = deviceAttribute(cudaDevAttrComputeCapabilityMajor);
  properties->minor = deviceAttribute(cudaDevAttrComputeCapabilityMinor);
  properties->multiProcessorCount = int(context().device.smCount());
  properties->sharedMemPerBlockOptin =
      deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  properties->sharedMemPerBlock = 49152;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->totalGlobalMem = size_t(64) << 30;
  return cudaSuccess;
}
API cudaError_t cudaDriverGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
API cudaError_t cudaRuntimeGetVersion(int *version) {
  return cudaDriverGetVersion(version);
}
API cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit) {
  *value = 8 << 20;
  return cudaSuccess;
}
API cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }

//===----------------------------------------------------------------------===//
// Kernel attributes, streams, events: accepted and ignored
//===----------------------------------------------------------------------===//

API cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) {
  return cudaSuccess;
}
API cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) {
  return cudaSuccess;
}
API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                      const void *) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count,
                                                              const void *, int,
                                                              size_t) {
  *count = 1;
  return cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, const void *, int, size_t, unsigned) {
  *count = 1;
  return cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *,
                                               const cudaLaunchConfig_t *) {
  *count = 1;
  return cudaSuccess;
}
API cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  *stream = nullptr;
  return cudaSuccess;
}
API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  return cudaStreamCreate(stream);
}
API cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
API cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return context().peekError();
}
API cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
API cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = nullptr;
  return cudaSuccess;
}
API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return cudaEventCreate(event);
}
API cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
API cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t,
                                     cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
API cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

//===----------------------------------------------------------------------===//
// The driver's entry points
//===----------------------------------------------------------------------===//

API CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType dtype, cuuint32_t rank, void *address,
    const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill fill) {
  TensorMapArgs args;
  args.dtype = TensorMapType(dtype);
  args.address = reinterpret_cast<uint64_t>(address);
  args.dims.assign(dims, dims + rank);
  args.stridesBytes.assign(strides, strides + (rank ? rank - 1 : 0));
  args.box.assign(box, box + rank);
  args.elementStrides.assign(elementStrides, elementStrides + rank);
  args.swizzleBytes = swizzle ? 16u << swizzle : 0;
  args.fillNaN = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  std::array<uint8_t, 128> bytes;
  std::string error = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE
                          ? encodeTensorMap(args, bytes)
                          : "interleaved layouts are not supported";
  if (!error.empty()) {
    std::fprintf(stderr, "attn-sim: cuTensorMapEncodeTiled: %s\n",
                 error.c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(map, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}
API CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
namespace {
struct ErrorText {
  CUresult code;
  const char *name, *text;
};
} // namespace

static constexpr ErrorText errorTexts[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX",
     "the PTX could not be read"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "no function of that name"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
     "the simulator found a fault, printed to standard error"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
     "the simulator has no clock"},
};

/// Sets `text` to that of `code`; an error if it is not known.
static CUresult findErrorText(CUresult code, const char *ErrorText::*member,
                              const char **text) {
  for (const ErrorText &known : errorTexts)
    if (known.code == code) {
      *text = known.*member;
      return CUDA_SUCCESS;
    }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGetErrorString(CUresult code, const char **text) {
  return findErrorText(code, &ErrorText::text, text);
}
API CUresult cuGetErrorName(CUresult code, const char **text) {
  return findErrorText(code, &ErrorText::name, text);
}

static void *entryPoint(const std::string &name) {
  if (name == "cuTensorMapEncodeTiled")
    return reinterpret_cast<void *>(cuTensorMapEncodeTiled);
  if (name == "cuGetErrorString")
    return reinterpret_cast<void *>(cuGetErrorString);
  return nullptr;
}
API cudaError_t
cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long,
                        cudaDriverEntryPointQueryResult *result) {
  *function = entryPoint(name);
  if (result)
    *result = *function ? cudaDriverEntryPointSuccess
                        : cudaDriverEntryPointSymbolNotFound;
  return *function ? cudaSuccess : cudaErrorInvalidValue;
}
API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *name, void **function, unsigned, unsigned long long flags,
    cudaDriverEntryPointQueryResult *result) {
  return cudaGetDriverEntryPoint(name, function, flags, result);
}
API CUresult cuGetProcAddress_v2(const char *name, void **function, int,
                                 cuuint64_t, CUdriverProcAddressQueryResult *) {
  *function = entryPoint(name);
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// NOLINTEND(readability-identifier-naming)
