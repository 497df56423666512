//===- SyncClock.h - What a synchronisation carries over --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Vector clocks (Mattern 1989) order accesses for the race check; the cycle
/// does the same for the timeline. A release joins the warp's clocks into the
/// object, an acquire joins the object's into the warp.
///
/// A clock has a component for every agent: the warps, and what works beside
/// them. A product or a bulk store in flight is an agent of its own, whose time
/// a warp learns at the wait and not before; data that a copy writes belong to
/// the phase of its mbarrier. So an order that a schedule happens to show is
/// never mistaken for one that synchronisation guarantees.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_SYNCCLOCK_H
#define ATTN_LIB_SIMULATOR_PTX_SYNCCLOCK_H

#include "Types.h"

#include <algorithm>
#include <string>
#include <vector>

namespace attn::sim {

struct Cluster;
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

/// Sets a component, if it is later.
inline void advance(VectorClock &clock, u32 agent, u32 time) {
  if (clock.size() <= agent)
    clock.resize(agent + 1, 0);
  clock[agent] = std::max(clock[agent], time);
}

struct SyncClock {
  VectorClock vector;
  /// The part of it whose generic writes fence.proxy.async has made visible to
  /// the async proxy.
  VectorClock fenced;
  u64 cycle = 0;

  void clear() {
    vector.clear();
    fenced.clear();
    cycle = 0;
  }
};

inline void join(SyncClock &into, const SyncClock &from) {
  join(into.vector, from.vector);
  join(into.fenced, from.fenced);
  into.cycle = std::max(into.cycle, from.cycle);
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

struct Agent {
  enum class Kind : u8 {
    Warp,
    Wgmma,
    BulkStore,
    Mbarrier,
    Barrier,
    Grid, // those before this one
    // TensorMemory.h
    TensorAccess,
    TensorFence,
    TensorProduct
  };
  Kind kind = Kind::Warp;
  u32 rank = 0; // CTA
  u32 id = 0;   // warp, first warp of a warpgroup, offset or barrier
};

inline constexpr u32 noAgent = ~0u;

/// Adds a component to all clocks of the cluster.
u32 addAgent(Cluster &cluster, const Agent &agent);
/// The same on first use of a place that remembers it.
inline u32 agentOf(u32 &place, Cluster &cluster, const Agent &agent) {
  if (place == noAgent)
    place = addAgent(cluster, agent);
  return place;
}
/// "warp 3 of CTA rank 1", "an asynchronous copy onto the mbarrier at ...".
std::string describeAgent(const Cluster &cluster, u32 agent);

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// The warp's index among all warps of its cluster, and its agent.
u32 clusterWarpIndex(const Warp &warp);
/// The clocks of a warp. Call only when clocks are kept.
SyncClock &clocksOf(const Warp &warp);
void releaseClock(Warp &warp, SyncClock &object);
void acquireClock(Warp &warp, const SyncClock &object);
/// The warp has waited for what `agent` did up to `time`.
void learn(Warp &warp, u32 agent, u32 time);
/// fence.proxy.async: what the warp knows of is visible to the async proxy.
void fenceProxy(Warp &warp);

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// The phases of an mbarrier or a named barrier. Its agent's time is the number
/// of complete ones.
struct PhaseClock {
  SyncClock arriving, completed;
  /// When the warps arrived, in this phase and in the last complete one, and
  /// whether copies took part.
  VectorClock arrivals, lastArrivals;
  bool hasCopies = false, lastHadCopies = false;
  u32 agent = noAgent;
  u32 phases = 0;
};

/// A warp arrives, or issues a copy that will. The arrival must come after the
/// end of the phase before in every schedule: otherwise it may count for that
/// one. That is so if the warp has waited for the phase, or has synchronised
/// with all who arrived in it.
void arriveInPhase(Warp &warp, const Instruction &instruction,
                   PhaseClock &clock, bool isCopy);
void completePhase(Cluster &cluster, PhaseClock &clock);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_SYNCCLOCK_H
