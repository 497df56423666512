//===- Timing.cpp - What a kernel keeps busy, predicted -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Simulator/Timing.h"

#include "LatencyModel.h"
#include "attn/Support/Format.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>

using namespace attn;
using namespace attn::sim;

//===----------------------------------------------------------------------===//
// Warps and CTAs
//===----------------------------------------------------------------------===//

/// Clocks of the warps of `role`: what they did and what they waited for.
static RoleTiming getRole(const char *role, const LaunchReport &report) {
  const Counters &counters = report.counters;
  RoleTiming timing;
  timing.role = role;
  std::vector<bool> isMember;
  for (size_t warp = 0; warp < counters.perWarp.size(); ++warp) {
    isMember.push_back(std::string(roleOf(counters.perWarp, warp)) == role);
    if (!isMember.back())
      continue;
    ++timing.warps;
    for (uint64_t count : counters.perWarp[warp])
      timing.instructions += double(count);
  }
  for (const TraceEvent &event : report.timeline.events) {
    if (event.track >= isMember.size() || !isMember[event.track])
      continue;
    double clocks = double(event.end - event.begin);
    if (event.wait)
      timing.waitClocks[size_t(*event.wait)] += clocks;
    else
      timing.busyClocks += clocks;
  }
  double all = std::max(1.0, double(timing.warps) * double(counters.ctas));
  timing.instructions /= all;
  timing.busyClocks /= all;
  for (double &clocks : timing.waitClocks)
    clocks /= all;
  return timing;
}

/// The last clock of each CTA, in the order of the grid.
static std::vector<uint64_t> getCtaClocks(const Timeline &timeline) {
  std::map<uint32_t, uint64_t> ends;
  for (const TraceEvent &event : timeline.events)
    ends[event.cta] = std::max(ends[event.cta], event.end);
  std::vector<uint64_t> clocks;
  for (const auto &[cta, end] : ends)
    clocks.push_back(end);
  return clocks;
}

