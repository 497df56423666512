//===- SelectSchedule.cpp - Choose tiles, warps and stages ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-select-schedule.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/NormalForm.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Numbers of a schedule; 0 is not chosen.
struct ScheduleFields {
  int64_t tileM = 0, tileN = 0, warps = 0, stages = 0;

  /// These, and where one is not chosen, that of `fallback`.
  ScheduleFields orElse(const ScheduleFields &fallback) const {
    return {tileM ? tileM : fallback.tileM, tileN ? tileN : fallback.tileN,
            warps ? warps : fallback.warps, stages ? stages : fallback.stages};
  }
};

/// A tile of `most` rows, or fewer if `rows` is known to be less, in whole
/// register blocks.
static int64_t chooseTile(int64_t most, int64_t rows, int64_t block) {
  if (ShapedType::isDynamic(rows) || rows == 0)
    return most;
  return std::min<int64_t>(most, llvm::divideCeil(rows, block) * block);
}

/// The choice for a CPU: the packed key and value tiles stay in the L2 cache,
/// and enough rows share them to pay for packing.
static ScheduleFields chooseForCpu(const AttentionDims &dims) {
  return {chooseTile(/*most=*/128, dims.queryRows, /*block=*/8),
          chooseTile(/*most=*/64, dims.keyRows, /*block=*/16), /*warps=*/1,
          /*stages=*/1};
}

/// The choice where there is wgmma: two consumer warpgroups, and the widest key
/// tile whose two stages fit shared memory and whose scores fit the registers.
static ScheduleFields chooseForWgmma(int64_t headDim) {
  int64_t tileN = headDim <= 128 ? 128 : headDim <= 192 ? 96 : 64;
  return {/*tileM=*/128, tileN, /*warps=*/8, /*stages=*/2};
}

/// The choice for a target; on GPUs by the larger head dimension alone.
static ScheduleFields chooseFields(const TargetInfo &target,
                                   const AttentionDims &dims) {
  if (target.kind == TargetKind::Cpu)
    return chooseForCpu(dims);
  int64_t headDim = std::max(dims.headDim, dims.valueDim);
  if (target.hasMma(MmaFamily::Wgmma))
    return chooseForWgmma(headDim);
  if (headDim <= 32)
    return {/*tileM=*/128, /*tileN=*/64, /*warps=*/4, /*stages=*/2};
  if (headDim <= 64) // with tileN = 64, sm_120 spills
    return {/*tileM=*/128, /*tileN=*/32, /*warps=*/4, /*stages=*/2};
  if (headDim <= 128)
    return {/*tileM=*/64, /*tileN=*/64, /*warps=*/4, /*stages=*/2};
  return {/*tileM=*/64, /*tileN=*/32, /*warps=*/4, /*stages=*/2};
}

namespace {
struct SelectSchedule
    : public attn::impl::SelectSchedulePassBase<SelectSchedule> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Result<TargetInfo> info = lookupTarget(target.getValue());
    if (!info) {
      module.emitError() << info.error();
      return signalPassFailure();
    }
    ScheduleFields overrides{tileM, tileN, warps, stages};
    if (failed(verifyOverrides(overrides)))
      return signalPassFailure();
    module.walk(
        [&](AttentionOp op) { completeSchedule(op, *info, overrides); });
    setNormalForm(module, NormalForm::Scheduled);
  }

private:
  LogicalResult verifyOverrides(const ScheduleFields &fields) {
    std::pair<StringRef, int64_t> options[] = {{"tile-m", fields.tileM},
                                               {"tile-n", fields.tileN},
                                               {"warps", fields.warps},
                                               {"stages", fields.stages}};
    for (auto [name, number] : options)
      if (number < 0)
        return getOperation().emitError()
               << "expected option " << name
               << " to be positive, or 0 to choose, got " << number;
    return success();
  }

  /// Fills what is not set on `op`.
  void completeSchedule(AttentionOp op, const TargetInfo &info,
                        const ScheduleFields &overrides) {
    ++numAttentions;
    ScheduleFields own;
    StringRef kind = "large_cache";
    if (std::optional<ScheduleAttr> schedule = op.getSchedule()) {
      if (schedule->isComplete())
        return;
      own = {schedule->getTileM(), schedule->getTileN(), schedule->getWarps(),
             schedule->getStages()};
      kind = schedule->getKind();
    }
    ScheduleFields chosen = own.orElse(overrides).orElse(
        chooseFields(info, AttentionDims::get(op)));
    op.setScheduleAttr(ScheduleAttr::get(op.getContext(), kind, chosen.tileM,
                                         chosen.tileN, chosen.warps,
                                         chosen.stages));
    ++numChosen;
  }
};
} // namespace
