//===- CompileMode.cpp - attn-opt as a compiler ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileMode.h"

#include "ArtifactFiles.h"

#include "attn/Pipelines/ExporterDialects.h"
#include "attn/Pipelines/InitAll.h"
#include "attn/Schedule/Schedule.h"
#include "attn/Support/Format.h"
#include "attn/Support/Progress.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace attn;

/// Prints an error that has no place in the input file.
static LogicalResult fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "attn-opt") << message << "\n";
  return failure();
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

/// The names of the options on a command line.
static SmallVector<StringRef> getFlags(int argc, char **argv) {
  SmallVector<StringRef> flags;
  for (StringRef argument : llvm::ArrayRef(argv, argc).drop_front()) {
    if (argument == "--")
      break;
    if (argument.consume_front("--") || argument.consume_front("-"))
      flags.push_back(argument.split('=').first);
  }
  return flags;
}

bool CompileMode::isRequested(int argc, char **argv) {
  return llvm::any_of(getFlags(argc, argv), [](StringRef flag) {
    return flag == "target" || flag == "target-file" || flag == "emit";
  });
}

LogicalResult CompileMode::rejectOwnOptions(int argc, char **argv) {
  for (StringRef flag : getFlags(argc, argv)) {
    llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(flag);
    if (option && llvm::is_contained(option->Categories, &category))
      return fail("--" + flag +
                  ": expected --target, for which it is, got none");
  }
  return success();
}

/// The compiler runs passes of its own.
static LogicalResult rejectPasses(int argc, char **argv) {
  bool areRegistered = false;
  for (StringRef flag : getFlags(argc, argv)) {
    if (llvm::cl::getRegisteredOptions().contains(flag))
      continue;
    if (!areRegistered) {
      registerAllPasses();
      registerAllAttnPasses();
      areRegistered = true;
    }
    if (PassInfo::lookup(flag) || PassPipelineInfo::lookup(flag))
      return fail("--" + flag +
                  ": expected no pass with --target, which runs its own, got "
                  "one: run it before, without --target");
  }
  return success();
}

/// The error for an --emit that names no kind, with the nearest one.
static LogicalResult failOnKind(StringRef name) {
  std::vector<std::string> names;
  for (ArtifactKind kind : getArtifactKinds())
    names.push_back(getName(kind).str());
  std::string nearest = nearestSpelling(name.str(), names);
  return fail("--emit: unknown kind '" + name + "', expected one of " +
              join(names, ", ") +
              (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)"));
}

/// The target that a file describes.
static Result<TargetInfo> readTargetFile(const std::string &path) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &message);
  if (!file)
    return Error{message};
  Result<TargetInfo> target = parseTarget(file->getBuffer().str());
  if (!target)
    return Error{"'" + path + "': " + target.error()};
  return target;
}

FailureOr<TargetInfo> CompileMode::getTarget() const {
  if (target.empty() == targetFile.empty())
    return fail("expected --target=NAME or --target-file=FILE, got " +
                Twine(target.empty() ? "neither" : "both"));
  Result<TargetInfo> result = target.empty() ? readTargetFile(targetFile)
                                             : lookupTarget(target.getValue());
  if (!result)
    return fail((target.empty() ? "--target-file: " : "--target: ") +
                result.error());
  std::vector<std::string> settings(targetFields.begin(), targetFields.end());
  if (!sharedMemoryBytes.empty() &&
      llvm::any_of(settings, [](StringRef setting) {
        return setting.starts_with("smem-bytes=");
      }))
    return fail("expected --smem-bytes or --set-target=smem-bytes, got both");
  if (Status status = setTargetFields(*result, join(settings, " ")); !status)
    return fail("--set-target: " + status.error());
  if (Status status =
          sharedMemoryBytes.empty()
              ? Status()
              : setTargetField(*result, "smem-bytes", sharedMemoryBytes);
      !status)
    return fail("--smem-bytes: " + status.error());
  return std::move(*result);
}

