//===- MbarrierState.cpp - State of mbarrier objects ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MbarrierState.h"
#include "Memory.h"
#include "isa/Atomic.h"
#include "isa/CpAsync.h"

using namespace attn::sim;

MbarrierState attn::sim::readMbarrier(const Cta &cta, u32 offset) {
  u64 word;
  std::memcpy(&word, &cta.shared[offset], sizeof word);
  return MbarrierState::decode(word);
}

void attn::sim::writeMbarrier(Cta &cta, u32 offset, MbarrierState state) {
  if (state.pending == 0 && state.txCount == 0) {
    state.pending = state.expected;
    state.phase = (state.phase + 1) & 7;
    if (cta.cluster->observesSync()) {
      completePhase(*cta.cluster, cta.mbarrierClocks[offset]);
    }
    ++cta.cluster->events;
  }
  u64 word = state.encode();
  std::memcpy(&cta.shared[offset], &word, sizeof word);
}

void attn::sim::checkMbarrier(Warp &warp, const Instruction &instruction,
                              Cta &cta, u32 offset, bool mustBeInitialized) {
  if (offset < sharedBase || offset + 8 > cta.sharedBytes)
    fault(warp, instruction, Finding::Memory,
          format("mbarrier at shared offset %d is out of bounds (%u bytes)",
                 printedOffset(offset), cta.sharedBytes - sharedBase));
  if (offset % 8)
    fault(warp, instruction, Finding::Memory,
          format("mbarrier at shared offset %d is misaligned",
                 printedOffset(offset)));
  if (mustBeInitialized && !cta.mbarriers.count(offset))
    fault(warp, instruction, Finding::Sync,
          format("mbarrier at shared offset %d of CTA rank %u was not "
                 "initialized",
                 printedOffset(offset), cta.rank),
          "execute mbarrier.init, and a barrier before other threads use it");
  // The initialisation must happen before every use by another warp.
  if (cta.cluster->keepsClocks()) {
    checkRace(warp, instruction, cta, {offset, 8, !mustBeInitialized});
    noteRemoteAccess(warp, cta);
  }
  ++warp.worker->counters.mbarrierOps;
}

void attn::sim::noteMbarrierInit(Warp &warp, Cta &cta, u32 offset) {
  Cluster &cluster = *cta.cluster;
  MbarrierClocks &clocks = cta.mbarrierClocks[offset];
  // Times of the agent go on where the memory held another mbarrier before.
  u32 agent = clocks.agent, phases = clocks.phases;
  clocks = {};
  if (!cluster.keepsClocks())
    return;
  clocks.agent =
      agentOf(agent, cluster, {Agent::Kind::Mbarrier, cta.rank, offset});
  clocks.phases = phases;
  learn(warp, agent, phases);
  clocks.initializer = clusterWarpIndex(warp);
  clocks.initTime = clocksOf(warp).vector[clocks.initializer];
  warp.unfencedInits.push_back(&clocks);
}

void attn::sim::fenceMbarrierInits(Warp &warp) {
  if (warp.unfencedInits.empty())
    return;
  u32 self = clusterWarpIndex(warp);
  u32 &now = clocksOf(warp).vector[self];
  for (MbarrierClocks *clocks : warp.unfencedInits)
    if (clocks->initializer == self)
      clocks->fenceTime = now;
  warp.unfencedInits.clear();
  ++now;
}

void attn::sim::checkInitVisible(Warp &warp, const Instruction &instruction,
                                 Cta &cta, u32 offset) {
  if (!cta.cluster->keepsClocks() || !checks(warp).proxyFence)
    return;
  MbarrierClocks &clocks = cta.mbarrierClocks[offset];
  const SyncClock &mine = clocksOf(warp);
  bool isVisible = (clocks.fenceTime &&
                    mine.vector[clocks.initializer] > clocks.fenceTime) ||
                   mine.fenced[clocks.initializer] >= clocks.initTime;
  if (isVisible)
    return;
  clocks.initTime = 0; // one finding per mbarrier
  report(warp, instruction, Finding::Proxy,
         format("a copy uses the mbarrier at shared offset %d of CTA rank %u, "
                "which %s initialized without fence.mbarrier_init",
                printedOffset(offset), cta.rank,
                describeAgent(*cta.cluster, clocks.initializer).c_str()),
         "execute fence.mbarrier_init.release.cluster after mbarrier.init, "
         "then a barrier");
}

