//===- SpecialRegisters.h - Values that a warp starts with ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_SPECIALREGISTERS_H
#define ATTN_LIB_SIMULATOR_PTX_SPECIALREGISTERS_H

#include "Machine.h"

namespace attn::sim {

/// Fills the slots of the program's special registers for a warp.
void setSpecialRegisters(const LaunchContext &launch, Warp &warp);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_SPECIALREGISTERS_H
