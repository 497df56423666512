//===- Outline.cpp - Compile each attention, leaving a call ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each attention is copied to a module of its own, which the compiler turns
// into a kernel; only then is anything changed in the host's module.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Passes.h"

#include "AttentionPrograms.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/Utils/LinearProbMod.h"
#include "attn/Dialect/Attn/Utils/ProbMod.h"
#include "attn/Pipelines/Compiler.h"
#include "attn/Pipelines/Pipelines.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

namespace attn {
#define GEN_PASS_DEF_OUTLINEPASS
#include "attn/Pipelines/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The views that an attention reads, and what is appended to its caches, in
/// the order of uses.
static SetVector<Operation *> getViews(Operation *attention) {
  SetVector<Operation *> views, appends;
  auto addRows = [&](Value rows) {
    while (Value source = getRowSource(rows.getDefiningOp())) {
      views.insert(rows.getDefiningOp());
      rows = source;
    }
  };
  for (Value operand : attention->getOperands()) {
    if (auto heads = operand.getDefiningOp<SelectHeadsOp>()) {
      views.insert(heads);
      operand = heads.getSource();
    }
    if (auto paged = operand.getDefiningOp<PagedOp>()) {
      views.insert(paged);
      operand = paged.getPool();
    }
    if (Operation *view = operand.getDefiningOp();
        isa_and_present<RaggedOp, SequenceLengthsOp>(view))
      views.insert(view);
    if (auto ragged = operand.getDefiningOp<RaggedOp>())
      operand = ragged.getPacked();
    if (auto append = operand.getDefiningOp<AppendOp>())
      appends.insert(append);
    addRows(operand);
  }
  views.insert_range(appends);
  for (Operation *append : appends)
    llvm::for_each(cast<AppendOp>(append).getRows(), addRows);
  return views;
}

/// Replaces one attention, or a view, by linalg ops, and touches nothing else.
static void convertToLinalg(Operation *attention) {
  RewritePatternSet patterns(attention->getContext());
  populateAttnToLinalgPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(attention->getContext());
  rewriter.setInsertionPoint(attention);
  // There is a pattern for each op, and none of them fails.
  (void)applicator.matchAndRewrite(attention, rewriter);
}

namespace {
struct Outline : public attn::impl::OutlinePassBase<Outline> {
  using Base::Base;

  /// What the compiler's passes need is needed here.
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager stages(ModuleOp::getOperationName());
    buildAttentionPipeline(stages, AttentionPipelineOptions());
    stages.getDependentDialects(registry);
    registry.insert<func::FuncDialect, linalg::LinalgDialect>();
  }

  void runOnOperation() override;

private:
  LogicalResult outline(Operation *attention);
  FailureOr<func::FuncOp> getKernel(Operation *attention,
                                    ExtractedAttention &extracted);
  FailureOr<DictionaryAttr> compileKernel(Operation *attention,
                                          ExtractedAttention &extracted);
  FailureOr<DictionaryAttr> writeFiles(Operation *attention, StringRef name,
                                       ArrayRef<Artifact> artifacts);

  /// The functions made so far, by their module and what they compute.
  DenseMap<ModuleOp, llvm::StringMap<func::FuncOp>> kernels;
};
} // namespace

/// Writes NAME.ptx and so on; the attribute has the names of the files.
FailureOr<DictionaryAttr> Outline::writeFiles(Operation *attention,
                                              StringRef name,
                                              ArrayRef<Artifact> artifacts) {
  Builder builder(&getContext());
  NamedAttrList attributes;
  for (const Artifact &artifact : artifacts) {
    std::string file = (name + getExtension(artifact.kind)).str(), message;
    SmallString<128> path(directory.getValue());
    llvm::sys::path::append(path, file);
    std::unique_ptr<llvm::ToolOutputFile> output =
        openOutputFile(path, &message);
    if (!output)
      return attention->emitError() << "option directory: " << message;
    output->os() << artifact.content;
    output->keep();
    attributes.append(attn::getName(artifact.kind),
                      builder.getStringAttr(file));
  }
  attributes.append("target", builder.getStringAttr(target));
  return attributes.getDictionary(&getContext());
}