static s32 checkedTx(const Warp &warp, const Instruction &instruction, s64 tx) {
  if (tx > maxMbarrierTx || tx < -maxMbarrierTx)
    fault(warp, instruction, Finding::Sync,
          format("mbarrier tx-count overflow (%lld)", (long long)tx));
  return s32(tx);
}

void attn::sim::arriveOnMbarrier(Warp &warp, const Instruction &instruction,
                                 Cta &cta, u32 offset, u32 count, s64 tx) {
  checkMbarrier(warp, instruction, cta, offset);
  // Copies in flight may complete the phase that is still open here.
  if (readMbarrier(cta, offset).pending < count)
    completeCopiesOn(cta, offset);
  MbarrierState state = readMbarrier(cta, offset);
  if (state.pending < count)
    fault(warp, instruction, Finding::Sync,
          format("mbarrier at shared offset %d of CTA rank %u: %u arrival(s) "
                 "but only %u pending of %u expected, tx-count %d, phase %u",
                 printedOffset(offset), cta.rank, count, state.pending,
                 state.expected, state.txCount, state.phase),
          "more threads arrive than mbarrier.init said, or the bytes of "
          "expect_tx and of the copies differ");
  if (cta.cluster->observesSync())
    arriveInPhase(warp, instruction, cta.mbarrierClocks[offset],
                  /*isCopy=*/false);
  state.txCount = checkedTx(warp, instruction, state.txCount + tx);
  state.pending -= count;
  writeMbarrier(cta, offset, state);
  ++cta.cluster->events;
}

void attn::sim::addMbarrierTx(Warp &warp, const Instruction &instruction,
                              Cta &cta, u32 offset, s64 tx) {
  checkMbarrier(warp, instruction, cta, offset);
  MbarrierState state = readMbarrier(cta, offset);
  state.txCount = checkedTx(warp, instruction, state.txCount + tx);
  writeMbarrier(cta, offset, state);
}

void attn::sim::noteCopy(Warp &warp, const Instruction &instruction, Cta &cta,
                         u32 offset) {
  if (!cta.cluster->observesSync())
    return;
  MbarrierClocks &clocks = cta.mbarrierClocks[offset];
  arriveInPhase(warp, instruction, clocks, /*isCopy=*/true);
  if (cta.cluster->keepsClocks())
    advance(cta.remoteAccesses, clocks.agent, clocks.phases + 1);
}

/// The arrival comes with the end of the products, as the tensor pipe makes it:
/// who has waited for a later commit of the thread may exit. By the ISA only
/// who has waited on this mbarrier.
void attn::sim::noteCommit(Warp &warp, const Instruction &instruction, Cta &cta,
                           u32 offset, u32 agent, u32 time) {
  if (options(warp).strictTensorOrder || !cta.cluster->keepsClocks()) {
    noteCopy(warp, instruction, cta, offset);
  } else {
    arriveInPhase(warp, instruction, cta.mbarrierClocks[offset],
                  /*isCopy=*/true);
    advance(cta.remoteAccesses, agent, time);
  }
  if (cta.cluster->keepsClocks())
    advance(cta.mbarrierClocks[offset].arriving.vector, agent, time);
}

void attn::sim::completeOnMbarrier(Cta &cta, u32 offset, u32 bytes,
                                   u32 arrivals, u64 cycle) {
  MbarrierState state = readMbarrier(cta, offset);
  state.pending = state.pending >= arrivals ? state.pending - arrivals : 0;
  state.txCount -= s32(bytes);
  if (cta.cluster->observesSync()) {
    SyncClock &arriving = cta.mbarrierClocks[offset].arriving;
    arriving.cycle = std::max(arriving.cycle, cycle);
  }
  writeMbarrier(cta, offset, state);
  ++cta.cluster->events;
}

