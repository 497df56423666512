//===- SchedulePipeline.cpp - tensor form to scheduled form ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/TargetInfo/TargetInfo.h"

using namespace mlir;
using namespace attn;

void attn::buildSchedulePipeline(OpPassManager &pm,
                                 const AttentionPipelineOptions &options) {
  // A CPU computes hidden pairs as they are.
  Result<TargetInfo> target = lookupTarget(options.target.getValue());
  if (target && target->kind == TargetKind::Gpu)
    pm.addPass(createSplitFiniteMasksPass(
        {options.schedule, options.maskThreshold, options.assumeVisibleRows}));
  SelectSchedulePassOptions select;
  select.target = options.target;
  select.targetFields = options.targetFields;
  select.schedule = options.schedule;
  select.allowTf32 = options.allowTf32;
  select.deterministic = options.deterministic;
  pm.addPass(createSelectSchedulePass(select));
  pm.addPass(createVerifyNormalFormPass({"scheduled"}));
}
