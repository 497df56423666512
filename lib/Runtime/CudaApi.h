//===- CudaApi.h - The part of the CUDA driver API in use -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Functions, structures and numbers of cuda.h (CUDA 12 and later) as they are
/// in the driver's binary interface, so that this library builds where no CUDA
/// toolkit is. test/Runtime/cuda-api.test holds them against cuda.h.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_CUDAAPI_H
#define ATTN_LIB_RUNTIME_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace attn::runtime::cuda {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using ResultCode = int; // CUresult
using Device = int;     // CUdevice
using Address = unsigned long long;
using Context = struct ContextHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Stream = void *;

struct LaunchAttribute {
  int id;
  unsigned reserved;
  unsigned value[16];
};

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// A CUtensorMap, as aligned as the newest header wants it.
struct alignas(128) TensorMapBytes {
  uint64_t opaque[16];
};

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

enum : ResultCode {
  Success = 0,
  ErrorOutOfMemory = 2,
  ErrorNoDevice = 100,
  ErrorInvalidDevice = 101,
};

enum DeviceAttribute : int {
  MultiprocessorCount = 16,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
};

enum FunctionAttribute : int {
  MaxDynamicSharedSizeBytes = 8,
  NonPortableClusterSizeAllowed = 14,
};

enum JitOption : int { JitErrorLogBuffer = 5, JitErrorLogBufferSizeBytes = 6 };

enum LaunchAttributeId : int { LaunchAttributeClusterDimension = 4 };

enum TensorMapDataType : int {
  TensorMapUInt8 = 0,
  TensorMapInt32 = 3,
  TensorMapInt64 = 5,
  TensorMapFloat16 = 6,
  TensorMapFloat32 = 7,
  TensorMapFloat64 = 8,
  TensorMapBFloat16 = 9,
};

enum TensorMapInterleave : int { TensorMapInterleaveNone = 0 };
enum TensorMapL2Promotion : int { TensorMapL2Promotion128B = 2 };
enum TensorMapSwizzle : int {
  TensorMapSwizzleNone = 0,
  TensorMapSwizzle32B = 1,
  TensorMapSwizzle64B = 2,
  TensorMapSwizzle128B = 3,
};
enum TensorMapOobFill : int {
  TensorMapFillZero = 0,
  TensorMapFillNaN = 1,
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// X(name, parameters) for each function, by the name of its symbol.
#define ATTN_CUDA_FUNCTIONS(X)                                                 \
  X(cuInit, (unsigned flags))                                                  \
  X(cuGetErrorName, (ResultCode code, const char **text))                      \
  X(cuGetErrorString, (ResultCode code, const char **text))                    \
  X(cuDeviceGetCount, (int *count))                                            \
  X(cuDeviceGet, (Device * device, int ordinal))                               \
  X(cuDeviceGetName, (char *name, int length, Device device))                  \
  X(cuDeviceGetAttribute, (int *value, int attribute, Device device))          \
  X(cuDevicePrimaryCtxRetain, (Context * context, Device device))              \
  X(cuDevicePrimaryCtxRelease_v2, (Device device))                             \
  X(cuCtxGetCurrent, (Context * context))                                      \
  X(cuCtxSetCurrent, (Context context))                                        \
  X(cuCtxSynchronize, ())                                                      \
  X(cuMemAlloc_v2, (Address * address, size_t bytes))                          \
  X(cuMemFree_v2, (Address address))                                           \
  X(cuMemcpyHtoD_v2, (Address to, const void *from, size_t bytes))             \
  X(cuMemcpyDtoH_v2, (void *to, Address from, size_t bytes))                   \
  X(cuMemsetD8_v2, (Address to, unsigned char value, size_t bytes))            \
  X(cuMemAllocAsync, (Address * address, size_t bytes, Stream stream))         \
  X(cuMemFreeAsync, (Address address, Stream stream))                          \
  X(cuMemsetD8Async,                                                           \
    (Address to, unsigned char value, size_t bytes, Stream stream))            \
  X(cuModuleLoadDataEx, (Module * module, const void *image, unsigned count,   \
                         int *options, void **values))                         \
  X(cuModuleUnload, (Module module))                                           \
  X(cuModuleGetFunction,                                                       \
    (Function * function, Module module, const char *name))                    \
  X(cuFuncSetAttribute, (Function function, int attribute, int value))         \
  X(cuTensorMapEncodeTiled,                                                    \
    (TensorMapBytes * map, int type, uint32_t rank, void *address,             \
     const uint64_t *dims, const uint64_t *strides, const uint32_t *box,       \
     const uint32_t *elementStrides, int interleave, int swizzle,              \
     int promotion, int fill))                                                 \
  X(cuLaunchKernelEx, (const LaunchConfig *config, Function function,          \
                       void **parameters, void **extra))

/// Pointers to the functions.
struct Api {
  // NOLINTBEGIN(readability-identifier-naming): CUDA's names.
#define ATTN_CUDA_POINTER(name, parameters) ResultCode(*name) parameters = {};
  ATTN_CUDA_FUNCTIONS(ATTN_CUDA_POINTER)
#undef ATTN_CUDA_POINTER
  // NOLINTEND(readability-identifier-naming)
};

} // namespace attn::runtime::cuda

#endif // ATTN_LIB_RUNTIME_CUDAAPI_H
