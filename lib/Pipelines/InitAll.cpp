//===- InitAll.cpp - Everything of this project, registered ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/InitAll.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Launch/IR/Launch.h"
#include "attn/Dialect/PTX/IR/PTX.h"
#include "attn/Dialect/Tile/IR/Tile.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Pipelines/CpuPipeline.h"
#include "attn/Pipelines/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Pipelines/ReferencePipeline.h"
#include "attn/Pipelines/TransformOps.h"
#include "attn/Target/PTX/TranslateToPTX.h"

void attn::registerAllAttnDialects(mlir::DialectRegistry &registry) {
  registry.insert<AttnDialect, launch::AttnLaunchDialect, ptx::AttnPTXDialect,
                  tile::AttnTileDialect>();
  registerPTXTranslation(registry);
  registerTransformExtension(registry);
}

void attn::registerAllAttnPasses() {
  registerAttnConversionPasses();
  registerAttnTransformsPasses();
  tile::registerAttnTileTransformsPasses();
  registerAttnPipelinesPasses();
  registerAttnPipelines();
  registerCpuPipeline();
  registerReferencePipeline();
}
