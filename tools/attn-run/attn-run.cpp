//===- attn-run.cpp - Run a module and prove its results ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledObject.h"
#include "CpuDevice.h"
#include "CrashGuard.h"
#include "CudaKernel.h"
#include "GpuProgram.h"
#include "Heap.h"
#include "Inputs.h"
#include "Options.h"
#include "Serve.h"
#include "Verify.h"

#include "attn/Pipelines/ExporterDialects.h"
#include "attn/Pipelines/InitAll.h"
#include "attn/Runtime/Npy.h"
#include "attn/Support/Format.h"
#include "attn/Support/Progress.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

/// Parses the file; its diagnostics go through `sources`.
static OwningOpRef<ModuleOp> loadModule(const Options &options,
                                        MLIRContext &context,
                                        llvm::SourceMgr &sources) {
  std::string message;
  auto file = openInputFile(options.inputFile, &message);
  if (!file) {
    reportError(message);
    return nullptr;
  }
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}

/// The function that is to run: the named one, or the only public one.
static func::FuncOp selectFunction(ModuleOp module, const Options &options) {
  std::string names;
  func::FuncOp only;
  size_t count = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (function.getName() == options.function)
      return function;
    names += (count++ ? ", @" : "@") + function.getName().str();
    only = function;
  }
  if (count == 0)
    reportError(options.inputFile + ": expected a public function with a body");
  else if (!options.function.empty())
    reportError("no public function @" + options.function + ": expected " +
                names);
  else if (count == 1)
    return only;
  else
    reportError("several public functions: expected --function with one of " +
                names);
  return nullptr;
}

/// Writes what --output asks for, all files or none.
static bool writeOutputs(const Options &options,
                         const std::vector<HostTensor> &results) {
  runtime::OutputFiles files;
  const std::vector<std::string> &outputs = options.set.outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto error = runtime::addNpy(files, outputs[i], results[i]))
      return reportError(error->message);
  auto error = files.commit();
  return !error || reportError(error->message);
}

static void printTimes(std::vector<double> seconds, const Twine &what) {
  std::sort(seconds.begin(), seconds.end());
  size_t middle = seconds.size() / 2;
  double median = seconds.size() % 2
                      ? seconds[middle]
                      : (seconds[middle - 1] + seconds[middle]) / 2;
  // With at least three digits of what takes longer than that.
  auto format = [](double time) {
    return time < 1e-2 ? formatFixed(time * 1e6, 1) + " us"
                       : formatSeconds(time);
  };
  llvm::outs() << "time: " << format(median) << " median, "
               << format(seconds.front()) << " min, " << format(seconds.back())
               << " max, of " << seconds.size() << what << "\n";
}

/// Prints what was run, where, and the types of its results.
static void printResults(func::FuncOp function, const std::string &where,
                         const std::vector<HostTensor> &results) {
  llvm::outs() << "@" << function.getName() << " on " << where << ":";
  for (const HostTensor &result : results)
    llvm::outs() << " tensor<" << formatType(result) << ">";
  llvm::outs() << "\n";
  llvm::outs().flush(); // before the diagnostics of what follows
}

/// A function compiled for the device that the options name.
struct Program {
  std::unique_ptr<CpuJit> cpu;
  std::unique_ptr<GpuProgram> gpu;

  static FailureOr<Program> compile(func::FuncOp function,
                                    const Options &options) {
    Program program;
    if (options.device == Device::Cpu) {
      Progress progress("compiling for the CPU");
      auto jit = compileForCpu(function, CpuPath::Device, options);
      if (failed(jit))
        return failure();
      program.cpu = std::move(*jit);
    } else {
      auto gpu = GpuProgram::compile(function, options);
      if (failed(gpu))
        return failure();
      program.gpu = std::move(*gpu);
    }
    return program;
  }
  std::optional<std::vector<HostTensor>>
  run(const std::vector<HostTensor> &inputs, const Options &options) {
    if (gpu) // The simulator says how far it is.
      return gpu->run(inputs, options);
    Progress progress("running on the CPU");
    return cpu->run(inputs);
  }
  /// Calls it options.repeat times and prints how long that took.
  bool benchmark(const std::vector<HostTensor> &inputs,
                 const Options &options) {
    if (gpu) {
      auto seconds = gpu->time(inputs, options);
      if (seconds)
        printTimes(*seconds, " launches on the device, after " +
                                 Twine(warmUpLaunches) + " to warm up");
      return seconds.has_value();
    }
    std::vector<double> seconds(static_cast<size_t>(options.repeat));
    for (double &time : seconds)
      cpu->run(inputs, &time);
    printTimes(seconds, " calls");
    return true;
  }
  bool isDeterministic() const { return cpu || gpu->isDeterministic(); }
  std::string describe(const Options &options) const {
    return cpu ? "cpu" : gpu->describe(options);
  }
};

static bool areEqual(const std::vector<HostTensor> &a,
                     const std::vector<HostTensor> &b) {
  return llvm::equal(a, b, [](const HostTensor &x, const HostTensor &y) {
    return x.shape == y.shape && x.data == y.data;
  });
}

