//===- BulkCopy.h - Shared parts of bulk and tensor copies ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_BULKCOPY_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_BULKCOPY_H

#include "../Decoder.h"
#include "../Machine.h"
#include "../Memory.h"

namespace attn::sim {

/// Where a copy to shared memory goes, per lane.
struct CopyTarget {
  SharedLocation data, mbarrier;
};
CopyTarget copyTarget(Warp &warp, const Instruction &instruction, u32 lane);

/// Checks the destination, marks it as in flight and queues the copy.
void issueToShared(Warp &warp, const Instruction &instruction, PendingCopy copy,
                   Cta &cta, u32 offset, u32 mbarrier);
/// The same for every CTA of a multicast mask (operand `mask`), or for the
/// target's CTA without one.
void issueMulticast(Warp &warp, const Instruction &instruction, u32 lane,
                    const Operand &mask, const PendingCopy &copy,
                    const CopyTarget &target);

/// Reads the shared source and queues a copy to global memory.
void issueBulkStore(Warp &warp, const Instruction &instruction,
                    BulkStore store);
/// Lets all of a warp's bulk stores reach memory, at its exit.
void completeAllBulkStores(Warp &warp);

/// 0, or 1 + the AtomicOp of cp.reduce.async.bulk.
u32 decodeReduction(Decoder &decoder);
/// The space before ("destination") and after the first: the direction.
bool copiesToGlobal(const Decoder &decoder);
bool copiesFromGlobal(const Decoder &decoder);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_BULKCOPY_H
