//===- Timing.h - What a kernel keeps busy, predicted -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The time of a kernel from what it executed: instructions, products, copies
/// and waits, by the latency model of the timeline (docs/Simulator.md). A
/// prediction, of any kernel that the simulator runs; nothing is measured.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_TIMING_H
#define ATTN_SIMULATOR_TIMING_H

#include "attn/Simulator/Simulator.h"

namespace attn::sim {

/// The warps of one role, per warp and CTA.
struct RoleTiming {
  std::string role; ///< as Counters::json
  size_t warps = 0;
  double instructions = 0;
  double busyClocks = 0;
  std::array<double, numWaitReasons> waitClocks{};
};

/// A unit that the warps of an SM share, per CTA.
struct UnitTiming {
  const char *unit;
  double clocks;
};

/// What a kernel spends on each byte of keys and values that it reads: what
/// bounds a decode step, which does little else.
struct CacheTiming {
  uint64_t bytes = 0;      ///< 0: it reads none
  double instructions = 0; ///< of warps
  double sharedBytes = 0;  ///< of shared memory, read and written
  double inFlight = 0;     ///< bytes of copies on their way, of an SM
  double sectorUse = 0;    ///< as ReadRequests, of both
  uint64_t instructionsBefore = 0, waitsBefore = 0; ///< of the first of both
};

struct Timing {
  std::vector<RoleTiming> roles;
  std::vector<UnitTiming> units;
  CacheTiming cache;
  uint64_t ctas = 0;
  double ctaClocks = 0; ///< the mean of all CTAs
  uint64_t longestCtaClocks = 0;
  uint32_t ctasPerSm = 1; ///< at a time
  /// From the first to the last.
  uint64_t kernelClocks = 0;

  /// Tables.
  std::string print() const;
};

/// What getTiming needs: a timeline of all clusters.
void setTiming(Options &options);

/// Of a launch with these options, on `smCount` SMs that hold `ctasPerSm` CTAs
/// each, as Options::ctasPerSm said.
Timing getTiming(const LaunchReport &report, uint32_t smCount,
                 uint32_t ctasPerSm = 1);

} // namespace attn::sim

#endif // ATTN_SIMULATOR_TIMING_H