/// Runs the simulator's other schedules. Their results are those of the first
/// one, or where the kernels promise no such thing are verified, too.
static bool runOtherSchedules(Program &program,
                              const std::vector<HostTensor> &inputs,
                              const std::vector<HostTensor> &first,
                              const std::optional<Expectation> &expectation,
                              Verifier &verifier, Options options) {
  std::string firstSeed = std::to_string(options.scheduleSeed);
  options.report.clear();
  options.trace.clear();
  for (int64_t i = 1; i < options.schedules; ++i) {
    ++options.scheduleSeed;
    auto results = program.run(inputs, options);
    if (!results)
      return false;
    if (areEqual(first, *results))
      continue;
    if (program.isDeterministic()) {
      std::string seeds = firstSeed;
      seeds += " and " + std::to_string(options.scheduleSeed);
      return reportError(
          "the kernel's results depend on the schedule: " + seeds + " differ");
    }
    if (expectation && !verifier.add(*results, *expectation))
      return false;
  }
  return true;
}

namespace {
/// Runs a function for all sets of inputs that the options ask for, compiled
/// once.
class Runner {
public:
  Runner(func::FuncOp function, const Options &options)
      : function(function), options(options), oracle(function, options) {}

  bool run();

private:
  bool runSet(Options own);
  bool runInputs(const Options &own, bool isFirst, Verifier &verifier);
  bool compile();

  func::FuncOp function;
  const Options &options;
  Oracle oracle;
  std::optional<Program> program;
};
} // namespace

bool Runner::compile() {
  if (program)
    return true;
  FailureOr<Program> compiled = Program::compile(function, options);
  if (failed(compiled))
    return false;
  program = std::move(*compiled);
  return true;
}

bool Runner::runInputs(const Options &own, bool isFirst, Verifier &verifier) {
  auto inputs = makeInputs(function, own);
  if (!inputs)
    return false;
  // First the reference, which checks sizes with better messages.
  std::optional<Expectation> expectation;
  if (own.verify) {
    Progress progress(std::string("reference: ") + oracle.describe());
    expectation = oracle.expect(*inputs);
    if (!expectation)
      return false;
  }
  if (!compile())
    return false;
  std::optional<std::vector<HostTensor>> results = program->run(*inputs, own);
  if (!results)
    return false;
  if (isFirst)
    printResults(function, program->describe(own), *results);
  if (expectation && program->gpu && program->gpu->hasOwnProducts()) {
    auto yardstick = program->gpu->runUnfused(*inputs);
    if (!yardstick)
      return false;
    expectation->yardstick = std::move(*yardstick);
  }
  if (expectation && !verifier.add(*results, *expectation))
    return false;
  if (isFirst && !runOtherSchedules(*program, *inputs, *results, expectation,
                                    verifier, own))
    return false;
  return writeOutputs(own, *results);
}

bool Runner::runSet(Options own) {
  Verifier verifier;
  for (int64_t trial = 0; trial < options.trials; ++trial, ++own.seed)
    if (!runInputs(own, trial == 0, verifier))
      return false;
  bool holds = !options.verify || verifier.print(oracle);
  if (!options.benchmark)
    return holds;
  auto inputs = makeInputs(function, own);
  return inputs && program->benchmark(*inputs, own) && holds;
}

bool Runner::run() {
  size_t numOutputs = options.sets.front().outputs.size();
  if (numOutputs > function.getNumResults())
    return reportError("expected at most " +
                       std::to_string(function.getNumResults()) +
                       " --output files for @" + function.getName().str() +
                       ", got " + std::to_string(numOutputs));
  bool allHold = true;
  Options own = options;
  for (const Options::Set &set : options.sets) {
    own.set = set;
    allHold &= runSet(own);
  }
  return allHold;
}

static bool runTool(const Options &options) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllAttnDialects(registry);
  // One function is compiled at a time: threads would only take turns.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  ExporterDialectNotes notes(&context);
  OwningOpRef<ModuleOp> module = loadModule(options, context, sources);
  if (!module)
    return false;
  func::FuncOp function = selectFunction(*module, options);
  if (!function)
    return false;
  if (!options.emitObject.empty())
    return emitObject(function, options);
  return options.serve ? serve(function, options)
                       : Runner(function, options).run();
}

static int failOnMemory() {
  reportError("expected tensors that fit into memory, got larger ones");
  return 1;
}

static int runInMemory(const Options &options) {
  try {
    return runTool(options) ? 0 : 1;
  } catch (const std::bad_alloc &) {
    return failOnMemory();
  } catch (const std::length_error &) {
    return failOnMemory();
  }
}

/// Where no exception can pass: in compiled code, and in LLVM.
static void endOnMemory(void *, const char *, bool) {
  llvm::sys::Process::Exit(failOnMemory(), /*NoCleanup=*/true);
}

int main(int argc, char **argv) {
  growHeapInHugePages();
  llvm::InitLLVM init(argc, argv);
  std::set_new_handler(nullptr); // LLVM's own ends the process.
  llvm::install_bad_alloc_error_handler(endOnMemory);
  registerAllAttnPasses();
  return runGuarded("attn-run",
                    [&] { return runInMemory(parseOptions(argc, argv)); });
}
