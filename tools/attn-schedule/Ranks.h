//===- Ranks.h - Plans for several GPUs -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTN_SCHEDULE_RANKS_H
#define ATTN_TOOLS_ATTN_SCHEDULE_RANKS_H

#include "attn/Distributed/Planner.h"
#include "attn/TargetInfo/TargetInfo.h"

#include <optional>

namespace attn {

/// What --ranks and the options beside it ask for.
struct RanksOptions {
  int64_t ranks = 1;
  std::string link;      ///< fields of Topology
  std::string documents; ///< lengths, with commas; empty: one sequence
  std::string blocks;    ///< a file with the picture of a mask; empty: none
  PlannerOptions planner;
};

/// An attention's plans for several GPUs.
struct RanksResult {
  AttentionProblem problem;
  Topology topology;
  PlanSelection selection;
};

/// Plans `problemText` for ranks that are `target`s. What a rank computes in
/// which time is that of the schedule chosen for the whole attention on one
/// GPU.
Result<RanksResult> planRanks(const std::string &problemText,
                              const TargetInfo &target,
                              const RanksOptions &options);

} // namespace attn

#endif // ATTN_TOOLS_ATTN_SCHEDULE_RANKS_H
