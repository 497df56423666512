//===- SimKernel.cpp - Run kernels in the simulator -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimKernel.h"

#include "attn/Simulator/ManifestRunner.h"
#include "attn/Support/Progress.h"

#include "llvm/Support/raw_ostream.h"

using namespace attn;
using namespace attn::run;

static sim::RunOptions makeRunOptions(const Options &options) {
  sim::RunOptions run;
  run.simulator.checks = sim::Checks::all();
  run.simulator.seed = options.scheduleSeed;
  run.simulator.threads = static_cast<unsigned>(options.threads);
  run.simulator.progressSeconds = Progress::getPatience();
  run.simulator.countBankConflicts = !options.report.empty();
  run.simulator.traceClusters = options.trace.empty() ? 0 : 1;
  // Short turns let random schedules differ more.
  if (options.scheduleSeed != 0)
    run.simulator.slice = 256;
  return run;
}

/// "-" is standard output.
static bool writeText(const std::string &path, const std::string &text) {
  if (path.empty())
    return true;
  if (path == "-") {
    llvm::outs() << text;
    return true;
  }
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    file << text;
    file.close();
    code = file.error();
    file.clear_error();
  }
  return !code || reportError(path + ": cannot write: " + code.message());
}

bool attn::run::runInSimulator(const runtime::Manifest &manifest,
                               const std::string &ptx, KernelOperands &operands,
                               const Options &options) {
  Result<sim::ManifestRun> run = sim::runManifest(
      manifest, ptx, manifest.ptx, operands, makeRunOptions(options));
  if (!run)
    return reportError(run.error());
  // Also where the run ends in a finding.
  if (!writeText(options.report, run->json()) ||
      !writeText(options.trace, run->timeline.chromeJson()))
    return false;
  for (const sim::Diagnostic &diagnostic : run->diagnostics())
    llvm::errs() << diagnostic.str() << "\n";
  return run->clean() ||
         reportError("the simulator found a fault in the kernel (schedule " +
                     std::to_string(options.scheduleSeed) + ")");
}
