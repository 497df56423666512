//===- BackwardSchedule.cpp - Kernels of the backward pass ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/BackwardSchedule.h"

#include "Machine.h"

#include "BackwardSmallCache.h"
#include "BackwardTiles.h"
#include "attn/Schedule/Family.h"
#include "attn/Schedule/ResourceModel.h"
#include "attn/Support/Format.h"
#include "attn/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace attn;
using namespace attn::detail;

/// What a fused backward has to gain to be worth bits that differ.
static constexpr double kFusedGain = 1.05;
/// A small cache needs a workspace and kernels that wait for each other: it is
/// taken only if it is faster by this, as in the forward pass.
static constexpr double kSmallCacheMargin = 1.25;
/// Of a gradient that is not sliced.
static constexpr int64_t kMostColumns = std::numeric_limits<int64_t>::max();

std::string_view attn::getName(BackwardKernel kernel) {
  switch (kernel) {
  case BackwardKernel::RowValues:
    return "delta";
  case BackwardKernel::Scores:
    return "scores";
  case BackwardKernel::QueryGradient:
    return "dq";
  case BackwardKernel::KeyValueGradients:
    return "dkv";
  case BackwardKernel::KeyGradient:
    return "dk";
  case BackwardKernel::ValueGradient:
    return "dv";
  case BackwardKernel::ClearedSums:
    return "delta";
  case BackwardKernel::AllGradients:
    return "dqkv";
  case BackwardKernel::QueryRounding:
    return "round";
  }
  return "";
}

/// Columns of a gradient, of which a CTA has `tile`, or all for 0.
static int64_t countSlices(int64_t columns, int64_t tile) {
  return tile > 0 ? ceilDiv(columns, tile) : 1;
}

int64_t attn::countGradientSlices(BackwardKernel kernel,
                                  const Schedule &schedule,
                                  const AttentionProblem &problem) {
  switch (kernel) {
  case BackwardKernel::QueryGradient:
  case BackwardKernel::KeyGradient:
    return countSlices(problem.headDim, schedule.tileD);
  case BackwardKernel::ValueGradient:
    return countSlices(problem.valueDim, schedule.tileDv);
  default:
    return 1;
  }
}

double BackwardSelection::getSeconds() const {
  double seconds = 0;
  for (const BackwardChoice &choice : kernels)
    seconds += choice.cost.seconds;
  return seconds;
}

bool BackwardSelection::maySpill() const {
  return std::any_of(
      kernels.begin(), kernels.end(),
      [](const BackwardChoice &choice) { return choice.cost.maySpill; });
}

/// True if `a` is at least as good.
static bool isPreferred(const BackwardSelection &a,
                        const BackwardSelection &b) {
  return a.maySpill() != b.maySpill() ? b.maySpill()
                                      : a.getSeconds() <= b.getSeconds();
}

namespace {
/// The fastest schedule of a kernel.
class KernelSelector {
public:
  KernelSelector(const AttentionProblem &problem, const TargetInfo &target,
                 const BackwardOverrides &given, MmaFamily mma)
      : problem(problem), target(target), given(given), mma(mma) {}

  /// With `rows` the tiles of rows divide it.
  Result<BackwardChoice> select(BackwardKernel kernel,
                                std::optional<int64_t> rows) const;

private:
  const ScheduleOverrides &getOverrides(BackwardKernel kernel) const {
    return kernel == BackwardKernel::QueryGradient ? given.query : given.keys;
  }
  std::vector<Schedule> getCandidates(BackwardKernel kernel) const;
  std::vector<int64_t> getMoreStages(BackwardKernel kernel) const;
  std::vector<int64_t> getClusters(BackwardKernel kernel) const;
  int64_t getEarlyRows(BackwardKernel kernel, int64_t streamed) const;
  Schedule getSchedule(BackwardKernel kernel, int64_t staying, int64_t streamed,
                       int64_t stages, int64_t columns) const;
  bool mayPair(const Schedule &schedule) const;
  void addVariants(BackwardKernel kernel, const Schedule &base,
                   std::vector<Schedule> &candidates) const;

  const AttentionProblem &problem;
  const TargetInfo &target;
  const BackwardOverrides &given;
  MmaFamily mma;
};
} // namespace

