//===- CostDetail.h - Parts of the cost model ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SCHEDULE_COSTDETAIL_H
#define ATTN_LIB_SCHEDULE_COSTDETAIL_H

#include "attn/Schedule/CostModel.h"

namespace attn {
namespace detail {

/// The grid of a schedule and what its tiles compute, for the whole problem.
struct Work {
  int64_t rowTiles = 0;   ///< of all heads
  int64_t keyTiles = 0;   ///< visible (row tile, key tile) pairs
  int64_t iterations = 0; ///< key tiles of the longest CTA
  int64_t dvSlices = 1;   ///< column slices of V and O
  double scores = 0;      ///< of visible tiles, padding included
};

Work getWork(const AttentionProblem &problem, const Schedule &schedule);

/// Of a schedule with split_keys, the keys of a range where all sequences have
/// as many.
int64_t getRangeKeys(const AttentionProblem &problem, const Schedule &schedule);
/// The ranges of a sequence then.
int64_t getSplitCount(const AttentionProblem &problem,
                      const Schedule &schedule);

/// Sets the traffic and the workspace of the cost. Needs the grid.
void setTraffic(Cost &cost, const AttentionProblem &problem,
                const Schedule &schedule, const TargetInfo &target);

/// The name of the largest of the terms, of which there is at least one.
const std::string &getLargestTerm(const std::vector<CostTerm> &terms);

/// Sets the terms, the limiter and the seconds of the cost. Needs the traffic.
void setTime(Cost &cost, const AttentionProblem &problem,
             const Schedule &schedule, const TargetInfo &target,
             const Work &work);

} // namespace detail
} // namespace attn

#endif // ATTN_LIB_SCHEDULE_COSTDETAIL_H
