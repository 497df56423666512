//===- Compiler.cpp - From a module to files, in one call -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the stages that the module still needs, then writes each artefact. Every
// step is timed.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Compiler.h"

#include "AttentionPrograms.h"
#include "MaskReport.h"
#include "Report.h"
#include "Traffic.h"

#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"
#include "attn/Dialect/Attn/Utils/NormalForm.h"
#include "attn/Pipelines/CpuPipeline.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Runtime/Manifest.h"
#include "attn/Schedule/ScheduleReport.h"
#include "attn/Target/Header/EmitHeader.h"
#include "attn/Target/Manifest/TranslateToManifest.h"
#include "attn/Target/PTX/TranslateToPTX.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Kinds of artefacts
//===----------------------------------------------------------------------===//

namespace {
struct KindInfo {
  ArtifactKind kind;
  llvm::StringLiteral name;
  llvm::StringLiteral extension;
};
} // namespace

static constexpr KindInfo kindInfos[] = {
    {ArtifactKind::Mlir, "mlir", ".mlir"},
    {ArtifactKind::Llvm, "llvm", ".ll"},
    {ArtifactKind::Ptx, "ptx", ".ptx"},
    {ArtifactKind::Manifest, "manifest", ".json"},
    {ArtifactKind::Header, "header", ".h"},
    {ArtifactKind::Report, "report", ".report.json"},
};

static const KindInfo &getInfo(ArtifactKind kind) {
  return kindInfos[static_cast<int>(kind)];
}

StringRef attn::getName(ArtifactKind kind) { return getInfo(kind).name; }

StringRef attn::getExtension(ArtifactKind kind) {
  return getInfo(kind).extension;
}

FailureOr<ArtifactKind> attn::parseArtifactKind(StringRef name) {
  for (const KindInfo &info : kindInfos)
    if (info.name == name)
      return info.kind;
  return failure();
}

ArrayRef<ArtifactKind> attn::getArtifactKinds() {
  static constexpr ArtifactKind kinds[] = {
      ArtifactKind::Mlir,     ArtifactKind::Llvm,   ArtifactKind::Ptx,
      ArtifactKind::Manifest, ArtifactKind::Header, ArtifactKind::Report};
  return kinds;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {
/// One call of compile.
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options)
      : module(module), options(options) {}

  FailureOr<CompileResult> run();

private:
  LogicalResult lookUpTarget();
  LogicalResult checkArtifacts();
  LogicalResult checkForm(std::optional<NormalForm> form);
  LogicalResult checkDeviceAsserts(std::optional<NormalForm> form);
  LogicalResult checkWaits(StringRef option, bool isGiven,
                           std::optional<NormalForm> form);
  LogicalResult runStages();
  LogicalResult runPasses(StringRef step,
                          function_ref<void(OpPassManager &)> build);
  LogicalResult splitFiniteMasks();
  /// Keeps what the cost model says of each attention, and what its mask leaves
  /// visible, if a report is wanted.
  LogicalResult noteSelections();
  FailureOr<CompileResult> runSteps();
  FailureOr<std::string> emit(ArtifactKind kind);

  FailureOr<std::string> printModule();
  FailureOr<std::string> emitLLVMIR();
  FailureOr<runtime::Bundle> getBundle();
  FailureOr<std::string> writeManifest(runtime::Bundle written);
  /// Runs code generation on first use: the header embeds the same PTX.
  FailureOr<std::string> getPtx();

  /// Keeps warnings and remarks; whoever handled them before still does.
  LogicalResult noteDiagnostic(Diagnostic &diagnostic);

  InFlightDiagnostic emitError() { return mlir::emitError(module.getLoc()); }

  /// Runs `step` and notes its time under `name`.
  template <typename Step>
  auto timed(StringRef name, Step step) {
    auto start = std::chrono::steady_clock::now();
    auto outcome = step();
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    result.times.push_back({name.str(), time.count()});
    return outcome;
  }

  ModuleOp module;
  const CompileOptions &options;
  TargetInfo target;
  std::optional<std::string> ptx;
  std::optional<runtime::Bundle> bundle;
  std::vector<runtime::ProgramCall> calls; ///< of several programs
  std::vector<Note> notes;
  std::vector<ProgramChoice> choices;
  TrafficOfPrograms traffic;
  std::optional<std::pair<Location, std::string>> firstWarning;
  CompileResult result;
};
} // namespace