/// True if sums over all that streams keep fewer bits than products of 8 bits
/// ask for, unless those of a tile are summed apart (kMostUnpromoted).
static bool dropsBits(const AttentionProblem &problem, bool keysStay,
                      const Family &family, const TargetInfo &target) {
  int64_t length = keysStay ? problem.queryLength * problem.getGroupSize()
                            : problem.kvLength;
  return family.getSumBits(problem.elementType, target) > 0 &&
         length > kMostUnpromoted;
}

/// What is asked for of all kernels may mean nothing for that of dQ.
static void dropKeyFields(Schedule &schedule, const Family &family) {
  Schedule defaults;
  schedule.earlyRows = defaults.earlyRows;
  if (family.facts.tensorColumns > 0)
    return;
  schedule.clusterN = defaults.clusterN;
  schedule.ctaPair = defaults.ctaPair;
}

Schedule KernelSelector::getSchedule(BackwardKernel kernel, int64_t staying,
                                     int64_t streamed, int64_t stages,
                                     int64_t columns) const {
  bool keysStay = kernel != BackwardKernel::QueryGradient;
  Schedule schedule;
  schedule.mma = mma;
  schedule.tileM = keysStay ? streamed : staying;
  schedule.tileN = keysStay ? staying : streamed;
  schedule.stages = stages;
  const ScheduleOverrides &overrides = getOverrides(kernel);
  overrides.apply(schedule);
  schedule.mma = mma;
  schedule.tileD = alignUp(problem.headDim, kWarpRows);
  schedule.tileDv = alignUp(problem.valueDim, kWarpRows);
  if (kernel == BackwardKernel::ValueGradient)
    schedule.tileDv = std::min(schedule.tileDv, columns);
  else if (kernel != BackwardKernel::KeyValueGradients)
    schedule.tileD = std::min(schedule.tileD, columns);
  const Family &family = getFamily(mma);
  if (!overrides.has("early_rows"))
    schedule.earlyRows = getEarlyRows(kernel, schedule.tileM);
  if (!keysStay)
    dropKeyFields(schedule, family);
  if (!overrides.has("warps"))
    schedule.warps =
        family.countWarps(keysStay ? schedule.tileN : schedule.tileM);
  schedule.producerWarps = family.facts.producerWarps;
  bool isByte = getSizeBytes(problem.elementType) == 1;
  if (!overrides.has("promote") || !isByte)
    schedule.promote = isByte && dropsBits(problem, keysStay, family, target);
  schedule.fused = kernel == BackwardKernel::AllGradients;
  return schedule;
}

/// Stages more of the tile that scores are computed of, where there is room:
/// the next tile but one can arrive while the gradient reads it.
std::vector<int64_t>
KernelSelector::getMoreStages(BackwardKernel kernel) const {
  if (isReadBothWays(kernel, /*isOfScores=*/true) &&
      getFamily(mma).facts.tensorColumns > 0)
    return {1, 0};
  return {0};
}

/// CTAs that may share what they stream. Of tcgen05 two come first: where L2
/// does not limit they still begin sooner (attn-sim); of others one does.
std::vector<int64_t> KernelSelector::getClusters(BackwardKernel kernel) const {
  bool hasTensorMemory = getFamily(mma).facts.tensorColumns > 0;
  bool mayShare =
      given.isMaskKnown && getFamily(mma).hasRoles() &&
      (hasTensorMemory || kernel != BackwardKernel::QueryGradient) &&
      kernel != BackwardKernel::AllGradients;
  if (!mayShare)
    return {1};
  return hasTensorMemory ? std::vector<int64_t>{2, 1}
                         : std::vector<int64_t>{1, 2};
}

/// Two CTAs may multiply together what they share.
bool KernelSelector::mayPair(const Schedule &schedule) const {
  return schedule.clusterN == 2 && getFamily(mma).facts.tensorColumns > 0;
}

/// Three quarters of a tile: their product takes about as long as the
/// exponentials of the last quarter, as in a forward.
int64_t KernelSelector::getEarlyRows(BackwardKernel kernel,
                                     int64_t streamed) const {
  bool areHandedOver = kernel == BackwardKernel::KeyValueGradients &&
                       isStepSliced(problem, getFamily(mma), streamed);
  return areHandedOver ? alignDown(streamed * 3 / 4, Family::kStepColumns) : 0;
}

