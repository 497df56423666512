//===- SyncClock.cpp - Vector clocks and the race check -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A happens-before race detector in the manner of FastTrack (Flanagan and
/// Freund, 2009), with warps for threads: it finds a race in any schedule that
/// executes the two accesses, not only in one where they collide. Atomics and
/// volatile, acquire and release accesses count as synchronisation.
///
//===----------------------------------------------------------------------===//

#include "Memory.h"

using namespace attn::sim;

u32 attn::sim::clusterWarpIndex(const Warp &warp) {
  return warp.cta->rank * u32(warp.cta->warps.size()) + warp.id;
}

void attn::sim::releaseClock(Warp &warp, SyncClock &object) {
  Cluster &cluster = *warp.cta->cluster;
  if (!cluster.observesSync())
    return;
  object.cycle = std::max(object.cycle, warp.cycle);
  if (!cluster.raceWarps)
    return;
  u32 self = clusterWarpIndex(warp);
  join(object.vector, cluster.clocks[self]);
  ++cluster.clocks[self][self];
}

void attn::sim::acquireClock(Warp &warp, const SyncClock &object) {
  Cluster &cluster = *warp.cta->cluster;
  if (!cluster.observesSync())
    return;
  warp.cycle = std::max(warp.cycle, object.cycle);
  if (cluster.raceWarps)
    join(cluster.clocks[clusterWarpIndex(warp)], object.vector);
}

namespace {

class RaceCheck {
public:
  RaceCheck(Warp &warp, const Instruction &instruction, Cta &cta)
      : warp(warp), instruction(instruction), cta(cta),
        numWarps(cta.cluster->raceWarps), self(clusterWarpIndex(warp)),
        now(cta.cluster->clocks[self].data()) {}

  void read(u32 granule) {
    checkAfterWrite(granule, "read-after-write hazard", "read");
    cta.race.readTime[size_t(granule) * numWarps + self] = now[self];
  }

  void write(u32 granule) {
    checkAfterWrite(granule, "write-after-write hazard", "write");
    u32 *__restrict reads = &cta.race.readTime[size_t(granule) * numWarps];
    const u32 *__restrict clock = now;
    bool unordered = false;
    for (u32 other = 0; other < numWarps; ++other)
      unordered |= (reads[other] > clock[other]) & (other != self);
    if (__builtin_expect(unordered, 0))
      for (u32 other = 0; other < numWarps; ++other)
        if (other != self && reads[other] > clock[other])
          found("write-after-read hazard", granule, "write", "read", other);
    std::fill_n(reads, numWarps, 0);
    cta.race.writer[granule] = self + 1;
    cta.race.writeTime[granule] = now[self];
  }

private:
  void checkAfterWrite(u32 granule, const char *hazard, const char *verb) {
    u32 writer = cta.race.writer[granule];
    if (!writer || writer - 1 == self ||
        cta.race.writeTime[granule] <= now[writer - 1])
      return;
    cta.race.writer[granule] = 0; // one finding per write
    found(hazard, granule, verb, "write", writer - 1);
  }

  void found(const char *hazard, u32 granule, const char *verb,
             const char *otherVerb, u32 other) {
    u32 perCta = u32(cta.warps.size());
    std::string who = format("warp %u", other % perCta);
    if (cta.cluster->ctas.size() > 1)
      who += format(" of CTA rank %u", other / perCta);
    report(warp, instruction, Finding::Race,
           format("%s: %s of shared offset %d of CTA rank %u is not ordered "
                  "after the %s by %s",
                  hazard, verb, printedOffset(granule * 2), cta.rank, otherVerb,
                  who.c_str()),
           "order the two accesses by a barrier or an mbarrier");
  }

  Warp &warp;
  const Instruction &instruction;
  Cta &cta;
  u32 numWarps, self;
  const u32 *now;
};

} // namespace

void attn::sim::checkRace(Warp &warp, const Instruction &instruction, Cta &cta,
                          u32 offset, u32 bytes, bool isWrite) {
  bool synchronizes = instruction.synchronizes ||
                      instruction.instructionClass == InstructionClass::Atomic;
  if (synchronizes) {
    SyncClock &word = cta.atomicClocks[offset & ~3u];
    acquireClock(warp, word);
    if (isWrite)
      releaseClock(warp, word);
    return;
  }
  RaceCheck check(warp, instruction, cta);
  for (u32 granule = offset >> 1; granule < (offset + bytes + 1) >> 1;
       ++granule)
    isWrite ? check.write(granule) : check.read(granule);
}

void attn::sim::noteArrival(Warp &warp, Cta &cta, u32 offset, u32 bytes) {
  if (!cta.cluster->raceWarps)
    return;
  u32 self = clusterWarpIndex(warp);
  for (u32 granule = offset >> 1; granule < (offset + bytes + 1) >> 1;
       ++granule) {
    cta.race.writer[granule] = self + 1;
    cta.race.writeTime[granule] = cta.cluster->clocks[self][self];
  }
}
