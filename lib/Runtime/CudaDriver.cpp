//===- CudaDriver.cpp - The CUDA driver, found at run time ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include <dlfcn.h>

#include <cstdlib>

using namespace attn::runtime;
using namespace attn::runtime::cuda;

//===----------------------------------------------------------------------===//
// CudaDriver
//===----------------------------------------------------------------------===//

const CudaDriver &CudaDriver::get() {
  static const CudaDriver driver;
  return driver;
}

CudaDriver::CudaDriver() {
  const char *path = std::getenv("ATTN_LIBCUDA");
  // Never closed: programs may free device memory when they end.
  void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
  if (!library) {
    const char *reason = dlerror();
    status = {LaunchCode::NoDriver,
              std::string("expected the CUDA driver, got none: ") +
                  (reason ? reason : "")};
    return;
  }
#define ATTN_CUDA_LOAD(name, parameters) load(library, #name, name);
  ATTN_CUDA_FUNCTIONS(ATTN_CUDA_LOAD)
#undef ATTN_CUDA_LOAD
  if (status)
    status = check(cuInit(0), "cuInit to succeed", LaunchCode::NoDriver);
}

template <typename Function>
void CudaDriver::load(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (status && !function)
    status = {LaunchCode::NoDriver,
              std::string("expected a CUDA driver with ") + name +
                  ", got an older one"};
}

std::string CudaDriver::describe(CUresult code) const {
  const char *name = nullptr, *text = nullptr;
  std::string result = "error " + std::to_string(code);
  if (cuGetErrorName(code, &name) == CUDA_SUCCESS && name &&
      cuGetErrorString(code, &text) == CUDA_SUCCESS && text)
    result += std::string(" (") + name + ": " + text + ")";
  return result;
}

LaunchStatus CudaDriver::makeFailure(CUresult result, const std::string &what,
                                     LaunchCode code) const {
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    code = LaunchCode::OutOfMemory;
  else if (result == CUDA_ERROR_NO_DEVICE ||
           result == CUDA_ERROR_INVALID_DEVICE)
    code = LaunchCode::NoDevice;
  return LaunchStatus{code, "expected " + what + ", got " + describe(result)};
}

//===----------------------------------------------------------------------===//
// ContextScope
//===----------------------------------------------------------------------===//

ContextScope::ContextScope(const CudaDriver &driver, CUcontext context)
    : driver(driver), wanted(context) {
  status = driver.check(driver.cuCtxGetCurrent(&previous),
                        "cuCtxGetCurrent to succeed");
  if (status && previous != wanted)
    status = driver.check(driver.cuCtxSetCurrent(wanted),
                          "cuCtxSetCurrent to succeed");
}

ContextScope::~ContextScope() {
  if (status && previous != wanted)
    driver.cuCtxSetCurrent(previous);
}