/// Rows or keys that a CTA may keep, what is taken most often first.
static std::vector<int64_t> getStayingTiles(const Family &family) {
  if (family.facts.unitRows > 64)
    return {2 * family.facts.unitRows, family.facts.unitRows};
  return {128, 64, 192, 32};
}

/// `base` with more stages, in clusters and in pairs; a lone tile has nobody to
/// share with. Of two warpgroups pairs come first, whose products read less of
/// shared memory where the model says that this limits nothing, too (attn-sim).
void KernelSelector::addVariants(BackwardKernel kernel, const Schedule &base,
                                 std::vector<Schedule> &candidates) const {
  const ScheduleOverrides &overrides = getOverrides(kernel);
  bool keysStay = kernel != BackwardKernel::QueryGradient;
  int64_t staying = keysStay ? base.tileN : base.tileM;
  bool isAlone = (keysStay ? problem.kvLength : problem.queryLength) <= staying;
  bool isWide = staying > getFamily(mma).facts.unitRows;
  for (int64_t more : getMoreStages(kernel))
    for (int64_t ctas : getClusters(kernel)) {
      if (ctas > 1 && isAlone)
        continue;
      Schedule schedule = base;
      if (!overrides.has("score_stages"))
        schedule.scoreStages = more > 0 ? base.stages + more : 0;
      if (ctas > 1 && !overrides.has("cluster_n"))
        schedule.clusterN = ctas;
      if (overrides.has("cta_pair") || !mayPair(schedule)) {
        candidates.push_back(schedule);
        continue;
      }
      for (bool isPair : {isWide, !isWide}) {
        candidates.push_back(schedule);
        candidates.back().ctaPair = isPair;
      }
    }
}

/// The candidates for a kernel: all tile sizes, and slices of the gradient
/// where all of its columns may not fit into the registers.
std::vector<Schedule>
KernelSelector::getCandidates(BackwardKernel kernel) const {
  std::vector<int64_t> widths = {kMostColumns};
  // What is summed apart takes registers, too; TMA brings whole rows.
  bool isByte = getSizeBytes(problem.elementType) == 1;
  int64_t most = isByte && !getFamily(mma).hasRoles() ? 128 : 256;
  if (std::max(problem.headDim, problem.valueDim) > most)
    widths.insert(widths.end(), {256, 128});
  std::vector<Schedule> candidates;
  for (int64_t columns : widths)
    for (int64_t staying : getStayingTiles(getFamily(mma)))
      for (int64_t streamed : {64, 128, 32, 96, 48, 80, 112, 16})
        for (int64_t stages : {2, 1, 3})
          addVariants(kernel,
                      getSchedule(kernel, staying, streamed, stages, columns),
                      candidates);
  return candidates;
}

Result<BackwardChoice>
KernelSelector::select(BackwardKernel kernel,
                       std::optional<int64_t> rows) const {
  std::optional<BackwardChoice> best;
  std::string reason;
  bool arePairsGiven = getOverrides(kernel).has("cta_pair");
  for (const Schedule &schedule : getCandidates(kernel)) {
    if (rows && *rows % schedule.tileM != 0)
      continue;
    Result<BackwardCost> cost =
        getBackwardCost(problem, kernel, schedule, target);
    if (!cost) {
      // The first one says the most: it is what fits most often. That CTAs are
      // no pair is one only where they are asked to be.
      if (reason.empty() && (!schedule.ctaPair || arePairsGiven))
        reason = cost.error();
      continue;
    }
    // One stage leaves nothing in flight while a tile is computed.
    bool isOneStage = std::max(schedule.stages, schedule.scoreStages) == 1;
    cost->seconds *= isOneStage ? 1.3 : 1;
    bool isBetter = !best || (cost->maySpill != best->cost.maySpill
                                  ? best->cost.maySpill
                                  : cost->seconds < 0.995 * best->cost.seconds);
    if (isBetter)
      best = BackwardChoice{kernel, schedule, *cost};
  }
  if (!best)
    return Error{reason.empty() ? "no tile of rows divides that of dQ"
                                : reason};
  return *best;
}

