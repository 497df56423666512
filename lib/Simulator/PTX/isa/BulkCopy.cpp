//===- BulkCopy.cpp - Bulk asynchronous copies ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.9, Bulk copy: cp.async.bulk, cp.reduce.async.bulk,
/// cp.async.bulk.prefetch, and the bulk groups that bulk and tensor stores
/// complete by. Copies to shared memory complete on an mbarrier: their data
/// arrives when a thread waits there.
///
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "../MbarrierState.h"
#include "../Tracer.h"
#include "Atomic.h"
#include "Families.h"

using namespace attn::sim;

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

CopyTarget attn::sim::copyTarget(Warp &warp, const Instruction &i, u32 lane) {
  return {sharedLocation(warp, i, laneAddress(warp, i.address, lane)),
          sharedLocation(warp, i, laneAddress(warp, i.address3, lane))};
}

static void checkOverlap(Warp &warp, const Instruction &i, const Cta &cta,
                         u32 offset, u32 bytes) {
  auto overlaps = [&](const PendingCopy &other) {
    return other.destination == &cta &&
           other.kind != PendingCopy::Kind::CpAsyncArrive &&
           other.offset < offset + bytes && offset < other.offset + other.bytes;
  };
  for (const Cta &signaled : cta.cluster->ctas) {
    const std::vector<PendingCopy> &copies = signaled.pendingCopies;
    if (std::none_of(copies.begin(), copies.end(), overlaps))
      continue;
    report(warp, i, Finding::Async,
           format("bulk copy into shared offset %d overlaps another copy that "
                  "is still in flight",
                  printedOffset(offset)),
           "wait for the first copy, and for its readers, before reusing the "
           "stage");
    return;
  }
}

void attn::sim::issueToShared(Warp &warp, const Instruction &i,
                              PendingCopy copy, const SharedLocation &data,
                              const SharedLocation &mbarrier) {
  Cta &cta = *data.cta;
  const u32 offset = data.offset;
  if (offset < sharedBase || u64(offset) + copy.bytes > cta.sharedBytes)
    fault(warp, i, Finding::Memory,
          format("bulk copy of %u bytes to shared offset %d of CTA rank %u is "
                 "out of bounds (%u bytes)",
                 copy.bytes, printedOffset(offset), cta.rank,
                 cta.sharedBytes - sharedBase));
  checkMbarrier(warp, i, *mbarrier.cta, mbarrier.offset);
  if (cta.liveLanes == 0)
    report(warp, i, Finding::Memory,
           format("bulk copy into CTA rank %u, which has exited", cta.rank));
  warp.worker->counters.bulkSharedBytes += copy.bytes;
  if (Tracer *tracer = cta.cluster->tracer)
    tracer->onSharedWrite(cta, copy.bytes, copy.doneCycle);
  checkInitVisible(warp, i, *mbarrier.cta, mbarrier.offset);
  noteCopy(warp, i, *mbarrier.cta, mbarrier.offset);
  if (cta.cluster->keepsClocks()) {
    const MbarrierClocks &clocks =
        mbarrier.cta->mbarrierClocks[mbarrier.offset];
    checkRace(warp, i, cta,
              {offset, copy.bytes, /*isWrite=*/true, /*isAsync=*/true,
               clocks.agent, clocks.phases + 1});
    advance(cta.remoteAccesses, clocks.agent, clocks.phases + 1);
  }
  copy.destination = &cta;
  copy.signaled = mbarrier.cta;
  copy.offset = offset;
  copy.mbarrier = mbarrier.offset;
  if (options(warp).deferAsync) {
    checkOverlap(warp, i, cta, offset, copy.bytes);
    std::memset(&cta.shared[offset], 0xFF, copy.bytes);
    markInFlight(cta, offset, copy.bytes);
    ++cta.epoch;
  }
  issueCopy(warp, std::move(copy));
}