LogicalResult Compilation::lookUpTarget() {
  FailureOr<TargetInfo> found =
      getModuleTarget(module, options.target, options.targetFields);
  if (failed(found))
    return failure();
  target = std::move(*found);
  return success();
}

LogicalResult Compilation::checkArtifacts() {
  if (target.kind == TargetKind::Gpu)
    return success();
  for (ArtifactKind kind : options.artifacts)
    if (kind != ArtifactKind::Mlir && kind != ArtifactKind::Llvm)
      return emitError() << "expected llvm or mlir to be asked of target "
                         << target.name << ", got '" << getName(kind) << "'";
  return success();
}

LogicalResult
Compilation::runPasses(StringRef step,
                       function_ref<void(OpPassManager &)> build) {
  return timed(step, [&]() -> LogicalResult {
    PassManager pm(module->getName());
    if (options.configure && failed(options.configure(pm)))
      return failure();
    // Verification after each pass would take a sixth of the time. Run by name,
    // passes are verified; here the result is, before it is translated.
    pm.enableVerifier(false);
    build(pm);
    return pm.run(module);
  });
}

/// The CPU's pipeline makes its own tiles, and has no kernels.
LogicalResult Compilation::checkForm(std::optional<NormalForm> form) {
  if (target.kind != TargetKind::Cpu || !form || *form < NormalForm::Tiled)
    return success();
  return emitError() << "target " << target.name
                     << ": expected a module before the form 'tiled', got one "
                        "in the form '"
                     << stringifyNormalForm(*form) << "'";
}

/// They are inserted on the way to the tiled form.
LogicalResult Compilation::checkDeviceAsserts(std::optional<NormalForm> form) {
  if (!options.deviceAsserts)
    return success();
  if (target.kind == TargetKind::Cpu)
    return emitError() << "option device-asserts: expected a GPU, got target "
                       << target.name;
  if (form && *form >= NormalForm::Tiled)
    return emitError() << "option device-asserts: expected a module before the "
                          "form 'tiled', got one in the form '"
                       << stringifyNormalForm(*form) << "'";
  return success();
}

/// Says which results no kernel computes, in functions with an attention or an
/// append in the tensor form: nothing else becomes a kernel. The caller has its
/// arguments already.
static void remarkOtherResults(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() ||
        llvm::none_of(function.getBody().getOps(), [&](Operation &op) {
          return isAttention(&op) || isa<AppendOp>(op);
        }))
      continue;
    for (OpOperand &result :
         function.getBody().front().getTerminator()->getOpOperands()) {
      Operation *producer = result.get().getDefiningOp();
      // What follows an attention is a part of its kernels.
      if (auto sum = dyn_cast_or_null<SumHeadsOp>(producer)) {
        Operation *backward = sum.getSource().getDefiningOp();
        if (backward && llvm::is_contained(getHeadSums(backward), sum))
          producer = backward;
      }
      while (auto mod = dyn_cast_or_null<OutputModOp>(producer))
        producer = mod.getSource().getDefiningOp();
      // In place, or where a kernel writes its results.
      bool isWritten = isa_and_present<AppendOp, PackOp>(producer);
      if (producer && !isAttention(producer) && !isWritten)
        emitRemark(producer->getLoc())
            << "result " << result.getOperandNumber() << " of @"
            << function.getName() << " is of '" << producer->getName()
            << "', which no kernel computes: --attn-outline leaves a function "
               "that does";
    }
  }
}

/// Barriers are proven, and waits bounded, on the way to the nvvm form.
LogicalResult Compilation::checkWaits(StringRef option, bool isGiven,
                                      std::optional<NormalForm> form) {
  if (!isGiven)
    return success();
  if (target.kind == TargetKind::Cpu)
    return emitError() << "option " << option << ": expected a GPU, got target "
                       << target.name;
  if (form && *form >= NormalForm::Nvvm)
    return emitError() << "option " << option
                       << ": expected a module before the form 'nvvm', got one "
                          "in the form '"
                       << stringifyNormalForm(*form) << "'";
  return success();
}

