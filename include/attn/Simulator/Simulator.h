//===- Simulator.h - Executes PTX on the CPU --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A functional simulator of PTX for sm_80 to sm_100a: a `Device` owns memory
/// and modules and launches kernels. It is strict about asynchrony: the result
/// of an asynchronous operation appears only at the wait that PTX prescribes.
/// docs/Simulator.md describes model, checks and counters.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_SIMULATOR_H
#define ATTN_SIMULATOR_SIMULATOR_H

#include "attn/Simulator/Counters.h"
#include "attn/Simulator/Diagnostic.h"
#include "attn/Simulator/Trace.h"
#include "attn/Support/Result.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attn::sim {

/// What is looked for besides out-of-bounds and misaligned accesses, barrier
/// misuse and deadlock, which always are errors.
struct Checks {
  /// Touching the destination of an asynchronous operation before its wait.
  bool earlyRead = true;
  /// Overwriting the shared source of an asynchronous operation in flight.
  bool overwrite = true;
  /// Reading shared memory that nobody wrote.
  bool uninitializedShared = false;
  /// Reading registers that nobody wrote.
  bool uninitializedRegister = false;
  /// Registers of a wgmma read or written after the last wgmma.fence.
  bool wgmmaFence = true;
  /// The async proxy reads generic-proxy writes without fence.proxy.async.
  bool proxyFence = true;
  /// Accesses of tensor memory by several warps need tcgen05.fence, not only
  /// the barrier or mbarrier between them.
  bool tensorFence = true;
  /// tcgen05.ld and st are over at tcgen05.wait; off, when they are issued.
  bool tensorWait = true;
  /// Shared accesses of different warps, or of a warp and what works beside
  /// it, that no synchronisation orders.
  bool race = true;
  /// Arrivals that another schedule may count for another phase of a barrier.
  bool barrierPhase = true;
  /// Exits while something may still reach the CTA's shared memory.
  bool exit = true;
  /// Accesses of a programmatic launch that may overlap with the launches
  /// before it, as no griddepcontrol.wait comes before them.
  bool gridWait = true;

  /// The checks that work on vector clocks.
  bool needsClocks() const {
    return proxyFence || race || barrierPhase || exit;
  }
  static Checks all() {
    Checks checks;
    checks.uninitializedShared = checks.uninitializedRegister = true;
    return checks;
  }
};

struct Options {
  Checks checks;
  /// Results of asynchronous operations appear at the matching wait, not at
  /// issue. Off only to compare the two.
  bool deferAsync = true;
  /// Record findings instead of stopping at the first.
  bool keepGoing = false;
  /// Products into tensor memory are ordered only where the PTX ISA says so
  /// (9.7.16.6.2): not one that overwrites what an earlier one with another
  /// accumulator reads or writes.
  bool strictTensorOrder = false;
  /// Initial byte of shared memory.
  uint8_t sharedFill = 0xFF;
  /// Host threads; clusters are spread over them. 0: one per core.
  unsigned threads = 1;
  /// Limit of warp instructions, against livelock; 0: none.
  uint64_t maxWarpInstructions = 0;
  /// Nonzero: a random order of warps and random time slices.
  uint64_t seed = 0;
  /// Warp instructions per turn.
  uint32_t slice = 4096;
  /// Shared memory that a CTA may use, static and dynamic.
  uint32_t maxSharedBytes = 232448;
  /// Count executions of each PTX line.
  bool profileLines = false;
  /// Count shared-memory bank conflicts.
  bool countBankConflicts = false;
  /// Record a timeline of the first `traceClusters` clusters.
  unsigned traceClusters = 0;
  /// Of the timeline: CTAs of an SM, whose copies take turns.
  unsigned ctasPerSm = 1;
  /// Print progress to stderr once a launch takes longer than this; 0: never.
  double progressSeconds = 0;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct LaunchConfig {
  Dim3 grid, block, cluster;
  uint32_t dynamicSharedBytes = 0;
  /// It may start before the end of the launch before it (programmatic
  /// dependent launch).
  bool isProgrammatic = false;
  /// A programmatic launch may follow: what this one touches is kept for it.
  bool mayBeFollowed = false;
  /// The parameter block, laid out as the entry declares it.
  std::vector<uint8_t> parameters;
};

struct LaunchReport {
  /// The first finding that stopped the launch, and any recorded before it.
  std::vector<Diagnostic> diagnostics;
  /// False when the launch stopped early.
  bool completed = false;
  Counters counters;
  Timeline timeline;
  double seconds = 0;

  bool clean() const { return completed && diagnostics.empty(); }
};

struct EntryParameter {
  std::string name;
  uint32_t offset = 0, bytes = 0, alignment = 1;
};

class Module;
class DeviceMemory;

class Device {
public:
  explicit Device(uint32_t smCount = 132);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  uint32_t smCount() const { return sms; }

  /// Allocates device memory; its address is valid in this process too. An
  /// access outside of [address, address + bytes) is reported with `name`. 0 if
  /// there is no more memory.
  uint64_t allocate(size_t bytes, const std::string &name,
                    bool readOnly = false);
  void release(uint64_t address);

  /// Parses PTX. `fileName` appears in diagnostics.
  Result<std::shared_ptr<Module>> load(const std::string &ptx,
                                       const std::string &fileName);

  /// Runs a grid to its end or to the first finding.
  LaunchReport launch(Module &module, const std::string &entry,
                      const LaunchConfig &config, const Options &options);

  DeviceMemory &memory() { return *deviceMemory; }

private:
  uint32_t sms;
  std::unique_ptr<DeviceMemory> deviceMemory;
};

/// The .target of the text: "sm_90a".
std::string moduleTarget(const Module &module);
/// Entries with a body, in the order of the text.
std::vector<std::string> entryNames(const Module &module);
Result<std::vector<EntryParameter>> entryParameters(const Module &module,
                                                    const std::string &entry);
/// Address and size of a module-scope variable; address 0 when there is none.
uint64_t symbolAddress(const Module &module, const std::string &name,
                       uint64_t *bytes = nullptr);

} // namespace attn::sim

#endif // ATTN_SIMULATOR_SIMULATOR_H
