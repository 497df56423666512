//===- CostModel.cpp - What a schedule costs ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grid and the resources of a schedule. Traffic is in TrafficModel.cpp,
// time in TimeModel.cpp.
//
//===----------------------------------------------------------------------===//

#include "CostDetail.h"

#include <algorithm>

namespace attn {

/// Row tiles of all heads, and of each the slices of V.
static int64_t getRowTiles(const AttentionProblem &problem,
                           const Schedule &schedule) {
  HeadShape head = HeadShape::get(problem, schedule.packGqa);
  int64_t heads = problem.getKvHeadCount() *
                  (schedule.packGqa ? 1 : problem.getGroupSize());
  return heads * ceilDiv(head.rows, schedule.tileM) *
         ceilDiv(getPaddedValueDim(problem), schedule.tileDv);
}

int64_t detail::getRangeKeys(const AttentionProblem &problem,
                             const Schedule &schedule) {
  if (schedule.balance != Balance::Share)
    return schedule.splitKeys;
  // A plan rounds to tiles. Rounded here, short tiles would be chosen for what
  // they save at one length, which nobody has.
  int64_t shares = getRowTiles(problem, schedule) *
                   ceilDiv(problem.kvLength, schedule.splitKeys);
  int64_t ctas = std::max<int64_t>(schedule.persistentCtas, 1);
  return std::max<int64_t>(ceilDiv(shares, ctas), 1) * schedule.splitKeys;
}

int64_t detail::getSplitCount(const AttentionProblem &problem,
                              const Schedule &schedule) {
  if (schedule.splitKeys == 0)
    return schedule.splits;
  int64_t keys = getRangeKeys(problem, schedule);
  return std::max<int64_t>(ceilDiv(problem.kvLength, keys), 1);
}

detail::Work detail::getWork(const AttentionProblem &problem,
                             const Schedule &schedule) {
  HeadShape head = HeadShape::get(problem, schedule.packGqa);
  int64_t heads = problem.getKvHeadCount() *
                  (schedule.packGqa ? 1 : problem.getGroupSize());
  TileSums sums = sumVisibleTiles(head, schedule.tileM, schedule.tileN);
  Work work;
  // The last CTAs of a cluster may have no rows, but load and compute.
  int64_t rowTiles = ceilDiv(head.rows, schedule.tileM);
  int64_t launched = alignUp(rowTiles, schedule.clusterM);
  work.rowTiles = heads * launched;
  work.keyTiles = scaleBy(heads * sums.tiles, launched, rowTiles);
  work.iterations = ceilDiv(sums.maxKeyRows, schedule.tileN);
  if (schedule.splitKeys > 0)
    work.iterations = std::min(
        work.iterations, getRangeKeys(problem, schedule) / schedule.tileN);
  else
    work.iterations = ceilDiv(work.iterations, schedule.splits);
  work.dvSlices =
      ceilDiv(getPaddedValueDim(problem), schedule.tileDv * schedule.clusterD);
  work.scores = static_cast<double>(work.keyTiles) *
                static_cast<double>(schedule.tileM * schedule.tileN);
  return work;
}

static void setGrid(Cost &cost, const AttentionProblem &problem,
                    const Schedule &schedule, const TargetInfo &target,
                    const detail::Work &work) {
  if (schedule.kind == ScheduleKind::SmallCache)
    // The CTAs of phase 1, of all chunks; each computes one tile of scores.
    cost.ctas = std::max<int64_t>(work.keyTiles, 1);
  else
    cost.ctas = work.rowTiles * detail::getSplitCount(problem, schedule) *
                schedule.clusterD * work.dvSlices;
  cost.ctasPerSm = getCtasPerSm(problem, schedule, target);
  cost.waves = static_cast<double>(cost.ctas) /
               static_cast<double>(target.smCount *
                                   std::max<int64_t>(cost.ctasPerSm, 1));
  cost.sharedMemoryBytes = getSharedMemoryUse(problem, schedule).total;
  cost.registersPerThread = getRegisterUse(problem, schedule).getTotal();
  cost.maySpill = maySpill(problem, schedule, target);
}

double Cost::getTerm(const std::string &name) const {
  for (const CostTerm &term : terms)
    if (term.name == name)
      return term.seconds;
  return 0;
}

Cost getCost(const AttentionProblem &problem, const Schedule &schedule,
             const TargetInfo &target) {
  Cost cost;
  detail::Work work = detail::getWork(problem, schedule);
  setGrid(cost, problem, schedule, target, work);
  cost.visibleScores =
      countVisibleScores(HeadShape::get(problem)) * problem.getKvHeadCount();
  detail::setTraffic(cost, problem, schedule, target);
  detail::setTime(cost, problem, schedule, target, work);
  return cost;
}

} // namespace attn
