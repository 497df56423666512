//===- AttentionPipeline.cpp - All stages, in order -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace attn;

static constexpr Stage stages[] = {
    {"attn-to-tensor", "A framework's graph to the tensor form",
     NormalForm::Tensor, buildTensorPipeline},
    {"attn-to-scheduled", "The tensor form to the scheduled form",
     NormalForm::Scheduled, buildSchedulePipeline},
    {"attn-to-tiled", "The scheduled form to the tiled form", NormalForm::Tiled,
     buildTiledPipeline},
    {"attn-to-tile", "The tiled form to the tile form", NormalForm::Tile,
     buildTilePipeline},
    {"attn-to-nvvm", "The tile form to the nvvm form", NormalForm::Nvvm,
     buildLowerToNVVMPipeline},
};

ArrayRef<Stage> attn::getStages() { return stages; }

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