void attn::sim::issueMulticast(Warp &warp, const Instruction &i, u32 lane,
                               const Operand &mask, const PendingCopy &copy,
                               const CopyTarget &target) {
  std::vector<Cta> &ctas = warp.cta->cluster->ctas;
  if (!mask) {
    u32 other = target.mbarrier.cta->rank ^ target.data.cta->rank;
    if (other > u32(target.isPair))
      fault(warp, i, Finding::Sync,
            target.isPair ? "destination and mbarrier are in CTAs that are no "
                            "pair"
                          : "destination and mbarrier are in different CTAs");
    return issueToShared(warp, i, copy, target.data, target.mbarrier);
  }
  u32 ranks = laneValue32(warp, mask, lane) & 0xFFFF;
  if (!ranks || ranks >> ctas.size())
    fault(warp, i, Finding::Memory,
          format("multicast mask %04x in a cluster of %zu CTAs", ranks,
                 ctas.size()));
  ATTN_FOR_LANES(ranks, rank) {
    u32 signaled =
        target.isPair ? (rank & ~1u) | (target.mbarrier.cta->rank & 1) : rank;
    if (signaled >= ctas.size())
      fault(warp, i, Finding::Memory,
            format("the copy for CTA rank %u signals rank %u of a cluster of "
                   "%zu",
                   rank, signaled, ctas.size()));
    issueToShared(warp, i, copy, {&ctas[rank], target.data.offset},
                  {&ctas[signaled], target.mbarrier.offset});
  }
}

//===----------------------------------------------------------------------===//
// To global memory
//===----------------------------------------------------------------------===//

/// The agent that stands for the stores of a lane.
static u32 storeAgent(Warp &warp, u32 lane) {
  Cluster &cluster = *warp.cta->cluster;
  if (!cluster.keepsClocks())
    return noAgent;
  u32 &agent = warp.bulk.agents.emplace(lane, noAgent).first->second;
  return agentOf(agent, cluster,
                 {Agent::Kind::BulkStore, warp.cta->rank, warp.id});
}

/// The shared source as it is now, unswizzled.
static std::vector<u8> readSource(const BulkStore &store, const Cta &cta) {
  std::vector<u8> bytes(alignUp(store.bytes, 16));
  u32 mode = store.isTensor ? store.map.swizzle : 0;
  for (u32 at = 0; at < store.bytes; at += 16)
    std::memcpy(&bytes[at],
                &cta.shared[swizzleAddress(store.offset + at, mode)], 16);
  bytes.resize(store.bytes);
  return bytes;
}

static void finishRead(Warp &warp, BulkStore &store) {
  if (store.readDone)
    return;
  store.readDone = true;
  learn(warp, storeAgent(warp, store.lane), store.number);
  if (!checks(warp).overwrite || readSource(store, *warp.cta) == store.snapshot)
    return;
  u32 active = warp.active;
  warp.active = 1u << store.lane;
  report(warp, *store.instruction, Finding::Async,
         format("source of a bulk store (shared offset %d, %u bytes) was "
                "overwritten before cp.async.bulk.wait_group",
                printedOffset(store.offset), store.bytes),
         "wait with cp.async.bulk.wait_group.read before reusing the buffer");
  warp.active = active;
}

/// Context of storeTensorElement.
struct StoreContext {
  const BulkStore &store;
};

static void storeTensorElement(u8 *destination, const u8 *source, u32 bytes,
                               void *context) {
  const BulkStore &store = static_cast<StoreContext *>(context)->store;
  if (store.reduces)
    reduceBytes(destination, source, bytes, store.reduction,
                store.map.elementType());
  else
    std::memcpy(destination, source, bytes);
}

static void finishStore(Warp &warp, const BulkStore &store) {
  std::lock_guard<std::mutex> lock(warp.worker->memory->atomicMutex);
  u8 *destination = reinterpret_cast<u8 *>(store.destination);
  if (store.isTensor) {
    StoreContext context{store};
    storeBox(store.map, store.coordinates, store.snapshot.data(),
             storeTensorElement, &context);
  } else if (store.reduces) {
    reduceBytes(destination, store.snapshot.data(), store.bytes,
                store.reduction, store.elementType);
  } else {
    std::memcpy(destination, store.snapshot.data(), store.bytes);
  }
}

void attn::sim::issueBulkStore(Warp &warp, const Instruction &i,
                               BulkStore store) {
  store.number = ++warp.bulk.issued[store.lane];
  checkAsyncRead(warp, i, *warp.cta, store.offset, store.bytes, "bulk store",
                 storeAgent(warp, store.lane), store.number);
  store.instruction = &i;
  store.group = warp.bulk.group[store.lane];
  store.snapshot = readSource(store, *warp.cta);
  store.readCycle = traceStore(warp, i, store.bytes);
  Counters &counters = warp.worker->counters;
  (store.reduces ? counters.tmaReduceBytes : counters.tmaStoreBytes) +=
      store.bytes;
  if (options(warp).deferAsync) {
    warp.bulk.stores.push_back(std::move(store));
    return;
  }
  finishRead(warp, store);
  finishStore(warp, store);
}

