//===- Planner.h - The plan with the least time -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a plan costs, and the choice among all.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_PLANNER_H
#define ATTN_DISTRIBUTED_PLANNER_H

#include "attn/Distributed/Plan.h"
#include "attn/Distributed/Topology.h"
#include "attn/Schedule/AttentionProblem.h"

namespace attn {

/// How fast one rank computes, from the cost model of a single GPU.
struct ComputeModel {
  double secondsPerPair = 0;     ///< of all heads and batches
  double launchSeconds = 2.5e-6; ///< of a kernel
  double memoryBytesPerSecond =
      1e12; ///< partial outputs are merged at this rate
};

/// When a rank has what it computes in a stage, and computes it; what it sends.
struct StageTime {
  double arrived = 0, begin = 0, end = 0; ///< seconds from the plan's begin
  int64_t sentBytes = 0;
};

struct RankTime {
  std::vector<StageTime> stages;
  double end = 0;        ///< with what returns after the last stage
  double busy = 0;       ///< of it, seconds in which the rank computes
  int64_t sentBytes = 0; ///< of all stages, and what returns
};

struct PlanCost {
  double seconds = 0;        ///< of the slowest rank
  double computeSeconds = 0; ///< of the slowest rank, without waiting
  double balance = 1;        ///< most pairs of a rank / the mean
  int64_t sentBytes = 0;     ///< most of a rank
  int64_t memoryBytes = 0;   ///< most of a rank: own, arriving and f32 sums
};

/// Each rank is a pipeline: a stage is computed when it has arrived and the one
/// before is done; bytes inside a node and between nodes go at the same time.
/// Backward: dK and dV in f32 go the way of K and V back. Where queries move,
/// output and LSE in f32 come back, and in the backward dO, LSE and delta go
/// with them and dQ comes back.
PlanCost pricePlan(const Plan &plan, const AttentionProblem &problem,
                   const Topology &topology, const ComputeModel &compute);

/// The same by rank and stage.
std::vector<RankTime> tracePlan(const Plan &plan,
                                const AttentionProblem &problem,
                                const Topology &topology,
                                const ComputeModel &compute);

struct PlanChoice {
  Plan plan;
  PlanCost cost;
};

struct PlanSelection {
  std::vector<PlanChoice> ranked;      ///< the fastest first
  std::vector<std::string> rejections; ///< what cannot be done, and why
  /// No plan is faster, and none that moves keys only sends less in all.
  double leastSeconds = 0;
  int64_t leastBytes = 0;
  std::vector<RankTime> times; ///< of the fastest
};

struct PlannerOptions {
  int64_t chunk = 0; ///< 0: 256, or less where there are few tokens
  /// Only plans whose bits do not depend on the ranks: these have whole chunks
  /// of rows and of keys, in ascending order.
  bool deterministic = false;
  std::string scheme = {};    ///< as Plan::printScheme has it; empty: any
  std::string placement = {}; ///< empty: any
  /// As a Plan has it; 0: any. 1 is for who needs rows to stay: queries do not
  /// move then, unless `scheme` says so.
  int64_t headShards = 0;
};

/// All plans for the attention `problem`, whose rows and keys are the tokens of
/// `visibility`. Fails where M, N and the tokens are not the same.
Result<PlanSelection> selectPlan(const AttentionProblem &problem,
                                 const Visibility &visibility,
                                 const Topology &topology,
                                 const ComputeModel &compute,
                                 const PlannerOptions &options = {});

/// A table of the plans, the bounds, and what was rejected; the same as JSON,
/// with the first plan whole.
std::string printPlanReport(const AttentionProblem &problem,
                            const Topology &topology,
                            const PlanSelection &selection, int64_t top);
nlohmann::json getPlanReportJson(const AttentionProblem &problem,
                                 const Topology &topology,
                                 const PlanSelection &selection, int64_t top);

} // namespace attn

#endif // ATTN_DISTRIBUTED_PLANNER_H
