//===- Barrier.cpp - Named barriers of a CTA ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.13, bar and barrier: sync, arrive, red on 16 barriers. A barrier
/// without a thread count waits for all threads that have not exited.
///
//===----------------------------------------------------------------------===//

#include "Barrier.h"
#include "Elementwise.h"
#include "Families.h"

using namespace attn::sim;

namespace {

enum Operation : u32 { Sync, Arrive, Reduce };
enum Reduction : s64 { Popc, And, Or };
constexpr u32 aligned = 1;

void release(Cta &cta, NamedBarrier &barrier) {
  if (cta.cluster->observesSync())
    completePhase(*cta.cluster, barrier.clock);
  barrier.result = barrier.reduction;
  barrier.arrived = 0;
  barrier.hasCount = false;
  barrier.reduction = 0;
  barrier.reductionStarted = false;
  ++barrier.generation;
  ++cta.cluster->events;
}

void contribute(Warp &warp, const Instruction &i, NamedBarrier &barrier) {
  u32 votes = predicateMask(warp, i.c) & warp.active;
  if (!barrier.reductionStarted) {
    barrier.reduction = i.immediate == And;
    barrier.reductionStarted = true;
  }
  if (i.immediate == Popc)
    barrier.reduction += countLanes(votes);
  else if (i.immediate == And)
    barrier.reduction &= votes == warp.active;
  else
    barrier.reduction |= votes != 0;
}

/// What a released warp does.
void leave(Warp &warp, const Instruction &i, NamedBarrier &barrier) {
  acquireClock(warp, barrier.clock.completed);
  if (i.operation != Reduce)
    return;
  if (i.immediate == Popc)
    ATTN_FOR_LANES(warp.active, lane) {
      dest32(warp, i.dst)[lane] = barrier.result;
    }
  else
    setPredicate(warp, i.dst, barrier.result ? fullMask : 0);
}

struct Arguments {
  u32 id = 0;
  bool hasCount = false;
  u32 count = 0;
};

Arguments readArguments(Warp &warp, const Instruction &i) {
  u32 lane = firstLane(warp.active);
  Arguments arguments;
  arguments.id = laneValue32(warp, i.a, lane);
  arguments.hasCount = bool(i.b);
  arguments.count = i.b ? laneValue32(warp, i.b, lane) : 0;
  if (arguments.id > 15)
    fault(warp, i, Finding::Sync,
          format("barrier id %u, expected 0 to 15", arguments.id));
  ATTN_FOR_LANES(warp.active, other) {
    if (laneValue32(warp, i.a, other) != arguments.id)
      fault(warp, i, Finding::Sync, "lanes of a warp name different barriers");
  }
  if (i.b && (arguments.count == 0 || arguments.count % warpSize))
    fault(warp, i, Finding::Sync,
          format("barrier thread count %u is not a positive multiple of 32",
                 arguments.count));
  return arguments;
}

/// All threads at a barrier must agree on the count.
void agreeOnCount(Warp &warp, const Instruction &i, NamedBarrier &barrier,
                  const Arguments &arguments) {
  if (!arguments.hasCount) {
    if (barrier.arrived && barrier.hasCount)
      fault(warp, i, Finding::Sync,
            format("barrier %u used without a thread count while threads wait "
                   "with count %u",
                   arguments.id, barrier.expected));
    barrier.expected = warp.cta->liveLanes;
    return;
  }
  if (barrier.arrived &&
      (!barrier.hasCount || barrier.expected != arguments.count))
    fault(warp, i, Finding::Sync,
          format("barrier %u used with thread count %u while threads wait with "
                 "count %u",
                 arguments.id, arguments.count, barrier.expected),
          "use one barrier id per group of threads");
  barrier.hasCount = true;
  barrier.expected = arguments.count;
}

void arrive(Warp &warp, const Instruction &i, NamedBarrier &barrier, u32 id) {
  Cluster &cluster = *warp.cta->cluster;
  if (cluster.keepsClocks())
    agentOf(barrier.clock.agent, cluster,
            {Agent::Kind::Barrier, warp.cta->rank, id});
  if (cluster.observesSync())
    arriveInPhase(warp, i, barrier.clock, /*isCopy=*/false);
}

Step runBarrier(Warp &warp, const Instruction &i) {
  if (warp.resumed) {
    leave(warp, i, warp.cta->barriers[warp.wait.id]);
    return Step::Next;
  }
  if ((i.flags & aligned) && !convergesWith(warp, i, warp.live))
    return Step::Block;
  Arguments arguments = readArguments(warp, i);
  Cta &cta = *warp.cta;
  NamedBarrier &barrier = cta.barriers[arguments.id];
  u32 generation = barrier.generation;
  ++warp.worker->counters.barrierOps;
  agreeOnCount(warp, i, barrier, arguments);
  arrive(warp, i, barrier, arguments.id);
  // A count is in whole warps: a partial last warp counts as 32 threads.
  bool wholeWarp = (i.flags & aligned) && arguments.hasCount;
  barrier.arrived += wholeWarp ? warpSize : countLanes(warp.active);
  if (i.operation == Reduce)
    contribute(warp, i, barrier);
  if (arguments.hasCount && barrier.arrived > barrier.expected)
    fault(warp, i, Finding::Sync,
          format("barrier %u: %u threads arrived, %u expected", arguments.id,
                 barrier.arrived, barrier.expected));
  u32 needed = arguments.hasCount ? barrier.expected : cta.liveLanes;
  bool complete = barrier.arrived >= needed;
  if (complete)
    release(cta, barrier);
  else
    ++cta.cluster->events;
  if (i.operation == Arrive)
    return Step::Next;
  if (complete) {
    leave(warp, i, barrier);
    return Step::Next;
  }
  countWait(warp, WaitReason::Barrier);
  warp.wait = {};
  warp.wait.kind = Wait::Kind::Barrier;
  warp.wait.id = arguments.id;
  warp.wait.generation = generation;
  return Step::Block;
}

/// bar.red.OP p, a(, b), c
void decodeReduction(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  int reduction = decoder.oneOf({"popc", "and", "or"});
  if (reduction < 0)
    decoder.fail("expected popc, and or or");
  i.immediate = reduction;
  i.dst = reduction == Popc ? decodeRegister(decoder, 0, 4)
                            : decoder.predicateDestination(decoder.operand(0));
  i.a = decoder.source(1, 4);
  if (decoder.numOperands() == 4)
    i.b = decoder.source(2, 4);
  i.c = decoder.predicate(decoder.numOperands() - 1);
}

/// PTX ISA 9.7.13 bar, barrier.
bool decodeBarrier(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool isAligned = decoder.opcode() == "bar" || decoder.has("aligned");
  i.flags = isAligned ? aligned : 0;
  i.operation = decoder.has("arrive") ? Arrive
                : decoder.has("red")  ? Reduce
                                      : Sync;
  decoder.setHandler(runBarrier, InstructionClass::Barrier);
  if (i.operation == Reduce) {
    decodeReduction(decoder);
    return true;
  }
  i.a = decoder.numOperands() ? decoder.source(0, 4) : decoder.constant(0, 4);
  if (decoder.numOperands() > 1)
    i.b = decoder.source(1, 4);
  else if (i.operation == Arrive)
    decoder.fail("expected a thread count");
  return true;
}

} // namespace

void attn::sim::checkBarriersAfterExit(Cta &cta) {
  for (NamedBarrier &barrier : cta.barriers)
    if (barrier.arrived && !barrier.hasCount &&
        barrier.arrived >= cta.liveLanes)
      release(cta, barrier);
}

void attn::sim::registerBarrier(OpcodeTable &table) {
  table.add({"bar", "barrier"}, decodeBarrier);
}
