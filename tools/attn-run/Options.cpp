//===- Options.cpp - Command line of attn-run -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "CudaKernel.h"

#include "attn/Support/Format.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

#include <cstdlib>

using namespace attn;
using namespace attn::run;
namespace cl = llvm::cl;

static const char overview[] =
    "runs a function of an .mlir file and, if asked, proves its results\n\n"
    "  attn-run model.mlir --random 1 --verify\n"
    "  attn-run attention.mlir --shape B=2,Hq=8,Hkv=2,M=100,N=100 --benchmark\n"
    "  attn-run attention.mlir --shape B=1,Hq=4,Hkv=2,M=100,N=100 "
    "--device=sim:sm_80 --verify\n"
    "  attn-run attention.mlir --shape B=1,Hq=4,Hkv=2,M=100,N=100 "
    "--device=cuda --verify\n"
    "  attn-run attention.mlir --input q.npy --input k.npy --input v.npy "
    "--output o.npy\n\n"
    "The file holds attn ops, or a graph of linalg or TOSA ops as a framework\n"
    "exported it. Exit code: 0 if everything asked for was done and, with\n"
    "--verify, every result is within its bound.\n";

namespace {
/// The options as LLVM's parser holds them; in a struct so that they exist only
/// while a command line is parsed.
struct CommandLine {
  cl::OptionCategory whatCategory{"What to run"};
  cl::opt<std::string> inputFile{
      cl::Positional, cl::Required,
      cl::desc("<file.mlir, or - for standard input>"), cl::cat(whatCategory)};
  cl::opt<std::string> function{
      "function", cl::value_desc("name"), cl::cat(whatCategory),
      cl::desc("The function to run, where there are several")};
  cl::opt<std::string> device{
      "device", cl::init("cpu"), cl::value_desc("cpu|sim[:target]|cuda[:n]"),
      cl::cat(whatCategory),
      cl::desc("Where to run (default: cpu). sim compiles the\n"
               "function's attention for a GPU (default: sm_80) and\n"
               "executes the PTX with its manifest in the simulator,\n"
               "with all checks; cuda launches it on a GPU (default:\n"
               "0) and compiles for that. What else the function\n"
               "computes runs on the CPU")};
  cl::opt<bool> allowTf32{
      "allow-tf32", cl::cat(whatCategory),
      cl::desc("Let f32 attention use tf32 tensor cores (sim, cuda); its\n"
               "error may then be twice that of an unfused\n"
               "computation with tf32 products")};
  cl::opt<bool> deterministic{
      "deterministic", cl::cat(whatCategory),
      cl::desc("Choose only kernels whose gradients are the same bits\n"
               "in every run (sim, cuda; those of the CPU always are)")};
  cl::opt<bool> deviceAsserts{
      "device-asserts", cl::cat(whatCategory),
      cl::desc("Check block lists and sequence offsets in kernels of\n"
               "their own (sim, cuda), as --verify does before")};
  cl::opt<double> maskThreshold{
      "mask-threshold", cl::init(0), cl::value_desc("value"),
      cl::cat(whatCategory),
      cl::desc("Finite mask values at or below this hide keys, as no\n"
               "score makes up for them (default: half of the lowest\n"
               "number of its type)")};
  cl::opt<bool> assumeVisibleRows{
      "assume-visible-rows", cl::cat(whatCategory),
      cl::desc("Take it that every query sees at least one key, so\n"
               "that finite mask values mean -inf; --verify tells")};
  cl::opt<bool> raise{"raise", cl::cat(whatCategory), cl::ValueDisallowed,
                      cl::desc("Raise graphs to attn.attention first\n"
                               "(default: where the file has no attn op)")};
  cl::opt<bool> noRaise{"no-raise", cl::cat(whatCategory), cl::ValueDisallowed,
                        cl::desc("Run graphs as they are written")};
  cl::opt<int64_t> threads{
      "threads", cl::init(0), cl::value_desc("n"), cl::cat(whatCategory),
      cl::desc("Threads of the CPU (default: one per core)")};

