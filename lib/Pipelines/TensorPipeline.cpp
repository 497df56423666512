//===- TensorPipeline.cpp - A framework's graph to the tensor form --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildTensorPipeline(OpPassManager &pm,
                               const AttentionPipelineOptions &options) {
  AttnRaiseOptions raise;
  raise.maskThreshold = options.maskThreshold;
  raise.assumeVisibleRows = options.assumeVisibleRows;
  pm.addPass(createAttnRaise(raise));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createAttnRaiseOutputs());
  pm.addPass(createRaiseAppendPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createFoldProbModPass());
  pm.addPass(createDecomposeProbModPass());
  pm.addPass(createVerifyNormalFormPass({"tensor"}));
}
