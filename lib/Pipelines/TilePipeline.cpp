//===- TilePipeline.cpp - tiled form to tile form -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Tile/IR/Tile.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildTilePipeline(OpPassManager &pm,
                             const AttentionPipelineOptions &options) {
  // No canonicalization before the loads are staged: it would dissolve the key
  // loops of one trip, which the staging follows.
  pm.addPass(createConvertAttnToTile());
  OpPassManager &kernels = pm.nest<tile::KernelOp>();
  kernels.addPass(tile::createPipelinePass());
  tile::AllocateSharedMemoryPassOptions allocate;
  // An unknown target has been reported by the schedule's selection.
  if (Result<TargetInfo> target = lookupTarget(options.target.getValue()))
    allocate.limit = target->sharedMemoryPerCtaBytes;
  kernels.addPass(tile::createAllocateSharedMemoryPass(allocate));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyNormalFormPass({"tile"}));
}
