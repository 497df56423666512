//===- CudaDriver.h - The CUDA driver, found at run time --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_CUDADRIVER_H
#define ATTN_LIB_RUNTIME_CUDADRIVER_H

#include "CudaApi.h"

#include "attn/Runtime/LaunchStatus.h"

#include <string>

namespace attn::runtime {

/// The functions of the process's CUDA driver under their own names.
class CudaDriver : public cuda::Api {
public:
  /// Nothing may be called unless `status` is success.
  static const CudaDriver &get();

  /// Success, or a failure: "expected WHAT, got error 2 (...)". Its code is
  /// OutOfMemory or NoDevice where the driver says so, else `code`. No text is
  /// made for a success: most calls are one.
  template <typename Text>
  LaunchStatus check(cuda::CUresult result, const Text &what,
                     LaunchCode code = LaunchCode::DriverError) const {
    return result == cuda::CUDA_SUCCESS ? LaunchStatus()
                                        : makeFailure(result, what, code);
  }

  LaunchStatus status;

private:
  CudaDriver();
  LaunchStatus makeFailure(cuda::CUresult result, const std::string &what,
                           LaunchCode code) const;
  template <typename Function>
  void load(void *library, const char *name, Function &function);
  std::string describe(cuda::CUresult code) const;
};

/// Makes a context current in this thread, and the one before it afterwards.
class ContextScope {
public:
  ContextScope(const CudaDriver &driver, cuda::CUcontext context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  /// Whether it could be made current.
  LaunchStatus status;

private:
  const CudaDriver &driver;
  cuda::CUcontext wanted, previous = nullptr;
};

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_CUDADRIVER_H
