//===- Machine.h - Warps, CTAs, clusters and launches -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The state that instructions work on. The warps of a cluster run on one host
/// thread; only global memory, the list of findings and the next cluster's
/// number are shared between host threads.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_MACHINE_H
#define ATTN_LIB_SIMULATOR_PTX_MACHINE_H

#include "AsyncState.h"
#include "DeviceMemory.h"
#include "Error.h"
#include "Instruction.h"
#include "RaceHistory.h"
#include "TensorMemory.h"
#include "attn/Simulator/Simulator.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace attn::sim {

struct Cluster;
struct Cta;
struct LaunchContext;
struct MbarrierClocks;
class Tracer;
struct Worker;

//===----------------------------------------------------------------------===//
// Warp
//===----------------------------------------------------------------------===//

/// What the lanes of a split wait for.
struct Wait {
  enum class Kind : u8 {
    None,
    Converge, // the other lanes of `needed`
    // From here on the instruction is executed again ("resumed").
    Barrier,
    Mbarrier,
    Cluster,
    Wgmma,     // the other warps of the warpgroup
    TensorPeer // a warp of the peer CTA, in tcgen05.alloc or dealloc
  };
  Kind kind = Kind::None;
  bool parity = false;
  bool timedOut = false;
  u32 id = 0, generation = 0; // named barrier, cluster barrier
  u32 rank = 0, offset = 0;   // mbarrier
  u32 needed = 0;             // lanes
  u64 phase = 0;              // mbarrier phase or wgmma number
};

/// Lanes that are at the same pc.
struct Split {
  u32 pc = 0, mask = 0;
  Wait wait;
};

struct Warp {
  u32 *registers = nullptr; // numSlots rows of 32
  u32 *predicates = nullptr;
  u8 *local = nullptr; // localBytes per lane
  u32 localBytes = 0;

  Cta *cta = nullptr;
  Worker *worker = nullptr;
  const Program *program = nullptr;
  u32 id = 0; // in the CTA

  // SIMT state: the running split is (pc, mask), all others are in `splits`.
  u32 live = 0; // lanes that have not exited
  u32 pc = 0, mask = 0;
  u32 active = 0; // mask after the guard predicate
  bool hasCurrent = true;
  bool done = false;
  bool yielded = false;
  std::vector<Split> splits;
  u32 carry = 0; // CC.CF of each lane
  /// Lanes inside of each called function, by the slot of its return address.
  std::map<s32, u32> activeCalls;

  /// Set by a handler that returns Step::Block; kept when it runs again.
  Wait wait;
  bool resumed = false, mbarrierTimedOut = false;

  CpAsyncState cpAsync;
  BulkState bulk;
  WgmmaState wgmma;
  TensorWarpState tensor;
  u32 clusterGeneration = 0;
  bool clusterArrived = false;
  u32 gridWaited = 0; // lanes that executed griddepcontrol.wait

  // Checks; empty when off.
  std::vector<u32> definedSlots, definedPredicates; // lanes, by index
  std::vector<u64> slotStamps;                      // clock of the last access
  std::vector<MbarrierClocks *> unfencedInits;

  u64 instructions = 0, waits = 0;                  // until now
  WaitReason mbarrierReason = WaitReason::Mbarrier; // of the last wait on one

  // Trace.
  u64 cycle = 0, waitBegin = 0;
  u64 specialDone = 0; // when its special functions have results
};

//===----------------------------------------------------------------------===//
// CTA
//===----------------------------------------------------------------------===//

/// A named barrier (PTX ISA 9.7.13, bar).
struct NamedBarrier {
  u32 arrived = 0, expected = 0, generation = 0;
  bool hasCount = false;
  u32 reduction = 0, result = 0;
  bool reductionStarted = false;
  PhaseClock clock;
};

/// Who initialised an mbarrier, and when a fence made that visible to the async
/// proxy (0: not yet).
struct MbarrierClocks : PhaseClock {
  u32 initializer = 0, initTime = 0, fenceTime = 0;
};

struct Cta {
  Cluster *cluster = nullptr;
  u32 rank = 0; // in the cluster
  u32 index[3] = {0, 0, 0};
  u32 linear = 0;

  std::vector<u8> shared; // sharedBytes, offsets from 0
  u32 sharedBytes = 0;    // includes the unused first sharedBase bytes
  /// Per word: bits 0-3 written bytes, inFlightBit: an asynchronous copy.
  std::vector<u8> shadow;
  /// Counts changes of shared memory.
  u64 epoch = 1;

