//===- WarpScheduler.cpp - SIMT execution of a warp -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A warp is a set of splits, each a pc with its lanes. The split with the
/// lowest pc runs; splits that meet at a pc merge, which reconverges loops and
/// conditionals as compilers lay them out. Every so often the highest pc runs
/// instead, so that lanes which spin cannot starve those they wait for.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "MbarrierState.h"
#include "Tracer.h"
#include "isa/Tcgen05.h"
#include "isa/Wgmma.h"

using namespace attn::sim;

//===----------------------------------------------------------------------===//
// Convergence
//===----------------------------------------------------------------------===//

bool attn::sim::convergesWith(Warp &warp, const Instruction &instruction,
                              u32 members) {
  u32 needed = members & warp.live;
  if ((needed & ~warp.active) == 0)
    return true;
  if (u32 missing = needed & warp.mask & ~warp.active)
    fault(warp, instruction, Finding::Sync,
          format("divergent thread(s) in warp: lanes %08x named by a .sync or "
                 ".aligned instruction are predicated off",
                 missing));
  warp.wait = {};
  warp.wait.kind = Wait::Kind::Converge;
  warp.wait.needed = needed;
  return false;
}

bool attn::sim::convergesFully(Warp &warp, const Instruction &instruction) {
  if (!convergesWith(warp, instruction, warp.live))
    return false;
  if (warp.active != fullMask)
    fault(warp, instruction, Finding::Sync,
          format("warp-wide instruction executed by %u of 32 lanes",
                 countLanes(warp.active)));
  return true;
}

