//===- LowerToNVVMPipeline.cpp - tile form to nvvm form -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This project's lowering makes the instructions that matter; upstream passes
// take what is left of scalar code and control flow.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

/// Coordinates and sizes are below 2^31; addresses are computed in 64 bits.
static constexpr unsigned kIndexBits = 32;

int64_t attn::getCapability(const AttentionPipelineOptions &options) {
  Result<TargetInfo> target = lookupTarget(options.target.getValue());
  return target ? target->computeCapability : 0;
}

/// sm_90 was the first with griddepcontrol.
static bool chainsLaunches(const AttentionPipelineOptions &options) {
  return options.programmaticLaunch && getCapability(options) >= 90;
}

void attn::buildLowerToNVVMPipeline(OpPassManager &pm,
                                    const AttentionPipelineOptions &options) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Affine ops are lowered while the module is small.
  pm.addPass(createLowerAffinePass());
  if (options.proveBarriers)
    pm.addNestedPass<tile::KernelOp>(tile::createProveBarriersPass());
  if (options.boundedWaits > 0)
    pm.addNestedPass<tile::KernelOp>(
        tile::createBoundWaitsPass({options.boundedWaits}));
  pm.addNestedPass<tile::KernelOp>(tile::createWidenIndexPass());
  pm.addNestedPass<tile::KernelOp>(createExpandFloat8());
  if (chainsLaunches(options))
    pm.addPass(createChainLaunches());
  // sm_89 was the first with conversions of 8-bit floats.
  pm.addPass(createConvertAttnTileToNVVM({getCapability(options) >= 89}));
  // Sizes in programs stay as they are.
  OpPassManager &kernels = pm.nest<LLVM::LLVMFuncOp>();
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createJoinConditions());
  ArithToLLVMConversionPassOptions arithOptions;
  arithOptions.indexBitwidth = kIndexBits;
  kernels.addPass(createArithToLLVMConversionPass(arithOptions));
  ConvertControlFlowToLLVMPassOptions controlFlowOptions;
  controlFlowOptions.indexBitwidth = kIndexBits;
  pm.addPass(createConvertControlFlowToLLVMPass(controlFlowOptions));
  // What LLVM has no intrinsic for becomes inline PTX.
  OpPassManager &lowered = pm.nest<LLVM::LLVMFuncOp>();
  lowered.addPass(createConvertNVVMToLLVMPass());
  lowered.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createVerifyNormalFormPass({"nvvm"}));
}
