// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime library takes the CUDA driver's binary interface to be,
// beside CUDA's own header. It compiles if they agree.
#include "CudaApi.h"

// Functions that have newer versions are declared under their old names, too.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <type_traits>

namespace cuda = attn::runtime::cuda;

template <typename Theirs, typename Ours>
constexpr bool passesAs = sizeof(Theirs) == sizeof(Ours) &&
                          std::is_pointer_v<Theirs> == std::is_pointer_v<Ours>;

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

#define CHECK_NUMBER(name) static_assert(int(cuda::name) == int(::name), #name)
CHECK_NUMBER(CUDA_SUCCESS);
CHECK_NUMBER(CUDA_ERROR_INVALID_VALUE);
CHECK_NUMBER(CUDA_ERROR_NOT_INITIALIZED);
CHECK_NUMBER(CUDA_ERROR_INVALID_CONTEXT);
CHECK_NUMBER(CUDA_ERROR_INVALID_PTX);
CHECK_NUMBER(CUDA_ERROR_NOT_FOUND);
CHECK_NUMBER(CUDA_ERROR_OUT_OF_MEMORY);
CHECK_NUMBER(CUDA_ERROR_NO_DEVICE);
CHECK_NUMBER(CUDA_ERROR_INVALID_DEVICE);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
CHECK_NUMBER(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
CHECK_NUMBER(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
CHECK_NUMBER(CU_JIT_ERROR_LOG_BUFFER);
CHECK_NUMBER(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
CHECK_NUMBER(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
CHECK_NUMBER(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
CHECK_NUMBER(CU_EVENT_DEFAULT);
CHECK_NUMBER(CU_TENSOR_MAP_DATA_TYPE_UINT8);
CHECK_NUMBER(CU_TENSOR_MAP_DATA_TYPE_INT32);
CHECK_NUMBER(CU_TENSOR_MAP_DATA_TYPE_INT64);
CHECK_NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
CHECK_NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
CHECK_NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
CHECK_NUMBER(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
CHECK_NUMBER(CU_TENSOR_MAP_INTERLEAVE_NONE);
CHECK_NUMBER(CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
CHECK_NUMBER(CU_TENSOR_MAP_SWIZZLE_NONE);
CHECK_NUMBER(CU_TENSOR_MAP_SWIZZLE_32B);
CHECK_NUMBER(CU_TENSOR_MAP_SWIZZLE_64B);
CHECK_NUMBER(CU_TENSOR_MAP_SWIZZLE_128B);
CHECK_NUMBER(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
CHECK_NUMBER(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

#define CHECK_OFFSET(type, field)                                              \
  static_assert(offsetof(cuda::type, field) == offsetof(::type, field))
static_assert(sizeof(cuda::CUlaunchConfig) == sizeof(::CUlaunchConfig));
CHECK_OFFSET(CUlaunchConfig, gridDimX);
CHECK_OFFSET(CUlaunchConfig, blockDimX);
CHECK_OFFSET(CUlaunchConfig, sharedMemBytes);
CHECK_OFFSET(CUlaunchConfig, hStream);
CHECK_OFFSET(CUlaunchConfig, attrs);
CHECK_OFFSET(CUlaunchConfig, numAttrs);
static_assert(sizeof(cuda::CUlaunchAttribute) == sizeof(::CUlaunchAttribute));
CHECK_OFFSET(CUlaunchAttribute, value);
CHECK_OFFSET(CUlaunchAttribute, value.clusterDim.z);
CHECK_OFFSET(CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
static_assert(sizeof(cuda::CUtensorMap) == sizeof(::CUtensorMap));
static_assert(alignof(cuda::CUtensorMap) >= alignof(::CUtensorMap));
