//===- SelectSchedule.cpp - Choose tiles, warps and stages ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-select-schedule: the cost model ranks, this pass writes its
// choice on the op and explains it.
//
//===----------------------------------------------------------------------===//

#include "BackwardSchedules.h"
#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"
#include "attn/Dialect/Attn/Utils/DequantizeBackward.h"
#include "attn/Dialect/Attn/Utils/NormalForm.h"
#include "attn/Dialect/Attn/Utils/ScoreGradients.h"
#include "attn/Schedule/BackwardSchedule.h"
#include "attn/Schedule/Family.h"
#include "attn/Schedule/ScheduleReport.h"
#include "attn/Support/Format.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static constexpr StringLiteral kCategory = "attn-select-schedule";

/// Says what was chosen, what came close, and why the rest cannot run.
static void explain(Location loc, const Selection &selection) {
  if (!loc->getContext()->getRemarkEngine())
    return; // Nobody listens.
  const Candidate &chosen = selection.chosen();
  auto options = [](StringRef name) {
    return remark::RemarkOpts::name(name).category(kCategory);
  };
  remark::passed(loc, options("schedule-chosen"))
      << chosen.schedule.print() + ": predicted " +
             formatSeconds(chosen.cost.seconds) + ", " +
             formatBytes(chosen.cost.getL2Bytes()) + " between L2 and SMs";
  constexpr size_t kMostLosers = 3;
  for (size_t i = 1; i < selection.ranked.size() && i <= kMostLosers; ++i)
    remark::missed(loc, options("schedule-lost"))
        << selection.ranked[i].schedule.print() + ": " +
               describeLoss(selection.ranked[i], chosen);
  for (const Rejection &rejection : selection.rejected)
    remark::missed(loc, options("schedule-rejected"))
        << rejection.schedule.print() + ": " + rejection.violation.message;
}

/// True if a kernel of `family` is among those that the model has ranked.
static bool hasKernel(const Selection &selection, const Family &family) {
  return llvm::any_of(selection.ranked, [&](const Candidate &candidate) {
    return candidate.schedule.mma == family.facts.id;
  });
}

/// Why there is no kernel of `family` in `selection`.
static std::string explainFallback(AttentionOp op, const TargetInfo &target,
                                   const Family &family,
                                   const Selection &selection) {
  if (std::string obstacle = family.findObstacle(getProblem(op), target);
      !obstacle.empty())
    return obstacle;
  if (std::string obstacle = KeyStorage::of(op).findTmaObstacle();
      !obstacle.empty())
    return obstacle;
  for (const Rejection &rejection : selection.rejected)
    if (rejection.schedule.mma == family.facts.id)
      return rejection.violation.message;
  return "they take f16 and bf16 inputs";
}

/// Warns where the target has better matrix instructions, and the kernel can do
/// without them only. What the user or the model prefers, as for few rows, is
/// no fallback; nor is what invariance=prefix takes.
static void warnOfFallback(AttentionOp op, const TargetInfo &target,
                           const ScheduleOverrides &overrides,
                           const Selection &selection) {
  // Of a decoded token they would use a few of their rows.
  if (readsByRow(op) && getProblem(op).getPackedRows() <= 16)
    return;
  ScheduleOverrides given = mergeFields(op.getSchedule(), overrides);
  Schedule values;
  given.apply(values);
  bool isGiven = given.has("mma") || values.invariance == Invariance::Prefix;
  const Family &best = *getFamilies(target).front();
  if (!isGiven && best.hasRoles() && !hasKernel(selection, best))
    op.emitWarning() << "falls back from " << getName(best.facts.id)
                     << " to the mma_sync kernels of sm_80: "
                     << explainFallback(op, target, best, selection);
}

/// Warns of kernels of linear attention, which there are of one family, where
/// the target has better matrix instructions.
static void warnOfFallback(LinearAttentionOp op, const TargetInfo &target,
                           const ScheduleOverrides &given) {
  const Family &best = *getFamilies(target).front();
  if (target.kind == TargetKind::Gpu && best.hasRoles() && !given.has("mma"))
    op.emitWarning()
        << "falls back from " << getName(best.facts.id)
        << " to the mma_sync kernels of sm_80: there are no others "
           "of linear attention";
}