bool attn::sim::mbarrierReady(Cta &cta, u32 offset, PhaseTest test) {
  while (!test.passed(readMbarrier(cta, offset).phase))
    if (!completeCopiesOn(cta, offset))
      return false;
  return true;
}

std::string attn::sim::describeMbarrier(const Cta &cta, u32 offset) {
  MbarrierState state = readMbarrier(cta, offset);
  u32 copies = 0;
  for (const PendingCopy &copy : cta.pendingCopies)
    copies += copy.mbarrier == offset;
  return format("mbarrier at shared offset %d of CTA rank %u: phase %u, "
                "pending %u of %u arrivals, tx-count %d, %u copies in flight",
                printedOffset(offset), cta.rank, state.phase, state.pending,
                state.expected, state.txCount, copies);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The CTA whose mbarrier a copy signals.
static Cta &signaledCta(const PendingCopy &copy) {
  return copy.signaled ? *copy.signaled : *copy.destination;
}

static void completeStore(PendingCopy &copy) {
  u8 *shared = &copy.destination->shared[copy.offset];
  if (copy.reduces)
    reduceBytes(shared, copy.data.data(), copy.bytes, copy.reduction,
                copy.elementType);
  else
    std::memcpy(shared, copy.data.data(), copy.bytes);
}

void attn::sim::completeCopy(PendingCopy &copy) {
  Cta &cta = *copy.destination;
  switch (copy.kind) {
  case PendingCopy::Kind::CpAsyncArrive:
    completeCpAsyncBefore(*copy.warp, copy.mask, copy.sequence, copy.time);
    completeOnMbarrier(cta, copy.mbarrier, 0, countLanes(copy.mask),
                       copy.doneCycle);
    return;
  case PendingCopy::Kind::TensorCommit:
    completeOnMbarrier(cta, copy.mbarrier, 0, 1, copy.doneCycle);
    return;
  case PendingCopy::Kind::Tensor:
    loadBox(copy.map, copy.coordinates, cta.shared.data(), copy.offset);
    break;
  case PendingCopy::Kind::Bulk:
    std::memcpy(&cta.shared[copy.offset],
                copy.data.empty() ? reinterpret_cast<const u8 *>(copy.source)
                                  : copy.data.data(),
                copy.bytes);
    break;
  case PendingCopy::Kind::Store:
    completeStore(copy);
    break;
  }
  markWritten(cta, copy.offset, copy.bytes);
  ++cta.epoch;
  completeOnMbarrier(signaledCta(copy), copy.mbarrier, copy.bytes, 0,
                     copy.doneCycle);
}

/// False of arrivals alone: those of cp.async and of tcgen05.commit.
static bool bringsBytes(const PendingCopy &copy) {
  return copy.kind != PendingCopy::Kind::CpAsyncArrive &&
         copy.kind != PendingCopy::Kind::TensorCommit;
}

bool attn::sim::completeCopiesOn(Cta &cta, u32 offset) {
  std::vector<PendingCopy> &pending = cta.pendingCopies;
  u32 phase = readMbarrier(cta, offset).phase;
  bool any = false;
  for (size_t i = 0; i < pending.size();) {
    bool isLate =
        bringsBytes(pending[i]) && readMbarrier(cta, offset).phase != phase;
    if (pending[i].mbarrier != offset || isLate) {
      ++i;
      continue;
    }
    PendingCopy copy = std::move(pending[i]);
    pending.erase(pending.begin() + i);
    completeCopy(copy);
    any = true;
  }
  return any;
}

void attn::sim::issueCopy(Warp &warp, PendingCopy copy) {
  if (copy.kind != PendingCopy::Kind::TensorCommit)
    signaledCta(copy).copyMbarriers.insert(copy.mbarrier);
  if (options(warp).deferAsync)
    signaledCta(copy).pendingCopies.push_back(std::move(copy));
  else
    completeCopy(copy);
}