  std::vector<Warp> warps;
  u32 liveLanes = 0, doneWarps = 0;
  NamedBarrier barriers[16];
  std::unordered_set<u32> mbarriers;      // offsets of the initialised ones
  std::vector<PendingCopy> pendingCopies; // onto its mbarriers
  std::unordered_set<u32> copyMbarriers;  // those that had some
  WgmmaCtaState wgmma;
  TensorMemory tensor;

  RaceHistory race;
  std::unordered_map<u32, MbarrierClocks> mbarrierClocks; // by offset
  std::unordered_map<u32, SyncClock> atomicClocks;        // by word
  /// When agents last reached into this CTA, and what its warps knew when they
  /// exited.
  VectorClock remoteAccesses, exited;

  std::vector<u32> readAllocations; // by some request

  // Storage of the warps.
  std::vector<u32> registerFile, predicateFile;
  std::vector<u8> localMemory;
};

inline constexpr u8 wordWritten = 0x0F;
inline constexpr u8 inFlightBit = 0x10;

//===----------------------------------------------------------------------===//
// Cluster and launch
//===----------------------------------------------------------------------===//

struct Cluster {
  std::vector<Cta> ctas;
  u64 index = 0;
  u32 liveLanes = 0;

  // barrier.cluster
  u32 arrived = 0, generation = 0;
  SyncClock arriving, released;

  /// Counts whatever may let another warp go on; to tell spinning from
  /// progress.
  u64 events = 0, lastEvents = 0;
  u32 idleRounds = 0;
  /// Of its own, so that its schedule does not depend on host threads.
  u64 random = 1;
  /// With a timeline, the clock up to which warps may go on; all of it where
  /// their order is random.
  u64 horizon = 0;

  /// By warp; empty unless a check needs them. Agents: first the warps.
  std::vector<SyncClock> clocks;
  std::vector<Agent> agents;
  /// Of the grids before; its time is 1 for who comes after a
  /// griddepcontrol.wait of another thread.
  u32 gridAgent = noAgent;
  u32 numWarps = 0;
  Tracer *tracer = nullptr;

  bool keepsClocks() const { return !clocks.empty(); }
  bool observesSync() const { return keepsClocks() || tracer; }
};

/// The allocation that a host thread used last, so that most accesses need no
/// look-up.
struct GlobalWindow {
  u64 begin = 1, end = 0;
  bool readOnly = false;
  u32 id = 0;

  bool contains(u64 address, u64 bytes) const {
    return address >= begin && address + bytes <= end;
  }
};

/// What a request reads of one allocation.
struct ReadRequest {
  struct Range {
    u64 begin, end;
  };
  std::vector<Range> ranges;
  u32 allocation = 0; // id
};

/// A host thread.
struct Worker {
  LaunchContext *launch = nullptr;
  DeviceMemory *memory = nullptr;
  GlobalWindow window;
  std::vector<GlobalWindow> knownWindows;
  LaunchChain *chain = nullptr;        // null unless launches may overlap
  std::vector<TouchedBytes *> touched; // of the chain, by allocation

  u64 clock = 0; // instructions, for stamps and %clock

  // Counters, summed up at the end.
  std::vector<u64> warpCounts; // [warp index][pc]
  std::vector<u64> laneCounts; // [pc]
  std::vector<std::array<PathBytes, numGlobalPaths>> traffic; // by allocation
  std::vector<ReadRequests> requests;                         // by allocation
  ReadRequest request;                                        // the current one
  Counters counters;

  void countTraffic(GlobalPath path, bool isWrite, u64 bytes) {
    PathBytes &sum = traffic[window.id][size_t(path)];
    (isWrite ? sum.write : sum.read) += bytes;
  }
};

inline void countWait(Warp &warp, WaitReason reason) {
  std::vector<WaitCounts> &counts = warp.worker->counters.waitsPerWarp;
  if (counts.size() <= warp.id)
    counts.resize(warp.id + 1);
  ++counts[warp.id][size_t(reason)];
  ++warp.waits;
}

struct LaunchContext {
  const Program *program = nullptr;
  const LaunchConfig *config = nullptr;
  const Options *options = nullptr;
  DeviceMemory *memory = nullptr;
  u32 smCount = 0;
  u64 parameterAddress = 0, gridWorkspace = 0;
  u32 sharedBytes = 0;
  u32 clusterDims[3] = {1, 1, 1}, clusterCounts[3] = {1, 1, 1};
  u64 totalClusters = 0;
  std::vector<std::unique_ptr<Tracer>> tracers; // of the first clusters

  std::atomic<u64> nextCluster{0}, finishedClusters{0}, totalInstructions{0};
  std::atomic<bool> stop{false}, hasWaited{false};
  std::mutex mutex; // guards the two below
  std::vector<Diagnostic> findings;
  bool failed = false;

