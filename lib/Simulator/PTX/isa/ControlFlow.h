//===- ControlFlow.h - Branches and exits -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_CONTROLFLOW_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_CONTROLFLOW_H

#include "../Machine.h"

#include <map>

namespace attn::sim {

/// True if control does not simply fall through.
bool endsBlock(const Instruction &instruction);

/// Splits the warp: lanes by the pc where they go on. Lanes of the current
/// split that are not active go on behind the instruction.
void branchTo(Warp &warp, std::map<u32, u32> lanesByPc);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_CONTROLFLOW_H
