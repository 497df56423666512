//===- MbarrierState.h - State of mbarrier objects --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// An mbarrier is an opaque 64-bit word of shared memory (PTX ISA 9.7.13,
/// mbarrier): expected arrivals, pending arrivals, tx-count and phase.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_MBARRIERSTATE_H
#define ATTN_LIB_SIMULATOR_PTX_MBARRIERSTATE_H

#include "Machine.h"

namespace attn::sim {

/// Bits 0-19 expected, 20-39 pending, 40-60 tx-count (signed), 61-63 phase.
struct MbarrierState {
  u32 expected = 0, pending = 0;
  s32 txCount = 0;
  u32 phase = 0; // modulo 8

  static MbarrierState decode(u64 word) {
    return {u32(word & 0xFFFFF), u32(word >> 20) & 0xFFFFF,
            s32((word >> 40) << 11) >> 11, u32(word >> 61)};
  }
  u64 encode() const {
    return u64(expected & 0xFFFFF) | u64(pending & 0xFFFFF) << 20 |
           u64(txCount & 0x1FFFFF) << 40 | u64(phase & 7) << 61;
  }
};
inline constexpr u32 maxMbarrierCount = 0xFFFFF;
inline constexpr s64 maxMbarrierTx = 0xFFFFF;

MbarrierState readMbarrier(const Cta &cta, u32 offset);
/// Stores a state, completing the phase if nothing is pending.
void writeMbarrier(Cta &cta, u32 offset, MbarrierState state);

/// Checks address and alignment, and that the mbarrier is initialised.
void checkMbarrier(Warp &warp, const Instruction &instruction, Cta &cta,
                   u32 offset, bool mustBeInitialized = true);
/// Starts the clocks of an mbarrier.
void noteMbarrierInit(Warp &warp, Cta &cta, u32 offset);
/// fence.mbarrier_init or fence.proxy.async: the warp's initialisations are
/// visible to the async proxy.
void fenceMbarrierInits(Warp &warp);
/// Checks that the initialisation is visible to a copy that the warp issues.
void checkInitVisible(Warp &warp, const Instruction &instruction, Cta &cta,
                      u32 offset);
/// `count` arrivals with `tx` more expected bytes.
void arriveOnMbarrier(Warp &warp, const Instruction &instruction, Cta &cta,
                      u32 offset, u32 count, s64 tx);
void addMbarrierTx(Warp &warp, const Instruction &instruction, Cta &cta,
                   u32 offset, s64 tx);
/// A warp issues a copy that completes on the mbarrier.
void noteCopy(Warp &warp, const Instruction &instruction, Cta &cta, u32 offset);
/// A warp issues a tcgen05.commit: an arrival when the products of `agent` up
/// to `time` are complete.
void noteCommit(Warp &warp, const Instruction &instruction, Cta &cta,
                u32 offset, u32 agent, u32 time);
/// What a finished copy does: `bytes` complete and `arrivals` arrive.
void completeOnMbarrier(Cta &cta, u32 offset, u32 bytes, u32 arrivals,
                        u64 cycle);

/// A phase to wait for: by parity, or by the state that an arrive returned.
struct PhaseTest {
  bool byParity = false;
  u64 value = 0;

  bool passed(u32 phase) const {
    return byParity ? (phase & 1) != (value & 1) : phase != u32(value >> 61);
  }
};
/// True if the phase has completed. Lets the copies in flight on the mbarrier
/// arrive when it has not.
bool mbarrierReady(Cta &cta, u32 offset, PhaseTest test);

std::string describeMbarrier(const Cta &cta, u32 offset);

/// Lets a copy's data arrive and signals its mbarrier.
void completeCopy(PendingCopy &copy);
/// The same for copies in flight on an mbarrier, of bytes as far as its phase
/// needs them: the others are still under way. True if there were any.
bool completeCopiesOn(Cta &cta, u32 offset);
/// Queues a copy, or completes it at once without Options::deferAsync.
void issueCopy(Warp &warp, PendingCopy copy);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_MBARRIERSTATE_H
