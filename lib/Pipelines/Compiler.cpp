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

#include "attn/Pipelines/Pipelines.h"
#include "attn/Runtime/Manifest.h"
#include "attn/Target/PTX/ManifestAttr.h"
#include "attn/Target/PTX/TranslateToPTX.h"
#include "attn/TargetInfo/TargetInfo.h"

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
  LogicalResult runStages();
  LogicalResult runStage(const Stage &stage);
  FailureOr<std::string> emit(ArtifactKind kind);

  FailureOr<std::string> printModule();
  FailureOr<std::string> emitManifest();
  /// Runs code generation on first use: the header embeds the same PTX.
  FailureOr<std::string> getPtx();

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
  CompileResult result;
};
} // namespace

LogicalResult Compilation::lookUpTarget() {
  Result<TargetInfo> found = lookupTarget(options.target);
  if (!found)
    return emitError() << found.error();
  target = *found;
  return success();
}

LogicalResult Compilation::runStage(const Stage &stage) {
  AttentionPipelineOptions stageOptions;
  stageOptions.target = target.name;
  stageOptions.allowTf32 = options.allowTf32;

  PassManager pm(module->getName());
  if (options.configure && failed(options.configure(pm)))
    return failure();
  stage.build(pm, stageOptions);
  return pm.run(module);
}

LogicalResult Compilation::runStages() {
  auto form = module->getAttrOfType<NormalFormAttr>("attn.normal_form");
  for (const Stage &stage : getStages()) {
    if (form && stage.ensures <= form.getValue())
      continue;
    if (failed(timed(stage.name, [&] { return runStage(stage); })))
      return failure();
  }
  return success();
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

FailureOr<std::string> Compilation::emitManifest() {
  FailureOr<runtime::Manifest> manifest = manifestOf(module, options.name);
  if (failed(manifest))
    return failure();
  return runtime::writeManifest(*manifest);
}

FailureOr<std::string> Compilation::emit(ArtifactKind kind) {
  switch (kind) {
  case ArtifactKind::Mlir:
    return printModule();
  case ArtifactKind::Llvm:
    return translateToNVPTXLLVMIR(module, PTXOptions{target.name});
  case ArtifactKind::Ptx:
    return getPtx();
  case ArtifactKind::Manifest:
    return emitManifest();
  case ArtifactKind::Header:
  case ArtifactKind::Report:
    break;
  }
  return emitError() << "expected an artefact that target " << target.name
                     << " has, got '" << getName(kind) << "'";
}

FailureOr<CompileResult> Compilation::run() {
  if (failed(lookUpTarget()) || failed(runStages()))
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

FailureOr<CompileResult> attn::compile(ModuleOp module,
                                       const CompileOptions &options) {
  if (!options.strict)
    return Compilation(module, options).run();

  std::optional<std::pair<Location, std::string>> warning;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Warning && !warning)
          warning.emplace(diagnostic.getLocation(), diagnostic.str());
        return failure(); // The handlers before this one print it.
      });
  FailureOr<CompileResult> result = Compilation(module, options).run();
  if (succeeded(result) && warning)
    return emitError(warning->first)
           << "expected no warning in strict mode, got: " << warning->second;
  return result;
}
