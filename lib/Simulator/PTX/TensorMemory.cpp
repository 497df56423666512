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
  case Kind::Product:
    break;
  }
  return "a tcgen05.mma";
}

/// Looks for what orders an access after an earlier one.
class OrderCheck {
public:
  OrderCheck(Warp &warp, const TensorAccess &access)
      : warp(warp), access(access), now(clocksOf(warp).vector) {}

  bool isOrdered(const TensorAccess &before) const {
    if (before.kind == Kind::Product) {
      if (access.kind == Kind::Product && access.agent == before.agent)
        return !options(warp).strictTensorOrder ||
               access.accumulator == before.accumulator ||
               isSeen(before.agent, before);
      return isSeen(before.agent, before);
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
    if (before.kind == Kind::Product) {
      if (access.agent == before.agent)
        return {"a tcgen05.mma with another accumulator, which only the order "
                "of the pipe puts before it",
                "wait for the mbarrier of a tcgen05.commit first"};
      if (now[before.agent] < before.time)
        return {"a tcgen05.mma of warp " + idOf(before) +
                    " that has not been waited for",
                "wait for the mbarrier of the tcgen05.commit behind it"};
      return {"a tcgen05.mma of warp " + idOf(before) +
                  ": no tcgen05.fence::after_thread_sync behind the wait",
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
    return std::to_string(before.warp % u32(warp.cta->warps.size()));
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
void forEachHistory(Warp &warp, const TensorRange &range, Visit visit) {
  for (u32 lane = range.lane; lane < range.lane + range.lanes;
       lane += tensorLaneGroup)
    for (u32 column = range.column; column < range.column + range.columns;
         ++column)
      visit(warp.cta->tensor.historyOf(lane, column), lane, column);
}

void reportOrder(Warp &warp, const Instruction &i, OrderCheck &check,
                 const TensorAccess &before, const char *hazard,
                 const char *what, u32 lane, u32 column) {
  if (!checks(warp).race)
    return;
  auto [missing, remedy] = check.explain(before);
  report(warp, i, Finding::Race,
         format("%s hazard: %s of tensor memory, lanes %u to %u, column %u, is "
                "not ordered after %s",
                hazard, what, lane, lane + tensorLaneGroup - 1, column,
                missing.c_str()),
         remedy);
}

} // namespace

bool attn::sim::readTensor(Warp &warp, const Instruction &i,
                           const TensorRange &range, const TensorAccess &access,
                           const char *what) {
  bool keepsClocks = warp.cta->cluster->keepsClocks();
  bool isVisible = true;
  forEachHistory(warp, range, [&](TensorHistory &cell, u32 lane, u32 column) {
    if (!cell.isWritten) {
      report(warp, i, Finding::Init,
             format("%s reads uninitialized tensor memory, lanes %u to %u, "
                    "column %u",
                    what, lane, lane + tensorLaneGroup - 1, column));
      cell.isWritten = true; // one finding per cell
      cell.write = access;
      return;
    }
    if (!keepsClocks)
      return;
    OrderCheck check(warp, access);
    if (!check.isOrdered(cell.write)) {
      isVisible = false;
      reportOrder(warp, i, check, cell.write, "read-after-write", what, lane,
                  column);
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

void attn::sim::writeTensor(Warp &warp, const Instruction &i,
                            const TensorRange &range,
                            const TensorAccess &access, const char *what) {
  bool keepsClocks = warp.cta->cluster->keepsClocks();
  forEachHistory(warp, range, [&](TensorHistory &cell, u32 lane, u32 column) {
    if (keepsClocks) {
      OrderCheck check(warp, access);
      if (cell.isWritten && !check.isOrdered(cell.write))
        reportOrder(warp, i, check, cell.write, "write-after-write", what, lane,
                    column);
      for (const TensorAccess &read : cell.reads)
        if (!check.isOrdered(read))
          reportOrder(warp, i, check, read, "write-after-read", what, lane,
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

void attn::sim::checkTensorRange(Warp &warp, const Instruction &i,
                                 const TensorRange &range, const char *what) {
  if (range.lane + range.lanes > tensorLanes)
    fault(warp, i, Finding::Memory,
          format("%s of lanes %u to %u of tensor memory, which has %u", what,
                 range.lane, range.lane + range.lanes - 1, tensorLanes));
  for (const TensorAllocation &allocation : warp.cta->tensor.allocations)
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

u32 attn::sim::allocateTensor(Warp &warp, const Instruction &i, u32 columns) {
  TensorMemory &memory = warp.cta->tensor;
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
  forEachHistory(warp, range, [](TensorHistory &cell, u32, u32) { cell = {}; });
  for (u32 lane = 0; lane < tensorLanes; ++lane)
    std::fill_n(memory.row(lane) + column, columns, ~0u);
  memory.lastColumns = columns;
  memory.allocations.push_back({u32(column), columns});
  return u32(column);
}

/// All accesses must come before, by synchronisation of the threads alone:
/// tcgen05.dealloc is no asynchronous operation.
static void checkNotInUse(Warp &warp, const Instruction &i,
                          const TensorRange &range) {
  if (!warp.cta->cluster->keepsClocks() || !checks(warp).race)
    return;
  const VectorClock &now = clocksOf(warp).vector;
  auto check = [&](const TensorAccess &access, u32 column) {
    if (access.agent == noAgent || now[access.agent] >= access.time)
      return;
    report(
        warp, i, Finding::Race,
        format("tcgen05.dealloc of column %u is not ordered after %s of warp "
               "%zu",
               column, verb(access.kind), access.warp % warp.cta->warps.size()),
        "wait for all products and accesses, then for a barrier of the "
        "warps, before tcgen05.dealloc");
  };
  forEachHistory(warp, range, [&](TensorHistory &cell, u32, u32 column) {
    if (cell.isWritten)
      check(cell.write, column);
    for (const TensorAccess &read : cell.reads)
      check(read, column);
  });
}

void attn::sim::deallocateTensor(Warp &warp, const Instruction &i,
                                 TensorAddress address, u32 columns) {
  std::vector<TensorAllocation> &allocations = warp.cta->tensor.allocations;
  auto found = std::find_if(
      allocations.begin(), allocations.end(), [&](const auto &allocation) {
        return address.lane == 0 && allocation.column == address.column &&
               allocation.columns == columns;
      });
  if (found == allocations.end())
    fault(warp, i, Finding::Memory,
          format("tcgen05.dealloc of %u columns from lane %u, column %u on, "
                 "which is no allocation",
                 columns, address.lane, address.column),
          "give the address and the size of the tcgen05.alloc");
  checkNotInUse(warp, i, {0, tensorLanes, address.column, columns});
  allocations.erase(found);
}

void attn::sim::checkTensorExit(Warp &warp, const Instruction &i) {
  for (const TensorAllocation &allocation : warp.cta->tensor.allocations)
    report(warp, i, Finding::Memory,
           format("the CTA exits with %u columns of tensor memory allocated, "
                  "from column %u on",
                  allocation.columns, allocation.column),
           "execute tcgen05.dealloc before the exit");
}
