//===- SyncClock.h - What a synchronisation carries over --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Vector clocks (Mattern 1989) order the accesses of warps for the race check;
/// the cycle does the same for the timeline. A release joins the warp's clocks
/// into the object, an acquire joins the object's into the warp.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_SYNCCLOCK_H
#define ATTN_LIB_SIMULATOR_PTX_SYNCCLOCK_H

#include "Types.h"

#include <algorithm>
#include <vector>

namespace attn::sim {

struct Cta;
struct Instruction;
struct Warp;

using VectorClock = std::vector<u32>;

inline void join(VectorClock &into, const VectorClock &from) {
  if (into.size() < from.size())
    into.resize(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

struct SyncClock {
  VectorClock vector;
  u64 cycle = 0;

  void clear() {
    vector.clear();
    cycle = 0;
  }
};

inline void join(SyncClock &into, const SyncClock &from) {
  join(into.vector, from.vector);
  into.cycle = std::max(into.cycle, from.cycle);
}

/// The warp's index among all warps of its cluster.
u32 clusterWarpIndex(const Warp &warp);
void releaseClock(Warp &warp, SyncClock &object);
void acquireClock(Warp &warp, const SyncClock &object);

/// Checks an access of `bytes` at `offset` of a CTA's shared memory against
/// earlier accesses, and remembers it. Call only when the race check is on.
void checkRace(Warp &warp, const Instruction &instruction, Cta &cta, u32 offset,
               u32 bytes, bool isWrite);

/// Remembers a write by `warp` as of now: the data of an asynchronous copy,
/// whose place checkRace saw at issue, is here. Does nothing unless the race
/// check is on.
void noteArrival(Warp &warp, Cta &cta, u32 offset, u32 bytes);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_SYNCCLOCK_H
