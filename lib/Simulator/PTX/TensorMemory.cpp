//===- TensorMemory.cpp - Tensor memory of a CTA (TMEM) -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMemory.h"
#include "Machine.h"

using namespace attn::sim;

using Kind = TensorAccess::Kind;

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

Cta *attn::sim::peerCta(const Warp &warp) {
  std::vector<Cta> &ctas = warp.cta->cluster->ctas;
  u32 rank = warp.cta->rank ^ 1;
  return rank < ctas.size() ? &ctas[rank] : nullptr;
}

CtaGroup::CtaGroup(Warp &warp, const Instruction &i, bool isPair) {
  ctas[0] = warp.cta;
  if (!isPair)
    return;
  Cta *peer = peerCta(warp);
  if (!peer)
    fault(
        warp, i, Finding::Sync,
        format("cta_group::2 in CTA rank %u of a cluster of %zu, which has no "
               "peer",
               warp.cta->rank, warp.cta->cluster->ctas.size()),
        "launch clusters of an even number of CTAs");
  count = 2;
  ctas[1] = peer;
  if (ctas[0]->rank > ctas[1]->rank)
    std::swap(ctas[0], ctas[1]);
  if (peer->liveLanes == 0)
    fault(warp, i, Finding::Sync,
          format("cta_group::2 in CTA rank %u, but its peer, CTA rank %u, has "
                 "exited",
                 warp.cta->rank, peer->rank),
          "keep both CTAs of a pair alive with barrier.cluster");
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

u32 attn::sim::tensorAccessAgent(Warp &warp) {
  Cluster &cluster = *warp.cta->cluster;
  TensorWarpState &state = warp.tensor;
  if (!cluster.keepsClocks())
    return noAgent;
  agentOf(state.fenceAgent, cluster,
          {Agent::Kind::TensorFence, warp.cta->rank, warp.id});
  return agentOf(state.accessAgent, cluster,
                 {Agent::Kind::TensorAccess, warp.cta->rank, warp.id});
}

TensorMemory::Issuer &attn::sim::tensorIssuer(Warp &warp, u32 lane) {
  Cta &cta = *warp.cta;
  TensorMemory::Issuer &issuer = cta.tensor.issuers[warp.id * warpSize + lane];
  if (cta.cluster->keepsClocks())
    agentOf(issuer.agent, *cta.cluster,
            {Agent::Kind::TensorProduct, cta.rank, warp.id});
  return issuer;
}

TensorAccess attn::sim::beginTensorAccess(Warp &warp, Kind kind) {
  TensorWarpState &state = warp.tensor;
  ++state.time;
  u32 &first = kind == Kind::Load ? state.pendingLoad : state.pendingStore;
  if (!first)
    first = state.time;
  return {kind, tensorAccessAgent(warp), state.time, clusterWarpIndex(warp)};
}

TensorAccess attn::sim::beginTensorProduct(Warp &warp, u32 lane, Kind kind) {
  TensorMemory::Issuer &issuer = tensorIssuer(warp, lane);
  return {kind, issuer.agent, ++issuer.issued, clusterWarpIndex(warp)};
}

void attn::sim::noteTensorReach(Warp &warp, Cta &cta,
                                const TensorAccess &access) {
  if (&cta != warp.cta && cta.cluster->keepsClocks())
    advance(cta.remoteAccesses, access.agent, access.time);
}

void attn::sim::fenceTensorBefore(Warp &warp) {
  if (tensorAccessAgent(warp) != noAgent)
    learn(warp, warp.tensor.fenceAgent, warp.tensor.completed());
}

void attn::sim::fenceTensorAfter(Warp &warp) {
  if (warp.cta->cluster->keepsClocks())
    warp.tensor.seen = clocksOf(warp).vector;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {

u32 timeIn(const VectorClock &clock, u32 agent) {
  return agent < clock.size() ? clock[agent] : 0;
}

const char *verb(Kind kind) {
  switch (kind) {
  case Kind::Load:
    return "a tcgen05.ld";
  case Kind::Store:
    return "a tcgen05.st";
  case Kind::Copy:
    return "a tcgen05.cp";
  case Kind::Shift:
    return "a tcgen05.shift";
  case Kind::Product:
    break;
  }
  return "a tcgen05.mma";
}

/// " of CTA rank 1" for another CTA than the warp's.
std::string ownerOf(const Warp &warp, const Cta &cta) {
  return &cta == warp.cta ? "" : " of CTA rank " + std::to_string(cta.rank);
}

/// The warp of an access, with its CTA if that is another one.
std::string idOf(const Warp &warp, const TensorAccess &access) {
  u32 warps = u32(warp.cta->warps.size());
  return std::to_string(access.warp % warps) +
         ownerOf(warp, warp.cta->cluster->ctas[access.warp / warps]);
}

/// Looks for what orders an access after an earlier one.
class OrderCheck {
public:
  OrderCheck(Warp &warp, const TensorAccess &access)
      : warp(warp), access(access), now(clocksOf(warp).vector) {}

  bool isOrdered(const TensorAccess &before) const {
    if (before.isPipe()) {
      bool isPipelined =
          access.isPipe() && access.agent == before.agent &&
          (!options(warp).strictTensorOrder || isOrderedPair(before, access));
      return isPipelined || isSeen(before.agent, before);
    }
    if (before.warp == clusterWarpIndex(warp))
      return before.time <= completedOf(before.kind);
    return isSeen(
        checks(warp).tensorFence ? fenceAgentOf(before) : before.agent, before);
  }

  /// What is missing, and what mends it.
  std::pair<std::string, const char *> explain(const TensorAccess &before) {
    const char *wait =
        before.kind == Kind::Load ? "tcgen05.wait::ld" : "tcgen05.wait::st";
    if (before.isPipe()) {
      std::string who = verb(before.kind);
      if (access.isPipe() && access.agent == before.agent)
        return {who +
                    (access.kind == before.kind ? " with another accumulator"
                                                : "") +
                    ", which only the order of the pipe puts before it",
                "wait for the mbarrier of a tcgen05.commit first"};
      who += " of warp " + idOf(before);
      if (timeIn(now, before.agent) < before.time)
        return {who + " that has not been waited for",
                "wait for the mbarrier of the tcgen05.commit behind it"};
      return {who + ": no tcgen05.fence::after_thread_sync behind the wait",
              "execute tcgen05.fence::after_thread_sync behind the wait"};
    }
    std::string who =
        std::string(verb(before.kind)) + " of warp " + idOf(before);
    bool isOwn = before.warp == clusterWarpIndex(warp);
    if (isOwn || now[before.agent] < before.time)
      return {who + (isOwn ? std::string(" without ") + wait
                           : " that no wait and barrier order"),
              isOwn ? "wait first"
                    : "wait for it in its warp, then order the warps by a "
                      "barrier or an mbarrier"};
    if (now[fenceAgentOf(before)] < before.time)
      return {who + ": no tcgen05.fence::before_thread_sync behind its wait",
              "execute tcgen05.fence::before_thread_sync before the barrier"};
    return {who + ": no tcgen05.fence::after_thread_sync behind the barrier",
            "execute tcgen05.fence::after_thread_sync behind the barrier"};
  }

private:
  /// What the ISA says of two operations of one thread (9.7.16.6.4, pipelined
  /// instructions).
  static bool isOrderedPair(const TensorAccess &before,
                            const TensorAccess &access) {
    if (access.time == before.time) // one that reads and writes
      return true;
    if (access.kind == Kind::Product)
      return before.kind != Kind::Product ||
             access.accumulator == before.accumulator;
    if (access.kind == Kind::Shift)
      return before.kind == Kind::Product;
    return before.kind == Kind::Shift && access.isRowRefresh;
  }
  /// Whether what the warp knows behind its last fence::after_thread_sync, or
  /// by barriers alone where fences are not asked for, includes an access.
  bool isSeen(u32 agent, const TensorAccess &before) const {
    const VectorClock &seen = checks(warp).tensorFence ? warp.tensor.seen : now;
    return timeIn(seen, agent) >= before.time;
  }
  /// Accesses and fences of a warp become agents together.
  u32 fenceAgentOf(const TensorAccess &before) const {
    const Cluster &cluster = *warp.cta->cluster;
    u32 warps = u32(warp.cta->warps.size());
    return cluster.ctas[before.warp / warps]
        .warps[before.warp % warps]
        .tensor.fenceAgent;
  }
  std::string idOf(const TensorAccess &before) const {
    return ::idOf(warp, before);
  }
  u32 completedOf(Kind kind) const {
    const TensorWarpState &state = warp.tensor;
    u32 first = kind == Kind::Load ? state.pendingLoad : state.pendingStore;
    return first ? first - 1 : state.time;
  }

  Warp &warp;
  const TensorAccess &access;
  const VectorClock &now;
};

/// Calls visit(history, lane, column) for each column of each lane group.
template <typename Visit>
void forEachHistory(Cta &cta, const TensorRange &range, Visit visit) {
  for (u32 lane = range.lane; lane < range.lane + range.lanes;
       lane += tensorLaneGroup)
    for (u32 column = range.column; column < range.column + range.columns;
         ++column)
      visit(cta.tensor.historyOf(lane, column), lane, column);
}

void reportOrder(Warp &warp, const Instruction &i, const Cta &cta,
                 OrderCheck &check, const TensorAccess &before,
                 const char *hazard, const char *what, u32 lane, u32 column) {
  if (!checks(warp).race)
    return;
  auto [missing, remedy] = check.explain(before);
  report(warp, i, Finding::Race,
         format("%s hazard: %s of tensor memory%s, lanes %u to %u, column %u, "
                "is not ordered after %s",
                hazard, what, ownerOf(warp, cta).c_str(), lane,
                lane + tensorLaneGroup - 1, column, missing.c_str()),
         remedy);
}

} // namespace

bool attn::sim::readTensor(Warp &warp, const Instruction &i, Cta &cta,
                           const TensorRange &range, const TensorAccess &access,
                           const char *what) {
  bool keepsClocks = warp.cta->cluster->keepsClocks();
  bool isVisible = true;
  forEachHistory(cta, range, [&](TensorHistory &cell, u32 lane, u32 column) {
    if (!cell.isWritten) {
      report(warp, i, Finding::Init,
             format("%s reads uninitialized tensor memory%s, lanes %u to %u, "
                    "column %u",
                    what, ownerOf(warp, cta).c_str(), lane,
                    lane + tensorLaneGroup - 1, column));
      cell.isWritten = true; // one finding per cell
      cell.write = access;
      return;
    }
    if (!keepsClocks)
      return;
    OrderCheck check(warp, access);
    if (!check.isOrdered(cell.write)) {
      isVisible = false;
      reportOrder(warp, i, cta, check, cell.write, "read-after-write", what,
                  lane, column);
    }
    for (TensorAccess &read : cell.reads)
      if (read.agent == access.agent &&
          read.accumulator == access.accumulator) {
        read = access;
        return;
      }
    cell.reads.push_back(access);
  });
  return isVisible;
}

void attn::sim::writeTensor(Warp &warp, const Instruction &i, Cta &cta,
                            const TensorRange &range,
                            const TensorAccess &access, const char *what) {
  bool keepsClocks = warp.cta->cluster->keepsClocks();
  forEachHistory(cta, range, [&](TensorHistory &cell, u32 lane, u32 column) {
    if (keepsClocks) {
      OrderCheck check(warp, access);
      if (cell.isWritten && !check.isOrdered(cell.write))
        reportOrder(warp, i, cta, check, cell.write, "write-after-write", what,
                    lane, column);
      for (const TensorAccess &read : cell.reads)
        if (!check.isOrdered(read))
          reportOrder(warp, i, cta, check, read, "write-after-read", what, lane,
                      column);
    }
    cell.reads.clear();
    cell.isWritten = true;
    cell.write = access;
  });
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

void attn::sim::checkTensorRange(Warp &warp, const Instruction &i, Cta &cta,
                                 const TensorRange &range, const char *what) {
  if (range.lane + range.lanes > tensorLanes)
    fault(warp, i, Finding::Memory,
          format("%s of lanes %u to %u of tensor memory, which has %u", what,
                 range.lane, range.lane + range.lanes - 1, tensorLanes));
  for (const TensorAllocation &allocation : cta.tensor.allocations)
    if (range.column >= allocation.column &&
        range.column + range.columns <= allocation.column + allocation.columns)
      return;
  fault(warp, i, Finding::Memory,
        format("%s of columns %u to %u of tensor memory, which are not inside "
               "one allocation",
               what, range.column, range.column + range.columns - 1),
        "add the address that tcgen05.alloc wrote, and compare the columns "
        "with its size");
}

/// The highest free place: an address that a kernel assumes is rarely right.
static s32 findFreeColumns(const TensorMemory &memory, u32 columns) {
  for (s32 first = s32(tensorColumns - columns); first >= 0;
       first -= s32(columns)) {
    bool isFree = true;
    for (const TensorAllocation &other : memory.allocations)
      isFree &= u32(first) >= other.column + other.columns ||
                u32(first) + columns <= other.column;
    if (isFree)
      return first;
  }
  return -1;
}

u32 attn::sim::allocateTensor(Warp &warp, const Instruction &i, Cta &cta,
                              u32 columns) {
  TensorMemory &memory = cta.tensor;
  if (columns < 32 || columns > tensorColumns || (columns & (columns - 1)))
    fault(warp, i, Finding::Memory,
          format("tcgen05.alloc of %u columns, expected a power of two from 32 "
                 "to 512",
                 columns));
  if (memory.isRelinquished)
    fault(warp, i, Finding::Sync,
          "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  if (columns > memory.lastColumns)
    fault(warp, i, Finding::Sync,
          format("tcgen05.alloc of %u columns after one of %u: sizes may not "
                 "grow",
                 columns, memory.lastColumns));
  s32 column = findFreeColumns(memory, columns);
  if (column < 0)
    fault(warp, i, Finding::Sync,
          format("tcgen05.alloc of %u columns blocks for ever: the CTA holds "
                 "what is missing",
                 columns));
  if (memory.cells.empty()) {
    memory.cells.assign(tensorLanes * tensorColumns, ~0u);
    memory.history.resize(tensorLanes / tensorLaneGroup * tensorColumns);
  }
  TensorRange range{0, tensorLanes, u32(column), columns};
  forEachHistory(cta, range, [](TensorHistory &cell, u32, u32) { cell = {}; });
  for (u32 lane = 0; lane < tensorLanes; ++lane)
    std::fill_n(memory.row(lane) + column, columns, ~0u);
  memory.lastColumns = columns;
  memory.allocations.push_back({u32(column), columns});
  return u32(column);
}

/// All accesses must come before, by synchronisation of the threads alone:
/// tcgen05.dealloc is no asynchronous operation.
static void checkNotInUse(Warp &warp, const Instruction &i, Cta &cta,
                          const TensorRange &range) {
  if (!warp.cta->cluster->keepsClocks() || !checks(warp).race)
    return;
  const VectorClock &now = clocksOf(warp).vector;
  auto check = [&](const TensorAccess &access, u32 column) {
    if (access.agent == noAgent || timeIn(now, access.agent) >= access.time)
      return;
    report(
        warp, i, Finding::Race,
        format("tcgen05.dealloc of column %u%s is not ordered after %s of warp "
               "%s",
               column, ownerOf(warp, cta).c_str(), verb(access.kind),
               idOf(warp, access).c_str()),
        "wait for all products and accesses, then for a barrier of the "
        "warps, before tcgen05.dealloc");
  };
  forEachHistory(cta, range, [&](TensorHistory &cell, u32, u32 column) {
    if (cell.isWritten)
      check(cell.write, column);
    for (const TensorAccess &read : cell.reads)
      check(read, column);
  });
}

void attn::sim::checkDeallocation(Warp &warp, const Instruction &i, Cta &cta,
                                  TensorAddress address, u32 columns) {
  const std::vector<TensorAllocation> &allocations = cta.tensor.allocations;
  bool isAllocated = std::any_of(
      allocations.begin(), allocations.end(), [&](const auto &allocation) {
        return address.lane == 0 && allocation.column == address.column &&
               allocation.columns == columns;
      });
  if (!isAllocated)
    fault(warp, i, Finding::Memory,
          format("tcgen05.dealloc of %u columns from lane %u, column %u on, "
                 "which is no allocation",
                 columns, address.lane, address.column),
          "give the address and the size of the tcgen05.alloc");
  checkNotInUse(warp, i, cta, {0, tensorLanes, address.column, columns});
}

void attn::sim::deallocateTensor(Cta &cta, u32 column) {
  std::vector<TensorAllocation> &allocations = cta.tensor.allocations;
  allocations.erase(std::find_if(
      allocations.begin(), allocations.end(),
      [&](const auto &allocation) { return allocation.column == column; }));
}

void attn::sim::checkTensorExit(Warp &warp, const Instruction &i) {
  for (const TensorAllocation &allocation : warp.cta->tensor.allocations)
    report(warp, i, Finding::Memory,
           format("the CTA exits with %u columns of tensor memory allocated, "
                  "from column %u on",
                  allocation.columns, allocation.column),
           "execute tcgen05.dealloc before the exit");
}
