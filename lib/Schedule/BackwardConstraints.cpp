//===- BackwardConstraints.cpp - Which kernels can run --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardKernelModel.h"

using namespace attn;
using namespace attn::detail;

/// What a warp adds to dQ is 16 rows of its tile, or of the transposed one.
std::string BackwardKernelModel::findFusedObstacle() const {
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
std::string BackwardKernelModel::findStageObstacle() const {
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
std::string BackwardKernelModel::findEarlyObstacle() const {
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
std::string BackwardKernelModel::findClusterObstacle() const {
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
std::string BackwardKernelModel::findPairObstacle() const {
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

/// What is wrong with the warps and the instructions.
std::string BackwardKernelModel::findMappingObstacle() const {
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
std::string BackwardKernelModel::findFloat8Obstacle() const {
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

std::string BackwardKernelModel::findObstacle() const {
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