/// Warns of values that are columns of the keys, as of a latent cache, beside a
/// scale that nobody has given: it is that of the heads that the cache stands
/// for (DeepSeek-V2, 2.1.2), not of its columns.
static void warnOfLatentScale(AttentionOp op) {
  AttentionProblem problem = getProblem(op);
  if (problem.sharedKV && problem.headDim > problem.valueDim &&
      !op.getScaleAttr())
    op.emitWarning()
        << "expected a scale beside values that are columns of the "
           "keys: it is 1/sqrt("
        << problem.headDim
        << "), and with a latent cache that of the heads' own "
           "columns";
}

/// Warns where sums of 8-bit products drop bits, since registers do not hold
/// those of a tile apart. Who gives the field has chosen.
static void warnOfShortSums(AttentionOp op, const TargetInfo &target,
                            const ScheduleOverrides &overrides,
                            const Schedule &schedule) {
  std::optional<ScheduleAttr> given = op.getSchedule();
  bool isGiven =
      overrides.has("promote") || (given && given->getFields().has("promote"));
  AttentionProblem problem = getProblem(op);
  if (isGiven || schedule.promote || !dropsBits(problem, schedule.mma, target))
    return;
  op.emitWarning()
      << "sums of 8-bit products keep "
      << getFamily(schedule.mma).getSumBits(problem.getWeightType(), target)
      << " bits on " << target.name
      << ", and registers do not hold those of a tile, to add them in f32 "
         "(promote=1): outputs of rows of more than "
      << kMostUnpromoted << " keys are less exact";
}

/// Says what was chosen for the kernels of a backward.
static void explain(Location loc, const BackwardSelection &selection) {
  if (!loc->getContext()->getRemarkEngine())
    return; // Nobody listens.
  for (const BackwardChoice &choice : selection.kernels)
    remark::passed(
        loc, remark::RemarkOpts::name("schedule-chosen").category(kCategory))
        << std::string(getName(choice.kernel)) + ": " +
               choice.schedule.print() + ": predicted " +
               formatSeconds(choice.cost.seconds) + ", " +
               formatBytes(choice.cost.bytes.getTotal()) +
               " between L2 and SMs";
}

static void setSchedules(AttentionBackwardOp op,
                         const BackwardSelection &selection) {
  auto get = [&](const BackwardChoice &choice) {
    return ScheduleAttr::get(op.getContext(), choice.schedule,
                             AttentionPass::Backward);
  };
  op.setScheduleAttr(get(selection.kernels[0]));
  if (selection.isSmallCache()) {
    op.removeKeyScheduleAttr();
    op.removeValueScheduleAttr();
    return;
  }
  op.setKeyScheduleAttr(get(selection.kernels[1]));
  if (selection.kernels.size() > 2 && !selection.isFused())
    op.setValueScheduleAttr(get(selection.kernels[2]));
}

/// A small cache walks one range of tiles: what else a mask hides it computes.
static bool isOneBand(AttentionBackwardOp op) {
  if (!op.hasMaskMod())
    return true;
  std::vector<MaskBand> bands = analyzeMask(op.getMaskMod()).getBands();
  return bands.size() == 1 && bands.front().isExact;
}

/// Only kernels of a forward are known to keep the bits of a sequence.
static LogicalResult checkInvariance(Operation *op,
                                     const ScheduleOverrides &given) {
  Schedule values;
  given.apply(values);
  if (values.invariance == Invariance::None)
    return success();
  return op->emitOpError() << "expected invariance=none, got "
                           << attn::getName(values.invariance)
                           << ", which is of attn.attention";
}

static bool selectsHeads(AttentionBackwardOp op) {
  return llvm::any_of(ValueRange{op.getKey(), op.getValue()}, [](Value value) {
    return value.getDefiningOp<SelectHeadsOp>() != nullptr;
  });
}

