//===- Mbarrier.cpp - mbarrier instructions -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.13, mbarrier: init, inval, expect_tx, complete_tx, arrive,
/// arrive_drop, test_wait, try_wait, pending_count.
///
//===----------------------------------------------------------------------===//

#include "../MbarrierState.h"
#include "../Memory.h"
#include "Elementwise.h"
#include "Families.h"

#include <algorithm>

using namespace attn::sim;

namespace {

constexpr u32 noComplete = 1, drops = 2, byParity = 4, negates = 8;

/// The mbarrier that a lane names.
SharedLocation locate(Warp &warp, const Instruction &i, u32 lane) {
  u64 address = laneAddress(warp, i.address, lane);
  if (i.space == Space::Generic && !inSharedWindow(address))
    fault(warp, i, Finding::Memory,
          format("mbarrier address 0x%llx is not in shared memory (lane %u)",
                 (unsigned long long)address, lane));
  SharedLocation location = sharedLocation(warp, i, address);
  if (location.cta == warp.cta)
    return location;
  if (i.space == Space::SharedCta)
    fault(warp, i, Finding::Memory,
          format("mbarrier of CTA rank %u through .shared::cta (lane %u)",
                 location.cta->rank, lane),
          "use .shared::cluster for an mbarrier of another CTA");
  if (location.cta->liveLanes == 0)
    report(warp, i, Finding::Sync,
           format("operation on an mbarrier of CTA rank %u, which has exited",
                  location.cta->rank));
  return location;
}

//===----------------------------------------------------------------------===//
// init, inval
//===----------------------------------------------------------------------===//

Step runInit(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] = locate(warp, i, lane);
    checkMbarrier(warp, i, *cta, offset, /*mustBeInitialized=*/false);
    u32 count = laneValue32(warp, i.a, lane);
    if (count == 0 || count > maxMbarrierCount)
      fault(warp, i, Finding::Sync,
            format("mbarrier count %u, expected 1 to 2^20-1", count));
    for (const PendingCopy &copy : cta->pendingCopies)
      if (copy.mbarrier == offset)
        report(warp, i, Finding::Sync,
               "mbarrier.init while copies on it are in flight");
    writeMbarrier(*cta, offset, {count, count, 0, 0});
    cta->mbarriers.insert(offset);
    cta->copyMbarriers.erase(offset);
    noteMbarrierInit(warp, *cta, offset);
    markWritten(*cta, offset, 8);
  }
  return Step::Next;
}

Step runInval(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] = locate(warp, i, lane);
    checkMbarrier(warp, i, *cta, offset);
    cta->mbarriers.erase(offset);
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// arrive, expect_tx
//===----------------------------------------------------------------------===//

/// `a` is the count of arrivals, `b` the bytes to expect.
Step runArrive(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] = locate(warp, i, lane);
    checkMbarrier(warp, i, *cta, offset);
    u32 count = i.a ? laneValue32(warp, i.a, lane) : 1;
    s64 tx = i.b ? s64(laneValue32(warp, i.b, lane)) : 0;
    MbarrierState before = readMbarrier(*cta, offset);
    if ((i.flags & noComplete) && before.pending <= count)
      fault(warp, i, Finding::Sync,
            "mbarrier.arrive.noComplete would complete the phase");
    if (i.flags & drops) {
      if (before.pending < count)
        completeCopiesOn(*cta, offset);
      MbarrierState state = readMbarrier(*cta, offset);
      state.expected -= std::min(count, state.expected);
      u64 word = state.encode();
      std::memcpy(&cta->shared[offset], &word, sizeof word);
    }
    arriveOnMbarrier(warp, i, *cta, offset, count, tx);
    if (i.dst.isRegister())
      dest64(warp, i.dst)[lane] = before.encode();
  }
  return Step::Next;
}

Step runTx(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] = locate(warp, i, lane);
    s64 bytes = laneValue32(warp, i.a, lane);
    addMbarrierTx(warp, i, *cta, offset, i.flags & negates ? -bytes : bytes);
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// test_wait, try_wait
//===----------------------------------------------------------------------===//

