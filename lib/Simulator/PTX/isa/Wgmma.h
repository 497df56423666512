//===- Wgmma.h - Asynchronous warpgroup matrix products ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_WGMMA_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_WGMMA_H

#include "../Machine.h"

namespace attn::sim {

/// wgmma.mma_async
bool isWgmma(const Instruction &instruction);
/// Finds which instructions access registers of a wgmma, for the check of
/// wgmma.fence.
void noteStampedSlots(Program &program);
/// wgmma.wait_group 0
bool isWgmmaWaitAll(const Instruction &instruction);

/// True if the rest of the warpgroup has issued what the split waits for.
bool isWgmmaReady(Warp &warp, const Wait &wait);
void completeAllWgmma(Warp &warp);

/// Before an instruction while products are in flight: reports a touch of their
/// accumulators. A plain move of one is postponed instead, because compilers
/// insert such moves; then the result is true and the instruction is done.
bool touchesAccumulators(Warp &warp, const Instruction &instruction);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_WGMMA_H
