//===- CpuPipeline.cpp - Attention as host code ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/CpuPipeline.h"

#include "attn/Pipelines/Passes.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/ReferencePipeline.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/TensorToLinalg/TensorToLinalgPass.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

/// Bytes up to which the buffers of a tile go to a thread's stack.
static constexpr unsigned kMaxStackBufferBytes = 1 << 20;

void attn::eraseInnerModules(ModuleOp module) {
  for (ModuleOp inner : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
    inner.erase();
}

void attn::buildCpuTileStage(OpPassManager &pm,
                             const CpuPipelineOptions &options) {
  pm.addPass(createTileBackwardPass());
  SelectSchedulePassOptions select;
  select.target = "cpu";
  select.targetFields = options.targetFields;
  select.schedule = options.schedule;
  pm.addPass(createSelectSchedulePass(select));
  pm.addPass(createConvertToOnlinePass());
  pm.addPass(createTilePass());
  pm.addPass(createInsertBlockSkippingPass());
  pm.addPass(createFuseOutputsPass());
  pm.addPass(createVerifyNormalFormPass({"tiled"}));
  // Before pages are gathered, so that what is left of a window is not.
  pm.addPass(createPadTilesPass());
  pm.addPass(createGatherPagesPass());
  // The steps of one row tile share their packed query after this.
  pm.addPass(createCSEPass());
  pm.addPass(createDecomposeOnlinePass({options.bf16Dot}));
  pm.addPass(createDecomposeBackwardPass());
  pm.addPass(createDecomposeMasksPass());
}

/// Tensors to buffers; those of a tile go to the stack.
static void buildBufferStage(OpPassManager &pm) {
  pm.addPass(createConvertGraphToBufferizable());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createConvertTensorToLinalgPass());
  // Of equal tensors CSE makes one. Where vector.transfer_write has written its
  // rows twice, by columns [0, 32) and [32, 48), one-shot bufferization (MLIR
  // 22) misses that the second [0, 32) is followed by a read of what [32, 48)
  // was before: two attentions would share an accumulator.
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // A loop over layers yields a new tensor in each trip.
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  bufferization::PromoteBuffersToStackPassOptions promote;
  promote.maxAllocSizeInBytes = kMaxStackBufferBytes;
  pm.addNestedPass<func::FuncOp>(
      bufferization::createPromoteBuffersToStackPass(promote));
  pm.addPass(createSerializeOuterLoopsPass());
  pm.addNestedPass<func::FuncOp>(createForallToParallelLoopPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
}

/// Parallel loops to functions of a range of trips, whose frames then hold the
/// buffers of a tile.
static void buildThreadStage(OpPassManager &pm) {
  pm.addPass(createOutlineParallelLoopsPass());
  pm.addPass(createHoistTileBuffersPass());
}

/// Vector code and loops to the LLVM dialect.
static void buildLoweringStage(OpPassManager &pm) {
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createCanonicalizerPass());
  // Not followed by the canonicalizer: of a transposed block whose rows are
  // loaded one by one it makes an op per element.
  VectorTransferToSCFOptions transfers;
  transfers.enableFullUnroll();
  pm.addPass(createConvertVectorToSCFPass(transfers));
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.vectorTransposeLowering =
      vector::VectorTransposeLowering::Shuffle16x16;
  vectors.x86Vector = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  buildScalarStage(pm);
  buildFinalizeToLLVMStage(pm);
  pm.addPass(createDispatchParallelCallsPass());
}

void attn::buildCpuPipeline(OpPassManager &pm,
                            const CpuPipelineOptions &options) {
  pm.addPass(createFoldProbModPass());
  pm.addPass(createDecomposeProbModPass());
  pm.addPass(createShareAttentionsPass());
  buildCpuTileStage(pm, options);
  buildGraphToLinalgStage(pm);
  buildBufferStage(pm);
  buildThreadStage(pm);
  buildLoweringStage(pm);
}

void attn::registerCpuPipeline() {
  PassPipelineRegistration<CpuPipelineOptions>(
      "attn-cpu-pipeline",
      "Attention, and whatever surrounds it, to fast code for the host",
      buildCpuPipeline);
}