/// Both wait until the phase completes; when nothing else in the cluster can
/// run, they return false, so that a loop around them is seen to spin.
Step runWait(Warp &warp, const Instruction &i) {
  bool timedOut = warp.resumed && warp.mbarrierTimedOut;
  u32 ready = 0;
  bool isOfCopies = false;
  Wait wait;
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] = locate(warp, i, lane);
    if (cta != warp.cta)
      fault(warp, i, Finding::Sync, "wait on an mbarrier of another CTA",
            "only the CTA that owns an mbarrier can wait on it");
    checkMbarrier(warp, i, *cta, offset);
    isOfCopies |= cta->copyMbarriers.count(offset) != 0;
    PhaseTest test{bool(i.flags & byParity), laneValue(warp, i.a, lane)};
    if (mbarrierReady(*cta, offset, test)) {
      ready |= 1u << lane;
    } else if (wait.kind == Wait::Kind::None) {
      wait.kind = Wait::Kind::Mbarrier;
      wait.rank = cta->rank;
      wait.offset = offset;
      wait.phase = test.value;
      wait.parity = test.byParity;
    }
  }
  if (!ready && !timedOut) {
    warp.wait = wait;
    return Step::Block;
  }
  warp.mbarrierReason =
      isOfCopies ? WaitReason::MbarrierCopy : WaitReason::Mbarrier;
  if (warp.resumed)
    countWait(warp, warp.mbarrierReason);
  if (warp.cta->cluster->observesSync())
    ATTN_FOR_LANES(ready, lane) {
      auto [cta, offset] = locate(warp, i, lane);
      acquireClock(warp, cta->mbarrierClocks[offset].completed);
    }
  setPredicate(warp, i.dst, ready);
  return Step::Next;
}

Step runPendingCount(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    dest32(warp, i.dst)[lane] =
        MbarrierState::decode(source64(warp, i.a)[lane]).pending;
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// mbarrier.arrive{_drop}{.expect_tx} {state,} [addr] {, count or bytes}
void decodeArrive(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  size_t next = 0;
  if (!decoder.operand(0).is(ParsedOperand::Kind::Address))
    i.dst = decoder.destination(next++, 8);
  i.address = decoder.address(next++);
  bool expectsTx = decoder.has("expect_tx");
  if (expectsTx)
    i.b = decoder.source(next, 4);
  else if (next < decoder.numOperands())
    i.a = decoder.source(next, 4);
  i.flags = (decoder.has("noComplete") ? noComplete : 0) |
            (decoder.has("arrive_drop") ? drops : 0);
  decoder.setHandler(runArrive, InstructionClass::Mbarrier);
}

void decodeWait(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.dst = decoder.predicateDestination(decoder.operand(0));
  i.address = decoder.address(1);
  i.flags = decoder.has("parity") ? byParity : 0;
  i.a = decoder.source(2, i.flags ? 4 : 8);
  decoder.setHandler(runWait, InstructionClass::Mbarrier);
}

/// PTX ISA 9.7.13 mbarrier.
bool decodeMbarrier(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.space = decoder.space();
  if (decoder.has("pending_count")) {
    i.dst = decodeRegister(decoder, 0, 4);
    i.a = decoder.source(1, 8);
    decoder.setHandler(runPendingCount, InstructionClass::Mbarrier);
  } else if (decoder.has("init")) {
    i.address = decoder.address(0);
    i.a = decoder.source(1, 4);
    decoder.setHandler(runInit, InstructionClass::Mbarrier);
  } else if (decoder.has("inval")) {
    i.address = decoder.address(0);
    decoder.setHandler(runInval, InstructionClass::Mbarrier);
  } else if (decoder.has("arrive") || decoder.has("arrive_drop")) {
    decodeArrive(decoder);
  } else if (decoder.has("expect_tx") || decoder.has("complete_tx")) {
    i.address = decoder.address(0);
    i.a = decoder.source(1, 4);
    i.flags = decoder.has("complete_tx") ? negates : 0;
    decoder.setHandler(runTx, InstructionClass::Mbarrier);
  } else if (decoder.has("test_wait") || decoder.has("try_wait")) {
    decodeWait(decoder);
  } else {
    return false;
  }
  return true;
}

} // namespace

void attn::sim::registerMbarrier(OpcodeTable &table) {
  table.add("mbarrier", decodeMbarrier);
}
