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

#include "attn/Runtime/Npy.h"
#include "attn/Simulator/ManifestRunner.h"
#include "attn/Simulator/OptionText.h"

#include "llvm/Support/CommandLine.h"

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace attn;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("attn-sim options");

static cl::opt<std::string> ptxPath(cl::Positional, cl::Required,
                                    cl::desc("<PTX file>"), cl::cat(category));
static cl::opt<std::string>
    manifestPath("manifest", cl::value_desc("file"), cl::cat(category),
                 cl::desc("The manifest (default: the PTX file's name with "
                          ".json)"));
static cl::list<std::string>
    inputPaths("input", cl::value_desc("file.npy"), cl::cat(category),
               cl::desc("Inputs, in the manifest's order"));
static cl::list<std::string>
    outputPaths("output", cl::value_desc("file.npy"), cl::cat(category),
                cl::desc("Where to write the outputs, in the manifest's "
                         "order"));
static cl::opt<std::string> reportPath("report", cl::value_desc("file.json"),
                                       cl::cat(category),
                                       cl::desc("Write counters and findings"));
static cl::opt<std::string>
    tracePath("trace", cl::value_desc("file.json"), cl::cat(category),
              cl::desc("Write a timeline for Perfetto or chrome://tracing"));
static cl::opt<unsigned> traceClusters("trace-clusters", cl::init(1),
                                       cl::cat(category),
                                       cl::desc("Clusters in the timeline"));
static cl::opt<std::string> checkList(
    "check", cl::ValueOptional, cl::value_desc("list"), cl::cat(category),
    cl::desc("Switch on all checks, or those named: early-read, overwrite, "
             "uninit-shared, uninit-register, wgmma-fence, proxy, race"));
static cl::opt<std::string> skippedChecks("no-check", cl::value_desc("list"),
                                          cl::cat(category),
                                          cl::desc("Switch checks off"));
static cl::opt<bool> keepGoing("keep-going", cl::cat(category),
                               cl::desc("Report all findings, not only the "
                                        "first"));
static cl::opt<bool> stats("stats", cl::cat(category),
                           cl::desc("Print instructions, time and speed"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::cat(category),
                              cl::desc("Random schedule of warps (0: in "
                                       "order)"));
static cl::opt<unsigned> slice("slice", cl::init(4096), cl::cat(category),
                               cl::desc("Warp instructions per turn"));
static cl::opt<unsigned> threads("threads", cl::init(0), cl::cat(category),
                                 cl::desc("Host threads (0: one per core)"));
static cl::opt<uint64_t>
    maxInstructions("max-instructions", cl::init(0), cl::cat(category),
                    cl::desc("Limit of warp instructions (0: none)"));
static cl::opt<unsigned> smCount("sm-count", cl::init(132), cl::cat(category),
                                 cl::desc("SMs of the simulated device"));
static cl::opt<bool> listOnly("list", cl::cat(category),
                              cl::desc("Print the entries and their "
                                       "parameters, and stop"));

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Prints an error; the value is main's.
static int fail(const std::string &message) {
  std::fprintf(stderr, "attn-sim: %s\n", message.c_str());
  return 1;
}

static runtime::Result<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  if (!file)
    return runtime::Error{path + ": cannot read the file"};
  return content.str();
}

static bool writeFile(const std::string &path, const std::string &content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return bool(file);
}

static runtime::Result<sim::Options> makeOptions() {
  sim::Options options;
  bool all = checkList.getNumOccurrences() && checkList.empty();
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
       {setChecks(checkList, true), setChecks(skippedChecks, false)})
    if (!unknown.empty())
      return runtime::Error{"unknown check '" + unknown + "'"};
  options.keepGoing = keepGoing;
  options.seed = seed;
  options.slice = std::max(1u, slice.getValue());
  options.threads = threads;
  options.maxWarpInstructions = maxInstructions;
  options.traceClusters = tracePath.empty() ? 0 : traceClusters;
  options.countBankConflicts = !reportPath.empty();
  options.progressSeconds = 2;
  return options;
}

