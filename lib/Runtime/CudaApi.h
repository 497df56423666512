//===- CudaApi.h - The part of the CUDA driver API in use -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Functions, structures and numbers of cuda.h (CUDA 12 and later) under their
/// own names, as they are in the driver's binary interface, so that this
/// library builds where no CUDA toolkit is. test/Runtime/cuda-api.test holds
/// them against cuda.h; the tests' own cuda.h is made of them.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_CUDAAPI_H
#define ATTN_LIB_RUNTIME_CUDAAPI_H

#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): CUDA's names.
namespace attn::runtime::cuda {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUevent = struct CUevent_st *;
using CUstream = void *;
using CUdevice_attribute = int;
using CUjit_option = int;
using cuuint32_t = uint32_t;
using cuuint64_t = uint64_t;

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } value;
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

/// As aligned as the newest header wants it.
struct alignas(128) CUtensorMap {
  cuuint64_t opaque[16];
};

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Some of them are for the emitted headers alone.
enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NOT_FOUND = 500,
};

enum : CUdevice_attribute {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
};

enum : int {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
};

enum : CUjit_option {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

enum : int {
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

enum : unsigned { CU_EVENT_DEFAULT = 0 };

enum : int {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
  CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
};

enum : int { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum : int { CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2 };
enum : int {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B = 1,
  CU_TENSOR_MAP_SWIZZLE_64B = 2,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
};
enum : int {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA = 1,
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// X(name, parameters) for each function, by the name of its symbol.
#define ATTN_CUDA_FUNCTIONS(X)                                                 \
  X(cuInit, (unsigned flags))                                                  \
  X(cuGetErrorName, (CUresult code, const char **text))                        \
  X(cuGetErrorString, (CUresult code, const char **text))                      \
  X(cuDeviceGetCount, (int *count))                                            \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                             \
  X(cuDeviceGetName, (char *name, int length, CUdevice device))                \
  X(cuDeviceGetAttribute,                                                      \
    (int *value, CUdevice_attribute attribute, CUdevice device))               \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))          \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                           \
  X(cuCtxGetCurrent, (CUcontext * context))                                    \
  X(cuCtxSetCurrent, (CUcontext context))                                      \
  X(cuCtxSynchronize, ())                                                      \
  X(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                      \
  X(cuMemFree_v2, (CUdeviceptr address))                                       \
  X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))         \
  X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))               \
  X(cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t bytes))        \
  X(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream))   \
  X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                    \
  X(cuMemsetD8Async,                                                           \
    (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))      \
  X(cuEventCreate, (CUevent * event, unsigned flags))                          \
  X(cuEventDestroy_v2, (CUevent event))                                        \
  X(cuEventRecord, (CUevent event, CUstream stream))                           \
  X(cuEventSynchronize, (CUevent event))                                       \
  X(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))     \
  X(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned count, \
                         CUjit_option *options, void **values))                \
  X(cuModuleUnload, (CUmodule module))                                         \
  X(cuModuleGetFunction,                                                       \
    (CUfunction * function, CUmodule module, const char *name))                \
  X(cuFuncSetAttribute, (CUfunction function, int attribute, int value))       \
  X(cuTensorMapEncodeTiled,                                                    \
    (CUtensorMap * map, int type, cuuint32_t rank, void *address,              \
     const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box, \
     const cuuint32_t *elementStrides, int interleave, int swizzle,            \
     int promotion, int fill))                                                 \
  X(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function,      \
                       void **parameters, void **extra))

/// Pointers to the functions.
struct Api {
#define ATTN_CUDA_POINTER(name, parameters) CUresult(*name) parameters = {};
  ATTN_CUDA_FUNCTIONS(ATTN_CUDA_POINTER)
#undef ATTN_CUDA_POINTER
};

} // namespace attn::runtime::cuda
// NOLINTEND(readability-identifier-naming)

#endif // ATTN_LIB_RUNTIME_CUDAAPI_H
