//===- BackwardTimeModel.cpp - Clocks of the backward's kernels -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardKernelModel.h"
#include "CostDetail.h"

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

/// Streamed tiles of all CTAs.
double BackwardKernelModel::countTiles() const {
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
double BackwardKernelModel::getSharedClocks() const {
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
double BackwardKernelModel::getTensorMemoryClocks() const {
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
std::vector<CostTerm> BackwardKernelModel::getTileTerms() const {
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
double BackwardKernelModel::getStepClocks() const {
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
double BackwardKernelModel::getMaskClocks() const {
  if (!hasTensorMemory())
    return 0;
  int64_t edges =
      problem.mask.left.has_value() + problem.mask.right.has_value();
  int64_t tiles = ceilDiv(schedule.clusterN * getStaying(), getStreamed());
  return static_cast<double>(edges * tiles * getStaying() * getStreamed()) *
         kMaskInstructionsPerElement / target.lanesPerClock;
}

void BackwardKernelModel::setTime(BackwardCost &cost) const {
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
