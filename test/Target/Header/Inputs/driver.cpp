// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver that prints what it is asked to do. FAKE_DRIVER changes it: "quiet",
// "no-device", "sm_80", "no-memory", "bad-ptx".
#include "cuda.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static bool is(const char *mode) {
  const char *text = std::getenv("FAKE_DRIVER");
  return text && !std::strcmp(text, mode);
}

static const bool isQuiet = is("quiet");

#define PRINT(...) (isQuiet ? 0 : std::printf(__VA_ARGS__))

static thread_local CUcontext current = nullptr;
/// Modules loaded; counted because threads print in any order.
std::atomic<int> numLoaded;

extern "C" {
CUresult cuInit(unsigned) {
  return is("no-device") ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  *count = 2;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::strncpy(name, "Fake", length);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(16 + device);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  PRINT("release device %d\n", device);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = current;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
  *id = reinterpret_cast<uintptr_t>(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute kind, CUdevice) {
  *value = kind == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 108
           : kind == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
               ? 9 - is("sm_80")
               : 0;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult code, const char **text) {
  *text = code == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == CUDA_ERROR_NO_DEVICE   ? "CUDA_ERROR_NO_DEVICE"
                                           : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "as the driver says it";
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  PRINT("allocate %zu for good\n", bytes);
  static CUdeviceptr next = 0x4000;
  *address = next;
  next += (bytes + 255) & ~CUdeviceptr(255);
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr) { return CUDA_SUCCESS; }
CUresult cuMemcpyHtoD(CUdeviceptr, const void *, size_t) {
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void *, CUdeviceptr, size_t) { return CUDA_SUCCESS; }
CUresult cuMemsetD8(CUdeviceptr, unsigned char, size_t) { return CUDA_SUCCESS; }
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream) {
  PRINT("allocate %zu\n", bytes);
  if (is("no-memory"))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = 0x1000;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream) {
  PRINT("free %#llx\n", address);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char value, size_t bytes,
                         CUstream) {
  PRINT("fill %zu with %d\n", bytes, value);
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(new float());
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
  delete reinterpret_cast<float *>(event);
  return CUDA_SUCCESS;
}
// From one recording to the next, 1 ms, 2 ms, 3 ms, ...
CUresult cuEventRecord(CUevent event, CUstream) {
  static float time, step;
  *reinterpret_cast<float *>(event) = time += step++;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  *milliseconds =
      *reinterpret_cast<float *>(end) - *reinterpret_cast<float *>(start);
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
  if (is("bad-ptx")) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        std::strcpy(static_cast<char *>(values[i]), "ptxas: line 3");
    return CUDA_ERROR_INVALID_PTX;
  }
  PRINT("load %zu bytes\n", std::strlen(static_cast<const char *>(image)));
  ++numLoaded;
  *module = reinterpret_cast<CUmodule>(16);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) {
  PRINT("unload\n");
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  PRINT("function %s\n", name);
  *function = reinterpret_cast<CUfunction>(16);
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, int attribute, int value) {
  PRINT("attribute %d is %d\n", attribute, value);
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeTiled(CUtensorMap *, int type, cuuint32_t rank,
                                void *address, const cuuint64_t *dims,
                                const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *, int,
                                int swizzle, int, int) {
  PRINT("tensor map type %d at %p dims", type, address);
  for (cuuint32_t i = 0; i < rank; ++i)
    PRINT(" %llu", static_cast<unsigned long long>(dims[i]));
  PRINT(" strides");
  for (cuuint32_t i = 0; i + 1 < rank; ++i)
    PRINT(" %llu", static_cast<unsigned long long>(strides[i]));
  PRINT(" box %u %u swizzle %d\n", box[0], box[1], swizzle);
  return address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction,
                          void **parameters, void **) {
  unsigned cluster = 1;
  bool isProgrammatic = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = attribute.value.clusterDim.x;
    else if (attribute.id ==
             CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      isProgrammatic =
          attribute.value.programmaticStreamSerializationAllowed == 1;
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  PRINT("launch (%u, %u, %u) x (%u, %u, %u), %u bytes, cluster %u%s\n",
        config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
        config->blockDimY, config->blockDimZ, config->sharedMemBytes, cluster,
        isProgrammatic ? ", programmatic" : "");
  PRINT("in %#llx, stride %lld, rows %d, scale %g\n",
        *static_cast<CUdeviceptr *>(parameters[0]),
        *static_cast<long long *>(parameters[1]),
        *static_cast<int *>(parameters[2]),
        static_cast<double>(*static_cast<float *>(parameters[3])));
  return CUDA_SUCCESS;
}
int getNumLoaded() { return numLoaded; }
}
