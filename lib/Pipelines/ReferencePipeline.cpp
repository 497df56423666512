//===- ReferencePipeline.cpp - Graphs to LLVM by upstream passes ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/ReferencePipeline.h"

#include "attn/Conversion/Passes.h"
#include "attn/Pipelines/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/TensorToLinalg/TensorToLinalgPass.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildGraphToLinalgStage(OpPassManager &pm, bool roundFactors) {
  pm.addPass(createLowerTosaPass());
  pm.addPass(createConvertAttnToLinalg({roundFactors}));
  pm.addPass(createDecomposeMasksPass());
}

/// linalg on tensors to loops over memrefs.
static void buildBufferizeStage(OpPassManager &pm) {
  pm.addPass(createConvertGraphToBufferizable());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createConvertTensorToLinalgPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // A loop over layers yields a new tensor in each trip.
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  // Sizes that do not fit and reads out of range end in an assertion; those
  // that can be decided now fold away.
  pm.addPass(createGenerateRuntimeVerificationPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertLinalgToLoopsPass());
}

void attn::buildScalarStage(OpPassManager &pm) {
  pm.addPass(createExpandFloat8());
  pm.addPass(math::createMathExtendToSupportedTypes());
  arith::ArithEmulateUnsupportedFloatsOptions arithmetic;
  arithmetic.sourceTypeStrs = {"bf16", "f16"};
  arithmetic.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(arithmetic));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
}

void attn::buildLinalgToLLVMStage(OpPassManager &pm) {
  buildBufferizeStage(pm);
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  buildScalarStage(pm);
  buildFinalizeToLLVMStage(pm);
}

void attn::buildFinalizeToLLVMStage(OpPassManager &pm) {
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void attn::buildReferencePipeline(OpPassManager &pm,
                                  const ReferencePipelineOptions &options) {
  buildGraphToLinalgStage(pm, options.roundFactors);
  if (options.promote)
    pm.addPass(createPromoteToF64());
  buildLinalgToLLVMStage(pm);
}

void attn::registerReferencePipeline() {
  PassPipelineRegistration<ReferencePipelineOptions>(
      "attn-reference-pipeline",
      "Graphs of linalg, TOSA and attn ops to the LLVM dialect, unfused",
      buildReferencePipeline);
}
