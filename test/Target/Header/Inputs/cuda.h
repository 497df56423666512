// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver that prints what it is asked to do, in place of CUDA's. It declares
// what emitted headers use, by the names and types of the CUDA driver API.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>

using CUresult = int;
using CUdeviceptr = unsigned long long;
using CUdevice = int;
using CUcontext = struct FakeContext *;
using CUmodule = struct FakeModule *;
using CUfunction = struct FakeFunction *;
using CUstream = struct FakeStream *;
using cuuint64_t = uint64_t;
using cuuint32_t = uint32_t;

enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
enum { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16 };
enum { CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };

struct CUlaunchAttribute {
  int id;
  struct {
    struct {
      unsigned x, y, z;
    } clusterDim;
  } value;
};
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};
struct CUtensorMap {
  alignas(64) uint64_t opaque[16];
};
enum {
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0
};

inline CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = reinterpret_cast<CUcontext>(16);
  return CUDA_SUCCESS;
}
inline CUresult cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceGetAttribute(int *value, int, CUdevice) {
  *value = 108;
  return CUDA_SUCCESS;
}
inline CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  std::printf("load %zu bytes\n",
              std::strlen(static_cast<const char *>(image)));
  *module = nullptr;
  return CUDA_SUCCESS;
}
inline CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *name) {
  std::printf("function %s\n", name);
  return CUDA_SUCCESS;
}
inline CUresult cuFuncSetAttribute(CUfunction, int, int value) {
  std::printf("shared memory limit %d\n", value);
  return CUDA_SUCCESS;
}
inline CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream) {
  std::printf("allocate %zu\n", bytes);
  *address = 0x1000;
  return CUDA_SUCCESS;
}
inline CUresult cuMemsetD8Async(CUdeviceptr, unsigned char value, size_t bytes,
                                CUstream) {
  std::printf("fill %zu with %d\n", bytes, value);
  return CUDA_SUCCESS;
}
inline CUresult cuMemFreeAsync(CUdeviceptr address, CUstream) {
  std::printf("free %#llx\n", address);
  return CUDA_SUCCESS;
}
inline CUresult cuTensorMapEncodeTiled(CUtensorMap *, int type, cuuint32_t rank,
                                       void *address, const cuuint64_t *dims,
                                       const cuuint64_t *strides,
                                       const cuuint32_t *box,
                                       const cuuint32_t *, int, int swizzle,
                                       int, int) {
  std::printf("tensor map type %d at %p dims", type, address);
  for (cuuint32_t i = 0; i < rank; ++i)
    std::printf(" %llu", static_cast<unsigned long long>(dims[i]));
  std::printf(" strides");
  for (cuuint32_t i = 0; i + 1 < rank; ++i)
    std::printf(" %llu", static_cast<unsigned long long>(strides[i]));
  std::printf(" box %u %u swizzle %d\n", box[0], box[1], swizzle);
  return CUDA_SUCCESS;
}
inline CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction,
                                 void **parameters, void **) {
  std::printf("launch (%u, %u, %u) x (%u, %u, %u), %u bytes, cluster %u\n",
              config->gridDimX, config->gridDimY, config->gridDimZ,
              config->blockDimX, config->blockDimY, config->blockDimZ,
              config->sharedMemBytes,
              config->numAttrs ? config->attrs[0].value.clusterDim.x : 1);
  std::printf("in %#llx, stride %lld, rows %d, scale %g\n",
              *static_cast<CUdeviceptr *>(parameters[0]),
              *static_cast<long long *>(parameters[1]),
              *static_cast<int *>(parameters[2]),
              static_cast<double>(*static_cast<float *>(parameters[3])));
  return CUDA_SUCCESS;
}
