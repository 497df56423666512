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
  bool isPair = false; // cta_group::2: the mbarrier may be the peer's
};
CopyTarget copyTarget(Warp &warp, const Instruction &instruction, u32 lane);

/// Checks the destination, marks it as in flight and queues the copy.
void issueToShared(Warp &warp, const Instruction &instruction, PendingCopy copy,
                   const SharedLocation &data, const SharedLocation &mbarrier);
/// The same for every CTA of a multicast mask (operand `mask`), or for the
/// target's CTA without one. A CTA's copy signals the mbarrier of the same
/// offset in that CTA; of a pair, in the CTA of the pair whose rank is even or
/// odd like that of the target's mbarrier.
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
