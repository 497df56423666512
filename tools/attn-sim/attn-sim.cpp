//===- attn-sim.cpp - Run PTX with its manifest on the CPU ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// attn-sim NAME.ptx --manifest NAME.json --input q.npy ... --output o.npy
///
/// Exit status: 0 all kernels ran and nothing was found, 1 bad input, 2 a check
/// found something.
///
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Bundle.h"
#include "attn/Runtime/Npy.h"
#include "attn/Runtime/OutputFiles.h"
#include "attn/Simulator/ManifestRunner.h"
#include "attn/Simulator/OptionText.h"
#include "attn/Simulator/Timing.h"
#include "attn/Support/Format.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <stdexcept>

using namespace attn;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

/// Built in main, after LLVM's options of the same name are gone.
struct CommandLine {
  cl::OptionCategory category{"attn-sim options"};

  cl::opt<std::string> ptx{cl::Positional, cl::Required, cl::desc("<PTX file>"),
                           cl::cat(category)};
  cl::opt<std::string> manifest{
      "manifest", cl::value_desc("file"), cl::cat(category),
      cl::desc("The manifest (default: the PTX file's name with .json)")};
  cl::opt<std::string> program{
      "program", cl::value_desc("name"), cl::cat(category),
      cl::desc("Which program to run, where the manifest has several")};
  cl::list<std::string> inputs{"input", cl::value_desc("file.npy"),
                               cl::cat(category),
                               cl::desc("Inputs, in the manifest's order")};
  cl::list<std::string> outputs{
      "output", cl::value_desc("file.npy"), cl::cat(category),
      cl::desc("Where to write the outputs, in the manifest's order")};
  cl::list<std::string> strides{
      "strides", cl::value_desc("operand=n,n,..."), cl::cat(category),
      cl::desc("Strides of an operand in device memory, in elements "
               "(default: row-major); files stay row-major")};
  cl::opt<std::string> report{"report", cl::value_desc("file.json"),
                              cl::cat(category),
                              cl::desc("Write counters and findings")};
  cl::opt<bool> profile{
      "profile", cl::cat(category),
      cl::desc("Count executions of every PTX line in the report")};
  cl::opt<std::string> trace{
      "trace", cl::value_desc("file.json"), cl::cat(category),
      cl::desc("Write a timeline for Perfetto or chrome://tracing")};
  cl::opt<unsigned> traceClusters{"trace-clusters", cl::init(1),
                                  cl::cat(category),
                                  cl::desc("Clusters in the timeline")};
  cl::opt<bool> timing{
      "timing", cl::cat(category),
      cl::desc("Print where each kernel's time goes, predicted by the clocks "
               "of --trace")};
  cl::opt<unsigned> ctasPerSm{
      "ctas-per-sm", cl::init(1), cl::cat(category),
      cl::desc(
          "CTAs of an SM, whose copies take turns, in --timing and --trace "
          "(default: 1)")};
  cl::opt<std::string> check{
      "check", cl::ValueOptional, cl::value_desc("list"), cl::cat(category),
      cl::desc("Switch on all checks, or those named: early-read, overwrite, "
               "uninit-shared, uninit-register, wgmma-fence, tensor-fence, "
               "tensor-wait, proxy, race, phase, exit, grid-wait; all but "
               "uninit-* are on by default")};
  cl::opt<std::string> noCheck{"no-check", cl::value_desc("list"),
                               cl::cat(category),
                               cl::desc("Switch checks off")};
  cl::opt<bool> strictTensorOrder{
      "tensor-order", cl::cat(category),
      cl::desc("Order products into tensor memory only where the PTX ISA says "
               "so, not by the pipe alone")};
  cl::opt<bool> keepGoing{"keep-going", cl::cat(category),
                          cl::desc("Report all findings, not only the first")};
  cl::opt<bool> stats{"stats", cl::cat(category),
                      cl::desc("Print instructions, time and speed")};
  cl::opt<uint64_t> seed{"seed", cl::init(0), cl::cat(category),
                         cl::desc("Random schedule of warps (0: in order)")};
  cl::opt<unsigned> slice{"slice", cl::init(4096), cl::cat(category),
                          cl::desc("Warp instructions per turn")};
  cl::opt<unsigned> threads{"threads", cl::init(0), cl::cat(category),
                            cl::desc("Host threads (0: one per core)")};
  cl::opt<uint64_t> maxInstructions{
      "max-instructions", cl::init(0), cl::cat(category),
      cl::desc("Limit of warp instructions (0: none)")};
  cl::opt<unsigned> smCount{"sm-count", cl::init(132), cl::cat(category),
                            cl::desc("SMs of the simulated device")};
  cl::opt<bool> list{
      "list", cl::cat(category),
      cl::desc("Print the entries and their parameters, and stop")};
};

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Prints an error; the value is main's.
static int fail(const std::string &message) {
  std::fprintf(stderr, "attn-sim: error: %s\n", message.c_str());
  return 1;
}

