//===- Options.h - Command line of attn-run ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_OPTIONS_H
#define ATTN_TOOLS_ATTNRUN_OPTIONS_H

#include "attn/Runtime/CudaDevice.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn::run {

/// Whether graphs are raised to attn.attention before they run.
enum class Raise { Auto, Always, Never };

enum class Device { Cpu, Sim, Cuda };

struct Options {
  std::string inputFile;
  std::string function;
  Device device = Device::Cpu;
  /// The GPU of Device::Cuda, opened.
  std::optional<runtime::CudaDevice> cuda;
  /// What to compile for; "cpu" on the CPU.
  std::string target;
  /// Products of f32 attention may be rounded to tf32 (not on the CPU).
  bool allowTf32 = false;
  bool deterministic = false;
  bool deviceAsserts = false;
  double maskThreshold = 0;
  bool assumeVisibleRows = false;
  Raise raise = Raise::Auto;

  uint64_t seed = 0;
  /// What --shape, --input and --output say.
  struct Set {
    std::vector<std::string> shapes, inputs, outputs;
  };
  /// All that are to run, and the one that runs.
  std::vector<Set> sets;
  Set set;
  std::vector<std::string> fills;

  bool serve = false;
  /// Where the compiled function is kept; may be empty.
  std::string object;
  /// Where it is written for callers in other processes; empty: it runs here.
  std::string emitObject;
  bool verify = false;
  /// Inputs for each set of sizes, of consecutive seeds.
  int64_t trials = 1;
  bool benchmark = false;
  int64_t repeat = 10;
  int64_t threads = 0;

  /// The simulator's schedules: how many, from which seed on.
  int64_t schedules = 1;
  uint64_t scheduleSeed = 0;
  /// Files for the simulator's counters and timeline; empty: not written.
  std::string report;
  std::string trace;
};

/// Parses the command line; prints what is wrong and exits where it is not one.
Options parseOptions(int argc, char **argv);

/// Prints "error: MESSAGE" and returns false.
bool reportError(const std::string &message);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_OPTIONS_H
