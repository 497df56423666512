//===- BackwardCost.cpp - Costs of the backward's kernels -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/BackwardSchedule.h"

#include "BackwardTiles.h"
#include "CostDetail.h"
#include "Machine.h"
#include "attn/Schedule/Family.h"

#include "attn/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::detail;

/// What the bulk copies of an SM add to memory in a clock.
static constexpr double kSumBytesPerClock = 17;
/// Instructions of a warp for each of its scores where two f32 are one operand:
/// 567 for the 128 columns of dK and dV, 444 of dQ (SASS of ptxas 13.0).
static constexpr double kPairedInstructionsPerElement = 4.5;
/// Of a step of tcgen05 what its products wait for the warps, by a lone
/// warpgroup of dQ and by others, and what a lone one waits for products, for
/// each 128 columns of scores and once more; and by which power what is busy at
/// the same time slows each other down: fitted to the simulator's clocks.
static constexpr double kQueryProductsWait = 380, kProductsWait = 100,
                        kWarpsWait = 420, kWarpsWaitOnce = 320,
                        kSharingPower = 8;
/// Instructions for each score of a tile that a mask cuts: a comparison and a
/// selection.
static constexpr double kMaskInstructionsPerElement = 2;
/// A lone warpgroup's first step in a pair begins, and its last one ends, that
/// much later than in a cluster: both CTAs have to be there.
static constexpr double kPairClocks = 800;
/// Addresses, row numbers, barriers; and with dropout the counter and words.
static constexpr int64_t kOtherRegisters = 16, kDropoutRegisters = 40;

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

/// With inputs of 8 bits ptxas (13.0) spills what is there for some columns at
/// a time.
bool attn::detail::isStepSliced(const AttentionProblem &problem,
                                const Family &family, int64_t streamed) {
  return family.facts.tensorColumns > 0 && !problem.hasDropout &&
         getSizeBytes(problem.elementType) > 1 &&
         streamed > Family::kWholeStepColumns &&
         streamed % Family::kStepColumns == 0;
}

namespace {
/// What a kernel computes, and from which tiles.
class KernelModel {
public:
  KernelModel(const AttentionProblem &problem, BackwardKernel kernel,
              const Schedule &schedule, const TargetInfo &target)
      : problem(problem), kernel(kernel), schedule(schedule), target(target),
        family(getFamily(schedule.mma)),
        inputBytes(getSizeBytes(problem.elementType)),
        dim(alignUp(problem.headDim, kWarpRows)),
        valueDim(alignUp(problem.valueDim, kWarpRows)) {}

  /// Empty if the kernel can run.
  std::string findObstacle() const;
  int64_t getSharedMemory() const;
  int64_t getRegisters() const;
  bool maySpill() const;
  /// Sets the terms, the limiter and the seconds. Needs the traffic.
  void setTime(BackwardCost &cost) const;

private:
  bool keysStay() const { return kernel != BackwardKernel::QueryGradient; }
  bool hasRoles() const { return family.hasRoles(); }
  bool hasTensorMemory() const { return family.facts.tensorColumns > 0; }
  bool transposes() const {
    return family.transposesValue(problem.elementType);
  }
  bool isFused() const { return kernel == BackwardKernel::AllGradients; }
  /// dP is needed for all gradients but dV.
  bool hasScoreGradient() const {
    return kernel != BackwardKernel::ValueGradient;
  }
  /// Columns of the accumulators of gradients.
  int64_t getGradientColumns() const;
  int64_t getSlices() const {
    return countGradientSlices(kernel, schedule, problem);
  }
  int64_t getStaying() const {
    return keysStay() ? schedule.tileN : schedule.tileM;
  }
  int64_t getStreamed() const {
    return keysStay() ? schedule.tileM : schedule.tileN;
  }
  int64_t getHeld(int64_t columns, bool isReadBothWays) const;
  int64_t getStreamBytes() const;
  bool isSliced() const { return isStepSliced(problem, family, getStreamed()); }
  int64_t getScoreStages() const {
    return std::max(schedule.stages, schedule.scoreStages);
  }
  int64_t getRewrittenBytes() const;
  int64_t getExchangeBytes() const;
  int64_t getTensorColumns() const;
  int64_t getLimit() const;
  std::string findMappingObstacle() const;
  std::string findFusedObstacle() const;
  std::string findStageObstacle() const;
  std::string findEarlyObstacle() const;
  std::string findClusterObstacle() const;
  std::string findPairObstacle() const;
  std::string findFloat8Obstacle() const;
  double getSharedClocks() const;
  double getTensorMemoryClocks() const;
  std::vector<CostTerm> getTileTerms() const;
  double getStepClocks() const;
  double getMaskClocks() const;
  double countTiles() const;

