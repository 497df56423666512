//===- Memory.cpp - Checked accesses of every state space -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>

using namespace attn::sim;

using ull = unsigned long long;

static const char *verb(bool isWrite) { return isWrite ? "write" : "read"; }

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

[[noreturn]] static void faultGlobal(const Warp &warp,
                                     const Instruction &instruction,
                                     const Access &access,
                                     const std::string &why) {
  fault(warp, instruction, Finding::Memory,
        format("invalid __global__ %s of size %u at 0x%llx (lane %u): %s",
               verb(access.isWrite), access.bytes, (ull)access.address,
               access.lane, why.c_str()));
}

/// Makes the allocation that holds the access the worker's window.
static void openWindow(Warp &warp, const Instruction &instruction,
                       const Access &access) {
  Worker &worker = *warp.worker;
  for (const GlobalWindow &known : worker.knownWindows)
    if (known.contains(access.address, access.bytes)) {
      worker.window = known;
      return;
    }
  std::optional<Allocation> nearest =
      worker.memory->findAtOrBelow(access.address);
  if (!nearest)
    faultGlobal(warp, instruction, access, "no allocation is there");
  if (!nearest->contains(access.address, access.bytes))
    faultGlobal(
        warp, instruction, access,
        format("out of bounds; the nearest allocation is '%s' [0x%llx, +%llu), "
               "offset %lld",
               nearest->name.c_str(), (ull)nearest->address,
               (ull)nearest->bytes,
               (long long)(access.address - nearest->address)));
  worker.window = {nearest->address, nearest->end(), nearest->readOnly,
                   nearest->id};
  worker.knownWindows.push_back(worker.window);
  if (worker.traffic.size() <= nearest->id)
    worker.traffic.resize(nearest->id + 1);
  if (worker.requests.size() <= nearest->id)
    worker.requests.resize(nearest->id + 1);
}

u8 *attn::sim::globalPointerSlow(Warp &warp, const Instruction &instruction,
                                 const Access &access) {
  if (access.bytes && (access.address & (access.bytes - 1)))
    faultGlobal(warp, instruction, access, "misaligned address");
  openWindow(warp, instruction, access);
  if (access.isWrite && warp.worker->window.readOnly)
    faultGlobal(warp, instruction, access, "the memory is read-only");
  return reinterpret_cast<u8 *>(access.address);
}

void attn::sim::checkGlobalRange(Warp &warp, const Instruction &instruction,
                                 u64 address, u64 bytes, bool isWrite,
                                 u32 lane) {
  globalPointerSlow(warp, instruction, {address, 1, isWrite, lane});
  if (!warp.worker->window.contains(address, bytes))
    globalPointerSlow(warp, instruction,
                      {address + bytes - 1, 1, isWrite, lane});
  if (!warp.worker->window.contains(address, bytes))
    faultGlobal(warp, instruction, {address, u32(bytes), isWrite, lane},
                "the range is not inside one allocation");
}

/// Bytes and sectors of `ranges`, each once.
static void countSectors(std::vector<ReadRequest::Range> &ranges,
                         ReadRequests &counts) {
  using Range = ReadRequest::Range;
  auto isBefore = [](const Range &a, const Range &b) {
    return a.begin < b.begin;
  };
  if (!std::is_sorted(ranges.begin(), ranges.end(), isBefore))
    std::sort(ranges.begin(), ranges.end(), isBefore);
  u64 nextByte = 0, nextSector = 0;
  for (const Range &range : ranges) {
    u64 begin = std::max(range.begin, nextByte);
    if (begin >= range.end)
      continue;
    counts.bytes += range.end - begin;
    nextByte = range.end;
    u64 endSector = (range.end + sectorBytes - 1) / sectorBytes;
    u64 beginSector = std::max(begin / sectorBytes, nextSector);
    counts.sectors += endSector - beginSector;
    nextSector = endSector;
  }
}