/// Fails unless there are attentions, or one function that appends to caches.
static LogicalResult checkPrograms(ModuleOp module) {
  SmallVector<Operation *> programs = findPrograms(module);
  for (Operation *op : programs)
    if (!isAttention(op) && op->getParentOfType<func::FuncOp>() !=
                                programs[0]->getParentOfType<func::FuncOp>())
      return op->emitOpError() << "expected one function that appends, or "
                                  "merges, in a module without an attention";
  // What was found may have been dead.
  if (!programs.empty())
    return success();
  return mlir::emitError(module.getBody()->empty()
                             ? module.getLoc()
                             : module.getBody()->front().getLoc())
         << "expected an attention, an append or a merge whose results are "
            "used, got none";
}

LogicalResult Compilation::runStages() {
  ArrayRef<Stage> stages = getStages();
  if (target.kind == TargetKind::Cpu)
    stages = stages.take_front(); // To the tensor form.
  AttentionPipelineOptions stageOptions;
  stageOptions.target = options.target;
  stageOptions.targetFields = getChangedFields(target);
  stageOptions.schedule = options.schedule;
  stageOptions.allowTf32 = options.allowTf32;
  stageOptions.deterministic = options.deterministic;
  stageOptions.deviceAsserts = options.deviceAsserts;
  stageOptions.proveBarriers = options.proveBarriers;
  stageOptions.boundedWaits = options.boundedWaits;
  stageOptions.programmaticLaunch = options.programmaticLaunch;
  stageOptions.maskThreshold = options.maskThreshold;
  stageOptions.assumeVisibleRows = options.assumeVisibleRows;
  std::optional<NormalForm> form = getNormalForm(module);
  if (failed(checkForm(form)) || failed(checkDeviceAsserts(form)) ||
      failed(checkWaits("prove-barriers", options.proveBarriers, form)) ||
      failed(checkWaits("bounded-waits", options.boundedWaits > 0, form)))
    return failure();
  bool isRaised = form && *form < NormalForm::Tiled;
  if (target.kind == TargetKind::Gpu && isRaised && needsPrograms(module))
    calls = convertToPrograms(module);
  for (const Stage &stage : stages) {
    if (form && stage.ensures <= *form)
      continue;
    if (failed(runPasses(stage.name, [&](OpPassManager &pm) {
          stage.build(pm, stageOptions);
        })))
      return failure();
    if (stage.ensures == NormalForm::Scheduled)
      traffic = predictTraffic(module, target);
    if (stage.ensures != NormalForm::Tensor)
      continue;
    if (target.kind == TargetKind::Gpu) {
      if (failed(checkPrograms(module)))
        return failure();
      remarkOtherResults(module);
      if (needsPrograms(module))
        calls = convertToPrograms(module);
      else
        dropOtherFunctions(module);
    }
    if (failed(splitFiniteMasks()) || failed(noteSelections()))
      return failure();
  }
  if (target.kind == TargetKind::Cpu)
    eraseInnerModules(module);
  if (target.kind == TargetKind::Cpu &&
      failed(runPasses("attn-cpu-pipeline", [&](OpPassManager &pm) {
        CpuPipelineOptions cpuOptions;
        cpuOptions.targetFields = getChangedFields(target);
        cpuOptions.schedule = options.schedule;
        buildCpuPipeline(pm, cpuOptions);
      })))
    return failure();
  return timed("verify", [&] { return verify(module); });
}

/// Before schedules are noted: they depend on what is skipped.
LogicalResult Compilation::splitFiniteMasks() {
  if (target.kind == TargetKind::Cpu)
    return success();
  return runPasses("attn-split-finite-masks", [&](OpPassManager &pm) {
    pm.addPass(createSplitFiniteMasksPass(
        {options.schedule, options.maskThreshold, options.assumeVisibleRows}));
  });
}