  const AttentionProblem &problem;
  BackwardKernel kernel;
  const Schedule &schedule;
  const TargetInfo &target;
  const Family &family;
  int64_t inputBytes, dim, valueDim;
};
} // namespace

int64_t KernelModel::getGradientColumns() const {
  switch (kernel) {
  case BackwardKernel::QueryGradient:
  case BackwardKernel::KeyGradient:
    return schedule.tileD ? schedule.tileD : dim;
  case BackwardKernel::ValueGradient:
    return schedule.tileDv ? schedule.tileDv : valueDim;
  default:
    return dim + valueDim;
  }
}

/// Of a streamed tile's columns as many as a CTA of a pair has rows or columns
/// of: all if products read it in both ways.
int64_t KernelModel::getHeld(int64_t columns, bool isReadBothWays) const {
  return schedule.ctaPair && !isReadBothWays ? columns / 2 : columns;
}

/// Tiles of a stage, with the vectors of its rows.
int64_t KernelModel::getStreamBytes() const {
  // Scores and gradients read them; dV is no product of Q or K, and of dO or V
  // alone it is one.
  int64_t columns =
      getHeld(dim, isReadBothWays(kernel, /*isOfScores=*/true)) +
      getHeld(valueDim, isReadBothWays(kernel, /*isOfScores=*/false));
  // A slice of a gradient takes one of what streams, as a tile of its own; dV
  // takes no more of dO.
  if (getSlices() > 1)
    columns = getGradientColumns() + (hasScoreGradient() ? columns : dim);
  int64_t bytes = getStreamed() * columns * inputBytes;
  // What is transposed has a tile of its own; dV takes dO so alone.
  if (transposes() && hasScoreGradient())
    bytes += getStreamed() * getGradientColumns();
  if (keysStay() && hasRoles())
    bytes += (hasScoreGradient() ? 2 : 1) * getStreamed() * kFloatBytes;
  return bytes;
}

/// Of tiles on their way into the order in which they are multiplied.
int64_t KernelModel::getRewrittenBytes() const {
  return transposes() ? kRewriteStages * getStreamed() * getGradientColumns()
                      : 0;
}

/// What a fused kernel hands over: dS to all warps, in as many tiles as there
/// are stages, and dQ to the copies that add it up.
int64_t KernelModel::getExchangeBytes() const {
  if (!isFused())
    return 0;
  return schedule.stages * getStaying() * getStreamed() * inputBytes +
         getStreamed() * dim * kFloatBytes;
}

int64_t KernelModel::getSharedMemory() const {
  int64_t columns = dim + (hasScoreGradient() ? valueDim : 0);
  // A barrier for each tile that stays, two for each stage of a ring.
  int64_t barriers =
      hasRoles() ? 8 * (2 + 2 * schedule.stages + 2 * getScoreStages()) : 0;
  // Those that V or dO has not.
  int64_t more = (getScoreStages() - schedule.stages) * getStreamed() *
                 (dim * inputBytes + (keysStay() ? kFloatBytes : 0));
  if (transposes())
    barriers += 2 * 8 * (2 * kRewriteStages + 2 * schedule.stages);
  return getStaying() * columns * inputBytes +
         schedule.stages * getStreamBytes() + more + getRewrittenBytes() +
         getExchangeBytes() + barriers;
}

