//===- SimKernel.cpp - Run kernels in the simulator -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimKernel.h"

#include "attn/Simulator/ManifestRunner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

static sim::RunOptions makeRunOptions(uint64_t seed, const Options &options) {
  sim::RunOptions run;
  run.simulator.checks = sim::Checks::all();
  run.simulator.seed = seed;
  run.simulator.threads = static_cast<unsigned>(options.threads);
  run.simulator.progressSeconds = 2;
  run.simulator.countBankConflicts = !options.report.empty();
  run.simulator.traceClusters = options.trace.empty() ? 0 : 1;
  // Short turns let random schedules differ more.
  if (seed != 0)
    run.simulator.slice = 256;
  return run;
}

static bool writeText(const std::string &path, const std::string &text) {
  if (path.empty())
    return true;
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

/// Runs one schedule.
static bool runSchedule(const runtime::Manifest &manifest,
                        const std::string &ptx, KernelOperands &operands,
                        uint64_t seed, const Options &options) {
  Result<sim::ManifestRun> run = sim::runManifest(
      manifest, ptx, manifest.ptx, operands, makeRunOptions(seed, options));
  if (!run)
    return reportError(run.error());
  // Of the first schedule; also where it ends in a finding.
  if (seed == options.scheduleSeed &&
      (!writeText(options.report, run->json()) ||
       !writeText(options.trace, run->timeline.chromeJson())))
    return false;
  for (const sim::Diagnostic &diagnostic : run->diagnostics())
    llvm::errs() << diagnostic.str() << "\n";
  return run->clean() ||
         reportError("the simulator found a fault in the kernel (schedule " +
                     std::to_string(seed) + ")");
}

static bool areEqual(const KernelOperands &a, const KernelOperands &b) {
  return llvm::equal(a, b, [](const auto &x, const auto &y) {
    return x->shape == y->shape && x->data == y->data;
  });
}

/// True unless the manifest says otherwise.
static bool isDeterministic(const runtime::Manifest &manifest) {
  auto semantics = llvm::json::parse(manifest.semantics);
  if (!semantics)
    llvm::consumeError(semantics.takeError());
  const llvm::json::Object *object =
      semantics ? semantics->getAsObject() : nullptr;
  return !object || object->getBoolean("deterministic").value_or(true);
}

bool attn::run::runInSimulator(const runtime::Manifest &manifest,
                               const std::string &ptx, KernelOperands &operands,
                               const Options &options) {
  const KernelOperands given = operands;
  for (int64_t i = 0; i < options.schedules; ++i) {
    uint64_t seed = options.scheduleSeed + static_cast<uint64_t>(i);
    KernelOperands next = given;
    if (!runSchedule(manifest, ptx, next, seed, options))
      return false;
    if (i > 0 && isDeterministic(manifest) && !areEqual(operands, next))
      return reportError("the kernel's results depend on the schedule: " +
                         std::to_string(options.scheduleSeed) + " and " +
                         std::to_string(seed) + " differ");
    operands = std::move(next);
  }
  return true;
}
