//===- RaceHistory.h - Who accessed shared memory, and when -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A happens-before race detector in the manner of FastTrack (Flanagan and
/// Freund, 2009), with agents (SyncClock.h) for threads: it finds a race in any
/// schedule that executes the two accesses, not only in one where they collide.
/// Atomics and volatile, acquire and release accesses count as synchronisation:
/// they are checked only against what works beside the warps.
///
/// A cell is the history of 16 bytes, the size of most accesses. The first
/// access to a part of them splits the cell into cells of 2 bytes, until a
/// write of all 16.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_RACEHISTORY_H
#define ATTN_LIB_SIMULATOR_PTX_RACEHISTORY_H

#include "SyncClock.h"

namespace attn::sim {

struct RaceCell {
  u32 writeTime = 0;
  u16 writer = 0; // agent + 1
  bool hasReads = false;
  bool isSync = false; // written by an access that synchronises
};

/// The time of a write that no other agent may see yet: cp.async before its
/// wait.
inline constexpr u32 notYet = ~0u;

class RaceHistory {
public:
  void init(u32 bytes);

  /// Calls visit(index of a cell, its offset) for the bytes of an access; a
  /// write must change all of these cells alike.
  template <typename Visit>
  void forEachCell(u32 offset, u32 bytes, bool isWrite, Visit visit);

  RaceCell &cell(u32 index) { return cells[index]; }
  /// When the agent of a column read the cell.
  u32 &readTime(u32 index, u32 column) {
    return reads[size_t(index) * stride + column];
  }
  u32 columnOf(u32 agent);
  const std::vector<u32> &columnAgents() const { return agentOfColumn; }
  void clearReads(u32 index) {
    std::fill_n(&reads[size_t(index) * stride], stride, 0);
    cells[index].hasReads = false;
  }

private:
  static constexpr u32 chunkBytes = 16, granuleBytes = 2;
  static constexpr u32 perChunk = chunkBytes / granuleBytes;

  u32 granules(u32 chunk); // splits the chunk
  void merge(u32 chunk);
  void widen(u32 columns);

  std::vector<RaceCell> cells;   // of chunks, then of granules
  std::vector<u32> reads;        // [cell][column]
  std::vector<u32> firstGranule; // by chunk; 0: not split
  std::vector<u32> freeGranules; // blocks to use again
  std::vector<u32> agentOfColumn, columnOfAgent;
  u32 stride = 0;
};

template <typename Visit>
void RaceHistory::forEachCell(u32 offset, u32 bytes, bool isWrite,
                              Visit visit) {
  const u32 end = offset + bytes;
  for (u32 chunk = offset / chunkBytes; chunk * chunkBytes < end; ++chunk) {
    u32 begin = chunk * chunkBytes;
    bool isWhole = offset <= begin && begin + chunkBytes <= end;
    if (isWhole && !firstGranule[chunk]) {
      visit(chunk, begin);
      continue;
    }
    u32 first = granules(chunk);
    for (u32 k = 0; k < perChunk; ++k) {
      u32 at = begin + k * granuleBytes;
      if (at + granuleBytes > offset && at < end)
        visit(first + k, at);
    }
    if (isWhole && isWrite)
      merge(chunk);
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// An access by a warp, or by an agent that it sets going.
struct RaceAccess {
  u32 offset = 0, bytes = 0;
  bool isWrite = false;
  bool isAsync = false; // through the async proxy
  u32 agent = noAgent;  // of the warp unless given
  u32 time = 0;
  bool isSync = false; // atomic, volatile, acquire or release
};

/// Checks an access of a CTA's shared memory against earlier ones, and
/// remembers it. Call only when clocks are kept.
void checkRace(Warp &warp, const Instruction &instruction, Cta &cta,
               RaceAccess access);

/// The last writes of some bytes: by agent, the latest.
using Writers = std::vector<std::pair<u32, u32>>;
void addWriters(Cta &cta, u32 offset, u32 bytes, Writers &writers);
/// True if the async proxy sees these writes when the warp sets it going.
bool seesAll(const Warp &warp, const Writers &writers);

/// Remembers a write that checkRace has seen as one by `agent` at `time`.
void noteWrite(Cta &cta, u32 offset, u32 bytes, u32 agent, u32 time);

/// The data of a warp's cp.async are here: written as of `time`.
void noteArrival(Warp &warp, Cta &cta, u32 offset, u32 bytes, u32 time);

/// Remembers that something else than an access of shared memory reaches into
/// another CTA: arrivals and copies. All must come before the CTA's exit.
void noteRemoteAccess(Warp &warp, Cta &cta);
/// After a warp's exit, and at the last one of its CTA's.
void noteExit(Warp &warp);
void checkCtaExit(Warp &warp, const Instruction &instruction);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_RACEHISTORY_H
