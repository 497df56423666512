//===- TilePipeline.cpp - tiled form to tile form -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"

using namespace mlir;
using namespace attn;

void attn::buildTilePipeline(OpPassManager &pm,
                             const AttentionPipelineOptions &options) {
  pm.addPass(createVerifyNormalFormPass({"tile"}));
}
