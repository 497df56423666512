//===- TiledPipeline.cpp - scheduled form to tiled form -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildTiledPipeline(OpPassManager &pm,
                              const AttentionPipelineOptions &options) {
  if (options.deviceAsserts)
    pm.addPass(createInsertDeviceAssertsPass());
  pm.addPass(createTileBackwardPass());
  pm.addPass(createConvertToOnlinePass());
  pm.addPass(createTilePass());
  pm.addPass(createInsertBlockSkippingPass());
  pm.addPass(createSplitKVPass());
  pm.addPass(createFuseOutputsPass());
  pm.addPass(createVerifyNormalFormPass({"tiled"}));
}
