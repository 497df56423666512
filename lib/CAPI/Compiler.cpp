//===- Compiler.cpp - C API: from MLIR text to PTX ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Compiler.h"

#include "Compilation.h"

#include "attn/Pipelines/ExporterDialects.h"
#include "attn/Pipelines/InitAll.h"
#include "attn/Schedule/Schedule.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

void capi::reportError(const AttnCompileOptions &options, StringRef message) {
  if (options.diagnosticHandler)
    options.diagnosticHandler(ATTN_SEVERITY_ERROR, "", message.str().c_str(),
                              options.userData);
}

static AttnSeverity getSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return ATTN_SEVERITY_NOTE;
  case DiagnosticSeverity::Warning:
    return ATTN_SEVERITY_WARNING;
  case DiagnosticSeverity::Error:
    return ATTN_SEVERITY_ERROR;
  case DiagnosticSeverity::Remark:
    return ATTN_SEVERITY_REMARK;
  }
  return ATTN_SEVERITY_ERROR;
}

/// "file:line:column" of the first place in a file that `location` knows, or
/// "file" if it is all of it.
static std::string describe(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  if (place.getLine() == 0) // The file as a whole.
    return place.getFilename().str();
  return (place.getFilename().getValue() + ":" + Twine(place.getLine()) + ":" +
          Twine(place.getColumn()))
      .str();
}

static void forward(const AttnCompileOptions &options,
                    const Diagnostic &diagnostic) {
  options.diagnosticHandler(getSeverity(diagnostic.getSeverity()),
                            describe(diagnostic.getLocation()).c_str(),
                            diagnostic.str().c_str(), options.userData);
  for (const Diagnostic &note : diagnostic.getNotes())
    forward(options, note);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

std::optional<AttnCompileOptions>
capi::readOptions(const AttnCompileOptions *given) {
  if (!given)
    return std::nullopt;
  const char *bytes = reinterpret_cast<const char *>(given);
  size_t known = sizeof(AttnCompileOptions);
  bool hasMore =
      given->size > known &&
      llvm::any_of(llvm::make_range(bytes + known, bytes + given->size),
                   [](char byte) { return byte != 0; });
  if (given->size <= offsetof(AttnCompileOptions, target) || hasMore) {
    llvm::errs() << "attn: AttnCompileOptions.size: expected "
                    "sizeof(AttnCompileOptions), "
                 << known << " in version " << attnGetVersion() << ", got "
                 << given->size << "\n";
    return std::nullopt;
  }
  AttnCompileOptions options{};
  std::memcpy(&options, given, std::min(known, given->size));
  return options;
}

/// The C++ options, or the message of what is wrong with the C ones.
static Result<CompileOptions>
getCompileOptions(const AttnCompileOptions &from) {
  CompileOptions options;
  if (from.target)
    options.target = from.target;
  if (from.targetFields)
    options.targetFields = from.targetFields;
  if (from.schedule)
    options.schedule = from.schedule;
  if (from.name)
    options.name = from.name;
  options.allowTf32 = from.allowTf32;
  options.deterministic = from.deterministic;
  options.deviceAsserts = from.deviceAsserts;
  options.strict = from.strict;
  options.assumeVisibleRows = from.assumeVisibleRows;
  options.maskThreshold = from.maskThreshold;
  options.proveBarriers = from.proveBarriers;
  options.boundedWaits = from.boundedWaits;
  options.programmaticLaunch = !from.noProgrammaticLaunch;

  if (Result<TargetInfo> target = lookupTarget(options.target); !target)
    return Error{"target: " + target.error()};
  if (Result<ScheduleOverrides> fields =
          ScheduleOverrides::parse(options.schedule);
      !fields)
    return Error{"schedule: " + fields.error()};
  if (!from.artifacts || from.numArtifacts == 0)
    return Error{"artifacts: expected at least one, got none"};
  for (size_t i = 0; i < from.numArtifacts; ++i) {
    int kind = from.artifacts[i];
    if (kind < 0 || kind >= static_cast<int>(getArtifactKinds().size()))
      return Error{"artifacts: expected an AttnArtifact, got " +
                   std::to_string(kind)};
    if (llvm::is_contained(options.artifacts, ArtifactKind(kind)))
      return Error{"artifacts: expected each kind once, got '" +
                   getName(ArtifactKind(kind)).str() + "' twice"};
    options.artifacts.push_back(ArtifactKind(kind));
  }
  return options;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void capi::registerAllDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAllAttnDialects(registry);
}

/// Those of MLIR too, as attn-opt has them.
static void registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerAllPasses();
    registerAllAttnPasses();
  });
}

/// Runs the passes that the caller asks for; false after an error.
static bool runPasses(ModuleOp module, const AttnCompileOptions &options) {
  if (!options.passes)
    return true;
  registerPasses();
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(parsePassPipeline(options.passes, pm, stream))) {
    capi::reportError(options, "passes: " + StringRef(message).trim().str());
    return false;
  }
  return succeeded(pm.run(module));
}

static AttnCompilation *compileChecked(MLIRContext &context,
                                       const AttnCompileOptions &options,
                                       function_ref<ModuleOp()> getModule) {
  Result<CompileOptions> known = getCompileOptions(options);
  if (!known) {
    capi::reportError(options, known.error());
    return nullptr;
  }
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (options.diagnosticHandler)
      forward(options, diagnostic);
    return success();
  });
  ExporterDialectNotes notes(&context);
  ModuleOp module = getModule();
  if (!module || !runPasses(module, options))
    return nullptr;
  FailureOr<CompileResult> result = compile(module, *known);
  if (failed(result))
    return nullptr;
  return new AttnCompilation{std::move(*result)};
}

AttnCompilation *capi::compileGuarded(MLIRContext &context,
                                      const AttnCompileOptions &options,
                                      function_ref<ModuleOp()> getModule) {
  try {
    return compileChecked(context, options, getModule);
  } catch (const std::exception &exception) {
    capi::reportError(options, exception.what());
  }
  return nullptr;
}

AttnCompilation *attnCompileSource(const char *source, size_t length,
                                   const char *sourceName,
                                   const AttnCompileOptions *options) {
  std::optional<AttnCompileOptions> known = capi::readOptions(options);
  if (!known)
    return nullptr;
  if (!source) {
    capi::reportError(*known, "source: expected a module, got NULL");
    return nullptr;
  }
  // Filled once: registering every dialect takes longer than some kernels.
  static const DialectRegistry &registry = *[] {
    auto *all = new DialectRegistry;
    capi::registerAllDialects(*all);
    return all;
  }();
  // One kernel is too little work to share between threads.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> module;
  return capi::compileGuarded(context, *known, [&] {
    module = parseSourceString<ModuleOp>(StringRef(source, length), &context,
                                         sourceName ? sourceName : "-");
    return *module;
  });
}

const char *attnCompilationGetArtifact(const AttnCompilation *compilation,
                                       AttnArtifact artifact, size_t *length) {
  for (const Artifact &known : compilation->result.artifacts) {
    if (known.kind != ArtifactKind(artifact))
      continue;
    if (length)
      *length = known.content.size();
    return known.content.c_str();
  }
  return nullptr;
}

void attnCompilationDestroy(AttnCompilation *compilation) {
  delete compilation;
}

const char *attnGetVersion(void) { return ATTN_VERSION; }