static Result<std::string> readFile(const std::string &path) {
  if (std::filesystem::is_directory(path))
    return Error{path + ": expected a file, got a folder"};
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  if (!file)
    return Error{path + ": cannot read the file"};
  return content.str();
}

/// "query=4096,128,512,1" into `strides`; false where it is not of this form.
static bool addStrides(const std::string &text,
                       std::map<std::string, std::vector<int64_t>> &strides) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return false;
  std::vector<int64_t> &values = strides[text.substr(0, equals)];
  std::stringstream list(text.substr(equals + 1));
  std::string part;
  while (std::getline(list, part, ',')) {
    int64_t value;
    if (!parseInteger(part, value))
      return false;
    values.push_back(value);
  }
  return !values.empty();
}

static Result<sim::RunOptions> makeRunOptions(const CommandLine &flags) {
  if (flags.profile && flags.report.empty())
    return Error{"--profile: expected --report beside it"};
  sim::RunOptions run;
  sim::Options &options = run.simulator;
  for (const std::string &text : flags.strides)
    if (!addStrides(text, run.strides))
      return Error{"--strides: expected OPERAND=N,N,..., got '" + text + "'"};
  run.smCount = flags.smCount;
  bool all = flags.check.getNumOccurrences() && flags.check.empty();
  if (all)
    options.checks = sim::Checks::all();
  auto setChecks = [&](const std::string &list, bool on) {
    std::stringstream stream(list);
    std::string name;
    while (std::getline(stream, name, ','))
      if (!sim::setCheck(options.checks, name, on))
        return name;
    return std::string();
  };
  for (const std::string &unknown :
       {setChecks(flags.check, true), setChecks(flags.noCheck, false)})
    if (!unknown.empty())
      return Error{"unknown check '" + unknown + "'"};
  options.keepGoing = flags.keepGoing;
  options.strictTensorOrder = flags.strictTensorOrder;
  options.seed = flags.seed;
  options.slice = std::max(1u, flags.slice.getValue());
  options.threads = flags.threads;
  options.maxWarpInstructions = flags.maxInstructions;
  options.traceClusters = flags.trace.empty() ? 0 : flags.traceClusters;
  options.ctasPerSm = std::max(1u, flags.ctasPerSm.getValue());
  if (flags.timing)
    sim::setTiming(options);
  options.profileLines = flags.profile;
  options.countBankConflicts = !flags.report.empty();
  options.progressSeconds = 2;
  return run;
}

/// An option besides --list that was given: it would be ignored. Else empty.
static llvm::StringRef getIgnoredByList(const CommandLine &flags) {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (option->getNumOccurrences() && option->hasArgStr() &&
        option != &flags.list &&
        llvm::is_contained(option->Categories, &flags.category))
      return name;
  return "";
}

