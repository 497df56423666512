//===- Counters.h - What a launch executed and moved ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_COUNTERS_H
#define ATTN_SIMULATOR_COUNTERS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace attn::sim {

/// Classes of instructions, by the pipe that executes them on hardware.
enum class InstructionClass : uint8_t {
  Other,
  Integer,
  FloatAdd,
  FloatMul,
  FloatFma,
  FloatCompare,
  Half,
  Double,
  Convert,
  Move,
  Ex2,  // MUFU ex2
  Mufu, // other special functions
  Branch,
  Load,
  Store,
  Atomic,
  CpAsync,
  Tma,      // copies to shared memory
  TmaStore, // those to global memory, and waits for them
  Mma,
  Wgmma,
  Tcgen05,      // products, copies and shifts in tensor memory
  TensorMemory, // tcgen05.ld and st, and their waits
  LdMatrix,
  Shuffle,
  Barrier,
  Mbarrier,
  Fence,
  Call
};
inline constexpr size_t numInstructionClasses =
    size_t(InstructionClass::Call) + 1;

/// "integer", "float_fma", "ex2", ...
const char *name(InstructionClass instructionClass);

/// How global memory is reached.
enum class GlobalPath : uint8_t { LoadStore, CpAsync, Tma, Atomic };
inline constexpr size_t numGlobalPaths = 4;
const char *name(GlobalPath path);

struct PathBytes {
  uint64_t read = 0, write = 0;
};

/// What memory moves to the L1 cache at least, in bytes.
inline constexpr uint64_t sectorBytes = 32;

/// Requests that read one allocation: those of a warp's instruction, of a box
/// or of a bulk copy.
struct ReadRequests {
  uint64_t sectors = 0; ///< that they touch
  uint64_t bytes = 0;   ///< of these; what several lanes read counts once
  /// What the first warp of a CTA to read had executed and waited for before
  /// it did; the most of all CTAs.
  uint64_t instructionsBefore = 0, waitsBefore = 0;

  /// The share of the sectors' bytes that is read.
  double sectorUse() const;
  void add(const ReadRequests &other);
};

/// Bytes that one allocation saw.
struct BufferTraffic {
  std::string name;
  uint64_t address = 0;
  std::array<PathBytes, numGlobalPaths> paths;
  ReadRequests requests;

  uint64_t read() const;
  uint64_t write() const;
};

using ClassCounts = std::array<uint64_t, numInstructionClasses>;

/// What a warp does, from what it issues, the roles of a specialised kernel:
/// "consumer" (products, or what they leave in tensor memory), "correction"
/// (tensor memory, without a special function, beside warps that compute
/// exponentials), "products" (those alone), "producer" (copies), "epilogue"
/// (those to global memory alone) or "other".
const char *roleOf(const std::vector<ClassCounts> &warps, size_t warp);

/// In the order in which they are reported.
inline constexpr std::array<const char *, 6> roleNames = {
    "producer", "products", "correction", "epilogue", "consumer", "other"};

/// What a warp waits for: a barrier of the CTA or the cluster, an mbarrier at
/// which only warps (and products) arrive, as for a free stage, one that counts
/// the bytes of copies, the wgmma of its warpgroup, or its own copies (cp.async
/// and bulk groups).
enum class WaitReason : uint8_t {
  Barrier,
  Mbarrier,
  MbarrierCopy,
  Wgmma,
  CopyGroup
};
inline constexpr size_t numWaitReasons = 5;
const char *name(WaitReason reason);
using WaitCounts = std::array<uint64_t, numWaitReasons>;

struct LineCount {
  uint32_t line = 0;
  uint64_t warpInstructions = 0, laneInstructions = 0;
};

struct Counters {
  ClassCounts warpInstructions{};
  ClassCounts laneInstructions{};
  /// Warp instructions by warp index in the CTA: the warp roles.
  std::vector<ClassCounts> perWarp;
  uint64_t mmaFlops = 0;

  std::vector<BufferTraffic> buffers;
  uint64_t globalLoadBytes = 0, globalStoreBytes = 0, globalAtomicBytes = 0;
  uint64_t cpAsyncBytes = 0;
  uint64_t tmaLoadBytes = 0, tmaStoreBytes = 0, tmaReduceBytes = 0;

  uint64_t sharedLoadBytes = 0, sharedStoreBytes = 0;
  /// What bulk and tensor copies write there, in each CTA of a multicast.
  uint64_t bulkSharedBytes = 0;
  /// What wgmma reads of its factors, 128 bytes a clock.
  uint64_t wgmmaSharedBytes = 0;
  /// The same that the products of tcgen05 read, of both CTAs of a pair.
  uint64_t tcgen05SharedBytes = 0;
  /// Accesses of other CTAs' shared memory.
  uint64_t distributedSharedBytes = 0;
  /// Passes over the 32 banks, and how many of them are conflicts.
  uint64_t sharedWavefronts = 0, bankConflicts = 0;

  uint64_t barrierOps = 0, mbarrierOps = 0;
  /// Times that a warp had to wait, by warp index in the CTA.
  std::vector<WaitCounts> waitsPerWarp;
  uint64_t ctas = 0;

  std::vector<LineCount> lines;

  uint64_t totalWarpInstructions() const;
  uint64_t totalLaneInstructions() const;
  uint64_t totalWaits(WaitReason reason) const;
  /// Adds another launch; buffers are matched by address.
  void add(const Counters &other);
  /// A JSON object.
  std::string json() const;
};

} // namespace attn::sim

#endif // ATTN_SIMULATOR_COUNTERS_H
