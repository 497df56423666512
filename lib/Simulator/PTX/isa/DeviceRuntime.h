//===- DeviceRuntime.h - Functions of CUDA's device runtime -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_DEVICERUNTIME_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_DEVICERUNTIME_H

#include "../Machine.h"

namespace attn::sim {

/// A call as written: offsets in local memory.
struct CallSite {
  std::string callee;
  std::vector<s64> arguments, results;
};

/// Calls vprintf, __assertfail, malloc or free for one lane; faults for other
/// functions.
void callDeviceRuntime(Warp &warp, const Instruction &instruction, u32 lane,
                       const CallSite &call);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_DEVICERUNTIME_H
