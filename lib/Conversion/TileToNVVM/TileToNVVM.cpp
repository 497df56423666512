//===- TileToNVVM.cpp - Tile level to NVVM -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: lowers each kernel with the patterns of this folder. A kernel's ops
// say which instructions it is made of: cp.async and mma.sync (sm_80), or TMA,
// mbarriers and wgmma (sm_90a). Scalar code stays in arith and scf, which
// upstream's conversions lower.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "Common.h"

#include "attn/Dialect/PTX/IR/PTX.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "llvm/ADT/MapVector.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTILETONVVM
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::tile;

namespace {

struct ConvertAttnTileToNVVM
    : public attn::impl::ConvertAttnTileToNVVMBase<ConvertAttnTileToNVVM> {
  using ConvertAttnTileToNVVMBase::ConvertAttnTileToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    setManifests(module, kernels);
    for (KernelOp kernel : kernels) {
      if (failed(expandMath(kernel)) || failed(checkMath(kernel)))
        return signalPassFailure();
      declareSharedMemory(module);
      if (failed(convertKernel(kernel)))
        return signalPassFailure();
      ++numKernels;
    }
  }

private:
  /// The operand of which a kernel asks for more: passes that make tensor maps
  /// raise alignments.
  static Attribute getStricter(Attribute a, Attribute b) {
    auto alignment = [](Attribute operand) {
      return cast<DictionaryAttr>(operand)
          .getAs<IntegerAttr>("alignment_bytes")
          .getInt();
    };
    return alignment(b) > alignment(a) ? b : a;
  }

  /// Gives the module the manifest of its kernels; a list of manifests where
  /// they are of several attentions, which have names.
  static void setManifests(ModuleOp module, ArrayRef<KernelOp> kernels) {
    llvm::MapVector<Attribute, SmallVector<KernelOp>> programs;
    for (KernelOp kernel : kernels) {
      if (DictionaryAttr manifest = kernel.getManifestAttr())
        programs[manifest.get("name")].push_back(kernel);
    }
    SmallVector<Attribute> manifests;
    for (auto &[name, own] : programs)
      manifests.push_back(mergeManifests(own, kernels));
    if (manifests.size() == 1)
      module->setAttr("attn.manifest", manifests.front());
    else if (!manifests.empty())
      module->setAttr("attn.manifest",
                      ArrayAttr::get(module.getContext(), manifests));
  }

  /// The manifest of an attention, of which `own` kernels have a copy: of each
  /// the kernel's own entry. Of `all` kernels of its entries the shared memory,
  /// which is known by now.
  static DictionaryAttr mergeManifests(ArrayRef<KernelOp> own,
                                       ArrayRef<KernelOp> all) {
    NamedAttrList fields;
    SmallVector<Attribute> entries, operands;
    auto listOf = [](DictionaryAttr manifest, StringRef name) {
      return manifest.getAs<ArrayAttr>(name).getValue();
    };
    for (KernelOp kernel : own) {
      DictionaryAttr manifest = kernel.getManifestAttr();
      if (entries.empty()) {
        fields = manifest;
        entries = llvm::to_vector(listOf(manifest, "kernels"));
        operands = llvm::to_vector(listOf(manifest, "operands"));
      }
      for (auto [entry, other] :
           llvm::zip_equal(entries, listOf(manifest, "kernels")))
        if (cast<DictionaryAttr>(other).get("entry") == kernel.getSymNameAttr())
          entry = other;
      for (auto [operand, other] :
           llvm::zip_equal(operands, listOf(manifest, "operands")))
        operand = getStricter(operand, other);
    }
    MLIRContext *context = own.front()->getContext();
    for (Attribute &attribute : entries) {
      NamedAttrList entry(cast<DictionaryAttr>(attribute));
      for (KernelOp kernel : all)
        if (entry.get("entry") == kernel.getSymNameAttr() &&
            kernel.getSharedBytesAttr())
          entry.set("shared_bytes", kernel.getSharedBytesAttr());
      attribute = entry.getDictionary(context);
    }
    fields.set("kernels", ArrayAttr::get(context, entries));
    fields.set("operands", ArrayAttr::get(context, operands));
    return fields.getDictionary(context);
  }

  /// Fails at a math op that no instruction computes and nothing expands.
  static LogicalResult checkMath(KernelOp kernel) {
    WalkResult result = kernel.walk([](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()))
        return WalkResult::advance();
      if (isa<math::AbsIOp>(op) ||
          (isa<math::CtPopOp>(op) && op->getResult(0).getType().isInteger(32)))
        return WalkResult::advance();
      bool isScalarF32 =
          op->getNumResults() == 1 && op->getResult(0).getType().isF32();
      bool isKnown = isa<math::Exp2Op, math::ExpOp, math::Log2Op, math::LogOp,
                         math::TanhOp, math::RsqrtOp, math::SqrtOp, math::SinOp,
                         math::CosOp, math::AbsFOp, math::CeilOp, math::FloorOp,
                         math::FmaOp, math::RoundEvenOp, math::TruncOp>(op);
      if (isScalarF32 && isKnown)
        return WalkResult::advance();
      op->emitOpError()
          << "expected an integer's absi or a function of f32 that is "
             "computed on a GPU";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult convertKernel(KernelOp kernel) {
    MLIRContext *context = &getContext();
    TileTypeConverter converter(kernel.getWarps(),
                                kernel.getClusterCtas().value_or(1) > 1);
    RewritePatternSet patterns(context);
    populateAccumulatePatterns(converter, patterns);
    populateAssertPatterns(converter, patterns);
    populateCpAsyncPatterns(converter, patterns);
    populateDropoutPatterns(converter, patterns);
    populateElementwisePatterns(converter, patterns);
    populateGlobalMemoryPatterns(converter, patterns);
    populateKernelPatterns(converter, patterns);
    populateMbarrierPatterns(converter, patterns);
    populateMmaSyncPatterns(converter, patterns);
    populateNamedBarrierPatterns(converter, patterns);
    populateRolesPatterns(converter, patterns);
    populateStMatrixPatterns(converter, patterns);
    populateTmaPatterns(converter, patterns);
    populateWgmmaPatterns(converter, patterns);
    populateMathToNVVMPatterns(patterns);

    ConversionTarget target(*context);
    target.addIllegalDialect<AttnTileDialect, gpu::GPUDialect,
                             math::MathDialect>();
    target.addIllegalOp<cf::AssertOp>();
    target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                           NVVM::NVVMDialect, ptx::AttnPTXDialect>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    return applyPartialConversion(kernel, target, std::move(patterns));
  }
};

} // namespace