LogicalResult Compilation::noteSelections() {
  if (!llvm::is_contained(options.artifacts, ArtifactKind::Report))
    return success();
  Result<ScheduleOverrides> overrides =
      ScheduleOverrides::parse(options.schedule);
  if (!overrides)
    return emitError() << "option schedule: " << overrides.error();
  WalkResult walk = module.walk([&](AttentionOp op) {
    if (repairsRows(op))
      return WalkResult::advance(); // As of what it repairs.
    FailureOr<Selection> selection =
        selectSchedule(op, target, *overrides, options.allowTf32);
    if (failed(selection))
      return WalkResult::interrupt();
    AttentionProblem problem = getProblem(op);
    choices.push_back({op->getParentOfType<func::FuncOp>().getName().str(),
                       getReportJson(problem, target, *selection).dump(),
                       describeMask(op, problem, target, selection->chosen())});
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

FailureOr<std::string> Compilation::printModule() {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

FailureOr<std::string> Compilation::getPtx() {
  if (!ptx) {
    FailureOr<std::string> text =
        translateToPTX(module, PTXOptions{target.name});
    if (failed(text))
      return failure();
    ptx = std::move(*text);
  }
  return *ptx;
}

FailureOr<std::string> Compilation::emitLLVMIR() {
  if (target.kind == TargetKind::Gpu)
    return translateToNVPTXLLVMIR(module, PTXOptions{target.name});
  if (failed(checkLLVMTypes(module)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, options.name);
  if (!translated)
    return failure(); // The translation has said why.
  std::string text;
  llvm::raw_string_ostream(text) << *translated;
  return text;
}

FailureOr<runtime::Bundle> Compilation::getBundle() {
  if (bundle)
    return *bundle;
  FailureOr<std::vector<runtime::Manifest>> programs =
      translateToManifests(module, {options.name, target.name});
  if (failed(programs))
    return failure();
  for (runtime::Manifest &program : *programs)
    program.predictedBytes = traffic[program.name];
  if (!calls.empty() && programs->size() == 1)
    programs->front().name = calls.front().program; // of all calls
  nameOperands(calls, *programs);
  bundle = runtime::Bundle{options.name, target.name, options.name + ".ptx",
                           std::move(*programs), std::move(calls)};
  return *bundle;
}

/// With the digest of the PTX that is written beside it.
FailureOr<std::string> Compilation::writeManifest(runtime::Bundle written) {
  if (llvm::is_contained(options.artifacts, ArtifactKind::Ptx)) {
    FailureOr<std::string> text = getPtx();
    if (failed(text))
      return failure();
    for (runtime::Manifest &program : written.programs)
      program.ptxDigest = runtime::getPtxDigest(*text);
  }
  return runtime::writeBundle(written);
}

FailureOr<std::string> Compilation::emit(ArtifactKind kind) {
  if (kind == ArtifactKind::Mlir)
    return printModule();
  if (kind == ArtifactKind::Llvm)
    return emitLLVMIR();
  if (kind == ArtifactKind::Ptx)
    return getPtx();

  FailureOr<runtime::Bundle> written = getBundle();
  if (failed(written))
    return failure();
  if (kind == ArtifactKind::Manifest)
    return writeManifest(std::move(*written));
  if (kind == ArtifactKind::Report)
    return writeReport(*written, choices, notes, result.times);
  FailureOr<std::string> embedded = getPtx();
  if (failed(embedded))
    return failure();
  return emitHeader(*written, *embedded);
}

LogicalResult Compilation::noteDiagnostic(Diagnostic &diagnostic) {
  bool isWarning = diagnostic.getSeverity() == DiagnosticSeverity::Warning;
  if (isWarning && !firstWarning)
    firstWarning.emplace(diagnostic.getLocation(), diagnostic.str());
  if (isWarning || diagnostic.getSeverity() == DiagnosticSeverity::Remark) {
    std::string location;
    llvm::raw_string_ostream(location) << diagnostic.getLocation();
    notes.push_back(
        {isWarning ? "warning" : "remark", location, diagnostic.str()});
  }
  return failure(); // Not handled: it goes on to be printed.
}

FailureOr<CompileResult> Compilation::runSteps() {
  if (failed(lookUpTarget()) || failed(checkArtifacts()) || failed(runStages()))
    return failure();
  for (ArtifactKind kind : options.artifacts) {
    FailureOr<std::string> content =
        timed(getName(kind), [&] { return emit(kind); });
    if (failed(content))
      return failure();
    result.artifacts.push_back({kind, std::move(*content)});
  }
  return std::move(result);
}

FailureOr<CompileResult> Compilation::run() {
  ScopedDiagnosticHandler handler(
      module.getContext(),
      [this](Diagnostic &diagnostic) { return noteDiagnostic(diagnostic); });
  FailureOr<CompileResult> outcome = runSteps();
  if (succeeded(outcome) && options.strict && firstWarning)
    return mlir::emitError(firstWarning->first)
           << "expected no warning in strict mode, got: "
           << firstWarning->second;
  return outcome;
}

FailureOr<CompileResult> attn::compile(ModuleOp module,
                                       const CompileOptions &options) {
  return Compilation(module, options).run();
}