bool attn::sim::isReady(Warp &warp, Split &split) {
  const Wait &wait = split.wait;
  switch (wait.kind) {
  case Wait::Kind::None:
    return true;
  case Wait::Kind::Converge:
    return (wait.needed & warp.live & ~split.mask) == 0;
  case Wait::Kind::Barrier:
    return warp.cta->barriers[wait.id].generation != wait.generation;
  case Wait::Kind::Mbarrier:
    return wait.timedOut ||
           mbarrierReady(warp.cta->cluster->ctas[wait.rank], wait.offset,
                         {wait.parity, wait.phase});
  case Wait::Kind::Cluster:
    return warp.cta->cluster->generation != wait.generation;
  case Wait::Kind::Wgmma:
    return isWgmmaReady(warp, wait);
  case Wait::Kind::TensorPeer:
    return warp.cta->tensor.request.warp != &warp;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

namespace {

bool canMerge(const Split &split) {
  return split.wait.kind <= Wait::Kind::Converge;
}

void mergeSplits(Warp &warp) {
  std::vector<Split> &splits = warp.splits;
  for (size_t a = 0; a < splits.size(); ++a)
    for (size_t b = a + 1; b < splits.size();) {
      bool merges = splits[a].pc == splits[b].pc && canMerge(splits[a]) &&
                    canMerge(splits[b]);
      if (!merges) {
        ++b;
        continue;
      }
      splits[a].mask |= splits[b].mask;
      splits[a].wait = {};
      splits.erase(splits.begin() + b);
    }
}

/// bar.warp.sync at different places of the program synchronises too: lets all
/// splits pass that together have the lanes they wait for.
bool passWarpSync(Warp &warp) {
  auto atWarpSync = [&](const Split &split) {
    return split.wait.kind == Wait::Kind::Converge &&
           warp.program->code[split.pc].isWarpSync;
  };
  u32 arrived = 0;
  for (const Split &split : warp.splits)
    if (atWarpSync(split))
      arrived |= split.mask;
  bool any = false;
  for (Split &split : warp.splits)
    if (atWarpSync(split) && (split.wait.needed & warp.live & ~arrived) == 0) {
      ++split.pc;
      split.wait = {};
      any = true;
    }
  return any;
}

/// Makes the ready split with the lowest (or highest) pc the current one.
bool pickSplit(Warp &warp, bool highest) {
  do {
    mergeSplits(warp);
    s64 best = -1;
    for (size_t k = 0; k < warp.splits.size(); ++k) {
      if (!isReady(warp, warp.splits[k]))
        continue;
      u32 pc = warp.splits[k].pc;
      if (best < 0 ||
          (highest ? pc > warp.splits[best].pc : pc < warp.splits[best].pc))
        best = s64(k);
    }
    if (best < 0)
      continue;
    Split split = warp.splits[best];
    warp.splits.erase(warp.splits.begin() + best);
    warp.pc = split.pc;
    warp.mask = split.mask;
    warp.wait = split.wait;
    warp.hasCurrent = true;
    warp.resumed = split.wait.kind >= Wait::Kind::Barrier;
    warp.mbarrierTimedOut =
        split.wait.kind == Wait::Kind::Mbarrier && split.wait.timedOut;
    return true;
  } while (passWarpSync(warp));
  return false;
}

/// After an instruction of a divergent warp: merges what met the current split,
/// and swaps with a split that is to run first.
void reconsiderSplits(Warp &warp, bool highest) {
  std::vector<Split> &splits = warp.splits;
  for (size_t k = 0; k < splits.size();) {
    if (splits[k].pc == warp.pc && canMerge(splits[k])) {
      warp.mask |= splits[k].mask;
      splits.erase(splits.begin() + k);
    } else {
      ++k;
    }
  }
  u32 pc = warp.pc;
  s64 best = -1;
  for (size_t k = 0; k < splits.size(); ++k)
    if (splits[k].wait.kind == Wait::Kind::None &&
        (highest ? splits[k].pc > pc : splits[k].pc < pc)) {
      best = s64(k);
      pc = splits[k].pc;
    }
  if (best < 0)
    return;
  Split current{warp.pc, warp.mask, {}};
  warp.pc = splits[best].pc;
  warp.mask = splits[best].mask;
  splits[best] = current;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// The half of a pair that nobody reads may be computed from nothing, and LLVM
/// leaves it so: it is undefined then, too.
void checkDefined(Warp &warp, const Instruction &i) {
  if (!i.isByHalf)
    for (s32 slot : i.readSlots)
      if (u32 lanes = warp.active & ~warp.definedSlots[slot])
        report(warp, i, Finding::Init,
               format("read of uninitialized register %s (lanes %08x)",
                      warp.program->slotNames[slot].c_str(), lanes));
  for (s32 predicate : i.readPredicates)
    if (u32 lanes = warp.active & ~warp.definedPredicates[predicate])
      report(warp, i, Finding::Init,
             format("read of uninitialized predicate %s (lanes %08x)",
                    warp.program->predicateNames[predicate].c_str(), lanes));
}

/// What an instruction by halves wrote is as defined as what it read.
void noteHalves(Warp &warp, const Instruction &i, u32 active) {
  std::array<u32, 2> undefined = {0, 0};
  for (const Halves &read : i.readHalves)
    for (size_t half = 0; half < read.size(); ++half)
      if (read[half] >= 0)
        undefined[half] |= active & ~warp.definedSlots[read[half]];
  for (size_t half = 0; half < undefined.size(); ++half)
    if (s32 slot = i.writtenHalves[half]; slot >= 0)
      warp.definedSlots[slot] =
          (warp.definedSlots[slot] | active) & ~undefined[half];
}

/// After an instruction: what it wrote, for the register checks.
void noteWrites(Warp &warp, const Instruction &i, u32 active) {
  if (!warp.definedSlots.empty()) {
    if (i.isByHalf)
      noteHalves(warp, i, active);
    else
      for (s32 slot : i.writtenSlots)
        warp.definedSlots[slot] |= active;
    for (s32 predicate : i.writtenPredicates)
      warp.definedPredicates[predicate] |= active;
  }
  if (!warp.slotStamps.empty())
    for (s32 slot : i.stampedSlots)
      warp.slotStamps[slot] = warp.worker->clock;
}

/// The lanes of the current split that the guard lets execute.
u32 guardedLanes(Warp &warp, const Instruction &i) {
  if (i.guard < 0)
    return warp.mask;
  u32 predicate = warp.predicates[i.guard];
  if (!warp.definedPredicates.empty() &&
      (warp.mask & ~warp.definedPredicates[i.guard])) {
    warp.active = warp.mask;
    report(warp, i, Finding::Init, "read of an uninitialized guard predicate");
  }
  return warp.mask & (i.guardNegated ? ~predicate : predicate);
}

/// Lanes that wait leave the current split.
void block(Warp &warp, u32 active) {
  warp.splits.push_back({warp.pc, active, warp.wait});
  if (u32 rest = warp.mask & ~active) {
    warp.mask = rest;
    ++warp.pc;
  } else {
    warp.hasCurrent = false;
  }
}

/// Executes an instruction for the lanes in warp.active.
void execute(Warp &warp, const Instruction &i, bool checksRegisters) {
  u32 active = warp.active;
  Worker &worker = *warp.worker;
  if (!warp.resumed) {
    ++worker.warpCounts[size_t(warp.id) * warp.program->code.size() + warp.pc];
    worker.laneCounts[warp.pc] += countLanes(active);
    ++warp.instructions;
  }
  if (checksRegisters && !warp.definedSlots.empty())
    checkDefined(warp, i);
  if (__builtin_expect(!warp.tensor.loads.empty(), 0))
    checkTensorLoads(warp, i);
  Tracer *tracer = warp.cta->cluster->tracer;
  if (tracer)
    tracer->beforeInstruction(warp, i);
  const u64 before = warp.cycle;
  Step step;
  if (__builtin_expect(warp.wgmma.pending != 0, 0) &&
      touchesAccumulators(warp, i))
    step = Step::Next;
  else
    step = i.run(warp, i);
  if (checksRegisters)
    noteWrites(warp, i, active);
  if (tracer)
    tracer->onInstruction(warp, i, step, before);
  warp.resumed = false;
  warp.mbarrierTimedOut = false;
  if (__builtin_expect(step == Step::Next, 1))
    ++warp.pc;
  else if (step == Step::Block)
    block(warp, active);
}

} // namespace

u64 attn::sim::runWarp(Warp &warp, u64 budget) {
  const Instruction *code = warp.program->code.data();
  const bool checksRegisters =
      checks(warp).uninitializedRegister || checks(warp).wgmmaFence;
  // Steps of a divergent warp between changes of direction.
  constexpr u32 rotation = 1024;
  u32 divergentSteps = 0;
  u64 used = 0;
  while (used < budget && !warp.done) {
    if (!warp.hasCurrent && !pickSplit(warp, divergentSteps & rotation))
      break;
    const Instruction &i = code[warp.pc];
    warp.active = guardedLanes(warp, i);
    ++used;
    if (warp.active) {
      ++warp.worker->clock;
      execute(warp, i, checksRegisters);
    } else {
      ++warp.pc;
      warp.resumed = false;
    }
    if (__builtin_expect(!warp.splits.empty() && warp.hasCurrent, 0))
      reconsiderSplits(warp, ++divergentSteps & rotation);
    if (warp.yielded) {
      warp.yielded = false;
      break;
    }
  }
  return used;
}
