//===- Launch.h - Running a grid --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_LAUNCH_H
#define ATTN_LIB_SIMULATOR_PTX_LAUNCH_H

#include "Machine.h"

namespace attn::sim {

/// Runs a grid. Throws SimulationError if the launch itself is not possible;
/// findings in the kernel are in the report.
LaunchReport runLaunch(DeviceMemory &memory, u32 smCount, Module &module,
                       const std::string &entry, const LaunchConfig &config,
                       const Options &options);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_LAUNCH_H