/// Shared memory is gone after the exit.
static void checkSourcesRead(Warp &warp) {
  for (const BulkStore &store : warp.bulk.stores) {
    if (store.readDone || !checks(warp).exit)
      continue;
    report(warp, *store.instruction, Finding::Async,
           format("the thread of lane %u exits while a bulk store may still "
                  "read shared offset %d (%u bytes)",
                  store.lane, printedOffset(store.offset), store.bytes),
           "execute cp.async.bulk.commit_group and "
           "cp.async.bulk.wait_group.read 0 before the exit");
    return;
  }
}

void attn::sim::completeAllBulkStores(Warp &warp) {
  checkSourcesRead(warp);
  for (BulkStore &store : warp.bulk.stores)
    finishRead(warp, store);
  for (BulkStore &store : warp.bulk.stores)
    finishStore(warp, store);
  warp.bulk.stores.clear();
}

namespace {

//===----------------------------------------------------------------------===//
// cp.async.bulk
//===----------------------------------------------------------------------===//

constexpr u32 fromShared = 1;

void checkAlignment(Warp &warp, const Instruction &i, const char *what,
                    u64 address) {
  if (address % 16)
    fault(warp, i, Finding::Memory,
          format("bulk copy %s is not 16-byte aligned (offset %llu)", what,
                 (unsigned long long)(address % 16)));
}

u32 copySize(Warp &warp, const Instruction &i, u32 lane) {
  u32 bytes = laneValue32(warp, i.a, lane);
  if (bytes % 16)
    fault(warp, i, Finding::Memory,
          format("bulk copy of %u bytes, expected a multiple of 16", bytes));
  return bytes;
}

/// The source of a copy to shared memory; counts global bytes.
void setSource(Warp &warp, const Instruction &i, u32 lane, PendingCopy &copy,
               const SharedLocation &mbarrier) {
  u64 source = laneAddress(warp, i.address2, lane);
  checkAlignment(warp, i, "source", source);
  if (i.flags & fromShared) {
    auto [cta, offset] = sharedLocation(warp, i, source);
    const PhaseClock &clock = mbarrier.cta->mbarrierClocks[mbarrier.offset];
    checkAsyncRead(warp, i, *cta, offset, copy.bytes, "bulk copy", clock.agent,
                   clock.phases + 1);
    if (cta->cluster->keepsClocks())
      advance(cta->remoteAccesses, clock.agent, clock.phases + 1);
    copy.data.assign(cta->shared.begin() + offset,
                     cta->shared.begin() + offset + copy.bytes);
    return;
  }
  checkGlobalRange(warp, i, source, copy.bytes, /*isWrite=*/false, lane);
  if (warp.worker->chain)
    noteInChain(warp, i, {source, copy.bytes, /*isWrite=*/false, lane});
  copy.source = source;
  warp.worker->counters.tmaLoadBytes += copy.bytes;
  warp.worker->countTraffic(GlobalPath::Tma, false, copy.bytes);
  addToRequest(warp, source, copy.bytes);
  countRequest(warp);
}

/// `a`: size, `b`: multicast mask, `address3`: mbarrier; `operation` is 0 or
/// 1 + the AtomicOp.
Step runLoad(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    PendingCopy copy;
    copy.kind = PendingCopy::Kind::Bulk;
    copy.instruction = &i;
    copy.bytes = copySize(warp, i, lane);
    if (!copy.bytes)
      continue;
    CopyTarget target = copyTarget(warp, i, lane);
    checkAlignment(warp, i, "destination", target.data.offset);
    if (i.flags & fromShared)
      checkMbarrier(warp, i, *target.mbarrier.cta, target.mbarrier.offset);
    setSource(warp, i, lane, copy, target.mbarrier);
    if (i.operation) {
      copy.kind = PendingCopy::Kind::Store;
      copy.reduces = true;
      copy.reduction = AtomicOp(i.operation - 1);
      copy.elementType = i.type;
    }
    copy.doneCycle = traceCopy(warp, i, copy.bytes);
    issueMulticast(warp, i, lane, i.b, copy, target);
  }
  return Step::Next;
}

