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
  // sm_89 was the first with conversions to 8-bit floats.
  pm.addPass(createAttnRaiseOutputs({getCapability(options) >= 89}));
  pm.addPass(createRaiseAppendPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createFoldProbModPass());
  pm.addPass(createDecomposeProbModPass());
  pm.addPass(createVerifyNormalFormPass({"tensor"}));
}
