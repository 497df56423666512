// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What emitted headers and the runtime library use of the CUDA driver API, as
// CUDA's header has it; the library's own copy (lib/Runtime) says what there
// is.
#pragma once

#include "CudaApi.h"

using namespace attn::runtime::cuda;

extern "C" {
#define DECLARE(name, parameters) CUresult name parameters;
ATTN_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE
// Emitted headers alone launch in the thread's context.
CUresult cuCtxGetId(CUcontext context, unsigned long long *id);
CUresult cuCtxGetDevice(CUdevice *device);
}

// As CUDA's header does where a function has a newer version.
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemsetD8 cuMemsetD8_v2