/// `address2`: destination, `address`: source.
Step runStore(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    BulkStore store;
    store.lane = lane;
    store.bytes = copySize(warp, i, lane);
    if (!store.bytes)
      continue;
    auto [cta, offset] =
        sharedLocation(warp, i, laneAddress(warp, i.address, lane));
    if (cta != warp.cta)
      fault(warp, i, Finding::Memory, "bulk store from another CTA");
    store.offset = offset;
    store.destination = laneAddress(warp, i.address2, lane);
    checkAlignment(warp, i, "source", offset);
    checkAlignment(warp, i, "destination", store.destination);
    checkGlobalRange(warp, i, store.destination, store.bytes, /*isWrite=*/true,
                     lane);
    if (warp.worker->chain)
      noteInChain(warp, i,
                  {store.destination, store.bytes, /*isWrite=*/true, lane});
    warp.worker->countTraffic(GlobalPath::Tma, true, store.bytes);
    store.reduces = i.operation != 0;
    store.reduction = AtomicOp(i.operation - 1);
    store.elementType = i.type;
    issueBulkStore(warp, i, std::move(store));
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Bulk groups
//===----------------------------------------------------------------------===//

Step runCommit(Warp &warp, const Instruction &) {
  ATTN_FOR_LANES(warp.active, lane) { ++warp.bulk.group[lane]; }
  return Step::Next;
}

/// `operation` 1: .read, wait for the sources only.
Step runWait(Warp &warp, const Instruction &i) {
  std::vector<BulkStore> &stores = warp.bulk.stores;
  bool waited = false;
  for (size_t k = 0; k < stores.size();) {
    BulkStore &store = stores[k];
    bool waits =
        (warp.active >> store.lane) & 1 &&
        s64(store.group) < s64(warp.bulk.group[store.lane]) - i.immediate;
    if (!waits) {
      ++k;
      continue;
    }
    waited = true;
    traceWaitUntil(warp, store.readCycle + (i.operation ? 0 : copyLatency));
    finishRead(warp, store);
    if (i.operation) {
      ++k;
      continue;
    }
    finishStore(warp, store);
    stores.erase(stores.begin() + k);
  }
  if (waited)
    countWait(warp, WaitReason::CopyGroup);
  ++warp.cta->cluster->events;
  return Step::Next;
}

Step runNothing(Warp &, const Instruction &) { return Step::Next; }

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void decodeCopy(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.operation = decodeReduction(decoder);
  i.a = decoder.source(2, 4);
  if (copiesToGlobal(decoder)) {
    i.address2 = decoder.address(0);
    i.address = decoder.address(1);
    decoder.setHandler(runStore, InstructionClass::TmaStore);
    return;
  }
  i.address = decoder.address(0);
  i.address2 = decoder.address(1);
  i.address3 = decoder.address(3);
  i.flags = copiesFromGlobal(decoder) ? 0 : fromShared;
  if (decoder.has("multicast::cluster"))
    i.b = decoder.source(4, 2);
  decoder.setHandler(runLoad, InstructionClass::Tma);
}

/// PTX ISA 9.7.9 cp.async.bulk and relatives.
bool decodeBulk(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!decoder.has("bulk") || decoder.has("tensor"))
    return false;
  if (decoder.has("commit_group")) {
    decoder.setHandler(runCommit, InstructionClass::TmaStore);
  } else if (decoder.has("wait_group")) {
    i.immediate = decoder.integer(0);
    i.operation = decoder.has("read");
    decoder.setHandler(runWait, InstructionClass::TmaStore);
  } else if (decoder.has("prefetch")) {
    decoder.setHandler(runNothing, InstructionClass::Tma);
  } else {
    decodeCopy(decoder);
  }
  return true;
}

/// The n-th state space of the opcode that copies know.
std::string_view nthSpace(const Decoder &decoder, u32 n) {
  const auto &parts = decoder.modifiers();
  for (size_t i = 1; i < parts.size(); ++i) {
    bool isSpace = parts[i] == "global" || parts[i] == "shared::cluster" ||
                   parts[i] == "shared::cta";
    if (!isSpace)
      continue;
    decoder.markKnown(i);
    if (n-- == 0)
      return parts[i];
  }
  return "";
}

} // namespace

u32 attn::sim::decodeReduction(Decoder &decoder) {
  if (!decoder.has("reduce"))
    return 0;
  // Tensor reductions take their type from the tensor map.
  if (decoder.instruction.type == Type::None)
    decoder.instruction.type = Type::U32;
  return 1 + u32(decodeAtomicOp(decoder));
}

bool attn::sim::copiesToGlobal(const Decoder &decoder) {
  return nthSpace(decoder, 0) == "global";
}

bool attn::sim::copiesFromGlobal(const Decoder &decoder) {
  return nthSpace(decoder, 1) == "global";
}

void attn::sim::registerBulkCopy(OpcodeTable &table) {
  table.add("cp", decodeBulk);
}