/// Prints the entries of the PTX.
static int list(const std::string &ptx) {
  sim::Device device;
  auto module = device.load(ptx, ptxPath);
  if (!module)
    return fail(module.message());
  for (const std::string &entry : sim::entryNames(**module)) {
    std::printf("%s\n", entry.c_str());
    auto parameters = sim::entryParameters(**module, entry);
    for (const sim::EntryParameter &parameter : *parameters)
      std::printf("  +%u size %u align %u %s\n", parameter.offset,
                  parameter.bytes, parameter.alignment, parameter.name.c_str());
  }
  return 0;
}

using Operands = std::vector<std::optional<sim::HostTensor>>;

/// Reads --input files for the inputs and inouts of the manifest.
static runtime::Result<Operands> readInputs(const runtime::Manifest &manifest) {
  Operands operands;
  size_t next = 0, needed = 0;
  for (const runtime::Operand &operand : manifest.operands)
    needed += operand.role != runtime::OperandRole::Output;
  if (inputPaths.size() != needed)
    return runtime::Error{"expected " + std::to_string(needed) +
                          " --input files, got " +
                          std::to_string(inputPaths.size())};
  for (const runtime::Operand &operand : manifest.operands) {
    operands.emplace_back();
    if (operand.role == runtime::OperandRole::Output)
      continue;
    auto array = runtime::readNpy(inputPaths[next++], operand.dtype);
    if (!array)
      return runtime::Error{"operand " + operand.name + ": " + array.message()};
    operands.back() =
        sim::HostTensor{array->dtype, array->shape, {}, array->data};
  }
  return operands;
}

/// Writes --output files; there may be fewer of them than outputs.
static int writeOutputs(const runtime::Manifest &manifest,
                        const Operands &operands) {
  size_t next = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (manifest.operands[k].role == runtime::OperandRole::Input ||
        next == outputPaths.size())
      continue;
    runtime::NpyArray array{operands[k]->dtype, operands[k]->shape,
                            operands[k]->data};
    if (auto error = runtime::writeNpy(outputPaths[next++], array))
      return fail(error->message);
  }
  if (next < outputPaths.size())
    return fail("expected at most " + std::to_string(next) +
                " --output files, got " + std::to_string(outputPaths.size()));
  return 0;
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

static std::string defaultManifestPath() {
  size_t dot = ptxPath.rfind('.');
  return ptxPath.substr(0, dot) + ".json";
}

//===----------------------------------------------------------------------===//
// Main
//===----------------------------------------------------------------------===//

/// Runs the manifest and writes what was asked for.
static int run(const runtime::Manifest &manifest, const std::string &ptx) {
  auto options = makeOptions();
  if (!options)
    return fail(options.message());
  auto operands = readInputs(manifest);
  if (!operands)
    return fail(operands.message());
  auto result =
      sim::runManifest(manifest, ptx, ptxPath, *operands, *options, smCount);
  if (!result)
    return fail(result.message());
  for (const sim::Diagnostic &diagnostic : result->diagnostics())
    std::fprintf(stderr, "%s\n", diagnostic.str().c_str());
  if (!reportPath.empty() && !writeFile(reportPath, result->json()))
    return fail(reportPath + ": cannot write the file");
  if (!tracePath.empty() &&
      !writeFile(tracePath, result->timeline.chromeJson()))
    return fail(tracePath + ": cannot write the file");
  if (int status = writeOutputs(manifest, *operands))
    return status;
  if (stats)
    printStats(*result);
  return result->clean() ? 0 : 2;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Run PTX with its manifest on the CPU\n");
  auto ptx = readFile(ptxPath);
  if (!ptx)
    return fail(ptx.message());
  if (listOnly)
    return list(*ptx);
  std::string path =
      manifestPath.empty() ? defaultManifestPath() : manifestPath;
  auto text = readFile(path);
  if (!text)
    return fail(text.message());
  auto manifest = runtime::readManifest(*text);
  if (!manifest)
    return fail(path + ": " + manifest.message());
  return run(*manifest, *ptx);
}
