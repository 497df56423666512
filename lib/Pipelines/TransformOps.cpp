//===- TransformOps.cpp - The compiler in transform scripts ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/TransformOps.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"
#include "attn/Dialect/Attn/Transforms/VerifyNormalForm.h"
#include "attn/Pipelines/Pipelines.h"

#include "attn/Dialect/PTX/IR/PTX.h"
#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attn;
using transform::ApplyToEachResultList;

#define GET_OP_CLASSES
#include "attn/Pipelines/TransformOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Stages on a module
//===----------------------------------------------------------------------===//

/// Runs the stages that `module` still needs to be in form `until`. What fails
/// has said why.
static DiagnosedSilenceableFailure
runStages(ModuleOp module, NormalForm until,
          const AttentionPipelineOptions &options) {
  PassManager pm(module.getContext());
  std::optional<NormalForm> form = getNormalForm(module);
  for (const Stage &stage : getStages())
    if (stage.ensures <= until && (!form || *form < stage.ensures))
      stage.build(pm, options);
  if (failed(pm.run(module)))
    return DiagnosedSilenceableFailure::definiteFailure();
  return DiagnosedSilenceableFailure::success();
}

/// runStages for an op whose result is a handle to the module again.
static DiagnosedSilenceableFailure
transformModule(transform::TransformOpInterface op, Operation *target,
                NormalForm until, const AttentionPipelineOptions &options,
                ApplyToEachResultList &results) {
  auto module = dyn_cast<ModuleOp>(target);
  if (!module)
    return emitDefiniteFailure(op)
           << "expected a handle to a builtin.module, got one to "
           << target->getName();
  DiagnosedSilenceableFailure status = runStages(module, until, options);
  if (status.succeeded())
    results.push_back(target);
  return status;
}

DiagnosedSilenceableFailure transform::AttnRaiseOp::applyToOne(
    TransformRewriter &rewriter, Operation *target,
    ApplyToEachResultList &results, TransformState &state) {
  return transformModule(*this, target, NormalForm::Tensor, {}, results);
}

DiagnosedSilenceableFailure transform::AttnTileOp::applyToOne(
    TransformRewriter &rewriter, Operation *target,
    ApplyToEachResultList &results, TransformState &state) {
  // Schedules may have been set op by op.
  auto module = dyn_cast<ModuleOp>(target);
  if (module && getNormalForm(module).value_or(NormalForm::Tensor) <
                    NormalForm::Scheduled) {
    if (failed(verifyNormalForm(module, NormalForm::Scheduled)))
      return DiagnosedSilenceableFailure::definiteFailure();
    setNormalForm(module, NormalForm::Scheduled);
  }
  return transformModule(*this, target, NormalForm::Tiled, {}, results);
}

DiagnosedSilenceableFailure transform::AttnLowerOp::applyToOne(
    TransformRewriter &rewriter, Operation *target,
    ApplyToEachResultList &results, TransformState &state) {
  std::optional<NormalForm> form = symbolizeNormalForm(getForm());
  bool isStage = form && llvm::any_of(getStages(), [&](const Stage &stage) {
                   return stage.ensures == *form;
                 });
  if (!isStage)
    return emitDefiniteFailure()
           << "expected form tensor, scheduled, tiled, tile or nvvm, got '"
           << getForm() << "'";
  AttentionPipelineOptions options;
  options.target = getChip().str();
  options.schedule = getSchedule().value_or("").str();
  options.allowTf32 = getAllowTf32();
  return transformModule(*this, target, *form, options, results);
}

//===----------------------------------------------------------------------===//
// Attentions
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::AttnMatchAttentionOp::apply(TransformRewriter &rewriter,
                                       transform::TransformResults &results,
                                       TransformState &state) {
  SmallVector<Operation *> found;
  for (Operation *root : state.getPayloadOps(getTarget()))
    root->walk<WalkOrder::PreOrder>([&](AttentionOp op) {
      std::optional<uint64_t> headDim = getHeadDim();
      std::optional<bool> masked = getMasked();
      if ((!headDim || AttentionDims::get(op).headDim == int64_t(*headDim)) &&
          (!masked || op.hasMaskMod() == *masked))
        found.push_back(op);
    });
  results.set(llvm::cast<OpResult>(getAttentions()), found);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure transform::AttnSetScheduleOp::applyToOne(
    TransformRewriter &rewriter, Operation *target,
    ApplyToEachResultList &results, TransformState &state) {
  auto attention = dyn_cast<AttentionOp>(target);
  if (!attention)
    return emitDefiniteFailure()
           << "expected a handle to attn.attention, got one to "
           << target->getName();
  Result<ScheduleOverrides> overrides =
      ScheduleOverrides::parse(getSchedule().str());
  if (!overrides)
    return emitDefiniteFailure() << overrides.error();
  FailureOr<TargetInfo> info = getModuleTarget(
      attention->getParentOfType<ModuleOp>(), getChip(), /*fields=*/"");
  if (failed(info))
    return DiagnosedSilenceableFailure::definiteFailure();
  // The script's word is the last: fields set before do not count.
  std::optional<ScheduleAttr> before = attention.getSchedule();
  attention.removeScheduleAttr();
  FailureOr<Selection> selection =
      selectSchedule(attention, *info, *overrides, getAllowTf32());
  if (failed(selection)) {
    attention.setScheduleAttr(before.value_or(nullptr));
    return DiagnosedSilenceableFailure::definiteFailure();
  }
  rewriter.modifyOpInPlace(attention, [&] {
    attention.setScheduleAttr(
        ScheduleAttr::get(getContext(), selection->chosen().schedule));
  });
  return DiagnosedSilenceableFailure::success();
}

void transform::AttnSetScheduleOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
class AttnTransformExtension
    : public transform::TransformDialectExtension<AttnTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttnTransformExtension)

  void init() {
    declareGeneratedDialect<AttnDialect>();
    declareGeneratedDialect<tile::AttnTileDialect>();
    declareGeneratedDialect<ptx::AttnPTXDialect>();
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<cf::ControlFlowDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<math::MathDialect>();
    declareGeneratedDialect<memref::MemRefDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    declareGeneratedDialect<LLVM::LLVMDialect>();
    declareGeneratedDialect<NVVM::NVVMDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "attn/Pipelines/TransformOps.cpp.inc"
        >();
  }
};
} // namespace

void attn::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<AttnTransformExtension>();
}
