//===- Tcgen05.h - Tensor memory and its products ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_TCGEN05_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_TCGEN05_H

#include "../Decoder.h"
#include "../Machine.h"

namespace attn::sim {

/// tcgen05.ld and the wait for it.
bool isTensorLoad(const Instruction &instruction);
bool isTensorLoadWait(const Instruction &instruction);
/// Before an instruction while loads are in flight: reports a touch of their
/// registers.
void checkTensorLoads(Warp &warp, const Instruction &instruction);

/// In the flags of an instruction of cta_group::2.
inline constexpr u32 forPair = 1;

/// Sets the flags. Fails unless all of the kernel have the same cta_group.
void decodeCtaGroup(Decoder &decoder);
/// The one tensor-memory address of the active lanes.
TensorAddress uniformTensorAddress(Warp &warp, const Instruction &instruction,
                                   const Address &address);

/// tcgen05.alloc, dealloc, relinquish_alloc_permit; false for another
/// instruction.
bool decodeTensorAllocation(Decoder &decoder);
/// tcgen05.ld, st, wait, fence; false for another instruction.
bool decodeTensorMemory(Decoder &decoder);
/// tcgen05.cp, shift; false for another instruction.
bool decodeTensorCopy(Decoder &decoder);
/// tcgen05.mma, commit.
bool decodeTensorProduct(Decoder &decoder);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_TCGEN05_H
