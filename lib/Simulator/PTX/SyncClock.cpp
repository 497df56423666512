//===- SyncClock.cpp - Vector clocks --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

using namespace attn::sim;

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

u32 attn::sim::addAgent(Cluster &cluster, const Agent &agent) {
  u32 index = u32(cluster.agents.size());
  cluster.agents.push_back(agent);
  for (SyncClock &clock : cluster.clocks) {
    clock.vector.resize(index + 1, 0);
    clock.fenced.resize(index + 1, 0);
  }
  return index;
}

std::string attn::sim::describeAgent(const Cluster &cluster, u32 index) {
  const Agent &agent = cluster.agents[index];
  std::string text;
  switch (agent.kind) {
  case Agent::Kind::Warp:
    text = format("warp %u", agent.id);
    break;
  case Agent::Kind::Wgmma:
    text = format("a wgmma of warps %u to %u that has not been waited for",
                  agent.id, agent.id + 3);
    break;
  case Agent::Kind::BulkStore:
    text = format("a bulk store of warp %u that has not been waited for",
                  agent.id);
    break;
  case Agent::Kind::Mbarrier:
    text = format("a copy that completes on the mbarrier at shared offset %d",
                  printedOffset(agent.id));
    break;
  case Agent::Kind::Barrier:
    text = format("barrier %u", agent.id);
    break;
  case Agent::Kind::Grid:
    text = "the grid before";
    break;
  case Agent::Kind::TensorAccess:
  case Agent::Kind::TensorFence:
    text = format("a tcgen05.ld or st of warp %u", agent.id);
    break;
  case Agent::Kind::TensorProduct:
    text = format("a tcgen05.mma of warp %u that has not been waited for",
                  agent.id);
    break;
  }
  if (cluster.ctas.size() > 1)
    text += format(" (CTA rank %u)", agent.rank);
  return text;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

u32 attn::sim::clusterWarpIndex(const Warp &warp) {
  return warp.cta->rank * u32(warp.cta->warps.size()) + warp.id;
}

SyncClock &attn::sim::clocksOf(const Warp &warp) {
  return warp.cta->cluster->clocks[clusterWarpIndex(warp)];
}

void attn::sim::releaseClock(Warp &warp, SyncClock &object) {
  Cluster &cluster = *warp.cta->cluster;
  if (!cluster.observesSync())
    return;
  object.cycle = std::max(object.cycle, warp.cycle);
  if (!cluster.keepsClocks())
    return;
  SyncClock &mine = clocksOf(warp);
  join(object.vector, mine.vector);
  join(object.fenced, mine.fenced);
  if (warp.gridWaited & warp.active && cluster.gridAgent != noAgent)
    advance(object.vector, cluster.gridAgent, 1);
  ++mine.vector[clusterWarpIndex(warp)];
}

void attn::sim::acquireClock(Warp &warp, const SyncClock &object) {
  Cluster &cluster = *warp.cta->cluster;
  if (!cluster.observesSync())
    return;
  warp.cycle = std::max(warp.cycle, object.cycle);
  if (!cluster.keepsClocks())
    return;
  SyncClock &mine = clocksOf(warp);
  join(mine.vector, object.vector);
  join(mine.fenced, object.fenced);
}

void attn::sim::learn(Warp &warp, u32 agent, u32 time) {
  if (warp.cta->cluster->keepsClocks() && agent != noAgent)
    advance(clocksOf(warp).vector, agent, time);
}

void attn::sim::fenceProxy(Warp &warp) {
  if (!warp.cta->cluster->keepsClocks())
    return;
  SyncClock &mine = clocksOf(warp);
  mine.fenced = mine.vector;
  ++mine.vector[clusterWarpIndex(warp)]; // later writes are not fenced
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// True if the warp has synchronised with every arrival of the last phase.
static bool knowsArrivals(const VectorClock &mine, const PhaseClock &clock) {
  if (clock.lastHadCopies)
    return false;
  for (size_t k = 0; k < clock.lastArrivals.size(); ++k)
    if (clock.lastArrivals[k] > mine[k])
      return false;
  return true;
}

void attn::sim::arriveInPhase(Warp &warp, const Instruction &instruction,
                              PhaseClock &clock, bool isCopy) {
  Cluster &cluster = *warp.cta->cluster;
  if (!cluster.keepsClocks())
    return releaseClock(warp, clock.arriving);
  u32 self = clusterWarpIndex(warp);
  VectorClock &mine = clocksOf(warp).vector;
  if (mine[clock.agent] < clock.phases && knowsArrivals(mine, clock))
    mine[clock.agent] = clock.phases;
  if (mine[clock.agent] < clock.phases) {
    u32 phases = clock.phases;
    mine[clock.agent] = phases; // one finding per phase
    const Agent &agent = cluster.agents[clock.agent];
    bool isMbarrier = agent.kind == Agent::Kind::Mbarrier;
    std::string what =
        isMbarrier ? format("the mbarrier at shared offset %d of CTA rank %u",
                            printedOffset(agent.id), agent.rank)
                   : format("barrier %u", agent.id);
    if (checks(warp).barrierPhase)
      report(warp, instruction, Finding::Sync,
             format("%s %s is not ordered after the end of its phase %u, "
                    "and may count for that phase",
                    isCopy ? "copy onto" : "arrival at", what.c_str(),
                    phases - 1),
             isMbarrier ? "compare the count of mbarrier.init with the "
                          "arrivals, and wait for a phase before arriving in "
                          "the next"
                        : "compare the barrier's thread count with the threads "
                          "that arrive");
  }
  clock.hasCopies |= isCopy;
  advance(clock.arrivals, self, mine[self]);
  releaseClock(warp, clock.arriving);
}

void attn::sim::completePhase(Cluster &cluster, PhaseClock &clock) {
  ++clock.phases;
  if (cluster.keepsClocks())
    advance(clock.arriving.vector, clock.agent, clock.phases);
  std::swap(clock.completed, clock.arriving);
  clock.arriving.clear();
  std::swap(clock.lastArrivals, clock.arrivals);
  clock.arrivals.clear();
  clock.lastHadCopies = clock.hasCopies;
  clock.hasCopies = false;
}