/// Prints the entries of the PTX.
static int list(const CommandLine &flags, const std::string &ptx) {
  sim::Device device;
  auto module = device.load(ptx, flags.ptx);
  if (!module)
    return fail(module.error());
  for (const std::string &entry : sim::entryNames(**module)) {
    std::printf("%s\n", entry.c_str());
    auto parameters = sim::entryParameters(**module, entry);
    for (const sim::EntryParameter &parameter : *parameters)
      std::printf("  +%u size %u align %u %s\n", parameter.offset,
                  parameter.bytes, parameter.alignment, parameter.name.c_str());
  }
  return 0;
}

using Operands = std::vector<std::optional<runtime::HostTensor>>;

/// Reads --input files for the inputs and inouts of the manifest.
static Result<Operands> readInputs(const CommandLine &flags,
                                   const runtime::Manifest &manifest) {
  Operands operands;
  size_t next = 0, needed = 0;
  for (const runtime::Operand &operand : manifest.operands)
    needed += operand.role != runtime::OperandRole::Output;
  if (flags.inputs.size() != needed)
    return Error{"expected " + std::to_string(needed) + " --input files, got " +
                 std::to_string(flags.inputs.size())};
  for (const runtime::Operand &operand : manifest.operands) {
    operands.emplace_back();
    if (operand.role == runtime::OperandRole::Output)
      continue;
    auto array = runtime::readNpy(flags.inputs[next++]);
    if (!array)
      return Error{"operand " + operand.name + ": " + array.error()};
    runtime::reinterpretFloat8(*array, operand.dtype);
    if (array->dtype != operand.dtype)
      return Error{"operand " + operand.name + ": expected dtype " +
                   runtime::name(operand.dtype) + ", got " +
                   runtime::name(array->dtype)};
    operands.back() = std::move(*array);
  }
  return operands;
}

/// There may be fewer --output files than outputs, not more.
static Status checkOutputs(const CommandLine &flags,
                           const runtime::Manifest &manifest) {
  auto outputs =
      std::count_if(manifest.operands.begin(), manifest.operands.end(),
                    [](const runtime::Operand &operand) {
                      return operand.role != runtime::OperandRole::Input;
                    });
  if (flags.outputs.size() > static_cast<size_t>(outputs))
    return Error{"expected at most " + std::to_string(outputs) +
                 " --output files, got " +
                 std::to_string(flags.outputs.size())};
  return {};
}

/// Writes what was asked for, all files or none; no results of a kernel with
/// findings, which are not to be trusted.
static std::optional<Error> writeFiles(const CommandLine &flags,
                                       const runtime::Manifest &manifest,
                                       const sim::ManifestRun &result,
                                       const Operands &operands) {
  runtime::OutputFiles files;
  if (!flags.report.empty())
    if (auto error = files.add(flags.report, {result.json()}))
      return error;
  if (!flags.trace.empty())
    if (auto error = files.add(flags.trace, {result.timeline.chromeJson()}))
      return error;
  size_t next = result.clean() ? 0 : flags.outputs.size();
  for (size_t k = 0; k < operands.size(); ++k)
    if (manifest.operands[k].role != runtime::OperandRole::Input &&
        next < flags.outputs.size())
      if (auto error =
              runtime::addNpy(files, flags.outputs[next++], *operands[k]))
        return error;
  return files.commit();
}

static void printStats(const sim::ManifestRun &run) {
  const sim::Counters &counters = run.counters;
  double warp = double(counters.totalWarpInstructions());
  double lane = double(counters.totalLaneInstructions());
  double seconds = std::max(run.seconds, 1e-9);
  std::printf("kernels %zu, CTAs %llu, %.3f s\n", run.kernels.size(),
              static_cast<unsigned long long>(counters.ctas), run.seconds);
  std::printf("warp instructions %.0f (%.2f M/s), lane instructions %.0f "
              "(%.1f M/s)\n",
              warp, warp / seconds / 1e6, lane, lane / seconds / 1e6);
  std::printf("MMA %.3f GFLOP (%.2f GFLOP/s)\n",
              double(counters.mmaFlops) / 1e9,
              double(counters.mmaFlops) / seconds / 1e9);
  for (const sim::BufferTraffic &buffer : counters.buffers)
    std::printf("%s: read %llu bytes, written %llu\n", buffer.name.c_str(),
                static_cast<unsigned long long>(buffer.read()),
                static_cast<unsigned long long>(buffer.write()));
}

