//===- Tracer.h - Timeline by a simple latency model ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Logical time for one cluster. Every warp has a clock in cycles; an
/// instruction adds its issue cost, a synchronisation takes the maximum of the
/// clocks it joins (SyncClock), a copy or a tensor-core operation finishes when
/// its unit has worked through what came before it. docs/Simulator.md gives the
/// numbers. The timeline never influences what is computed.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_TRACER_H
#define ATTN_LIB_SIMULATOR_PTX_TRACER_H

#include "LatencyModel.h"
#include "Machine.h"
#include "attn/Simulator/Trace.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace attn::sim {

/// Where the instructions of a sub-core that take more than a cycle are
/// executed; others are issued, and done.
enum class Pipe : uint8_t { Arithmetic, Special, Memory, Tensor };
inline constexpr size_t numPipes = 4;

class Tracer {
public:
  /// An SM holds `ctasPerSm` CTAs like each of the cluster.
  Tracer(unsigned ctasPerSm, u64 copyBytesPerCycle)
      : ctasPerSm(ctasPerSm), copyBytesPerCycle(copyBytesPerCycle) {}

  /// Before an instruction is executed: what hands results to others waits for
  /// those of special functions.
  void beforeInstruction(Warp &warp, const Instruction &instruction);
  /// After an instruction that was executed or blocked. The warp's clock was
  /// `before` when it began; if it is later now, the warp waited.
  void onInstruction(Warp &warp, const Instruction &instruction, Step step,
                     u64 before);
  /// A copy of `bytes` starts; returns the cycle at which it is complete.
  u64 onCopy(Warp &warp, const Instruction &instruction, u64 bytes);
  /// A store of `bytes` from shared memory starts; returns the cycle at which
  /// they have been read. What leaves an SM does not wait for what arrives.
  u64 onStore(Warp &warp, const Instruction &instruction, u64 bytes);
  /// A copy that is complete at `done` writes `bytes` to a CTA's shared memory,
  /// of which products have less meanwhile.
  void onSharedWrite(const Cta &cta, u64 bytes, u64 done) {
    units[&cta].writes.push_back({done - bytes / copyBytesPerCycle, done});
  }
  /// A wgmma starts; returns the cycle at which it is complete.
  u64 onWgmma(Warp &warp, const Instruction &instruction);
  /// A tcgen05.mma starts, for which a CTA's tensor cores compute `flops` and
  /// read `sharedBytes`; returns the cycle at which it is complete.
  u64 onTensorProduct(Warp &warp, const Instruction &instruction, u64 flops,
                      u64 sharedBytes);

  /// Ends open spans; call while the cluster still exists.
  void finish(Cluster &cluster);
  std::vector<TraceEvent> takeEvents() { return std::move(events); }
  /// Timeline::byteCycles of the cluster.
  u64 getByteCycles() const { return byteCycles; }

private:
  /// What issues the instructions of every fourth warp, and its pipes, by the
  /// clock from which on each is free.
  struct SubCore {
    u64 issue = 0;
    std::array<u64, numPipes> pipes = {};
  };
  struct Span {
    u64 begin, end;
  };
  /// Units of an SM, by CTA of the cluster.
  struct Units {
    u64 tensorFree = 0, copyFree = 0, storeFree = 0;
    std::vector<Span> writes; ///< to shared memory, by copies
    std::array<SubCore, schedulersPerSm> subCores;
  };
  /// A run of instructions of one category on a warp.
  struct OpenSpan {
    const char *name = nullptr;
    u64 begin = 0, end = 0;
    u32 line = 0;
  };
  void emit(const Warp &warp, u32 track, u64 begin, u64 end, const char *name,
            const char *category, u32 line);
  void issue(Warp &warp, const Instruction &instruction);
  u64 readShared(Units &unit, u64 begin, u64 bytes) const;
  void extendSpan(Warp &warp, const char *name, u64 begin, u32 line);
  void closeSpan(Warp &warp, OpenSpan &span);

  std::unordered_map<const Cta *, Units> units;
  std::unordered_map<Warp *, OpenSpan> spans;
  std::vector<TraceEvent> events;
  u64 byteCycles = 0;
  unsigned ctasPerSm;
  u64 copyBytesPerCycle;
};

inline u64 traceCopy(Warp &warp, const Instruction &instruction, u64 bytes) {
  Tracer *tracer = warp.cta->cluster->tracer;
  return tracer ? tracer->onCopy(warp, instruction, bytes) : 0;
}
inline u64 traceStore(Warp &warp, const Instruction &instruction, u64 bytes) {
  Tracer *tracer = warp.cta->cluster->tracer;
  return tracer ? tracer->onStore(warp, instruction, bytes) : 0;
}
inline u64 traceWgmma(Warp &warp, const Instruction &instruction) {
  Tracer *tracer = warp.cta->cluster->tracer;
  return tracer ? tracer->onWgmma(warp, instruction) : 0;
}
inline u64 traceTensorProduct(Warp &warp, const Instruction &instruction,
                              u64 flops, u64 sharedBytes) {
  Tracer *tracer = warp.cta->cluster->tracer;
  return tracer ? tracer->onTensorProduct(warp, instruction, flops, sharedBytes)
                : 0;
}
/// The warp waits until `cycle`; kept even when there is no tracer.
inline void traceWaitUntil(Warp &warp, u64 cycle) {
  warp.cycle = std::max(warp.cycle, cycle);
}

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_TRACER_H