/// S, dP and operands; accumulators of gradients that are not in tensor memory;
/// and of mma_sync operands in flight from ldmatrix.
int64_t KernelModel::getRegisters() const {
  int64_t scores = family.countElements(getStreamed());
  // Of wide tiles all but P, and S for a derivative, is there for some columns
  // at a time.
  int64_t columns = isSliced() ? Family::kStepColumns : getStreamed();
  int64_t slice = family.countElements(columns);
  // A fused kernel has delta in dP from the start, but for dropout.
  bool hasDelta = !isFused() || problem.hasDropout;
  int64_t vectors = keysStay() ? hasDelta * columns / 4 : 4;
  int64_t operands = slice * inputBytes / 4 + (hasRoles() ? 0 : 24);
  // Of S, P and dP two are there at once, but all for the derivative of a
  // score_mod.
  int64_t tiles =
      1 + hasScoreGradient() + (hasScoreGradient() && problem.hasScoreMod);
  // dQ takes the place of S, but for what is more.
  int64_t sums = isFused() ? getStreamed() * dim / (32 * schedule.warps) : 0;
  int64_t gradients =
      hasTensorMemory() ? 0 : family.countElements(getGradientColumns());
  // What a tile adds to one of the gradients.
  int64_t apart = schedule.promote && !hasTensorMemory()
                      ? family.countElements(std::min(getGradientColumns(),
                                                      std::max(dim, valueDim)))
                      : 0;
  // One of P and dS is an operand by then, but in the loads of mma_sync.
  if (hasRoles())
    apart = std::max<int64_t>(apart - scores, 0);
  // S and P are there whole for a derivative.
  int64_t whole = 1 + (hasScoreGradient() && problem.hasScoreMod);
  return gradients + apart + whole * scores + (tiles - whole) * slice +
         std::max<int64_t>(sums - scores, 0) + vectors + operands +
         kOtherRegisters + (problem.hasDropout ? kDropoutRegisters : 0);
}

/// Registers that a thread may have. A producer that transposes takes some.
int64_t KernelModel::getLimit() const {
  constexpr int64_t most = 240;
  int64_t limit = attn::getRegisterLimit(schedule, target);
  if (transposes())
    limit = family
                .splitRegisters(schedule.warps / family.facts.unitWarps,
                                target.registersPerSm,
                                /*producerComputes=*/true)
                .consumer;
  return std::min(most, limit);
}

bool KernelModel::maySpill() const { return getRegisters() > getLimit(); }

/// What a warp adds to dQ is 16 rows of its tile, or of the transposed one.
std::string KernelModel::findFusedObstacle() const {
  if (!isFused())
    return "";
  if (problem.changesGradients())
    return "a fused kernel gives no largest magnitudes of gradients, and none "
           "of 8 bits";
  if (!hasRoles() || hasTensorMemory())
    return "expected mma = \"wgmma\" with fused, got \"" +
           std::string(getName(schedule.mma)) + "\"";
  int64_t rows = kWarpRows * schedule.warps;
  if (dim != rows && schedule.tileM != rows)
    return "expected D or tile_m to be 16 for each of the " +
           std::to_string(schedule.warps) +
           " warps of a fused kernel, got D = " +
           std::to_string(problem.headDim) +
           " and tile_m = " + std::to_string(schedule.tileM);
  return "";
}

/// What scores are computed of is read by the gradient, too, behind all else.
std::string KernelModel::findStageObstacle() const {
  if (schedule.scoreStages == 0)
    return "";
  std::string got = ", got " + std::to_string(schedule.scoreStages);
  if (!isReadBothWays(kernel, /*isOfScores=*/true) || !hasTensorMemory())
    return "expected score_stages = 0 but in kernels of tcgen05 for dQ, for "
           "dK, or for dK and dV together" +
           got;
  if (schedule.scoreStages < schedule.stages)
    return "expected score_stages of 0, or of at least stages = " +
           std::to_string(schedule.stages) + got;
  return "";
}

/// Weights of a tile in slices (--attn-tile-slice-steps) may be told of before
/// all are there.
std::string KernelModel::findEarlyObstacle() const {
  int64_t early = schedule.earlyRows;
  if (early == 0)
    return "";
  std::string got = ", got " + std::to_string(early);
  if (kernel != BackwardKernel::KeyValueGradients || !isSliced())
    return "expected early_rows = 0 but in a kernel of tcgen05 for dK and dV "
           "together whose steps are sliced" +
           got;
  if (early % Family::kStepColumns != 0 || early >= getStreamed())
    return "expected early_rows to be a multiple of " +
           std::to_string(Family::kStepColumns) +
           " below tile_m = " + std::to_string(getStreamed()) + got;
  return "";
}

