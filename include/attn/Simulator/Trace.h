//===- Trace.h - Timeline of a launch ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_TRACE_H
#define ATTN_SIMULATOR_TRACE_H

#include "attn/Simulator/Counters.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn::sim {

/// A span on a track, in cycles of the latency model (docs/Simulator.md).
struct TraceEvent {
  uint32_t cta = 0;   // linear CTA index: the process of the trace
  uint32_t track = 0; // warp index, or a unit's track
  uint64_t begin = 0, end = 0;
  const char *name = "";     // static text
  const char *category = ""; // "mma", "wait", "copy", ...
  uint32_t line = 0;
  std::optional<WaitReason> wait{}; // of a wait
};

/// Tracks beyond the warps of a CTA.
inline constexpr uint32_t copyTrack = 1000;
inline constexpr uint32_t tensorTrack = 1001;

struct Timeline {
  std::vector<TraceEvent> events;
  uint64_t cycles = 0;
  /// Bytes of copies times the cycles from their start to their arrival.
  uint64_t byteCycles = 0;
  /// Of copies to an SM.
  uint64_t copyBytesPerCycle = 1;

  /// Chrome trace-event JSON, which Perfetto and chrome://tracing read; one
  /// microsecond of the viewer is one cycle.
  std::string chromeJson() const;
};

} // namespace attn::sim

#endif // ATTN_SIMULATOR_TRACE_H
