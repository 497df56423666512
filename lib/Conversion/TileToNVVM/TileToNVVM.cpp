//===- TileToNVVM.cpp - Tile level to NVVM -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: lowers each kernel with the patterns of this folder. A kernel's ops
// say which instructions it is made of: cp.async and mma.sync (sm_80), or TMA,
// mbarriers and wgmma (sm_90a) or tcgen05 (sm_100a). Scalar code but arithmetic
// of f32 stays in arith and scf, which upstream's conversions lower.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "Common.h"
#include "Launches.h"

#include "attn/Dialect/PTX/IR/PTX.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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
    if (failed(completeLaunches(module)))
      return signalPassFailure();
    for (KernelOp kernel : kernels) {
      if (failed(expandMath(kernel)) || failed(checkMath(kernel)))
        return signalPassFailure();
      declareSharedMemory(module);
      if (failed(convertKernel(kernel)))
        return signalPassFailure();
      ++numKernels;
    }
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      inlineWarpgroups(function);
      lowerFloatArith(function);
      boundThreads(function);
    }
  }

private:
  /// Tells LLVM how many threads a kernel has, so that it folds what is the
  /// same for all of them: the number of the only warp, say.
  static void boundThreads(LLVM::LLVMFuncOp function) {
    auto threads = function->getAttrOfType<DenseI32ArrayAttr>(
        NVVM::NVVMDialect::getReqntidAttrName());
    if (!threads)
      return;
    auto range = LLVM::ConstantRangeAttr::get(
        function.getContext(), APInt(32, 0), APInt(32, threads[0]));
    function.walk(
        [&](NVVM::ThreadIdXOp thread) { thread.setRangeAttr(range); });
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
    // Chips with tensor memory compute with pairs.
    bool hasFloatPairs =
        !kernel.getBody().front().getOps<AllocTensorsOp>().empty();
    TileTypeConverter converter(kernel.getWarps(),
                                kernel.getSharing().value_or(1),
                                kernel.getClusterCtas().value_or(1) > 1,
                                kernel.getCtaPairs(), hasFloatPairs);
    RewritePatternSet patterns(context);
    populateAccumulatePatterns(converter, patterns);
    populateAssertPatterns(converter, patterns);
    populateChangeRowsPatterns(converter, patterns);
    populateClearRowsPatterns(converter, patterns);
    populateCpAsyncPatterns(converter, patterns);
    populateDropoutPatterns(converter, patterns);
    populateElementwisePatterns(converter, patterns);
    populateGlobalMemoryPatterns(converter, patterns);
    populateKernelPatterns(converter, patterns);
    populateMapPatterns(converter, patterns);
    populateMbarrierPatterns(converter, patterns);
    populateMmaSyncPatterns(converter, patterns, float8Conversions);
    populateNamedBarrierPatterns(converter, patterns);
    populateRolesPatterns(converter, patterns);
    populateSequencePatterns(converter, patterns);
    populateSharedRowsPatterns(converter, patterns);
    populateStMatrixPatterns(converter, patterns);
    populateStoreWidenedPatterns(converter, patterns, float8Conversions);
    populateTcgen05Patterns(converter, patterns);
    populateTmaPatterns(converter, patterns);
    populateTransposePatterns(converter, patterns);
    populateWgmmaPatterns(converter, patterns);
    populateMathToNVVMPatterns(patterns);

    ConversionTarget target(*context);
    target.addIllegalDialect<AttnTileDialect, gpu::GPUDialect,
                             math::MathDialect>();
    target.addIllegalOp<cf::AssertOp>();
    target.addDynamicallyLegalOp<arith::BitcastOp>(
        [&](Operation *op) { return converter.isLegal(op); });
    target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                           NVVM::NVVMDialect, ptx::AttnPTXDialect>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    target.addLegalOp<AsWarpgroupOp>();
    return applyPartialConversion(kernel, target, std::move(patterns));
  }
};

} // namespace
