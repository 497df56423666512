//===- AttentionPipeline.cpp - All stages, in order -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace attn;

ArrayRef<Stage> attn::getStages() { return {}; }

void attn::buildAttentionPipeline(OpPassManager &pm,
                                  const AttentionPipelineOptions &options) {
  for (const Stage &stage : getStages())
    stage.build(pm, options);
}

void attn::registerAttnPipelines() {
  for (const Stage &stage : getStages())
    PassPipelineRegistration<AttentionPipelineOptions>(
        stage.name, stage.description, stage.build);
  PassPipelineRegistration<AttentionPipelineOptions>(
      "attn-pipeline",
      "All stages: from a framework's graph to llvm and nvvm operations",
      buildAttentionPipeline);
}