/// CTAs that share tiles need the same ones, whose rows they divide among them
/// in multiples of what a swizzle repeats.
std::string KernelModel::findClusterObstacle() const {
  int64_t ctas = schedule.clusterN;
  if (ctas == 1)
    return "";
  std::string got = ", got " + std::to_string(ctas);
  bool areOfKind = keysStay() || hasTensorMemory();
  if (!areOfKind || isFused() || !hasRoles() || transposes() || getSlices() > 1)
    return "expected cluster_n = 1 but in kernels whose CTAs read the same "
           "tiles as they are, for dQ of tcgen05" +
           got;
  if ((ctas & (ctas - 1)) != 0 || ctas > target.maxClusterCtas)
    return "expected cluster_n to be a power of two of at most " +
           std::to_string(target.maxClusterCtas) + got;
  if (getStreamed() % (8 * ctas) != 0)
    return std::string("expected ") + (keysStay() ? "tile_m" : "tile_n") +
           " to be a multiple of 8 * cluster_n = " + std::to_string(8 * ctas) +
           ", got " + std::to_string(getStreamed());
  return "";
}

/// CTAs that multiply together share all right operands, of which each has half
/// of the rows or of the columns, in panels of a swizzle of 32 bytes or more.
std::string KernelModel::findPairObstacle() const {
  constexpr int64_t ctas = 2, panelBytes = 32;
  if (!schedule.ctaPair)
    return "";
  if (schedule.clusterN != ctas || !hasTensorMemory() || inputBytes != 2)
    return "expected cta_pair = 0 but in kernels of tcgen05 with cluster_n = "
           "2, "
           "of 16-bit inputs, got cluster_n = " +
           std::to_string(schedule.clusterN);
  // Of what is read by rows alone, no columns are divided.
  bool isValueHalved = keysStay() && kernel != BackwardKernel::KeyGradient;
  for (int64_t columns : {dim, isValueHalved ? valueDim : dim})
    if (columns * inputBytes % (ctas * panelBytes) != 0)
      return "expected head dims in multiples of " +
             std::to_string(ctas * panelBytes / inputBytes) +
             " with cta_pair = 1, got D = " + std::to_string(problem.headDim) +
             " and Dv = " + std::to_string(problem.valueDim);
  return "";
}

/// Columns of tensor memory: S and dP, whose places P and dS take, and the
/// gradients.
int64_t KernelModel::getTensorColumns() const {
  int64_t units = getStaying() / family.facts.unitRows;
  return units *
         ((1 + hasScoreGradient()) * getStreamed() + getGradientColumns());
}

/// What is wrong with the warps and the instructions.
std::string KernelModel::findMappingObstacle() const {
  auto number = [](int64_t value) { return std::to_string(value); };
  const Family::Facts &facts = family.facts;
  std::string name(getName(schedule.mma));
  bool isWhole = schedule.warps == family.countWarps(getStaying());
  if (!hasRoles())
    return isWhole ? ""
                   : "a warp of " + name + " takes 16 rows, got " +
                         number(getStaying()) + " for " +
                         number(schedule.warps) + " warps";
  if (std::string missing = family.findObstacle(problem, target);
      !missing.empty())
    return missing;
  if (getStaying() % facts.unitRows != 0 || !isWhole ||
      getStaying() > facts.maxUnits * facts.unitRows)
    return name + " takes " + number(facts.unitRows) +
           " rows for each of 1 to " + number(facts.maxUnits) +
           " warpgroups, got " + number(getStaying()) + " for " +
           number(schedule.warps) + " warps";
  if (hasTensorMemory() && getTensorColumns() > facts.tensorColumns)
    return "it needs " + number(getTensorColumns()) +
           " columns of tensor memory, there are " +
           number(facts.tensorColumns);
  return "";
}

