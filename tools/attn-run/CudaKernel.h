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

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_CUDAKERNEL_H
