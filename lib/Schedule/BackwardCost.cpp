//===- BackwardCost.cpp - Costs of the backward's kernels -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardKernelModel.h"
#include "CostDetail.h"

using namespace attn;
using namespace attn::detail;

/// Addresses, row numbers, barriers; and with dropout the counter and words.
static constexpr int64_t kOtherRegisters = 16, kDropoutRegisters = 40;

//===----------------------------------------------------------------------===//
// Resources
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

int64_t BackwardKernelModel::getGradientColumns() const {
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
int64_t BackwardKernelModel::getHeld(int64_t columns,
                                     bool isReadBothWays) const {
  return schedule.ctaPair && !isReadBothWays ? columns / 2 : columns;
}

/// Tiles of a stage, with the vectors of its rows.
int64_t BackwardKernelModel::getStreamBytes() const {
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
int64_t BackwardKernelModel::getRewrittenBytes() const {
  return transposes() ? kRewriteStages * getStreamed() * getGradientColumns()
                      : 0;
}

/// What a fused kernel hands over: dS to all warps, in as many tiles as there
/// are stages, and dQ to the copies that add it up.
int64_t BackwardKernelModel::getExchangeBytes() const {
  if (!isFused())
    return 0;
  return schedule.stages * getStaying() * getStreamed() * inputBytes +
         getStreamed() * dim * kFloatBytes;
}

int64_t BackwardKernelModel::getSharedMemory() const {
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
int64_t BackwardKernelModel::getRegisters() const {
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
int64_t BackwardKernelModel::getLimit() const {
  constexpr int64_t most = 240;
  int64_t limit = attn::getRegisterLimit(schedule, target);
  if (transposes())
    limit = family
                .splitRegisters(schedule.warps / family.facts.unitWarps,
                                target.registersPerSm,
                                /*producerComputes=*/true, /*corrects=*/false)
                .consumer;
  return std::min(most, limit);
}

bool BackwardKernelModel::maySpill() const {
  return getRegisters() > getLimit();
}

/// Columns of tensor memory: S and dP, whose places P and dS take, and the
/// gradients.
int64_t BackwardKernelModel::getTensorColumns() const {
  int64_t units = getStaying() / family.facts.unitRows;
  return units *
         ((1 + hasScoreGradient()) * getStreamed() + getGradientColumns());
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

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
  BackwardKernelModel model(problem, kernel, schedule, target);
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