  cl::OptionCategory dataCategory{"Inputs and outputs"};
  cl::opt<uint64_t> seed{
      "random", cl::init(0), cl::value_desc("seed"), cl::cat(dataCategory),
      cl::desc("Seed of the inputs that no file gives (default: 0).\n"
               "Floats are normal with deviation 1; an n x m matrix\n"
               "is taken for a weight, with 1/sqrt(max(n, m)).\n"
               "Booleans and rows of integers are padding masks (ones\n"
               "in a prefix, a suffix, a range, around a hole, or\n"
               "scattered); one row of integers is a ramp 0, 1, 2, ...\n"
               "A bias that all heads share is such a mask, too: 0,\n"
               "and -1e4, -65504, -1e9 or the lowest float")};
  cl::list<std::string> shapes{
      "shape", cl::value_desc("sizes"), cl::cat(dataCategory),
      cl::desc("Sizes of dynamic dimensions, by the names of the\n"
               "function's attention, 'B=2,Hq=8,Hkv=2,M=100,N=100',\n"
               "or by argument, 'arg0=2x100x256'; may be repeated.\n"
               "Several sets of sizes, 'M=1,N=1; M=65,N=64', are\n"
               "run one after the other, compiled once")};
  cl::list<std::string> inputs{
      "input", cl::value_desc("[argN=]file.npy"), cl::cat(dataCategory),
      cl::desc("The next argument, or argument N, from a .npy file;\n"
               "bf16 as V2 or u2; may be repeated. Several sets, as\n"
               "of --shape: 'arg3=a.npy; arg3=b.npy'")};
  cl::list<std::string> fills{
      "fill", cl::value_desc("argN=kind"), cl::cat(dataCategory),
      cl::desc("What to generate for an argument: normal, padding,\n"
               "additive-mask, ramp, zeros or ones; may be repeated")};
  cl::list<std::string> outputs{
      "output", cl::value_desc("file.npy"), cl::cat(dataCategory),
      cl::desc("Where to write the next result; may be repeated.\n"
               "Several sets, as of --shape: 'a.npy; b.npy'")};
  cl::opt<bool> serve{
      "serve", cl::cat(dataCategory),
      cl::desc("Compile once, then call the function for each line of\n"
               "standard input:\n"
               "{\"memory\": file, \"results_at\": byte, \"arguments\":\n"
               "[{\"dtype\": \"f32\", \"shape\": [2, 3], \"offset\": byte}]}\n"
               "names a file that both processes map, such as one in\n"
               "/dev/shm; {\"results\": [...]} and ok answer, or a\n"
               "message and failed")};
  cl::opt<std::string> object{
      "object", cl::value_desc("file"), cl::cat(dataCategory),
      cl::desc("With --serve: take the compiled function from this\n"
               "file if it is of the same module, options, version and\n"
               "processor; else compile, and write it")};
  cl::opt<std::string> emitObject{
      "emit-object", cl::value_desc("file"), cl::cat(dataCategory),
      cl::desc("Compile the function and write it to this file, which a\n"
               "process calls by attn-c/Cpu.h; do not run it")};

  cl::OptionCategory proofCategory{"Proof and measurement"};
  cl::opt<bool> verify{
      "verify", cl::cat(proofCategory),
      cl::desc(
          "Compare with float64. The error may be at most twice that of an "
          "unfused computation in the precision of the input")};
  cl::opt<int64_t> trials{
      "trials", cl::init(1), cl::value_desc("n"), cl::cat(proofCategory),
      cl::desc("Run n inputs, of seeds from --random on (default: 1),\n"
               "and verify all. Results of few elements, whose errors\n"
               "are chance, are judged by their medians")};
  cl::opt<uint64_t> scheduleSeed{
      "seed", cl::init(0), cl::value_desc("n"), cl::cat(proofCategory),
      cl::desc("Order in which the simulator runs warps (default:\n"
               "0, in turn; others are random)")};
  cl::opt<int64_t> schedules{
      "schedules", cl::init(1), cl::value_desc("n"), cl::cat(proofCategory),
      cl::desc("Run n schedules, from --seed on (default: 1).\n"
               "Their results must be equal where the manifest\n"
               "says that they are deterministic; else --verify\n"
               "looks at those of each")};
  cl::opt<std::string> report{
      "report", cl::value_desc("file.json"), cl::cat(proofCategory),
      cl::desc("Write what the simulator counted: bytes per\n"
               "operand, instructions, conflicts, waits; of later\n"
               "calls of a whole model to file.json.1, ...")};
  cl::opt<std::string> trace{
      "trace", cl::value_desc("file.json"), cl::cat(proofCategory),
      cl::desc("Write a timeline of the kernel's first cluster for\n"
               "ui.perfetto.dev or chrome://tracing")};
  cl::opt<bool> benchmark{"benchmark", cl::cat(proofCategory),
                          cl::desc("Print the time of a call (cpu), or of the\n"
                                   "kernels on the device by its events, with\n"
                                   "inputs that stay in its caches (cuda)")};
  cl::opt<int64_t> repeat{"repeat", cl::init(10), cl::value_desc("n"),
                          cl::cat(proofCategory),
                          cl::desc("Calls that are timed (default: 10)")};
};
} // namespace