/// The fields of --schedule, and that of --invariance.
FailureOr<std::string> CompileMode::getScheduleFields() const {
  Result<ScheduleOverrides> fields = ScheduleOverrides::parse(schedule);
  if (!fields)
    return fail("--schedule: " + fields.error());
  if (invariance.empty())
    return schedule.getValue();
  if (fields->has("invariance"))
    return fail("expected --invariance or that field of --schedule, got both");
  if (Status status = fields->set("invariance", invariance.getValue()); !status)
    return fail("--invariance: " + status.error());
  return fields->print();
}

FailureOr<CompileOptions> CompileMode::getCompileOptions() const {
  FailureOr<TargetInfo> known = getTarget();
  if (failed(known))
    return failure();
  FailureOr<std::string> fields = getScheduleFields();
  if (failed(fields))
    return failure();

  CompileOptions options;
  options.target = known->base;
  options.targetFields = getChangedFields(*known);
  options.schedule = std::move(*fields);
  options.allowTf32 = allowTf32;
  options.deterministic = deterministic;
  options.deviceAsserts = deviceAsserts;
  options.proveBarriers = proveBarriers;
  options.boundedWaits = boundedWaits;
  options.programmaticLaunch = !noProgrammaticLaunch;
  options.maskThreshold = maskThreshold;
  options.assumeVisibleRows = assumeVisibleRows;
  options.strict = strict;
  options.configure = [](PassManager &pm) {
    applyDefaultTimingPassManagerCLOptions(pm);
    return applyPassManagerCLOptions(pm);
  };
  for (StringRef name : emit) {
    FailureOr<ArtifactKind> kind = parseArtifactKind(name);
    if (failed(kind))
      return failOnKind(name);
    if (llvm::is_contained(options.artifacts, *kind))
      return fail("--emit: expected each kind once, got '" + name + "' twice");
    options.artifacts.push_back(*kind);
  }
  if (options.artifacts.empty())
    options.artifacts.push_back(known->kind == TargetKind::Cpu
                                    ? ArtifactKind::Llvm
                                    : ArtifactKind::Ptx);
  return options;
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

static void printTimes(ArrayRef<StepTime> times) {
  double total = 0;
  for (const StepTime &time : times) {
    llvm::errs() << llvm::format("%9.2f ms  ", time.milliseconds) << time.step
                 << "\n";
    total += time.milliseconds;
  }
  llvm::errs() << llvm::format("%9.2f ms  total\n", total);
}

static LogicalResult writeToStdout(StringRef content) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out << content;
  out.flush();
  if (std::error_code code = out.error()) {
    out.clear_error(); // Otherwise the stream's destructor aborts.
    return fail("cannot write standard output: " + code.message());
  }
  return success();
}

LogicalResult CompileMode::run(int argc, char **argv,
                               DialectRegistry &registry) {
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  if (failed(rejectPasses(argc, argv)))
    return failure();
  auto [inputPath, outputBase] =
      parseCLIOptions(argc, argv, "attention optimizer and compiler\n");
  FailureOr<CompileOptions> options = getCompileOptions();
  if (failed(options))
    return failure();
  if (llvm::any_of(outputBase,
                   [](char c) { return uint8_t(c) < ' ' || c == 0x7f; }))
    return fail("-o: expected a name without control characters, got one");
  bool toStdout = outputBase == "-";
  if (toStdout && options->artifacts.size() > 1)
    return fail("--emit: expected one kind for standard output, got " +
                Twine(options->artifacts.size()) + "; name files by -o");
  if (!toStdout)
    options->name = llvm::sys::path::filename(outputBase).str();

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputPath, &message);
  if (!input)
    return fail(message);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());

  // One kernel is too little work to share between threads.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // Its location says enough.
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  ExporterDialectNotes notes(&context);
  auto start = std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  std::chrono::duration<double, std::milli> parseTime =
      std::chrono::steady_clock::now() - start;
  if (!module)
    return failure();
  FailureOr<CompileResult> result = [&] {
    Progress progress("compiling");
    return compile(*module, *options);
  }();
  if (failed(result))
    return failure();
  result->times.insert(result->times.begin(), {"parse", parseTime.count()});
  if (time)
    printTimes(result->times);

  if (toStdout)
    return writeToStdout(result->artifacts.front().content);
  if (llvm::Error error = writeArtifacts(result->artifacts, outputBase))
    return fail(toString(std::move(error)));
  return success();
}
