//===- Cluster.cpp - Thread block clusters --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.13 barrier.cluster; 9.7.9 mapa, getctarank: distributed shared
/// memory.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "Barrier.h"
#include "Elementwise.h"
#include "Families.h"

using namespace attn::sim;

namespace {

constexpr u32 aligned = 1;

void completeIfAllArrived(Cluster &cluster) {
  if (!cluster.arrived || cluster.arrived < cluster.liveLanes)
    return;
  cluster.released = cluster.arriving;
  cluster.arrived = 0;
  ++cluster.generation;
  ++cluster.events;
}

Step runClusterArrive(Warp &warp, const Instruction &i) {
  if ((i.flags & aligned) && !convergesWith(warp, i, warp.live))
    return Step::Block;
  Cluster &cluster = *warp.cta->cluster;
  ++warp.worker->counters.barrierOps;
  warp.clusterGeneration = cluster.generation;
  warp.clusterArrived = true;
  releaseClock(warp, cluster.arriving);
  cluster.arrived += countLanes(warp.active);
  completeIfAllArrived(cluster);
  ++cluster.events;
  return Step::Next;
}

Step runClusterWait(Warp &warp, const Instruction &i) {
  Cluster &cluster = *warp.cta->cluster;
  if (warp.resumed) {
    acquireClock(warp, cluster.released);
    return Step::Next;
  }
  if ((i.flags & aligned) && !convergesWith(warp, i, warp.live))
    return Step::Block;
  if (!warp.clusterArrived)
    fault(warp, i, Finding::Sync,
          "barrier.cluster.wait without barrier.cluster.arrive");
  if (cluster.generation != warp.clusterGeneration) {
    acquireClock(warp, cluster.released);
    return Step::Next;
  }
  countWait(warp, WaitReason::Barrier);
  warp.wait = {};
  warp.wait.kind = Wait::Kind::Cluster;
  warp.wait.generation = warp.clusterGeneration;
  return Step::Block;
}

/// PTX ISA 9.7.13 barrier.cluster.arrive, barrier.cluster.wait.
bool decodeClusterBarrier(Decoder &decoder) {
  if (!decoder.has("cluster"))
    return false;
  bool arrives = decoder.has("arrive");
  if (!arrives && !decoder.has("wait"))
    decoder.fail("expected arrive or wait");
  decoder.instruction.flags = decoder.has("aligned") ? aligned : 0;
  decoder.setHandler(arrives ? runClusterArrive : runClusterWait,
                     InstructionClass::Barrier);
  return true;
}

//===----------------------------------------------------------------------===//
// mapa, getctarank
//===----------------------------------------------------------------------===//

u64 sourceAddress(const Warp &warp, const Instruction &i, u32 lane) {
  return i.address ? laneAddress(warp, i.address, lane)
                   : laneValue(warp, i.a, lane);
}

Step runMapa(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    u64 address = sourceAddress(warp, i, lane);
    u64 rank = laneValue32(warp, i.b, lane);
    if (rank >= warp.cta->cluster->ctas.size())
      fault(warp, i, Finding::Memory,
            format("mapa to CTA rank %llu of %zu (lane %u)",
                   (unsigned long long)rank, warp.cta->cluster->ctas.size(),
                   lane));
    u64 window = i.dst.width == 8 && inSharedWindow(address) ? sharedWindow : 0;
    u64 offset = (address - window) & sharedOffsetMask;
    setLane(warp, i.dst, lane, window + offset + (rank << sharedRankShift));
  }
  return Step::Next;
}

Step runGetctarank(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    dest32(warp, i.dst)[lane] =
        u32(sourceAddress(warp, i, lane)) >> sharedRankShift;
  }
  return Step::Next;
}

void decodeSourceAddress(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.operand(1).is(ParsedOperand::Kind::Symbol))
    i.address = decoder.address(1);
  else
    i.a = decoder.source(1, 0);
}

/// PTX ISA 9.7.9 mapa.
bool decodeMapa(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.dst = decodeRegister(decoder, 0, 0);
  decodeSourceAddress(decoder);
  i.b = decoder.source(2, 4);
  decoder.setHandler(runMapa, InstructionClass::Integer);
  return true;
}

/// PTX ISA 9.7.9 getctarank.
bool decodeGetctarank(Decoder &decoder) {
  decoder.instruction.dst = decodeRegister(decoder, 0, 4);
  decodeSourceAddress(decoder);
  decoder.setHandler(runGetctarank, InstructionClass::Integer);
  return true;
}

} // namespace

void attn::sim::checkClusterBarrierAfterExit(Cluster &cluster) {
  completeIfAllArrived(cluster);
}

void attn::sim::registerCluster(OpcodeTable &table) {
  table.add("barrier", decodeClusterBarrier);
  table.add("mapa", decodeMapa);
  table.add("getctarank", decodeGetctarank);
}
