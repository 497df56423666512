//===- Atomic.h - Atomic and reduction operations ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_ATOMIC_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_ATOMIC_H

#include "../AsyncState.h"
#include "../Decoder.h"

namespace attn::sim {

/// The new value of one atomic operation on the bits of a value of at most 64
/// bits; `c` is the third operand of cas.
u64 applyAtomic(AtomicOp op, Type type, u64 old, u64 b, u64 c = 0);
/// Applies a reduction element by element.
void reduceBytes(u8 *destination, const u8 *source, u32 bytes, AtomicOp op,
                 Type type);

/// The operation that the opcode names; fails if there is none, or if it does
/// not exist for the instruction's type.
AtomicOp decodeAtomicOp(Decoder &decoder);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_ATOMIC_H
