//===- ManifestRunner.h - PTX and manifest on host buffers ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs the kernels of a manifest in the simulator, from PTX and manifest
/// alone.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_MANIFESTRUNNER_H
#define ATTN_SIMULATOR_MANIFESTRUNNER_H

#include "attn/Runtime/HostTensor.h"
#include "attn/Simulator/Simulator.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn::sim {

/// How a manifest is run.
struct RunOptions {
  Options simulator;
  uint32_t smCount = 132;
  /// Strides in device memory, in elements, by operand. Operands that are not
  /// here are row-major. What lies between the elements is NaN, and a kernel
  /// that writes there is reported.
  std::map<std::string, std::vector<int64_t>> strides;
};

struct KernelRun {
  std::string entry;
  LaunchConfig config; // without the parameter block
  LaunchReport report;
};

struct ManifestRun {
  std::vector<KernelRun> kernels; // those launched, in order
  Counters counters;              // over all kernels; buffers by name
  Timeline timeline;              // of all kernels, one after the other
  double seconds = 0;

  /// Findings in the operands after the last kernel.
  std::vector<Diagnostic> findings;

  /// Findings of all kernels, then those in the operands.
  std::vector<Diagnostic> diagnostics() const;
  bool clean() const { return diagnostics().empty(); }
  /// Counters, findings and the manifest's predictions, as JSON.
  std::string json() const;

  /// The sizes that were bound; refers to the manifest.
  runtime::BoundProblem problem;
};

/// Runs all kernels of `manifest` from `ptx`. `operands` are in the manifest's
/// order; an absent output is made, and outputs hold the results afterwards. An
/// error means that nothing (more) could be launched: operands that do not fit
/// the manifest, PTX that does not parse or disagrees with it. Findings in
/// kernels are in the result; the kernel with the first one is the last that
/// ran, unless Options::keepGoing.
Result<ManifestRun>
runManifest(const runtime::Manifest &manifest, const std::string &ptx,
            const std::string &ptxName,
            std::vector<std::optional<runtime::HostTensor>> &operands,
            const RunOptions &options);

} // namespace attn::sim

#endif // ATTN_SIMULATOR_MANIFESTRUNNER_H
