//===- SimKernel.h - Run kernels in the simulator ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_SIMKERNEL_H
#define ATTN_TOOLS_ATTNRUN_SIMKERNEL_H

#include "Options.h"

#include "attn/Runtime/HostTensor.h"
#include "attn/Runtime/Manifest.h"

#include <optional>

namespace attn::run {

/// A tensor for each operand of a manifest; absent outputs are made.
using KernelOperands = std::vector<std::optional<runtime::HostTensor>>;

/// Runs kernels under options.schedules schedules with all checks. Prints what
/// is found, or where schedules disagree, and returns false.
bool runInSimulator(const runtime::Manifest &manifest, const std::string &ptx,
                    KernelOperands &operands, const Options &options);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_SIMKERNEL_H