bool attn::run::reportError(const std::string &message) {
  llvm::WithColor::error(llvm::errs(), "attn-run") << message << "\n";
  return false;
}

/// libLLVM.so registers hundreds of options of its own, some under our names;
/// this tool has none but those above and --help and its kin.
static void removeForeignOptions() {
  llvm::SmallVector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions())
    if (!entry.first.starts_with("help"))
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

/// --device=cuda[:N]: opens the device, and compiles for it.
static bool setCudaDevice(const CommandLine &line, llvm::StringRef number,
                          Options &options) {
  int ordinal = 0;
  if (!number.empty() && (number.getAsInteger(10, ordinal) || ordinal < 0))
    return reportError("--device=" + line.device +
                       ": expected the number of a CUDA device, got '" +
                       number.str() + "'");
  runtime::LaunchResult<runtime::CudaDevice> device =
      runtime::CudaDevice::open(ordinal);
  if (!device)
    return reportError("--device=" + line.device + ": " +
                       device.status().message);
  std::optional<std::string> target = findTarget(*device);
  if (!target)
    return false;
  options.device = Device::Cuda;
  options.target = *target;
  options.cuda = *device;
  return true;
}

/// Splits --device into the device and what to compile for.
static bool setDevice(const CommandLine &line, Options &options) {
  auto [device, detail] = llvm::StringRef(line.device).split(':');
  bool hasDetail = llvm::StringRef(line.device).contains(':');
  if (device == "cuda")
    return setCudaDevice(line, detail, options);
  if (device != "sim" && (device != "cpu" || hasDetail))
    return reportError("unknown device '" + line.device +
                       "': expected cpu, sim[:target] or cuda[:number]");
  options.device = device == "sim" ? Device::Sim : Device::Cpu;
  options.target = hasDetail ? detail.str() : device == "sim" ? "sm_80" : "cpu";
  if (device == "cpu")
    return true;
  Result<TargetInfo> known = lookupTarget(options.target);
  if (!known)
    return reportError("--device=" + line.device + ": " + known.error());
  if (known->kind != TargetKind::Gpu)
    return reportError("--device=" + line.device + ": expected a GPU, got " +
                       options.target);
  return true;
}

/// What the simulator alone understands, and what the others do not.
static bool checkDeviceOptions(const CommandLine &line, Device device) {
  if (device == Device::Sim && line.benchmark)
    return reportError("--benchmark: the simulator's time means nothing: "
                       "expected --device=cpu or cuda");
  if (device != Device::Cpu && line.noRaise)
    return reportError("--no-raise: expected --device=cpu, since a GPU runs "
                       "attention alone");
  if (device != Device::Cpu && line.serve)
    return reportError("--serve: expected --device=cpu");
  if (device != Device::Cpu && !line.emitObject.empty())
    return reportError("--emit-object: expected --device=cpu");
  if (device == Device::Cpu && line.allowTf32)
    return reportError("--allow-tf32: expected --device=sim or cuda");
  if (device == Device::Cpu && line.deviceAsserts)
    return reportError("--device-asserts: expected --device=sim or cuda");
  for (const cl::Option *option :
       {static_cast<const cl::Option *>(&line.scheduleSeed),
        static_cast<const cl::Option *>(&line.schedules),
        static_cast<const cl::Option *>(&line.report),
        static_cast<const cl::Option *>(&line.trace)})
    if (device != Device::Sim && option->getNumOccurrences())
      return reportError("--" + option->ArgStr.str() +
                         ": expected --device=sim");
  return true;
}

/// "M=1,N=1; M=65,N=64" are the values of two sets; an option with one value
/// holds for all.
static std::vector<std::string> splitSets(const std::string &text) {
  std::vector<std::string> values;
  for (const std::string &part : split(text, ';'))
    values.emplace_back(trim(part));
  return values;
}

/// How many sets the options have, or nothing after an error.
static std::optional<size_t> countSets(const CommandLine &line) {
  size_t count = 1;
  auto check = [&](const cl::list<std::string> &option) {
    for (const std::string &text : option) {
      size_t number = splitSets(text).size();
      if (number > 1 && count > 1 && number != count)
        return reportError("--" + option.ArgStr.str() + ": expected " +
                           std::to_string(count) + " sets, as before, got '" +
                           text + "'");
      count = std::max(count, number);
    }
    return true;
  };
  if (!check(line.shapes) || !check(line.inputs) || !check(line.outputs))
    return std::nullopt;
  return count;
}