/// Kernels of one family: dQ, then dK and dV in the faster of two ways.
static Result<BackwardSelection> selectFamily(const AttentionProblem &problem,
                                              const TargetInfo &target,
                                              const BackwardOverrides &given,
                                              MmaFamily mma) {
  KernelSelector selector(problem, target, given, mma);
  Result<BackwardChoice> query =
      selector.select(BackwardKernel::QueryGradient, std::nullopt);
  if (!query)
    return Error{query.error()};
  int64_t rows = query->schedule.tileM;
  Result<BackwardChoice> both =
      selector.select(BackwardKernel::KeyValueGradients, rows);
  Result<BackwardChoice> key =
      selector.select(BackwardKernel::KeyGradient, rows);
  Result<BackwardChoice> value =
      selector.select(BackwardKernel::ValueGradient, rows);
  BackwardSelection together, apart;
  together.kernels = apart.kernels = {*query};
  if (both)
    together.kernels.push_back(*both);
  if (key && value)
    apart.kernels.insert(apart.kernels.end(), {*key, *value});
  if (both && (!key || !value || isPreferred(together, apart)))
    return together;
  if (key && value)
    return apart;
  return Error{!key ? key.error() : value.error()};
}

/// The schedule of the kernels around a fused one: a warp for 16 rows.
static Schedule getRowSchedule(const Schedule &fused) {
  Schedule schedule = fused;
  schedule.mma = MmaFamily::MmaSync;
  schedule.stages = 1;
  schedule.warps = fused.tileM / kWarpRows;
  schedule.producerWarps = 0;
  schedule.fused = false;
  return schedule;
}

/// One kernel for all gradients, and those before and behind it.
static Result<BackwardSelection> selectFused(const AttentionProblem &problem,
                                             const TargetInfo &target,
                                             const BackwardOverrides &given,
                                             MmaFamily mma) {
  Result<BackwardChoice> fused =
      KernelSelector(problem, target, given, mma)
          .select(BackwardKernel::AllGradients, std::nullopt);
  if (!fused)
    return Error{fused.error()};
  BackwardSelection selection;
  Schedule rows = getRowSchedule(fused->schedule);
  auto addRowKernel = [&](BackwardKernel kernel) {
    selection.kernels.push_back(
        {kernel, rows, *getBackwardCost(problem, kernel, rows, target)});
  };
  addRowKernel(BackwardKernel::ClearedSums);
  selection.kernels.push_back(*fused);
  addRowKernel(BackwardKernel::QueryRounding);
  return selection;
}

/// What is asked for in `fused`; nothing if the model has to choose.
static std::optional<bool> getFused(const BackwardOverrides &given) {
  if (!given.keys.has("fused"))
    return std::nullopt;
  Schedule schedule;
  given.keys.apply(schedule);
  return schedule.fused;
}

/// The fused or the deterministic kernels of a family, whichever are faster.
static Result<BackwardSelection> selectForms(const AttentionProblem &problem,
                                             const TargetInfo &target,
                                             const BackwardOverrides &given,
                                             MmaFamily mma) {
  std::optional<bool> fused = getFused(given);
  if (given.deterministic && fused.value_or(false))
    return Error{"a fused backward adds up dQ in no fixed order, and a "
                 "deterministic one was asked for"};
  if (fused.value_or(false) && !problem.hasSoftmax())
    return Error{"expected fused = false without softmax, got fused = true"};
  if (fused.value_or(false))
    return selectFused(problem, target, given, mma);
  Result<BackwardSelection> apart = selectFamily(problem, target, given, mma);
  if (given.deterministic || fused || !problem.hasSoftmax())
    return apart;
  Result<BackwardSelection> together = selectFused(problem, target, given, mma);
  bool isWorthIt =
      together && (!apart || (apart->maySpill() && !together->maySpill()) ||
                   apart->getSeconds() > kFusedGain * together->getSeconds());
  return isWorthIt ? together : apart;
}

/// True if the family is none other than what is asked for.
static bool allows(const BackwardOverrides &given, MmaFamily mma) {
  for (const ScheduleOverrides *overrides : {&given.query, &given.keys}) {
    Schedule schedule;
    overrides->apply(schedule);
    if (overrides->has("mma") && schedule.mma != mma)
      return false;
  }
  return true;
}

