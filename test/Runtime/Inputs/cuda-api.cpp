// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime library takes the CUDA driver's binary interface to be,
// beside CUDA's own header. It compiles if they agree.
#include "CudaApi.h"

#include <cuda.h>

#include <type_traits>

using namespace attn::runtime;

template <typename Theirs, typename Ours>
constexpr bool passesAs = sizeof(Theirs) == sizeof(Ours) &&
                          std::is_pointer_v<Theirs> == std::is_pointer_v<Ours>;
// Streams and tensor map addresses are pointers on both sides.

template <typename... Theirs, typename... Ours>
constexpr bool agree(CUresult (*)(Theirs...), int (*)(Ours...)) {
  if constexpr (sizeof...(Theirs) != sizeof...(Ours))
    return false;
  else
    return (passesAs<Theirs, Ours> && ...);
}

#define CHECK_FUNCTION(name, parameters)                                       \
  static_assert(agree(static_cast<decltype(&::name)>(nullptr),                 \
                      static_cast<decltype(cuda::Api::name)>(nullptr)),        \
                #name);
ATTN_CUDA_FUNCTIONS(CHECK_FUNCTION)

#define CHECK_NUMBER(ours, theirs) static_assert(int(cuda::ours) == int(theirs))
CHECK_NUMBER(Success, CUDA_SUCCESS);
CHECK_NUMBER(ErrorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
CHECK_NUMBER(ErrorNoDevice, CUDA_ERROR_NO_DEVICE);
CHECK_NUMBER(ErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
CHECK_NUMBER(MultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
CHECK_NUMBER(ComputeCapabilityMajor,
             CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
CHECK_NUMBER(ComputeCapabilityMinor,
             CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
CHECK_NUMBER(MaxDynamicSharedSizeBytes,
             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
CHECK_NUMBER(NonPortableClusterSizeAllowed,
             CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
CHECK_NUMBER(JitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
CHECK_NUMBER(JitErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
CHECK_NUMBER(LaunchAttributeClusterDimension,
             CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
CHECK_NUMBER(TensorMapUInt8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
CHECK_NUMBER(TensorMapInt32, CU_TENSOR_MAP_DATA_TYPE_INT32);
CHECK_NUMBER(TensorMapInt64, CU_TENSOR_MAP_DATA_TYPE_INT64);
CHECK_NUMBER(TensorMapFloat16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
CHECK_NUMBER(TensorMapFloat32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
CHECK_NUMBER(TensorMapFloat64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
CHECK_NUMBER(TensorMapBFloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
CHECK_NUMBER(TensorMapInterleaveNone, CU_TENSOR_MAP_INTERLEAVE_NONE);
CHECK_NUMBER(TensorMapL2Promotion128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
CHECK_NUMBER(TensorMapSwizzleNone, CU_TENSOR_MAP_SWIZZLE_NONE);
CHECK_NUMBER(TensorMapSwizzle32B, CU_TENSOR_MAP_SWIZZLE_32B);
CHECK_NUMBER(TensorMapSwizzle64B, CU_TENSOR_MAP_SWIZZLE_64B);
CHECK_NUMBER(TensorMapSwizzle128B, CU_TENSOR_MAP_SWIZZLE_128B);
CHECK_NUMBER(TensorMapFillZero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
CHECK_NUMBER(TensorMapFillNaN,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

static_assert(sizeof(cuda::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(cuda::LaunchConfig, block) ==
              offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(cuda::LaunchConfig, sharedBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(cuda::LaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cuda::LaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(cuda::LaunchConfig, numAttributes) ==
              offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(cuda::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cuda::LaunchAttribute, value) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(cuda::TensorMapBytes) == sizeof(CUtensorMap));
static_assert(alignof(cuda::TensorMapBytes) >= alignof(CUtensorMap));