/// The values of set `number`.
static std::vector<std::string> getSet(const cl::list<std::string> &option,
                                       size_t number) {
  std::vector<std::string> own;
  for (const std::string &text : option) {
    std::vector<std::string> values = splitSets(text);
    own.push_back(values[values.size() > 1 ? number : 0]);
  }
  return own;
}

/// Files of several runs are several, too.
static bool isOneOutput(const CommandLine &line, size_t numSets) {
  return llvm::any_of(line.outputs, [&](const std::string &text) {
    return line.trials > 1 || splitSets(text).size() != numSets;
  });
}

/// What is written once cannot be written for several runs.
static bool checkSeveralRuns(const CommandLine &line) {
  std::optional<size_t> numSets = countSets(line);
  if (!numSets || (*numSets == 1 && line.trials == 1))
    return numSets.has_value();
  std::string cause = line.trials == 1
                          ? std::to_string(*numSets) + " sets of inputs"
                          : "--trials=" + std::to_string(line.trials);
  for (auto [option, isGiven] :
       {std::pair("--output", isOneOutput(line, *numSets)),
        std::pair("--report", !line.report.empty()),
        std::pair("--trace", !line.trace.empty()),
        std::pair("--benchmark", bool(line.benchmark)),
        std::pair("--serve", bool(line.serve))})
    if (isGiven)
      return reportError(std::string(option) + ": expected one run, got " +
                         cause);
  return true;
}

static bool checkOptions(const CommandLine &line) {
  if (line.raise && line.noRaise)
    return reportError("expected --raise or --no-raise, got both");
  if (line.serve && (line.verify || line.benchmark || line.inputFile == "-" ||
                     line.inputs.size() || line.outputs.size()))
    return reportError("--serve: expected a file, and its data on standard "
                       "input: no --input, --output, --verify or --benchmark");
  if (!line.object.empty() && !line.serve)
    return reportError("--object: expected --serve, got none");
  if (!line.emitObject.empty() &&
      (line.serve || line.verify || line.benchmark || line.inputs.size() ||
       line.outputs.size() || line.threads.getNumOccurrences()))
    return reportError("--emit-object: expected nothing to be run: no --serve, "
                       "--input, --output, --verify, --benchmark or --threads");
  if (line.threads < 0)
    return reportError("expected --threads to be 0 or more, got " +
                       std::to_string(line.threads));
  if (line.repeat < 1)
    return reportError("expected --repeat to be 1 or more, got " +
                       std::to_string(line.repeat));
  if (line.trials < 1)
    return reportError("expected --trials to be 1 or more, got " +
                       std::to_string(line.trials));
  if (!checkSeveralRuns(line))
    return false;
  if (line.schedules < 1)
    return reportError("expected --schedules to be 1 or more, got " +
                       std::to_string(line.schedules));
  return true;
}

Options attn::run::parseOptions(int argc, char **argv) {
  removeForeignOptions();
  CommandLine line;
  cl::HideUnrelatedOptions(
      {&line.whatCategory, &line.dataCategory, &line.proofCategory});
  cl::ParseCommandLineOptions(argc, argv, overview);
  Options options;
  if (!checkOptions(line) || !setDevice(line, options) ||
      !checkDeviceOptions(line, options.device))
    std::exit(1);
  options.inputFile = line.inputFile;
  options.function = line.function;
  options.raise = line.raise     ? Raise::Always
                  : line.noRaise ? Raise::Never
                                 : Raise::Auto;
  options.allowTf32 = line.allowTf32;
  options.deterministic = line.deterministic;
  options.deviceAsserts = line.deviceAsserts;
  options.maskThreshold = line.maskThreshold;
  options.assumeVisibleRows = line.assumeVisibleRows;
  options.seed = line.seed;
  for (size_t i = 0; i < *countSets(line); ++i)
    options.sets.push_back({getSet(line.shapes, i), getSet(line.inputs, i),
                            getSet(line.outputs, i)});
  options.trials = line.trials;
  options.fills = line.fills;
  options.serve = line.serve;
  options.object = line.object;
  options.emitObject = line.emitObject;
  options.verify = line.verify;
  options.benchmark = line.benchmark;
  options.repeat = line.repeat;
  options.threads = line.threads;
  options.schedules = line.schedules;
  options.scheduleSeed = line.scheduleSeed;
  options.report = line.report;
  options.trace = line.trace;
  return options;
}
