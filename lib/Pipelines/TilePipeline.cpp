//===- TilePipeline.cpp - tiled form to tile form -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

/// What a CTA of the target may have; an unknown target is reported where the
/// schedule is chosen.
static tile::AllocateSharedMemoryPassOptions
getSharedMemoryLimit(const AttentionPipelineOptions &options) {
  tile::AllocateSharedMemoryPassOptions limits;
  Result<TargetInfo> target = lookupTarget(options.target.getValue());
  if (target && setTargetFields(*target, options.targetFields.getValue()))
    limits.limit = target->sharedMemoryPerCtaBytes;
  return limits;
}

void attn::buildTilePipeline(OpPassManager &pm,
                             const AttentionPipelineOptions &options) {
  // Tiled loops repeat sizes and bounds; the stages of the key loops are found
  // by their bounds, so equal values must be one value. Canonicalization would
  // dissolve loops of one trip, and with them the form that the passes follow.
  pm.addPass(createCSEPass());
  pm.addPass(createConvertAttnToTile({options.allowTf32}));
  pm.addPass(createCSEPass());
  OpPassManager &kernels = pm.nest<tile::KernelOp>();
  kernels.addPass(tile::createSpecializeWarpsPass());
  kernels.addPass(tile::createStartAheadPass());
  kernels.addPass(tile::createStageFragmentsPass());
  kernels.addPass(tile::createOverlapSoftmaxPass());
  kernels.addPass(tile::createOverlapProductsPass());
  kernels.addPass(tile::createStageStoresPass());
  kernels.addPass(tile::createSliceOutputsPass());
  kernels.addPass(tile::createStoreByPanelsPass());
  kernels.addPass(tile::createPipelinePass());
  kernels.addPass(tile::createSpecializeProductsPass());
  kernels.addPass(tile::createStartFirstPass());
  kernels.addPass(tile::createSliceStepsPass());
  kernels.addPass(tile::createHandOverEarlyPass());
  kernels.addPass(tile::createCommitQueryPass());
  kernels.addPass(tile::createStartNextTilePass());
  kernels.addPass(tile::createSpecializeCorrectionPass());
  kernels.addPass(tile::createSpecializeEpiloguePass());
  kernels.addPass(tile::createCommitStagesPass());
  kernels.addPass(tile::createSinkWaitsPass());
  kernels.addPass(tile::createPairProductsPass());
  kernels.addPass(tile::createSinkScalarsPass());
  kernels.addPass(tile::createAssignLayoutsPass());
  kernels.addPass(
      tile::createAllocateSharedMemoryPass(getSharedMemoryLimit(options)));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createVerifyNormalFormPass({"tile"}));
}
