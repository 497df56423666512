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

#include "mlir/Dialect/SCF/Transforms/Patterns.h"

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
    for (KernelOp kernel : kernels) {
      if (failed(checkMath(kernel)))
        return signalPassFailure();
      declareSharedMemory(module);
      if (auto manifest = kernel.getManifestAttr())
        module->setAttr("attn.manifest", completeManifest(kernel, manifest));
      if (failed(convertKernel(kernel)))
        return signalPassFailure();
      ++numKernels;
    }
  }

private:
  /// The manifest with the kernel's shared memory, which is known by now.
  static DictionaryAttr completeManifest(KernelOp kernel,
                                         DictionaryAttr manifest) {
    Builder builder(kernel.getContext());
    auto kernels = manifest.getAs<ArrayAttr>("kernels");
    IntegerAttr bytes = kernel.getSharedBytesAttr();
    if (!kernels || kernels.size() != 1 || !bytes)
      return manifest;
    NamedAttrList entry(cast<DictionaryAttr>(kernels[0]));
    entry.set("shared_bytes", bytes);
    NamedAttrList fields(manifest);
    fields.set("kernels", builder.getArrayAttr(
                              {entry.getDictionary(kernel.getContext())}));
    return fields.getDictionary(kernel.getContext());
  }

  /// Fails at a math op that no instruction computes.
  static LogicalResult checkMath(KernelOp kernel) {
    WalkResult result =
        kernel.walk([](Operation *op) {
          if (!isa<math::MathDialect>(op->getDialect()))
            return WalkResult::advance();
          bool isScalarF32 =
              op->getNumResults() == 1 && op->getResult(0).getType().isF32();
          bool isKnown =
              isa<math::Exp2Op, math::ExpOp, math::Log2Op, math::LogOp,
                  math::TanhOp, math::RsqrtOp, math::SqrtOp, math::SinOp,
                  math::CosOp, math::AbsFOp, math::FmaOp>(op);
          if (isScalarF32 && isKnown)
            return WalkResult::advance();
          op->emitOpError()
              << "expected a function that the GPU computes in f32 "
                 "(exp, exp2, log, log2, tanh, sqrt, rsqrt, sin, cos, "
                 "absf, fma)";
          return WalkResult::interrupt();
        });
    return failure(result.wasInterrupted());
  }

  LogicalResult convertKernel(KernelOp kernel) {
    MLIRContext *context = &getContext();
    TileTypeConverter converter(kernel.getWarps());
    RewritePatternSet patterns(context);
    populateCpAsyncPatterns(converter, patterns);
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
    target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                           NVVM::NVVMDialect, ptx::AttnPTXDialect>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    return applyPartialConversion(kernel, target, std::move(patterns));
  }
};

} // namespace