/// Two vectors of the rows of a softmax, in whole tiles of dQ, and of a fused
/// backward dQ.
static int64_t getRowValueBytes(const AttentionProblem &problem,
                                const BackwardSelection &selection) {
  int64_t rows =
      alignUp(problem.queryLength, selection.kernels.front().schedule.tileM);
  int64_t columns =
      (problem.hasSoftmax() ? 2 : 0) +
      (selection.isFused() ? alignUp(problem.headDim, kWarpRows) : 0);
  return problem.batch * problem.queryHeads * rows * columns * 4;
}

/// The CTAs of the largest clusters that are asked for.
static int64_t countClusterCtas(const BackwardOverrides &given) {
  Schedule query, keys;
  given.query.apply(query);
  given.keys.apply(keys);
  return std::max(query.clusterN, keys.clusterN);
}

/// Kernels that keep a whole row or column of tiles in a CTA.
static Result<BackwardSelection>
selectLargeCache(const AttentionProblem &problem, const TargetInfo &target,
                 const BackwardOverrides &given) {
  Error error{"expected one mma for all kernels of a backward, \"mma_sync\" or "
              "another that the target has"};
  std::string fallback;
  std::vector<const Family *> families = getFamilies(target);
  for (const Family *family : families) {
    MmaFamily mma = family->facts.id;
    bool isWithout = !family->hasRoles() && families.front()->hasRoles() &&
                     (getFused(given) == true || countClusterCtas(given) > 1);
    if (!allows(given, mma) || isWithout)
      continue;
    Result<BackwardSelection> selection =
        selectForms(problem, target, given, mma);
    if (selection) {
      selection->fallback = fallback;
      selection->workspaceBytes = getRowValueBytes(problem, *selection);
      return selection;
    }
    fallback = selection.error();
    error = Error{"expected a schedule that the target can run: " + fallback};
  }
  return error;
}

/// The kind that is asked for.
static std::optional<ScheduleKind> getKind(const ScheduleOverrides &given) {
  Schedule schedule;
  given.apply(schedule);
  return given.has("kind") ? std::optional(schedule.kind) : std::nullopt;
}

/// Says what the target's best family lost to.
static void explainFallback(BackwardSelection &small,
                            const Result<BackwardSelection> &large,
                            const TargetInfo &target) {
  if (!getFamilies(target).front()->hasRoles())
    return;
  small.fallback = large ? large->fallback : large.error();
  if (small.fallback.empty())
    small.fallback = "predicted to be slower than a small cache: " +
                     formatSeconds(large->getSeconds()) + " and " +
                     formatSeconds(small.getSeconds());
}

/// True if kernels of some family have so many warps that only load, whatever
/// their schedule.
static bool isOfFamily(int64_t producers) {
  constexpr MmaFamily all[] = {MmaFamily::MmaSync, MmaFamily::Wgmma,
                               MmaFamily::Tcgen05};
  return std::any_of(std::begin(all), std::end(all), [&](MmaFamily family) {
    return getFamily(family).facts.producerWarps == producers;
  });
}

std::string attn::printUnusedFields(const ScheduleOverrides &given,
                                    const AttentionProblem &problem) {
  bool isByte = getSizeBytes(problem.elementType) == 1;
  std::vector<std::string> unused;
  int64_t producers = given.getValues().producerWarps;
  for (const std::string &name : given.getNames()) {
    bool isUsed = isFieldOf(AttentionPass::Backward, name) ||
                  (isByte && name == "promote");
    if (!isUsed || (name == "producer_warps" && !isOfFamily(producers)))
      unused.push_back(name);
  }
  return join(unused, ", ");
}

