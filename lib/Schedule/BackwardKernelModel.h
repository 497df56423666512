//===- BackwardKernelModel.h - A kernel of the backward ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Schedule.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULE_BACKWARDKERNELMODEL_H
#define LIB_SCHEDULE_BACKWARDKERNELMODEL_H

#include "BackwardTiles.h"
#include "Machine.h"

#include "attn/Support/MathExtras.h"

#include <algorithm>
#include <string>
#include <vector>

namespace attn::detail {

/// What a kernel computes, and from which tiles.
class BackwardKernelModel {
public:
  BackwardKernelModel(const AttentionProblem &problem, BackwardKernel kernel,
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

  // Resources (BackwardCost.cpp).
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

  // What the target cannot run (BackwardConstraints.cpp).
  std::string findMappingObstacle() const;
  std::string findFusedObstacle() const;
  std::string findStageObstacle() const;
  std::string findEarlyObstacle() const;
  std::string findClusterObstacle() const;
  std::string findPairObstacle() const;
  std::string findFloat8Obstacle() const;

  // Clocks (BackwardTimeModel.cpp).
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

} // namespace attn::detail

#endif // LIB_SCHEDULE_BACKWARDKERNELMODEL_H