  u32 threadsPerCta() const { return u32(config->block.count()); }
  u32 warpsPerCta() const {
    return (threadsPerCta() + warpSize - 1) / warpSize;
  }
  u32 ctasPerCluster() const {
    return clusterDims[0] * clusterDims[1] * clusterDims[2];
  }
};

inline const Options &options(const Warp &warp) {
  return *warp.worker->launch->options;
}
inline const Checks &checks(const Warp &warp) { return options(warp).checks; }

/// Runs a cluster until it ends or has used about `quota` instructions; true at
/// its end.
bool runCluster(LaunchContext &launch, Cluster &cluster, Worker &worker,
                u64 quota);
std::unique_ptr<Cluster> makeCluster(LaunchContext &launch, Worker &worker,
                                     u64 index);
/// Runs a warp for at most `budget` instructions; returns how many it ran.
u64 runWarp(Warp &warp, u64 budget);
/// True if the lanes of a split may go on; may complete copies in flight.
bool isReady(Warp &warp, Split &split);
/// Who waits for what, for every warp of the cluster.
std::string describeDeadlock(Cluster &cluster);

//===----------------------------------------------------------------------===//
// Operand access
//===----------------------------------------------------------------------===//

inline const u32 *source32(const Warp &warp, const Operand &operand) {
  const u32 *base = operand.kind == Operand::Kind::Constant
                        ? warp.program->constants.data()
                        : warp.registers;
  return base + size_t(operand.index) * warpSize;
}
inline const u64 *source64(const Warp &warp, const Operand &operand) {
  return reinterpret_cast<const u64 *>(source32(warp, operand));
}
inline u32 *dest32(Warp &warp, const Operand &operand) {
  return warp.registers + size_t(operand.index) * warpSize;
}
inline u64 *dest64(Warp &warp, const Operand &operand) {
  return reinterpret_cast<u64 *>(dest32(warp, operand));
}
/// One lane of a register or constant of 32 or 64 bits, zero-extended.
inline u64 laneValue(const Warp &warp, const Operand &operand, u32 lane) {
  return operand.width == 8 ? source64(warp, operand)[lane]
                            : source32(warp, operand)[lane];
}
inline u32 laneValue32(const Warp &warp, const Operand &operand, u32 lane) {
  return source32(warp, operand)[lane];
}
inline void setLane(Warp &warp, const Operand &operand, u32 lane, u64 value) {
  if (operand.width == 8)
    dest64(warp, operand)[lane] = value;
  else
    dest32(warp, operand)[lane] = u32(value);
}

/// A predicate as a lane mask; all lanes when there is no operand.
inline u32 predicateMask(const Warp &warp, const Operand &operand) {
  if (!operand)
    return fullMask;
  u32 mask = operand.kind == Operand::Kind::Constant
                 ? (source32(warp, operand)[0] ? fullMask : 0)
                 : warp.predicates[operand.index];
  return operand.negated ? ~mask : mask;
}
/// Writes the active lanes of a predicate.
inline void setPredicate(Warp &warp, const Operand &operand, u32 mask) {
  if (!operand.isPredicate())
    return;
  u32 &value = warp.predicates[operand.index];
  value = (value & ~warp.active) | (mask & warp.active);
}

inline u64 laneAddress(const Warp &warp, const Address &address, u32 lane) {
  if (!address.base)
    return address.offset;
  return laneValue(warp, address.base, lane) + address.offset;
}
inline void laneAddresses(const Warp &warp, const Address &address,
                          u64 (&out)[warpSize]) {
  for (u32 lane = 0; lane < warpSize; ++lane)
    out[lane] = laneAddress(warp, address, lane);
}

inline u32 firstLane(u32 mask) { return __builtin_ctz(mask); }
inline u32 countLanes(u32 mask) { return __builtin_popcount(mask); }

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

/// Stops the launch.
[[noreturn]] void fault(const Warp &warp, const Instruction &instruction,
                        Finding finding, const std::string &message,
                        const std::string &remedy = "");
/// Stops the launch, or records the finding under Options::keepGoing.
void report(const Warp &warp, const Instruction &instruction, Finding finding,
            const std::string &message, const std::string &remedy = "");

//===----------------------------------------------------------------------===//
// Convergence
//===----------------------------------------------------------------------===//

/// For .sync and .aligned instructions: true if all live lanes of `members`
/// execute the instruction now. Otherwise `wait` is set, and the handler must
/// return Step::Block.
bool convergesWith(Warp &warp, const Instruction &instruction, u32 members);
/// The same for all live lanes; faults unless the warp is full.
bool convergesFully(Warp &warp, const Instruction &instruction);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_MACHINE_H