static void printTiming(const sim::ManifestRun &run, uint32_t smCount,
                        uint32_t ctasPerSm) {
  std::printf("Predicted by the clocks of --trace; nothing was measured.\n");
  for (const sim::KernelRun &kernel : run.kernels)
    std::printf(
        "\n%s\n%s", kernel.entry.c_str(),
        sim::getTiming(kernel.report, smCount, ctasPerSm).print().c_str());
}

static std::string defaultManifestPath(const CommandLine &flags) {
  size_t dot = flags.ptx.rfind('.');
  return flags.ptx.substr(0, dot) + ".json";
}

//===----------------------------------------------------------------------===//
// Main
//===----------------------------------------------------------------------===//

/// Runs the manifest and writes what was asked for.
static int run(const CommandLine &flags, const runtime::Manifest &manifest,
               const std::string &ptx) {
  auto options = makeRunOptions(flags);
  if (!options)
    return fail(options.error());
  if (Status status = checkOutputs(flags, manifest); !status)
    return fail(status.error());
  auto operands = readInputs(flags, manifest);
  if (!operands)
    return fail(operands.error());
  auto result = sim::runManifest(manifest, ptx, flags.ptx, *operands, *options);
  if (!result)
    return fail(result.error());
  for (const sim::Diagnostic &diagnostic : result->diagnostics())
    std::fprintf(stderr, "%s\n", diagnostic.str().c_str());
  if (auto error = writeFiles(flags, manifest, *result, *operands))
    return fail(error->message);
  if (flags.stats)
    printStats(*result);
  if (flags.timing)
    printTiming(*result, flags.smCount,
                std::max(1u, flags.ctasPerSm.getValue()));
  return result->clean() ? 0 : 2;
}

/// LLVM's libraries register options of all kinds; these would clash.
static void removeCommonOptions() {
  auto &options = cl::getRegisteredOptions();
  for (const char *name : {"stats", "threads"}) {
    auto it = options.find(name);
    if (it != options.end())
      it->second->removeArgument();
  }
}

static int runTool(int argc, char **argv) {
  removeCommonOptions();
  CommandLine flags;
  cl::HideUnrelatedOptions(flags.category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Run PTX with its manifest on the CPU\n");
  auto ptx = readFile(flags.ptx);
  if (!ptx)
    return fail(ptx.error());
  if (flags.list) {
    if (llvm::StringRef other = getIgnoredByList(flags); !other.empty())
      return fail("--list: expected no other option, got --" + other.str());
    return list(flags, *ptx);
  }
  std::string path =
      flags.manifest.empty() ? defaultManifestPath(flags) : flags.manifest;
  auto text = readFile(path);
  if (!text)
    return fail(text.error());
  auto bundle = runtime::readBundle(*text);
  if (!bundle)
    return fail(path + ": " + bundle.error());
  auto manifest = runtime::selectProgram(*bundle, flags.program);
  if (!manifest)
    return fail("--program: " + manifest.error());
  if (auto error = runtime::checkPtxDigest(*manifest, *ptx))
    return fail(path + ": " + error->message);
  return run(flags, *manifest, *ptx);
}

int main(int argc, char **argv) {
  try {
    return runTool(argc, argv);
  } catch (const std::bad_alloc &) {
    return fail("expected tensors that fit into memory, got larger ones");
  } catch (const std::length_error &) {
    return fail("expected tensors that fit into memory, got larger ones");
  }
}