namespace {
struct SelectSchedule
    : public attn::impl::SelectSchedulePassBase<SelectSchedule> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetInfo> info =
        getModuleTarget(module, target.getValue(), targetFields.getValue());
    if (failed(info))
      return signalPassFailure();
    Result<ScheduleOverrides> overrides =
        ScheduleOverrides::parse(schedule.getValue());
    if (!overrides) {
      module.emitError() << "option schedule: " << overrides.error();
      return signalPassFailure();
    }
    foldEqualGroups(module);
    WalkResult result = module.walk([&](AttentionOp op) {
      return failed(choose(op, *info, *overrides)) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (info->kind == TargetKind::Gpu)
      result = module.walk([&](AttentionBackwardOp op) {
        return failed(chooseBackward(op, *info, *overrides))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
    if (!result.wasInterrupted() && info->kind == TargetKind::Gpu)
      result = module.walk([&](LinearAttentionOp op) {
        return failed(chooseLinear(op, *info, *overrides))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
    if (result.wasInterrupted())
      return signalPassFailure();
    setNormalForm(module, NormalForm::Scheduled);
  }

private:
  /// Kernels of other gradients read what the kernels of a large cache, one for
  /// dQ and others for dK and dV, leave of each row; and these alone have a
  /// gradient whole before they store it.
  LogicalResult checkOtherGradients(AttentionBackwardOp op,
                                    BackwardOverrides &given) {
    given.deterministic = deterministic;
    bool isChanged = llvm::any_of(getGradients(op), [](Value gradient) {
      return getOutputMod(gradient) != nullptr;
    });
    if (findScoreGradients(op).gradients.empty() && !op.getDSink() &&
        !op.getAmaxDs() && !isChanged)
      return success();
    Schedule query, keys;
    given.query.apply(query);
    given.keys.apply(keys);
    if (query.kind != ScheduleKind::LargeCache || keys.fused)
      return op.emitOpError()
             << "expected a large-cache schedule, not fused, beside gradients "
                "of a bias, captures or a sink, amax_ds, or output_mods of "
                "gradients, got "
             << (keys.fused ? keys : query).print();
    (void)given.query.set("kind", "large_cache");
    given.deterministic = true;
    return success();
  }

  /// A small cache walks the heads of a group together.
  LogicalResult checkHeadMap(AttentionBackwardOp op,
                             const BackwardOverrides &given) {
    Schedule query;
    given.query.apply(query);
    if (!selectsHeads(op) || query.kind != ScheduleKind::SmallCache)
      return success();
    return op.emitOpError() << "expected a large-cache schedule beside heads "
                               "that a map selects, got "
                            << query.print();
  }

  /// Makes inputs of 8 bits wider, and says why.
  static AttentionBackwardOp dequantize(AttentionBackwardOp op,
                                        const BackwardSelection &selection) {
    FloatType wide = getDequantizedType(op);
    if (!selection.obstacle.empty())
      op.emitWarning() << "the kernels of its gradients have inputs of " << wide
                       << ", dequantised, in place of "
                       << getElementTypeOrSelf(op.getQuery().getType()) << ": "
                       << selection.obstacle;
    else
      remark::passed(
          op.getLoc(),
          remark::RemarkOpts::name("dequantised").category(kCategory))
          << "gradients by products of 16 bits, which are predicted to be "
             "faster "
             "than those of 8: promote=0 or 1 asks for the latter";
    return dequantizeBackward(op, wide);
  }

  /// What stands beside a backward, or before it, of which no kernel can be.
  static LogicalResult checkBeside(AttentionBackwardOp op) {
    for (Value operand : op->getOperands())
      if (PagedOp pages = getPages(operand))
        return pages.emitOpError() << "expected no pages in a backward on a "
                                      "GPU: gather them before";
    WalkResult appends =
        op->getParentOfType<FunctionOpInterface>()->walk([](AppendOp append) {
          append.emitOpError() << "expected no append beside a backward on a "
                                  "GPU: append in a function of its own";
          return WalkResult::interrupt();
        });
    return failure(appends.wasInterrupted());
  }

  /// Loops over no tiles at all would divide by their number.
  static LogicalResult checkLengths(AttentionBackwardOp op) {
    AttentionDims dims = AttentionDims::get(op);
    if (dims.queryRows != 0 && dims.keyRows != 0)
      return success();
    return op.emitOpError()
           << "expected at least one query and one key on a GPU, got lengths "
              "of "
           << dims.queryRows << " and " << dims.keyRows
           << "; make a length that may be 0 dynamic";
  }

  /// What cannot be a kernel is reported where kernels are made.
  LogicalResult chooseBackward(AttentionBackwardOp op, const TargetInfo &info,
                               const ScheduleOverrides &overrides) {
    if (failed(checkBeside(op)))
      return failure();
    AttentionProblem problem = getProblem(op);
    bool isByte = isFloat8(op.getQuery().getType());
    bool isSupported = problem.elementType == ElementType::F16 ||
                       problem.elementType == ElementType::BF16 || isByte;
    ScoreGradients gradients = findScoreGradients(op);
    if (gradients.unused)
      return op.emitOpError()
             << "expected score_mod to use what it reads of captures on a GPU: "
                "leave out of them what it does not";
    if (gradients.unknown || !isSupported)
      return success();
    if (failed(checkLengths(op)))
      return failure();
    BackwardOverrides given;
    given.query = mergeFields(op.getSchedule(), overrides);
    ScheduleAttr keys = op.getKeyScheduleAttr();
    given.keys = keys ? mergeFields(keys, overrides) : given.query;
    if (failed(checkInvariance(op, given.query)) ||
        failed(checkInvariance(op, given.keys)))
      return failure();
    // The fields may be meant for the forward beside it.
    for (const ScheduleOverrides &fields : {given.query, given.keys})
      if (std::string unused = printUnusedFields(fields, problem);
          !unused.empty()) {
        op.emitWarning() << "the kernels of a backward have no " << unused;
        break;
      }
    for (Value gradient : getGradients(op))
      if (failed(checkBytes(gradient, info)))
        return failure();
    if (failed(checkOtherGradients(op, given)))
      return failure();
    if (failed(checkHeadMap(op, given)))
      return failure();
    if (!given.query.has("kind") && (!isOneBand(op) || selectsHeads(op)))
      (void)given.query.set("kind", "large_cache");
    given.isMaskKnown = isOneBand(op);
    if (selectsHeads(op))
      given.obstacle = "a map selects the heads of keys";
    Result<BackwardSelection> selection =
        selectBackwardSchedules(problem, info, given);
    if (!selection)
      return op.emitOpError() << selection.error();
    if (selection->isDequantised)
      op = dequantize(op, *selection);
    explain(op.getLoc(), *selection);
    if (!selection->fallback.empty())
      op.emitWarning() << "falls back from "
                       << attn::getName(getFamilies(info).front()->facts.id)
                       << " to the mma_sync kernels of sm_80: "
                       << selection->fallback;
    setSchedules(op, *selection);
    return success();
  }

  LogicalResult chooseLinear(LinearAttentionOp op, const TargetInfo &info,
                             const ScheduleOverrides &overrides) {
    ++numAttentions;
    ScheduleOverrides fields = mergeFields(op.getSchedule(), overrides);
    if (failed(checkInvariance(op, fields)))
      return failure();
    Result<LinearSelection> selection =
        selectLinearSchedule(getProblem(op), info, fields);
    if (!selection)
      return op.emitOpError() << selection.error();
    if (op.getContext()->getRemarkEngine())
      remark::passed(
          op.getLoc(),
          remark::RemarkOpts::name("schedule-chosen").category(kCategory))
          << selection->schedule.print() + ": predicted " +
                 formatSeconds(selection->cost.seconds) + ", " +
                 formatBytes(selection->cost.bytes.getRead() +
                             selection->cost.bytes.getWritten()) +
                 " between L2 and SMs";
    warnOfFallback(op, info, fields);
    op.setScheduleAttr(ScheduleAttr::get(op.getContext(), selection->schedule));
    return success();
  }

  /// sm_89 was the first with conversions to 8-bit floats, as one of those
  /// behind `output` may have for a result.
  static LogicalResult checkBytes(Value output, const TargetInfo &info) {
    if (info.kind != TargetKind::Gpu || info.computeCapability >= 89)
      return success();
    OutputModOp mod = getOutputMod(output);
    for (; mod; mod = getOutputMod(mod.getResult()))
      if (isFloat8(mod.getResult().getType()))
        return mod.emitOpError()
               << "expected a target of sm_89 or later for an output of "
               << getElementTypeOrSelf(mod.getResult().getType()) << ", got "
               << info.name;
    return success();
  }

  static LogicalResult checkOutput(AttentionOp op, const TargetInfo &info) {
    Value output = op.getOutput();
    // What follows a repair is a part of the kernels of both attentions.
    if (auto repair = output.hasOneUse()
                          ? dyn_cast<RepairOp>(*output.user_begin())
                          : RepairOp())
      output = repair.getOutputResult();
    return checkBytes(output, info);
  }

  LogicalResult choose(AttentionOp op, const TargetInfo &info,
                       const ScheduleOverrides &overrides) {
    ++numAttentions;
    if (failed(checkOutput(op, info)))
      return failure();
    FailureOr<Selection> selection =
        selectSchedule(op, info, overrides, allowTf32);
    if (failed(selection))
      return failure();
    explain(op.getLoc(), *selection);
    if (!repairsRows(op))
      warnOfFallback(op, info, overrides, *selection);
    warnOfShortSums(op, info, overrides, selection->chosen().schedule);
    warnOfLatentScale(op);
    numRejected += selection->rejected.size();
    op.setScheduleAttr(
        ScheduleAttr::get(op.getContext(), selection->chosen().schedule));
    return success();
  }
};
} // namespace