/// What is wrong with inputs of 8 bits: instructions sum 32 of their products.
std::string KernelModel::findFloat8Obstacle() const {
  constexpr int64_t depth = 32;
  if (inputBytes > 1)
    return "";
  if (isFused())
    return "a fused kernel takes no inputs of 8 bits";
  if (std::string missing = family.findObstacle(problem, target);
      !missing.empty())
    return missing;
  if (problem.headDim % depth != 0 || problem.valueDim % depth != 0 ||
      getStreamed() % depth != 0)
    return "a backward of 8 bits takes head dims and tiles that are multiples "
           "of " +
           std::to_string(depth) +
           ", got D = " + std::to_string(problem.headDim) +
           ", Dv = " + std::to_string(problem.valueDim) + " and tiles of " +
           std::to_string(getStreamed());
  return "";
}

std::string KernelModel::findObstacle() const {
  auto number = [](int64_t value) { return std::to_string(value); };
  if (schedule.kind != ScheduleKind::LargeCache)
    return "expected kind = \"large_cache\" for a backward, got \"" +
           std::string(getName(schedule.kind)) + "\"";
  for (auto [name, size] : {std::pair("tile_m", schedule.tileM),
                            std::pair("tile_n", schedule.tileN)})
    if (size < kWarpRows || size % kWarpRows != 0)
      return "expected " + std::string(name) +
             " to be a positive multiple of 16 in a backward, got " +
             number(size);
  if (std::string obstacle = findFusedObstacle(); !obstacle.empty())
    return obstacle;
  for (const std::string &obstacle :
       {findStageObstacle(), findEarlyObstacle(), findClusterObstacle(),
        findPairObstacle()})
    if (!obstacle.empty())
      return obstacle;
  for (std::optional<ElementType> type :
       {problem.dQueryType, problem.dKeyType, problem.dValueType})
    if (type && getSizeBytes(*type) == 1 && target.computeCapability < 89)
      return "expected a target of sm_89 or later for gradients of " +
             std::string(attn::getName(*type)) + ", got " + target.name;
  if (problem.hasAmax && getSlices() > 1)
    return "the largest magnitudes of a gradient's rows take all of its "
           "columns, got " +
           number(getSlices()) + " slices";
  if (std::string obstacle = findMappingObstacle(); !obstacle.empty())
    return obstacle;
  if (std::string obstacle = findFloat8Obstacle(); !obstacle.empty())
    return obstacle;
  if (hasRoles() && std::max(dim, valueDim) > family.facts.maxColumns)
    return "a product of the backward has at most 256 columns, got D = " +
           number(problem.headDim) + " and Dv = " + number(problem.valueDim);
  if (getSharedMemory() > target.sharedMemoryPerCtaBytes)
    return "it needs " + number(getSharedMemory()) +
           " bytes of shared memory, and a CTA gets " +
           number(target.sharedMemoryPerCtaBytes);
  if (hasRoles() && maySpill())
    return "it needs about " + number(getRegisters()) +
           " registers for each thread, of " + number(getLimit()) +
           (hasTensorMemory() ? "" : ", and wgmma with spills is serialized");
  return "";
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Streamed tiles of all CTAs.
double KernelModel::countTiles() const {
  int64_t tiles = 0;
  forEachTile(problem, keysStay(), schedule, [&](Span, Span streamed) {
    tiles += ceilDiv(streamed.getSize(), getStreamed());
  });
  return static_cast<double>(tiles) * problem.batch * problem.queryHeads *
         getSlices();
}

/// Shared memory of one tile: wgmma reads both operands of S and dP, and of the
/// other products the right one, for each warpgroup; mma_sync the same for each
/// warp. Of a pair of CTAs each reads half of the right one.
double KernelModel::getSharedClocks() const {
  auto rows = static_cast<double>(family.facts.unitRows);
  double owners = static_cast<double>(getStaying()) / rows;
  double depth = dim + (hasScoreGradient() ? valueDim : 0);
  double width = static_cast<double>(inputBytes);
  double right = width * static_cast<double>(getStreamed()) *
                 (depth + static_cast<double>(getGradientColumns()));
  double bytes = width * depth * rows + (schedule.ctaPair ? right / 2 : right);
  // dS is written, and read with the keys; dQ is written, and read by the copy.
  double exchange = 0;
  if (isFused()) {
    bytes += width * getStaying() * (rows + getStreamed());
    exchange = width * getStaying() * getStreamed() +
               2.0 * getStreamed() * dim * kFloatBytes;
  }
  return (owners * bytes + exchange + getStreamBytes()) /
         target.sharedMemoryBytesPerClock;
}

/// Tensor memory of one tile: S and dP to registers, P and dS back.
double KernelModel::getTensorMemoryClocks() const {
  if (!hasTensorMemory())
    return 0;
  bool hasProbabilities = keysStay() && kernel != BackwardKernel::KeyGradient;
  auto bytes =
      static_cast<double>((1 + hasScoreGradient()) * kFloatBytes +
                          (hasProbabilities + hasScoreGradient()) * inputBytes);
  return static_cast<double>(getStaying() * getStreamed()) * bytes /
         target.tensorMemoryBytesPerClock;
}

/// What an SM does for one streamed tile at the same time, in clocks.
std::vector<CostTerm> KernelModel::getTileTerms() const {
  double elements = static_cast<double>(getStaying()) * getStreamed();
  double instructions = hasTensorMemory() ? kPairedInstructionsPerElement
                                          : kInstructionsPerElement;
  double depth = dim + (hasScoreGradient() ? valueDim : 0) +
                 getGradientColumns() + (isFused() ? dim : 0);
  double flopsPerClock = family.getRate(problem.elementType, target) /
                         (target.clockGHz * 1e9 * target.smCount);
  double sums = isFused() ? static_cast<double>(getStreamed() * dim) *
                                kFloatBytes / kSumBytesPerClock
                          : 0;
  return {
      {"mma", 2 * elements * depth / flopsPerClock},
      {"exp", problem.hasSoftmax() ? elements / target.ex2PerClockPerSm : 0},
      {"issue", elements * instructions / target.lanesPerClock},
      {"shared_memory", getSharedClocks()},
      {"tensor_memory", getTensorMemoryClocks()},
      {"sums", sums}};
}

/// Clocks of a step of tcgen05, in which a thread of its own starts products
/// ahead, beside all that warps compute: each waits for some of the other. And
/// a tile is copied again when it was read: that of scores by the step's last
/// product, the other by one of three.
double KernelModel::getStepClocks() const {
  double bytes = static_cast<double>(getStreamBytes()) /
                 static_cast<double>(schedule.ctaPair ? 1 : schedule.clusterN);
  double transfer = bytes * target.clockGHz * target.smCount / target.l2GBps;
  double powers = std::pow(transfer, kSharingPower), warps = 0;
  for (const CostTerm &term : getTileTerms()) {
    if (term.name == "exp" || term.name == "issue")
      warps = std::max(warps, term.seconds);
    else
      powers += std::pow(term.seconds, kSharingPower);
  }
  double products = std::pow(powers, 1 / kSharingPower);
  bool isLone = getStaying() <= family.facts.unitRows;
  double productsWait =
      isLone && !keysStay() ? kQueryProductsWait : kProductsWait;
  double columns = static_cast<double>(getStreamed()) / 128;
  double warpsWait =
      isLone ? kWarpsWait * columns + kWarpsWaitOnce : kProductsWait;
  double clocks = std::max(products + productsWait, warps + warpsWait);
  // dV alone is waited for in each step, before the next one's scores.
  if (isLone && kernel == BackwardKernel::ValueGradient)
    clocks = products + warps + productsWait;
  // The next step's product of scores comes in front of the last one.
  double copy = target.loadClocks + transfer;
  double longest = products * 4 / 3 + 2 * productsWait + warps + copy;
  double shortest = products / 3 + productsWait + copy;
  return std::max(
      {clocks,
       (isReadBothWays(kernel, /*isOfScores=*/true) ? longest : shortest) /
           static_cast<double>(getScoreStages()),
       shortest / static_cast<double>(schedule.stages)});
}

/// Clocks that a CTA of tcgen05 spends on the mask, in the tiles that its edges
/// cut for some CTA of the cluster.
double KernelModel::getMaskClocks() const {
  if (!hasTensorMemory())
    return 0;
  int64_t edges =
      problem.mask.left.has_value() + problem.mask.right.has_value();
  int64_t tiles = ceilDiv(schedule.clusterN * getStaying(), getStreamed());
  return static_cast<double>(edges * tiles * getStaying() * getStreamed()) *
         kMaskInstructionsPerElement / target.lanesPerClock;
}

void KernelModel::setTime(BackwardCost &cost) const {
  double heads = static_cast<double>(problem.batch) *
                 (keysStay() ? problem.kvHeads : problem.queryHeads);
  int64_t total = keysStay() ? problem.kvLength : problem.queryLength;
  int64_t tiles = alignUp(ceilDiv(total, getStaying()), schedule.clusterN);
  double ctas = heads * tiles * getSlices();
  double perSm = ctas / static_cast<double>(target.smCount);
  // The last round of CTAs of one length is as long as any; of a band, the
  // shortest come last.
  double rounds =
      problem.mask.isBand() ? std::max(perSm, 1.0) : std::ceil(perSm);
  double secondsPerClock = rounds / (target.clockGHz * 1e9);
  double secondsPerTile = countTiles() / ctas * secondsPerClock;

  cost.terms = getTileTerms();
  double overlapped = 0, pointwise = 0;
  for (CostTerm &term : cost.terms) {
    overlapped = std::max(overlapped, term.seconds);
    if (term.name == "exp" || term.name == "issue")
      pointwise = std::max(pointwise, term.seconds);
  }
  bool isLone = getStaying() <= family.facts.unitRows;
  double exposed = !hasRoles() || isLone ? pointwise : 0;
  if (hasTensorMemory())
    exposed = getStepClocks() - overlapped;
  for (CostTerm &term : cost.terms)
    term.seconds *= secondsPerTile;
  exposed = exposed * secondsPerTile + getMaskClocks() * secondsPerClock;
  double tileClocks = hasTensorMemory() ? 0 : target.backwardTileClocks;
  double ctaClocks =
      kCtaClocks + (schedule.ctaPair && isLone ? kPairClocks : 0);
  double latency = tileClocks * secondsPerTile + ctaClocks * secondsPerClock;
  double compute = overlapped * secondsPerTile + latency + exposed;
  double l2 =
      static_cast<double>(cost.bytes.getTotal()) / (target.l2GBps * 1e9);
  cost.terms.push_back({"l2", l2});
  cost.terms.push_back({"latency", latency});
  cost.terms.push_back({"exposed", exposed});
  cost.limiter = getLargestTerm(cost.terms);
  cost.seconds = std::max(compute, l2);
}

/// What these kernels do is to move data.
static BackwardCost getRowCost(const AttentionProblem &problem,
                               BackwardKernel kernel, const Schedule &schedule,
                               const TargetInfo &target) {
  BackwardCost cost;
  cost.bytes = getBackwardTraffic(problem, kernel, schedule);
  double dram =
      static_cast<double>(cost.bytes.getTotal()) / (target.dramGBps * 1e9);
  cost.terms = {{"dram", dram}, {"launch", getLaunchSeconds(target)}};
  cost.limiter = getLargestTerm(cost.terms);
  cost.seconds = dram + getLaunchSeconds(target);
  return cost;
}

Result<BackwardCost> attn::getBackwardCost(const AttentionProblem &problem,
                                           BackwardKernel kernel,
                                           const Schedule &schedule,
                                           const TargetInfo &target) {
  if (kernel == BackwardKernel::ClearedSums ||
      kernel == BackwardKernel::QueryRounding)
    return getRowCost(problem, kernel, schedule, target);
  KernelModel model(problem, kernel, schedule, target);
  if (std::string obstacle = model.findObstacle(); !obstacle.empty())
    return Error{std::string(getName(kernel)) + ": " + obstacle};
  BackwardCost cost;
  cost.bytes = getBackwardTraffic(problem, kernel, schedule);
  cost.sharedMemoryBytes = model.getSharedMemory();
  cost.registersPerThread = model.getRegisters();
  cost.maySpill = model.maySpill();
  model.setTime(cost);
  return cost;
}
