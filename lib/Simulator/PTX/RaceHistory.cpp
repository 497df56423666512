//===- RaceHistory.cpp - The race check -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaceHistory.h"
#include "Memory.h"

using namespace attn::sim;

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

void RaceHistory::init(u32 bytes) {
  u32 chunks = bytes / chunkBytes + 1;
  cells.assign(chunks, {});
  firstGranule.assign(chunks, 0);
}

u32 RaceHistory::granules(u32 chunk) {
  u32 &first = firstGranule[chunk];
  if (first)
    return first;
  if (freeGranules.empty()) {
    first = u32(cells.size());
    cells.resize(first + perChunk);
    reads.resize(cells.size() * size_t(stride), 0);
  } else {
    first = freeGranules.back();
    freeGranules.pop_back();
  }
  for (u32 k = first; k < first + perChunk; ++k) {
    cells[k] = cells[chunk];
    std::copy_n(reads.begin() + size_t(chunk) * stride, stride,
                reads.begin() + size_t(k) * stride);
  }
  return first;
}

void RaceHistory::merge(u32 chunk) {
  u32 first = firstGranule[chunk];
  cells[chunk] = cells[first];
  clearReads(chunk);
  freeGranules.push_back(first);
  firstGranule[chunk] = 0;
}

u32 RaceHistory::columnOf(u32 agent) {
  if (agent < columnOfAgent.size() && columnOfAgent[agent] != noAgent)
    return columnOfAgent[agent];
  if (columnOfAgent.size() <= agent)
    columnOfAgent.resize(agent + 1, noAgent);
  u32 column = u32(agentOfColumn.size());
  agentOfColumn.push_back(agent);
  if (column >= stride)
    widen(column < 4 ? 4 : 2 * column);
  return columnOfAgent[agent] = column;
}