void attn::sim::countRequest(Warp &warp) {
  ReadRequest &request = warp.worker->request;
  if (request.ranges.empty())
    return;
  ReadRequests &counts = warp.worker->requests[request.allocation];
  countSectors(request.ranges, counts);
  request.ranges.clear();
  std::vector<u32> &known = warp.cta->readAllocations;
  if (std::find(known.begin(), known.end(), request.allocation) != known.end())
    return;
  known.push_back(request.allocation);
  ReadRequests first;
  first.instructionsBefore = warp.instructions - 1;
  first.waitsBefore = warp.waits;
  counts.add(first);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

[[noreturn]] static void faultShared(const Warp &warp,
                                     const Instruction &instruction,
                                     const Access &access,
                                     const std::string &why,
                                     const std::string &remedy = "") {
  fault(warp, instruction, Finding::Memory,
        format("invalid __shared__ %s of size %u at 0x%llx (lane %u): %s",
               verb(access.isWrite), access.bytes, (ull)access.address,
               access.lane, why.c_str()),
        remedy);
}

/// The CTA whose shared memory has a rank in its address other than the
/// warp's.
static Cta *remoteCta(Warp &warp, const Instruction &instruction,
                      const Access &access, u32 rank, bool allowCluster) {
  std::vector<Cta> &ctas = warp.cta->cluster->ctas;
  if (!allowCluster)
    faultShared(warp, instruction, access,
                format("a .shared::cta access names CTA rank %u, this is rank "
                       "%u",
                       rank, warp.cta->rank),
                "use .shared::cluster for distributed shared memory");
  if (rank >= ctas.size())
    faultShared(warp, instruction, access,
                format("CTA rank %u of %zu", rank, ctas.size()));
  if (ctas[rank].liveLanes == 0)
    report(warp, instruction, Finding::Memory,
           format("access of shared memory of CTA rank %u, which has exited "
                  "(lane %u)",
                  rank, access.lane),
           "keep the CTA alive with barrier.cluster before it exits");
  warp.worker->counters.distributedSharedBytes += access.bytes;
  return &ctas[rank];
}

static void reportInFlight(Warp &warp, const Instruction &instruction,
                           const Access &access, u32 offset) {
  if (!checks(warp).earlyRead)
    return;
  std::string place =
      format("shared offset %d (lane %u)", printedOffset(offset), access.lane);
  if (access.isWrite)
    report(warp, instruction, Finding::Async,
           "write to " + place +
               " while an asynchronous copy into it is in "
               "flight");
  else
    report(warp, instruction, Finding::Async,
           "early read: " + place +
               " is the destination of an asynchronous "
               "copy that has not been waited for",
           "wait for the copy's mbarrier or group, and make the data visible "
           "to other warps with a barrier");
}

/// Accesses of whole words.
static void checkWords(Warp &warp, const Instruction &instruction, Cta &cta,
                       const Access &access, u32 offset) {
  u8 *shadow = &cta.shadow[offset >> 2];
  for (u32 i = 0; i < access.bytes / 4; ++i) {
    if (__builtin_expect(shadow[i] != wordWritten, 0)) {
      if (shadow[i] & inFlightBit)
        reportInFlight(warp, instruction, access, offset + 4 * i);
      if (!access.isWrite && (shadow[i] & wordWritten) != wordWritten &&
          checks(warp).uninitializedShared)
        report(warp, instruction, Finding::Init,
               format("uninitialized __shared__ memory read of size %u at "
                      "shared offset %d (lane %u)",
                      access.bytes, printedOffset(offset + 4 * i),
                      access.lane));
    }
    if (access.isWrite)
      shadow[i] = wordWritten;
  }
}

/// Accesses of one or two bytes.
static void checkBytes(Warp &warp, const Instruction &instruction, Cta &cta,
                       const Access &access, u32 offset) {
  u8 &shadow = cta.shadow[offset >> 2];
  u8 mask = ((1 << access.bytes) - 1) << (offset & 3);
  if (shadow & inFlightBit)
    reportInFlight(warp, instruction, access, offset);
  if (access.isWrite)
    shadow = (shadow & wordWritten) | mask;
  else if ((shadow & mask) != mask && checks(warp).uninitializedShared)
    report(warp, instruction, Finding::Init,
           format("uninitialized __shared__ memory read of size %u at shared "
                  "offset %d (lane %u)",
                  access.bytes, printedOffset(offset), access.lane));
}

u8 *attn::sim::sharedPointer(Warp &warp, const Instruction &instruction,
                             const Access &access, bool allowCluster,
                             Cta **owner) {
  u64 rank = access.address >> sharedRankShift;
  u32 offset = access.address & sharedOffsetMask, bytes = access.bytes;
  Cta *cta = warp.cta;
  if (__builtin_expect(rank != cta->rank, 0)) {
    if (rank > 0xFF)
      faultShared(warp, instruction, access, "not a shared address");
    cta = remoteCta(warp, instruction, access, rank, allowCluster);
  }
  if (__builtin_expect(offset < sharedBase || offset + bytes > cta->sharedBytes,
                       0))
    faultShared(warp, instruction, access,
                format("out of bounds; offset %d of %u bytes",
                       printedOffset(offset), cta->sharedBytes - sharedBase));
  if (__builtin_expect(bytes && (offset & (bytes - 1)), 0))
    faultShared(warp, instruction, access, "misaligned address");
  if (owner)
    *owner = cta;
  if (bytes == 0)
    return &cta->shared[offset];
  if (bytes >= 4)
    checkWords(warp, instruction, *cta, access, offset);
  else
    checkBytes(warp, instruction, *cta, access, offset);
  if (cta->cluster->keepsClocks()) {
    checkRace(warp, instruction, *cta, {offset, bytes, access.isWrite});
    noteRemoteAccess(warp, *cta);
  }
  if (access.isWrite)
    ++cta->epoch;
  return &cta->shared[offset];
}

SharedLocation attn::sim::sharedLocation(Warp &warp,
                                         const Instruction &instruction,
                                         u64 address) {
  u64 stripped = stripSharedWindow(address);
  u64 rank = stripped >> sharedRankShift;
  std::vector<Cta> &ctas = warp.cta->cluster->ctas;
  if (rank >= ctas.size())
    fault(warp, instruction, Finding::Memory,
          format("0x%llx is no shared address of a CTA of this cluster (rank "
                 "%llu of %zu)",
                 (ull)address, (ull)rank, ctas.size()));
  return {&ctas[rank], u32(stripped) & sharedOffsetMask};
}

void attn::sim::checkAsyncRead(Warp &warp, const Instruction &instruction,
                               Cta &cta, u32 offset, u32 bytes,
                               const char *what, u32 agent, u32 time) {
  if (offset < sharedBase || u64(offset) + bytes > cta.sharedBytes)
    fault(warp, instruction, Finding::Memory,
          format("%s: shared offset %d is out of bounds (%u bytes)", what,
                 printedOffset(offset), cta.sharedBytes - sharedBase));
  const Checks &enabled = checks(warp);
  for (u32 word = offset >> 2; word < (offset + bytes) >> 2; ++word) {
    u8 shadow = cta.shadow[word];
    if (__builtin_expect(shadow == wordWritten, 1))
      continue;
    int printed = printedOffset(word * 4);
    if ((shadow & inFlightBit) && enabled.earlyRead)
      report(warp, instruction, Finding::Async,
             format("early read: %s reads shared offset %d, the destination "
                    "of an asynchronous copy that has not been waited for",
                    what, printed),
             "wait for the copy's mbarrier first");
    else if ((shadow & wordWritten) != wordWritten &&
             enabled.uninitializedShared)
      report(warp, instruction, Finding::Init,
             format("%s reads uninitialized __shared__ memory at offset %d",
                    what, printed));
  }
  if (cta.cluster->keepsClocks())
    checkRace(
        warp, instruction, cta,
        {offset, bytes, /*isWrite=*/false, /*isAsync=*/true, agent, time});
}

void attn::sim::markInFlight(Cta &cta, u32 offset, u32 bytes) {
  for (u32 word = offset >> 2; word < (offset + bytes + 3) >> 2; ++word)
    cta.shadow[word] |= inFlightBit;
}

void attn::sim::markWritten(Cta &cta, u32 offset, u32 bytes) {
  for (u32 word = offset >> 2; word < (offset + bytes + 3) >> 2; ++word)
    cta.shadow[word] = wordWritten;
}

void attn::sim::countBankConflicts(Warp &warp, const u64 (&addresses)[warpSize],
                                   u32 bytesPerLane) {
  u32 lanesPerPass = bytesPerLane <= 4 ? 32 : bytesPerLane == 8 ? 16 : 8;
  u32 wordsPerLane = std::max(bytesPerLane / 4, 1u);
  Counters &counters = warp.worker->counters;
  for (u32 first = 0; first < warpSize; first += lanesPerPass) {
    // Distinct words per bank; equal words are broadcast.
    u32 words[32][32], count[32] = {}, passes = 0;
    u32 mask =
        warp.active &
        (lanesPerPass == 32 ? fullMask : ((1u << lanesPerPass) - 1) << first);
    ATTN_FOR_LANES(mask, lane) {
      for (u32 i = 0; i < wordsPerLane; ++i) {
        u32 word = u32(addresses[lane] >> 2) + i, bank = word % 32;
        bool seen = std::find(words[bank], words[bank] + count[bank], word) !=
                    words[bank] + count[bank];
        if (!seen)
          words[bank][count[bank]++] = word;
        passes = std::max(passes, count[bank]);
      }
    }
    counters.sharedWavefronts += passes;
    counters.bankConflicts += passes > 1 ? passes - 1 : 0;
  }
}

//===----------------------------------------------------------------------===//
// Local memory and generic addresses
//===----------------------------------------------------------------------===//

u8 *attn::sim::localPointer(Warp &warp, const Instruction &instruction,
                            const Access &access) {
  if (access.address < localBase ||
      access.address + access.bytes > warp.localBytes)
    fault(warp, instruction, Finding::Memory,
          format("invalid __local__ %s of size %u at 0x%llx (lane %u): out of "
                 "bounds",
                 verb(access.isWrite), access.bytes, (ull)access.address,
                 access.lane));
  if (access.bytes && (access.address & (access.bytes - 1)))
    fault(warp, instruction, Finding::Memory,
          format("invalid __local__ %s of size %u at 0x%llx (lane %u): "
                 "misaligned address",
                 verb(access.isWrite), access.bytes, (ull)access.address,
                 access.lane));
  return warp.local + size_t(access.lane) * warp.localBytes + access.address;
}

static u8 *genericPointer(Warp &warp, const Instruction &instruction,
                          Access access) {
  if (inSharedWindow(access.address)) {
    access.address -= sharedWindow;
    return sharedPointer(warp, instruction, access, /*allowCluster=*/true);
  }
  if (inLocalWindow(access.address)) {
    access.address -= localWindow;
    return localPointer(warp, instruction, access);
  }
  return globalPointer(warp, instruction, access);
}

u8 *attn::sim::pointer(Warp &warp, const Instruction &instruction, Space space,
                       const Access &access) {
  switch (space) {
  case Space::Global:
  case Space::Const:
    return globalPointer(warp, instruction, access);
  case Space::SharedCta:
    return sharedPointer(warp, instruction, access, /*allowCluster=*/false);
  case Space::SharedCluster:
    return sharedPointer(warp, instruction, access, /*allowCluster=*/true);
  case Space::Local:
    return localPointer(warp, instruction, access);
  case Space::Param:
    // Parameters of functions are local, those of the kernel global.
    if (access.address < windowBytes)
      return localPointer(warp, instruction, access);
    return globalPointer(warp, instruction, access);
  case Space::Generic:
    break;
  }
  return genericPointer(warp, instruction, access);
}
