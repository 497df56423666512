//===- Cluster.cpp - Running the warps of a cluster -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The warps of a cluster take turns on one host thread. When none can go on,
/// waits on mbarriers return false once, as try_wait may; if that leads nowhere
/// it is a deadlock.
///
//===----------------------------------------------------------------------===//

#include "MbarrierState.h"
#include "Memory.h"
#include "Module.h"
#include "SpecialRegisters.h"
#include "Tracer.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace attn::sim;

namespace {

/// Rounds in which every wait timed out and nothing happened: a deadlock.
constexpr u32 maxIdleRounds = 200;
/// Bytes behind shared memory that vector copies may touch.
constexpr u32 sharedPadding = 64;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

void initWarp(LaunchContext &launch, Worker &worker, Cta &cta, u32 id) {
  const Program &program = *launch.program;
  Warp &warp = cta.warps[id];
  warp.cta = &cta;
  warp.worker = &worker;
  warp.program = &program;
  warp.id = id;
  // Rows are aligned to cache lines.
  u64 file = (reinterpret_cast<u64>(cta.registerFile.data()) + 63) / 64 * 64;
  warp.registers =
      reinterpret_cast<u32 *>(file) + size_t(program.numSlots) * warpSize * id;
  warp.predicates =
      cta.predicateFile.data() + size_t(program.numPredicates) * id;
  warp.localBytes = program.localBytes;
  warp.local =
      cta.localMemory.data() + size_t(program.localBytes) * warpSize * id;
  u32 threads = std::min(warpSize, launch.threadsPerCta() - id * warpSize);
  warp.live = threads == warpSize ? fullMask : (1u << threads) - 1;
  warp.mask = warp.live;
  warp.pc = program.entryPc;
  if (checks(warp).uninitializedRegister) {
    warp.definedSlots.assign(program.numSlots, 0);
    warp.definedPredicates.assign(program.numPredicates, 0);
  }
  if (checks(warp).wgmmaFence && program.usesWgmma)
    warp.slotStamps.assign(program.numSlots, 0);
  setSpecialRegisters(launch, warp);
}

void initShared(LaunchContext &launch, Cta &cta) {
  cta.sharedBytes = sharedBase + launch.sharedBytes;
  cta.shared.assign(cta.sharedBytes + sharedPadding,
                    launch.options->sharedFill);
  size_t words = cta.sharedBytes / 4 + 16;
  cta.shadow.assign(words, 0);
  if (cta.cluster->keepsClocks())
    cta.race.init(cta.sharedBytes + sharedPadding);
}

void initCta(LaunchContext &launch, Worker &worker, Cluster &cluster,
             u32 rank) {
  const Program &program = *launch.program;
  const Dim3 &grid = launch.config->grid;
  const u32 *dims = launch.clusterDims, *counts = launch.clusterCounts;
  Cta &cta = cluster.ctas[rank];
  cta.cluster = &cluster;
  cta.rank = rank;
  u32 inCluster[3] = {rank % dims[0], rank / dims[0] % dims[1],
                      rank / dims[0] / dims[1]};
  u64 index = cluster.index;
  for (u32 axis = 0; axis < 3; ++axis) {
    cta.index[axis] = u32(index % counts[axis]) * dims[axis] + inCluster[axis];
    index /= counts[axis];
  }
  cta.linear = cta.index[0] + grid.x * (cta.index[1] + grid.y * cta.index[2]);
  initShared(launch, cta);
  u32 numWarps = launch.warpsPerCta();
  cta.registerFile.assign(
      size_t(program.numSlots) * warpSize * numWarps + warpSize, 0);
  cta.predicateFile.assign(size_t(program.numPredicates) * numWarps + 1, 0);
  cta.localMemory.assign(size_t(program.localBytes) * warpSize * numWarps + 16,
                         0);
  cta.liveLanes = launch.threadsPerCta();
  cluster.liveLanes += cta.liveLanes;
  cta.warps.resize(numWarps);
  for (u32 id = 0; id < numWarps; ++id)
    initWarp(launch, worker, cta, id);
}

void initClocks(LaunchContext &launch, Cluster &cluster) {
  const Checks &checks = launch.options->checks;
  cluster.numWarps = launch.ctasPerCluster() * launch.warpsPerCta();
  bool needsOrder = launch.config->isProgrammatic && checks.gridWait;
  if (!checks.needsClocks() && !needsOrder)
    return;
  cluster.clocks.resize(cluster.numWarps);
  for (u32 k = 0; k < cluster.numWarps; ++k) {
    addAgent(cluster, {Agent::Kind::Warp, k / launch.warpsPerCta(),
                       k % launch.warpsPerCta()});
    advance(cluster.clocks[k].vector, k, 1);
  }
  if (needsOrder)
    cluster.gridAgent = addAgent(cluster, {Agent::Kind::Grid});
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

std::vector<Warp *> allWarps(Cluster &cluster) {
  std::vector<Warp *> warps;
  for (Cta &cta : cluster.ctas)
    for (Warp &warp : cta.warps)
      warps.push_back(&warp);
  return warps;
}

/// Knuth's MMIX generator; the high bits are used.
u32 nextRandom(Cluster &cluster) {
  cluster.random =
      cluster.random * 6364136223846793005ull + 1442695040888963407ull;
  return u32(cluster.random >> 33);
}

struct RoundResult {
  u64 used = 0;
  u32 liveWarps = 0;
};

/// Gives every warp a turn; in a random order and with random slices if there
/// is a seed.
RoundResult runRound(const std::vector<Warp *> &warps, Cluster &cluster,
                     const Options &options) {
  RoundResult result;
  size_t first = options.seed ? nextRandom(cluster) % warps.size() : 0;
  for (size_t k = 0; k < warps.size(); ++k) {
    Warp &warp = *warps[(k + first) % warps.size()];
    if (warp.done)
      continue;
    ++result.liveWarps;
    u64 slice =
        options.seed ? 1 + nextRandom(cluster) % options.slice : options.slice;
    result.used += runWarp(warp, slice);
  }
  return result;
}

/// Sets the horizon behind the earliest of the clocks that are not behind it;
/// false if there is none.
bool advanceHorizon(const std::vector<Warp *> &warps, Cluster &cluster) {
  // As long as a warp instruction of special functions occupies their pipe.
  constexpr u64 turn = 8;
  std::optional<u64> next;
  for (const Warp *warp : warps)
    if (!warp->done && warp->cycle >= cluster.horizon)
      next = std::min(next.value_or(warp->cycle), warp->cycle);
  if (next)
    cluster.horizon = *next + turn;
  return next.has_value();
}

/// An instruction of each warp whose clock is behind the horizon, which follows
/// when none of them can go on: what they share they take in the order of
/// their clocks, but for a turn.
RoundResult runRoundByClock(const std::vector<Warp *> &warps,
                            Cluster &cluster) {
  RoundResult result;
  do {
    result.liveWarps = 0;
    for (Warp *warp : warps) {
      if (warp->done)
        continue;
      ++result.liveWarps;
      if (warp->cycle < cluster.horizon)
        result.used += runWarp(*warp, 1);
    }
  } while (!result.used && advanceHorizon(warps, cluster));
  return result;
}

/// Lets every wait on an mbarrier return false; true if there is one.
bool timeOutWaits(const std::vector<Warp *> &warps) {
  bool any = false;
  for (Warp *warp : warps)
    if (!warp->done)
      for (Split &split : warp->splits)
        if (split.wait.kind == Wait::Kind::Mbarrier) {
          split.wait.timedOut = true;
          any = true;
        }
  return any;
}

[[noreturn]] void failDeadlock(Cluster &cluster, const std::string &what,
                               Finding finding) {
  const Cta &cta = cluster.ctas.front();
  Diagnostic diagnostic;
  diagnostic.finding = finding;
  diagnostic.message = what + "\n" + describeDeadlock(cluster);
  diagnostic.file = cta.warps.front().program->module->fileName();
  diagnostic.kernel = cta.warps.front().program->name;
  throw SimulationError(std::move(diagnostic));
}

void handleStall(Cluster &cluster, const std::vector<Warp *> &warps) {
  bool progressed = cluster.events != cluster.lastEvents;
  cluster.lastEvents = cluster.events;
  cluster.idleRounds = progressed ? 0 : cluster.idleRounds + 1;
  if (!timeOutWaits(warps) || cluster.idleRounds > maxIdleRounds)
    failDeadlock(cluster, "deadlock: no warp of the cluster can make progress",
                 Finding::Sync);
}

/// Copies that nobody waited for still arrive.
void finishCluster(Cluster &cluster) {
  for (Cta &cta : cluster.ctas) {
    std::vector<PendingCopy> copies = std::move(cta.pendingCopies);
    cta.pendingCopies.clear();
    for (PendingCopy &copy : copies)
      completeCopy(copy);
  }
  if (cluster.tracer)
    cluster.tracer->finish(cluster);
}

std::string describeWait(const Cluster &cluster, const Cta &cta,
                         const Warp &warp, const Split &split) {
  const Wait &wait = split.wait;
  switch (wait.kind) {
  case Wait::Kind::Barrier: {
    const NamedBarrier &barrier = cta.barriers[wait.id];
    return format("barrier %u, %u of %u threads arrived", wait.id,
                  barrier.arrived,
                  barrier.hasCount ? barrier.expected : cta.liveLanes);
  }
  case Wait::Kind::Mbarrier:
    return describeMbarrier(cluster.ctas[wait.rank], wait.offset) +
           format(", waiting for %s %llu",
                  wait.parity ? "parity" : "the end of phase",
                  (unsigned long long)(wait.parity ? wait.phase & 1
                                                   : wait.phase >> 61));
  case Wait::Kind::Cluster:
    return format("cluster barrier, %u of %u threads arrived", cluster.arrived,
                  cluster.liveLanes);
  case Wait::Kind::Wgmma:
    return "the other warps of its warpgroup to issue the same wgmma";
  case Wait::Kind::TensorPeer: {
    const Cta *peer = peerCta(warp);
    return format("CTA rank %u, the peer, to execute the same%s", peer->rank,
                  peer->liveLanes ? "" : "; it has exited");
  }
  case Wait::Kind::Converge:
    return format("convergence of lanes %08x (live %08x)", wait.needed,
                  warp.live);
  case Wait::Kind::None:
    break;
  }
  return "ready";
}

} // namespace

std::unique_ptr<Cluster> attn::sim::makeCluster(LaunchContext &launch,
                                                Worker &worker, u64 index) {
  auto cluster = std::make_unique<Cluster>();
  cluster->index = index;
  cluster->random = launch.options->seed * 0x9E3779B97F4A7C15ull + index + 1;
  u32 numCtas = launch.ctasPerCluster();
  cluster->ctas.resize(numCtas);
  initClocks(launch, *cluster);
  if (launch.options->seed)
    cluster->horizon = std::numeric_limits<u64>::max();
  if (index < launch.tracers.size())
    cluster->tracer = launch.tracers[index].get();
  for (u32 rank = 0; rank < numCtas; ++rank)
    initCta(launch, worker, *cluster, rank);
  worker.counters.ctas += numCtas;
  return cluster;
}

std::string attn::sim::describeDeadlock(Cluster &cluster) {
  constexpr u32 maxLines = 60;
  std::string text;
  u32 lines = 0;
  for (const Cta &cta : cluster.ctas)
    for (const Warp &warp : cta.warps)
      for (const Split &split : warp.splits) {
        if (warp.done || lines++ >= maxLines)
          continue;
        const Instruction &i = warp.program->code[split.pc];
        text += format("  CTA (%u,%u,%u) rank %u warp %u lanes %08x line %u: ",
                       cta.index[0], cta.index[1], cta.index[2], cta.rank,
                       warp.id, split.mask, i.line);
        text += describeWait(cluster, cta, warp, split) + "\n";
      }
  if (!text.empty())
    text.pop_back();
  return text;
}

bool attn::sim::runCluster(LaunchContext &launch, Cluster &cluster,
                           Worker &worker, u64 quota) {
  const Options &options = *launch.options;
  std::vector<Warp *> warps = allWarps(cluster);
  u64 used = 0;
  for (;;) {
    RoundResult round = cluster.tracer && !options.seed
                            ? runRoundByClock(warps, cluster)
                            : runRound(warps, cluster, options);
    used += round.used;
    if (!round.liveWarps) {
      finishCluster(cluster);
      launch.totalInstructions += used;
      return true;
    }
    if (launch.stop)
      return true;
    if (!round.used)
      handleStall(cluster, warps);
    if (used < quota)
      continue;
    launch.totalInstructions += used;
    if (options.maxWarpInstructions &&
        launch.totalInstructions > options.maxWarpInstructions)
      failDeadlock(cluster, "instruction limit reached (livelock?)",
                   Finding::Trap);
    return false;
  }
}