/// The next CTA goes to one of the `places` that is free first.
static uint64_t getKernelClocks(const std::vector<uint64_t> &ctas,
                                uint32_t places) {
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> free(
      std::greater<>(), std::vector<uint64_t>(std::max(places, 1u), 0));
  uint64_t last = 0;
  for (uint64_t clocks : ctas) {
    uint64_t end = free.top() + clocks;
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last;
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// What copies and stores write, and loads and products read.
static double getSharedBytes(const Counters &counters) {
  return double(counters.cpAsyncBytes + counters.bulkSharedBytes +
                counters.sharedLoadBytes + counters.sharedStoreBytes +
                counters.wgmmaSharedBytes + counters.tcgen05SharedBytes);
}

/// Clocks of an SM in which a unit is needed, of all CTAs together.
static std::vector<UnitTiming> getUnits(const LaunchReport &report) {
  const Counters &counters = report.counters;
  double schedulers = 0, special = 0;
  for (size_t k = 0; k < numInstructionClasses; ++k) {
    auto count = double(counters.warpInstructions[k]);
    schedulers += count / schedulersPerSm;
    if (isSpecialFunction(InstructionClass(k)))
      special += count * 32 / specialFunctionsPerCycle;
  }
  double copied = double(counters.cpAsyncBytes + counters.tmaLoadBytes);
  bool usesTensorMemory =
      counters.warpInstructions[size_t(InstructionClass::Tcgen05)];
  double tensorFlops =
      usesTensorMemory ? tcgen05FlopsPerCycle : tensorFlopsPerCycle;
  return {{"tensor cores", double(counters.mmaFlops) / tensorFlops},
          {"special functions", special},
          {"issue", schedulers},
          {"copies", copied / double(report.timeline.copyBytesPerCycle)},
          {"shared memory",
           getSharedBytes(counters) / double(sharedBytesPerCycle)}};
}

/// `ctaClocks`: of all CTAs.
static CacheTiming getCache(const LaunchReport &report, double ctaClocks) {
  const Counters &counters = report.counters;
  CacheTiming cache;
  ReadRequests requests;
  const ReadRequests *first = nullptr;
  for (const BufferTraffic &buffer : counters.buffers) {
    if (buffer.name != "key" && buffer.name != "value")
      continue;
    cache.bytes += buffer.read();
    requests.add(buffer.requests);
    bool isFirst = !first || buffer.requests.instructionsBefore <
                                 first->instructionsBefore;
    if (buffer.requests.sectors && isFirst)
      first = &buffer.requests;
  }
  if (cache.bytes == 0)
    return cache;
  cache.sectorUse = requests.sectorUse();
  cache.instructionsBefore = first->instructionsBefore;
  cache.waitsBefore = first->waitsBefore;
  auto bytes = double(cache.bytes);
  for (uint64_t count : counters.warpInstructions)
    cache.instructions += double(count) / bytes;
  cache.sharedBytes = getSharedBytes(counters) / bytes;
  cache.inFlight =
      double(report.timeline.byteCycles) / std::max(1.0, ctaClocks);
  return cache;
}

void attn::sim::setTiming(Options &options) {
  options.traceClusters = std::numeric_limits<unsigned>::max();
}

Timing attn::sim::getTiming(const LaunchReport &report, uint32_t smCount,
                            uint32_t ctasPerSm) {
  Timing timing;
  timing.ctasPerSm = std::max(ctasPerSm, 1u);
  timing.ctas = report.counters.ctas;
  for (const char *role : roleNames)
    if (RoleTiming of = getRole(role, report); of.warps)
      timing.roles.push_back(std::move(of));
  timing.units = getUnits(report);
  for (UnitTiming &unit : timing.units)
    unit.clocks /= std::max(1.0, double(timing.ctas));
  std::vector<uint64_t> ctas = getCtaClocks(report.timeline);
  for (uint64_t clocks : ctas)
    timing.ctaClocks += double(clocks) / double(ctas.size());
  for (uint64_t clocks : ctas)
    timing.longestCtaClocks = std::max(timing.longestCtaClocks, clocks);
  timing.kernelClocks = getKernelClocks(ctas, smCount * timing.ctasPerSm);
  timing.cache = getCache(report, timing.ctaClocks * double(ctas.size()));
  timing.cache.inFlight *= timing.ctasPerSm;
  return timing;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string Timing::print() const {
  std::vector<std::string> header = {"role", "warps", "instructions", "busy"};
  for (size_t reason = 0; reason < numWaitReasons; ++reason)
    header.push_back(std::string("waits: ") + name(WaitReason(reason)));
  std::vector<Table::Alignment> alignment(header.size(), Table::Right);
  alignment.front() = Table::Left;
  Table warps(header, alignment);
  for (const RoleTiming &role : roles) {
    std::vector<std::string> row = {role.role, std::to_string(role.warps),
                                    formatFixed(role.instructions, 0),
                                    formatFixed(role.busyClocks, 0)};
    for (double clocks : role.waitClocks)
      row.push_back(formatFixed(clocks, 0));
    warps.addRow(row);
  }
  Table shared({"unit of an SM", "clocks", "of the CTA"},
               {Table::Left, Table::Right, Table::Right});
  for (const UnitTiming &unit : units)
    shared.addRow({unit.unit, formatFixed(unit.clocks, 0),
                   formatPercent(unit.clocks / std::max(1.0, ctaClocks))});
  std::string ofCache;
  if (cache.bytes != 0)
    ofCache =
        "keys and values: " + formatCount(int64_t(cache.bytes)) +
        " bytes; for each " + formatFixed(cache.instructions, 4) +
        " warp instructions and " + formatFixed(cache.sharedBytes, 2) +
        " bytes of shared memory; " + formatCount(int64_t(cache.inFlight)) +
        " on their way to " +
        (ctasPerSm > 1 ? "the " + std::to_string(ctasPerSm) + " CTAs of an SM"
                       : std::string("a CTA")) +
        " in the mean\nrequests of these: " + formatPercent(cache.sectorUse) +
        " of the sectors' bytes used; the first of a CTA behind " +
        formatCount(int64_t(cache.instructionsBefore)) +
        " instructions of its warp, with " +
        formatCount(int64_t(cache.waitsBefore)) +
        (cache.waitsBefore == 1 ? " wait\n" : " waits\n");
  return warps.print() + shared.print() + ofCache +
         "predicted: " + formatFixed(ctaClocks, 0) + " clocks a CTA, " +
         formatCount(int64_t(kernelClocks)) + " for " +
         formatCount(int64_t(ctas)) + " CTAs; the longest CTA takes " +
         formatFixed(double(longestCtaClocks) / std::max(1.0, ctaClocks), 2) +
         " of the mean\n";
}
