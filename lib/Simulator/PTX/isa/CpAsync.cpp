//===- CpAsync.cpp - Non-bulk asynchronous copies -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.9: cp.async, cp.async.commit_group, cp.async.wait_group,
/// cp.async.wait_all; 9.7.13 cp.async.mbarrier.arrive; 9.7.9 st.async, 9.7.13
/// red.async. The destination holds 0xFF until the data arrives at a wait.
///
//===----------------------------------------------------------------------===//

#include "CpAsync.h"
#include "../MbarrierState.h"
#include "../Memory.h"
#include "../Tracer.h"
#include "Atomic.h"
#include "Elementwise.h"
#include "Families.h"

#include <algorithm>

using namespace attn::sim;

namespace {

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Bytes that a lane reads; the rest up to cp-size is zero-filled.
u32 sourceBytes(Warp &warp, const Instruction &i, u32 lane, u32 ignored) {
  u32 bytes = i.a ? laneValue32(warp, i.a, lane) : u32(i.immediate);
  if (bytes > i.immediate)
    fault(warp, i, Finding::Memory,
          format("cp.async src-size %u exceeds cp-size %lld (lane %u)", bytes,
                 (long long)i.immediate, lane));
  return (ignored >> lane) & 1 ? 0 : bytes;
}

void checkSource(Warp &warp, const Instruction &i, u64 address, u32 bytes,
                 u32 lane) {
  if (bytes == 0)
    return;
  if (address & (i.immediate - 1))
    fault(warp, i, Finding::Memory,
          format("misaligned cp.async source 0x%llx (lane %u)",
                 (unsigned long long)address, lane));
  if (!warp.worker->window.contains(address, bytes))
    checkGlobalRange(warp, i, address, bytes, /*isWrite=*/false, lane);
  if (warp.worker->chain)
    noteInChain(warp, i, {address, bytes, /*isWrite=*/false, lane});
  warp.worker->counters.cpAsyncBytes += bytes;
  warp.worker->countTraffic(GlobalPath::CpAsync, false, bytes);
  addToRequest(warp, address, bytes);
}

/// The data of these lanes arrive, written as of `time` of the warp's clock, or
/// of the copy's arrival on an mbarrier before that.
void completeLanes(Warp &warp, CpAsyncOp &op, u32 lanes, u32 time) {
  lanes &= op.mask;
  if (!lanes)
    return;
  Cta &cta = *warp.cta;
  if (op.arrival)
    time = std::min(time, op.arrival);
  ATTN_FOR_LANES(lanes, lane) {
    u32 offset = op.destination[lane] & sharedOffsetMask;
    u32 bytes = op.sourceBytes[lane];
    u8 *shared = &cta.shared[offset];
    std::memcpy(shared, reinterpret_cast<const u8 *>(op.source[lane]), bytes);
    std::memset(shared + bytes, 0, op.bytes - bytes);
    markWritten(cta, offset, op.bytes);
    noteArrival(warp, cta, offset, op.bytes, time);
  }
  op.mask &= ~lanes;
  ++cta.epoch;
}

u32 timeOf(const Warp &warp) {
  return warp.cta->cluster->keepsClocks()
             ? clocksOf(warp).vector[clusterWarpIndex(warp)]
             : 0;
}

void dropCompleted(Warp &warp) {
  std::vector<CpAsyncOp> &ops = warp.cpAsync.ops;
  ops.erase(std::remove_if(ops.begin(), ops.end(),
                           [](const CpAsyncOp &op) { return !op.mask; }),
            ops.end());
}

/// `c`: ignore-src, `a`: src-size.
Step runCopy(Warp &warp, const Instruction &i) {
  const u32 bytes = u32(i.immediate);
  CpAsyncOp op;
  op.mask = warp.active;
  op.bytes = bytes;
  op.sequence = ++warp.cpAsync.sequence;
  u32 ignored = i.c ? predicateMask(warp, i.c) : 0;
  u64 moved = 0;
  ATTN_FOR_LANES(warp.active, lane) {
    u64 to = stripSharedWindow(laneAddress(warp, i.address, lane));
    u64 from = laneAddress(warp, i.address2, lane);
    u32 count = sourceBytes(warp, i, lane, ignored);
    u8 *shared = sharedPointer(warp, i, {to, bytes, /*isWrite=*/true, lane},
                               /*allowCluster=*/false);
    checkSource(warp, i, from, count, lane);
    op.destination[lane] = u32(to);
    op.source[lane] = from;
    op.sourceBytes[lane] = count;
    op.group[lane] = warp.cpAsync.group[lane];
    moved += count;
    if (options(warp).deferAsync) {
      std::memset(shared, 0xFF, bytes);
      markInFlight(*warp.cta, u32(to) & sharedOffsetMask, bytes);
      noteArrival(warp, *warp.cta, u32(to) & sharedOffsetMask, bytes, notYet);
    }
  }
  countRequest(warp);
  ++warp.cta->epoch;
  op.doneCycle = traceCopy(warp, i, moved);
  if (options(warp).deferAsync)
    warp.cpAsync.ops.push_back(op);
  else
    completeLanes(warp, op, op.mask, timeOf(warp));
  return Step::Next;
}

Step runCommit(Warp &warp, const Instruction &) {
  ATTN_FOR_LANES(warp.active, lane) { ++warp.cpAsync.group[lane]; }
  return Step::Next;
}

/// `operation` 1: all, also what is not committed; otherwise all but the last
/// `immediate` groups.
Step runWait(Warp &warp, const Instruction &i) {
  bool waited = false;
  for (CpAsyncOp &op : warp.cpAsync.ops) {
    u32 lanes = 0;
    ATTN_FOR_LANES(warp.active & op.mask, lane) {
      bool done =
          i.operation == 1 ||
          s64(op.group[lane]) < s64(warp.cpAsync.group[lane]) - i.immediate;
      lanes |= u32(done) << lane;
    }
    if (lanes)
      traceWaitUntil(warp, op.doneCycle);
    waited |= lanes != 0;
    // Other warps may read after a barrier that follows this wait, whatever
    // barriers there were since the copy was issued.
    completeLanes(warp, op, lanes, timeOf(warp));
  }
  if (waited)
    countWait(warp, WaitReason::CopyGroup);
  dropCompleted(warp);
  ++warp.cta->cluster->events;
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// cp.async.mbarrier.arrive
//===----------------------------------------------------------------------===//

constexpr u32 noIncrement = 1;

/// Lanes of one instruction share a record.
bool mergeWithLast(Cta &cta, const PendingCopy &copy) {
  if (cta.pendingCopies.empty())
    return false;
  PendingCopy &last = cta.pendingCopies.back();
  bool same = last.kind == PendingCopy::Kind::CpAsyncArrive &&
              last.warp == copy.warp && last.mbarrier == copy.mbarrier &&
              last.sequence == copy.sequence &&
              last.instruction == copy.instruction && !(last.mask & copy.mask);
  if (same)
    last.mask |= copy.mask;
  return same;
}

Step runMbarrierArrive(Warp &warp, const Instruction &i) {
  u64 doneCycle = 0;
  for (CpAsyncOp &op : warp.cpAsync.ops) {
    doneCycle = std::max(doneCycle, op.doneCycle);
    if (!op.arrival)
      op.arrival = timeOf(warp);
  }
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] =
        sharedLocation(warp, i, laneAddress(warp, i.address, lane));
    checkMbarrier(warp, i, *cta, offset);
    if (!(i.flags & noIncrement)) {
      MbarrierState state = readMbarrier(*cta, offset);
      ++state.pending;
      writeMbarrier(*cta, offset, state);
    }
    PendingCopy copy;
    copy.kind = PendingCopy::Kind::CpAsyncArrive;
    copy.time = timeOf(warp);
    noteCopy(warp, i, *cta, offset);
    copy.instruction = &i;
    copy.destination = cta;
    copy.mbarrier = offset;
    copy.warp = &warp;
    copy.mask = 1u << lane;
    copy.sequence = warp.cpAsync.sequence;
    copy.doneCycle = doneCycle;
    if (!mergeWithLast(*cta, copy))
      issueCopy(warp, std::move(copy));
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// st.async, red.async
//===----------------------------------------------------------------------===//

/// `operation` is 0, or 1 + the AtomicOp.
Step runStoreAsync(Warp &warp, const Instruction &i) {
  const u32 size = byteSize(i.type), bytes = size * i.values.size();
  ATTN_FOR_LANES(warp.active, lane) {
    u64 address = stripSharedWindow(laneAddress(warp, i.address, lane));
    Cta *cta = nullptr;
    sharedPointer(warp, i, {address, bytes, /*isWrite=*/true, lane},
                  /*allowCluster=*/true, &cta);
    auto [mbarrierCta, offset] =
        sharedLocation(warp, i, laneAddress(warp, i.address2, lane));
    if (mbarrierCta != cta)
      fault(warp, i, Finding::Sync,
            "destination and mbarrier are in different CTAs");
    checkMbarrier(warp, i, *cta, offset);
    noteCopy(warp, i, *cta, offset);
    PendingCopy copy;
    copy.kind = PendingCopy::Kind::Store;
    copy.instruction = &i;
    copy.destination = cta;
    copy.mbarrier = offset;
    copy.offset = u32(address) & sharedOffsetMask;
    copy.bytes = bytes;
    copy.data.resize(bytes);
    copy.reduces = i.operation != 0;
    copy.reduction = AtomicOp(i.operation - 1);
    copy.elementType = i.type;
    copy.doneCycle = traceCopy(warp, i, bytes);
    for (size_t k = 0; k < i.values.size(); ++k) {
      u64 value = laneValue(warp, i.values[k], lane);
      std::memcpy(&copy.data[k * size], &value, size);
    }
    if (options(warp).deferAsync && !copy.reduces)
      markInFlight(*cta, copy.offset, bytes);
    if (cta->cluster->keepsClocks() && !copy.reduces)
      noteWrite(*cta, copy.offset, bytes, cta->mbarrierClocks[offset].agent,
                cta->mbarrierClocks[offset].phases + 1);
    issueCopy(warp, std::move(copy));
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// cp.async.SZ [dst], [src], cp-size{, src-size | ignore-src}{, policy}
void decodeCopy(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.address = decoder.address(0);
  i.address2 = decoder.address(1);
  i.immediate = decoder.integer(2);
  bool legal = i.immediate == 16 ||
               (!decoder.has("cg") && (i.immediate == 4 || i.immediate == 8));
  if (!legal)
    decoder.fail("expected a cp-size of 4, 8 or 16, with .cg of 16");
  size_t count =
      decoder.numOperands() - (decoder.has("L2::cache_hint") ? 1 : 0);
  if (count > 3) {
    const ParsedOperand &last = decoder.operand(3);
    if (last.is(ParsedOperand::Kind::Register) &&
        last.symbol->kind == Symbol::Kind::Predicate)
      i.c = decoder.predicate(last);
    else
      i.a = decoder.source(3, 4);
  }
  decoder.setHandler(runCopy, InstructionClass::CpAsync);
}

/// PTX ISA 9.7.9 cp.async and its groups; 9.7.13 cp.async.mbarrier.arrive.
bool decodeCpAsync(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!decoder.has("async") || decoder.has("bulk"))
    return false;
  if (decoder.has("commit_group")) {
    decoder.setHandler(runCommit, InstructionClass::CpAsync);
  } else if (decoder.has("wait_all")) {
    i.operation = 1;
    decoder.setHandler(runWait, InstructionClass::CpAsync);
  } else if (decoder.has("wait_group")) {
    i.immediate = decoder.integer(0);
    decoder.setHandler(runWait, InstructionClass::CpAsync);
  } else if (decoder.has("mbarrier")) {
    i.address = decoder.address(0);
    i.flags = decoder.has("noinc") ? noIncrement : 0;
    decoder.setHandler(runMbarrierArrive, InstructionClass::CpAsync);
  } else {
    decodeCopy(decoder);
  }
  return true;
}

/// PTX ISA 9.7.9 st.async, 9.7.13 red.async.
bool decodeStoreAsync(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!decoder.has("async") || decoder.has("bulk"))
    return false;
  bool reduces = decoder.opcode() == "red";
  u32 count = decoder.vectorLength(), size = byteSize(i.type);
  if (size != 4 && size != 8)
    decoder.fail("expected a type of 32 or 64 bits");
  i.operation = reduces ? 1 + u32(decodeAtomicOp(decoder)) : 0;
  i.address = decoder.address(0);
  i.values = decoder.sources(decoder.operand(1), size);
  i.address2 = decoder.address(2);
  if (i.values.size() != count || count > 4)
    decoder.fail("expected a vector of " + std::to_string(count) + " elements");
  decoder.setHandler(runStoreAsync, reduces ? InstructionClass::Atomic
                                            : InstructionClass::Store);
  return true;
}

} // namespace

void attn::sim::completeCpAsyncBefore(Warp &warp, u32 lanes, u64 sequence,
                                      u32 time) {
  for (CpAsyncOp &op : warp.cpAsync.ops)
    if (op.sequence <= sequence)
      completeLanes(warp, op, lanes, time);
}

void attn::sim::completeAllCpAsync(Warp &warp) {
  for (CpAsyncOp &op : warp.cpAsync.ops)
    completeLanes(warp, op, op.mask, notYet);
  warp.cpAsync.ops.clear();
}

void attn::sim::registerCpAsync(OpcodeTable &table) {
  table.add("cp", decodeCpAsync);
  table.add({"st", "red"}, decodeStoreAsync);
}
