//===- CudaKernel.h - Run kernels on a GPU ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_CUDAKERNEL_H
#define ATTN_TOOLS_ATTNRUN_CUDAKERNEL_H

#include "SimKernel.h"

#include "attn/Runtime/CudaDevice.h"

namespace attn::run {

/// The target to compile for: the device's own, or the nearest whose PTX runs
/// on it. Prints what is wrong and returns nothing.
std::optional<std::string> findTarget(const runtime::CudaDevice &device);

/// Copies the operands to a device, runs kernels, copies the results back.
/// Prints what is wrong and returns false.
bool runOnDevice(const runtime::CudaDevice &device,
                 const runtime::Manifest &manifest, const std::string &ptx,
                 KernelOperands &operands);

/// Launches that --benchmark does before it measures.
constexpr int64_t warmUpLaunches = 5;

/// Seconds on the device that each of `count` launches took, after some to warm
/// up, with the inputs in its caches. They follow each other without a pause
/// unless a kernel is shorter than its launch, of some microseconds. Prints
/// what is wrong and returns nothing.
std::optional<std::vector<double>>
timeOnDevice(const runtime::CudaDevice &device,
             const runtime::Manifest &manifest, const std::string &ptx,
             KernelOperands &operands, int64_t count);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_CUDAKERNEL_H