/// The kernels for the types of the problem.
static Result<BackwardSelection> selectKernels(const AttentionProblem &problem,
                                               const TargetInfo &target,
                                               const BackwardOverrides &given) {
  std::optional<ScheduleKind> kind = getKind(given.query);
  bool isByte = getSizeBytes(problem.elementType) == 1;
  if (kind == ScheduleKind::SmallCache) {
    if (isByte)
      return Error{"expected kind = \"large_cache\" for inputs of 8 bits, got "
                   "\"small_cache\""};
    if (!problem.hasSoftmax())
      return Error{"expected kind = \"large_cache\" without softmax, got "
                   "\"small_cache\""};
    if (problem.changesGradients())
      return Error{"expected kind = \"large_cache\" beside largest magnitudes "
                   "of gradients, or gradients of 8 bits, got \"small_cache\""};
    if (getKind(given.keys) != kind)
      return Error{"expected kind = \"small_cache\" for all kernels of a "
                   "backward, or for none"};
    if (getFused(given).value_or(false))
      return Error{"expected fused = false with kind = \"small_cache\""};
    Result<BackwardSelection> small =
        detail::selectSmallCacheBackward(problem, target, given.query);
    if (!small)
      return Error{"expected a schedule that the target can run: " +
                   small.error()};
    return small;
  }
  Result<BackwardSelection> large = selectLargeCache(problem, target, given);
  // Fields of the kernels are not those of a small cache.
  if (isByte || kind || getKind(given.keys) || !given.query.empty() ||
      !given.keys.empty() || !problem.hasSoftmax() ||
      problem.changesGradients())
    return large;
  Result<BackwardSelection> small =
      detail::selectSmallCacheBackward(problem, target, given.query);
  if (!small || small->maySpill() ||
      (large && !large->maySpill() &&
       large->getSeconds() <= kSmallCacheMargin * small->getSeconds()))
    return large;
  explainFallback(*small, large, target);
  return small;
}

//===----------------------------------------------------------------------===//
// Inputs of 8 bits
//===----------------------------------------------------------------------===//

/// Of the kernels that make inputs of 8 bits wider.
static double getDequantizationSeconds(const AttentionProblem &problem,
                                       const TargetInfo &target) {
  constexpr int64_t kernels = 4, bytesMoved = 1 + 2;
  int64_t columns = problem.headDim + problem.valueDim;
  int64_t elements = problem.batch * columns *
                     (problem.queryHeads * problem.queryLength +
                      problem.kvHeads * problem.kvLength);
  return static_cast<double>(elements * bytesMoved) / (target.dramGBps * 1e9) +
         kernels * getLaunchSeconds(target);
}

/// Why no kernels of 8-bit products serve; empty if `selection` does.
static std::string findObstacle(const Result<BackwardSelection> &selection,
                                const BackwardOverrides &given) {
  if (!given.obstacle.empty())
    return given.obstacle;
  if (!selection)
    return selection.error();
  return selection->maySpill() ? "registers do not hold what is summed apart"
                               : selection->fallback;
}

/// Kernels of 8-bit products, or of 16-bit ones where these are predicted to be
/// faster, as one for all gradients is on sm_90a, or nothing else is there.
static Result<BackwardSelection>
selectFor8Bits(const AttentionProblem &problem, const TargetInfo &target,
               const BackwardOverrides &given) {
  Result<BackwardSelection> selection = selectKernels(problem, target, given);
  bool isWanted = given.query.has("promote") || given.keys.has("promote");
  if (isWanted && given.obstacle.empty())
    return selection;
  AttentionProblem wide = problem;
  wide.elementType = problem.outputType == ElementType::F16 ? ElementType::F16
                                                            : ElementType::BF16;
  Result<BackwardSelection> wider = selectKernels(wide, target, given);
  std::string obstacle = findObstacle(selection, given);
  bool isFaster =
      wider && wider->fallback.empty() && obstacle.empty() &&
      wider->getSeconds() + getDequantizationSeconds(problem, target) <
          selection->getSeconds();
  if (!wider || (obstacle.empty() && !isFaster))
    return obstacle.empty() ? selection : wider;
  wider->isDequantised = true;
  wider->obstacle = obstacle;
  return wider;
}

Result<BackwardSelection>
attn::selectBackwardSchedules(const AttentionProblem &problem,
                              const TargetInfo &target,
                              const BackwardOverrides &given) {
  if (Status status = problem.verify(); !status)
    return Error{status.error()};
  return getSizeBytes(problem.elementType) == 1
             ? selectFor8Bits(problem, target, given)
             : selectKernels(problem, target, given);
}
