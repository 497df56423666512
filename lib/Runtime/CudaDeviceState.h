//===- CudaDeviceState.h - What a CudaDevice refers to ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_CUDADEVICESTATE_H
#define ATTN_LIB_RUNTIME_CUDADEVICESTATE_H

#include "CudaDriver.h"

#include "attn/Runtime/CudaDevice.h"

namespace attn::runtime {

/// A primary context, retained.
struct CudaDevice::State {
  explicit State(const CudaDriver &driver) : driver(driver) {}
  ~State();
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  /// Retains the context of a device and asks what it is.
  LaunchStatus open(int ordinal);

  /// Calls a function of the driver in this context; `what` is what is expected
  /// of it.
  template <typename Text, typename Function, typename... Arguments>
  LaunchStatus call(const Text &what, Function function,
                    Arguments... arguments) const {
    ContextScope scope(driver, context);
    return scope.status ? driver.check(function(arguments...), what)
                        : scope.status;
  }

  const CudaDriver &driver;
  cuda::CUdevice device = 0;
  cuda::CUcontext context = nullptr;
  int ordinal = 0;
  int computeCapability = 0;
  int smCount = 0;
  std::string name;

private:
  LaunchStatus retain();
  LaunchStatus readAttribute(int attribute, int &value) const;
};

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_CUDADEVICESTATE_H