void RaceHistory::widen(u32 columns) {
  std::vector<u32> wider(cells.size() * size_t(columns), 0);
  for (size_t k = 0; k < cells.size(); ++k)
    std::copy_n(reads.begin() + k * stride, stride,
                wider.begin() + k * columns);
  reads = std::move(wider);
  stride = columns;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {

class RaceCheck {
public:
  RaceCheck(Warp &warp, const Instruction &instruction, Cta &cta,
            const RaceAccess &access)
      : warp(warp), instruction(instruction), cta(cta), access(access),
        history(cta.race), self(clusterWarpIndex(warp)),
        now(clocksOf(warp).vector.data()), fenced(clocksOf(warp).fenced.data()),
        column(access.isWrite ? 0 : history.columnOf(access.agent)) {}

  void read(u32 index, u32 offset) {
    u32 &last = history.readTime(index, column);
    if (last == access.time && !access.isAsync)
      return; // as before, and nobody wrote in between
    checkAfterWrite(index, offset, "read-after-write hazard", "read");
    if (access.isSync)
      return;
    last = access.time;
    history.cell(index).hasReads = true;
  }

  void write(u32 index, u32 offset) {
    checkAfterWrite(index, offset, "write-after-write hazard", "write");
    RaceCell &cell = history.cell(index);
    if (cell.hasReads) {
      checkAfterReads(index, offset);
      history.clearReads(index);
    }
    cell.writer = u16(access.agent + 1);
    cell.writeTime = access.time;
    cell.isSync = access.isSync;
  }

private:
  void checkAfterWrite(u32 index, u32 offset, const char *hazard,
                       const char *verb) {
    RaceCell &cell = history.cell(index);
    if (!cell.writer)
      return;
    u32 writer = cell.writer - 1u;
    bool isWarp = writer < cta.cluster->numWarps;
    bool isOrdered = writer == self || cell.writeTime <= now[writer] ||
                     (access.isSync && isWarp) ||
                     (cell.isSync && !access.isAsync);
    bool isVisible = !access.isAsync || access.isWrite || !isWarp ||
                     cell.writeTime == notYet ||
                     cell.writeTime <= fenced[writer];
    if (__builtin_expect(isOrdered && isVisible, 1))
      return;
    cell.writer = 0; // one finding per write
    if (!isOrdered)
      found(hazard, offset, verb, "write", writer);
    else if (checks(warp).proxyFence)
      foundUnfenced(offset, writer);
  }

  void checkAfterReads(u32 index, u32 offset) {
    const std::vector<u32> &agents = history.columnAgents();
    for (u32 k = 0; k < agents.size(); ++k)
      if (agents[k] != self && history.readTime(index, k) > now[agents[k]] &&
          !(access.isSync && agents[k] < cta.cluster->numWarps))
        found("write-after-read hazard", offset, "write", "read", agents[k]);
  }

  void found(const char *hazard, u32 offset, const char *verb,
             const char *otherVerb, u32 other) {
    if (!checks(warp).race)
      return;
    std::string who = describeAgent(*cta.cluster, other);
    report(warp, instruction, Finding::Race,
           format("%s: %s of shared offset %d of CTA rank %u is not ordered "
                  "after the %s by %s",
                  hazard, verb, printedOffset(offset), cta.rank, otherVerb,
                  who.c_str()),
           remedy(cta.cluster->agents[other].kind));
  }

  static const char *remedy(Agent::Kind kind) {
    switch (kind) {
    case Agent::Kind::Wgmma:
      return "release a stage only after the wgmma.wait_group that covers its "
             "reads";
    case Agent::Kind::BulkStore:
      return "wait with cp.async.bulk.wait_group.read before reusing the "
             "buffer";
    case Agent::Kind::Mbarrier:
      return "wait for the copy's mbarrier first";
    case Agent::Kind::TensorProduct:
      return "release a stage only after the mbarrier of the tcgen05.commit "
             "behind its reads";
    default:
      return "order the two accesses by a barrier or an mbarrier";
    }
  }

  void foundUnfenced(u32 offset, u32 writer) {
    report(warp, instruction, Finding::Proxy,
           format("shared offset %d is read through the async proxy, but was "
                  "written through the generic proxy by %s without "
                  "fence.proxy.async",
                  printedOffset(offset),
                  describeAgent(*cta.cluster, writer).c_str()),
           "execute fence.proxy.async.shared::cta in the writing warp, then a "
           "barrier");
  }

  Warp &warp;
  const Instruction &instruction;
  Cta &cta;
  const RaceAccess &access;
  RaceHistory &history;
  u32 self;
  const u32 *now, *fenced;
  u32 column;
};

} // namespace

void attn::sim::checkRace(Warp &warp, const Instruction &instruction, Cta &cta,
                          RaceAccess access) {
  bool synchronizes = instruction.synchronizes ||
                      instruction.instructionClass == InstructionClass::Atomic;
  if (access.agent == noAgent) {
    access.agent = clusterWarpIndex(warp);
    access.time = clocksOf(warp).vector[access.agent];
    access.isSync = synchronizes;
  }
  if (access.isSync) {
    SyncClock &word = cta.atomicClocks[access.offset & ~3u];
    acquireClock(warp, word);
    if (access.isWrite)
      releaseClock(warp, word);
  }
  RaceCheck check(warp, instruction, cta, access);
  if (access.isWrite)
    cta.race.forEachCell(
        access.offset, access.bytes, true,
        [&](u32 index, u32 offset) { check.write(index, offset); });
  else
    cta.race.forEachCell(
        access.offset, access.bytes, false,
        [&](u32 index, u32 offset) { check.read(index, offset); });
}

void attn::sim::addWriters(Cta &cta, u32 offset, u32 bytes, Writers &writers) {
  cta.race.forEachCell(offset, bytes, false, [&](u32 index, u32) {
    const RaceCell &cell = cta.race.cell(index);
    if (!cell.writer)
      return;
    u32 agent = cell.writer - 1u;
    auto known =
        std::find_if(writers.begin(), writers.end(),
                     [&](const auto &entry) { return entry.first == agent; });
    if (known == writers.end())
      writers.push_back({agent, cell.writeTime});
    else
      known->second = std::max(known->second, cell.writeTime);
  });
}

bool attn::sim::seesAll(const Warp &warp, const Writers &writers) {
  const SyncClock &mine = clocksOf(warp);
  for (auto [agent, time] : writers)
    if (time > mine.vector[agent] ||
        (agent < warp.cta->cluster->numWarps && time > mine.fenced[agent]))
      return false;
  return true;
}

void attn::sim::noteWrite(Cta &cta, u32 offset, u32 bytes, u32 agent,
                          u32 time) {
  cta.race.forEachCell(offset, bytes, true, [&](u32 index, u32) {
    cta.race.cell(index).writer = u16(agent + 1);
    cta.race.cell(index).writeTime = time;
    cta.race.cell(index).isSync = false;
  });
}

void attn::sim::noteArrival(Warp &warp, Cta &cta, u32 offset, u32 bytes,
                            u32 time) {
  if (cta.cluster->keepsClocks())
    noteWrite(cta, offset, bytes, clusterWarpIndex(warp), time);
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

void attn::sim::noteRemoteAccess(Warp &warp, Cta &cta) {
  if (&cta == warp.cta || !cta.cluster->keepsClocks())
    return;
  u32 self = clusterWarpIndex(warp);
  advance(cta.remoteAccesses, self, clocksOf(warp).vector[self]);
}

void attn::sim::noteExit(Warp &warp) {
  if (warp.cta->cluster->keepsClocks())
    join(warp.cta->exited, clocksOf(warp).vector);
}

/// Whatever reached into the CTA must have come before the exit of one of its
/// warps.
void attn::sim::checkCtaExit(Warp &warp, const Instruction &instruction) {
  Cta &cta = *warp.cta;
  if (!cta.cluster->keepsClocks() || !checks(warp).exit)
    return;
  for (u32 agent = 0; agent < cta.remoteAccesses.size(); ++agent) {
    u32 seen = agent < cta.exited.size() ? cta.exited[agent] : 0;
    if (cta.remoteAccesses[agent] <= seen)
      continue;
    bool isWarp = agent < cta.cluster->numWarps;
    std::string who = describeAgent(*cta.cluster, agent);
    report(warp, instruction, Finding::Memory,
           format("CTA rank %u exits, not ordered after %s %s", cta.rank,
                  isWarp ? "the access of its shared memory by" : "the end of",
                  who.c_str()),
           isWarp ? "keep the CTA alive with barrier.cluster before it exits"
                  : "wait for every copy into shared memory before the exit");
    return;
  }
}