FailureOr<DictionaryAttr>
Outline::compileKernel(Operation *attention, ExtractedAttention &extracted) {
  CompileOptions options;
  options.target = target;
  options.targetFields = targetFields;
  options.schedule = schedule;
  options.allowTf32 = allowTf32;
  options.deterministic = deterministic;
  options.deviceAsserts = deviceAsserts;
  options.programmaticLaunch = programmaticLaunch;
  options.maskThreshold = maskThreshold;
  options.assumeVisibleRows = assumeVisibleRows;
  options.name = extracted.function.getName();
  options.artifacts = {ArtifactKind::Ptx, ArtifactKind::Manifest};
  if (!directory.empty())
    options.artifacts.push_back(ArtifactKind::Header);
  FailureOr<CompileResult> result = compile(*extracted.module, options);
  if (failed(result))
    return failure();
  if (!directory.empty())
    return writeFiles(attention, options.name, result->artifacts);

  Builder builder(&getContext());
  NamedAttrList attributes;
  for (const Artifact &artifact : result->artifacts)
    attributes.append(attn::getName(artifact.kind),
                      builder.getStringAttr(artifact.content));
  attributes.append("target", builder.getStringAttr(target));
  return attributes.getDictionary(&getContext());
}

/// The external function for `extracted`, declared in the attention's module.
FailureOr<func::FuncOp> Outline::getKernel(Operation *attention,
                                           ExtractedAttention &extracted) {
  auto host = attention->getParentOfType<ModuleOp>();
  std::string key = getProgramKey(extracted);
  func::FuncOp &known = kernels[host][key];
  if (known)
    return known;

  // The name must be known before the kernel is compiled.
  auto type = extracted.function.getFunctionType();
  OpBuilder builder(&getContext());
  auto function = func::FuncOp::create(builder, attention->getLoc(),
                                       extracted.function.getName(), type);
  function.setPrivate();
  SymbolTable symbols(host);
  extracted.function.setName(symbols.insert(function));
  FailureOr<DictionaryAttr> kernel = compileKernel(attention, extracted);
  if (failed(kernel)) {
    symbols.erase(function);
    return failure();
  }
  function->setAttr(kernelAttrName, *kernel);
  ++numKernels;
  return known = function;
}

LogicalResult Outline::outline(Operation *attention) {
  ExtractedAttention extracted =
      extractAttention(attention, getProgramName(attention), /*appends=*/true);
  std::string reason;
  FailureOr<func::FuncOp> kernel = failure();
  {
    // With a fallback, what would be an error is its reason.
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      bool isReason =
          fallback && diagnostic.getSeverity() == DiagnosticSeverity::Error;
      if (isReason && reason.empty())
        reason = diagnostic.str();
      return success(isReason);
    });
    kernel = getKernel(attention, extracted);
  }
  if (failed(kernel)) {
    if (!fallback)
      return failure();
    attention->emitWarning() << "falls back from a kernel for " << target
                             << " to linalg: " << reason;
    SetVector<Operation *> views = getViews(attention);
    for (Operation *end : extracted.ends)
      if (isa<OutputModOp, PackOp, SumHeadsOp>(end))
        views.insert(end);
    convertToLinalg(attention);
    llvm::for_each(views, convertToLinalg);
    ++numFallbacks;
    return success();
  }
  OpBuilder builder(extracted.place);
  auto call = func::CallOp::create(builder, attention->getLoc(), *kernel,
                                   extracted.arguments);
  SetVector<Operation *> views = getViews(attention);
  replacePools(extracted, call); // while what packs the results is there
  replaceResults(attention, extracted, call);
  attention->erase();
  for (Operation *view : views)
    if (view->use_empty())
      view->erase();
  ++numOutlined;
  return success();
}

void Outline::runOnOperation() {
  kernels.clear();
  foldLinearProbMods(getOperation());
  decomposeProbMods(getOperation(), /*keepsOfSteps=*/true);
  for (Operation *program : findPrograms(getOperation()))
    if (failed(outline(program)))
      return signalPassFailure();
}
