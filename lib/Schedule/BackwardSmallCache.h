//===- BackwardSmallCache.h - Costs of the small-cache backward -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backward whose P and dS go through memory (docs/CostModel.md): kernels of
// mma_sync for delta, for P and dS, and a matrix product for each gradient.
// Private to lib/Schedule.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULE_BACKWARDSMALLCACHE_H
#define LIB_SCHEDULE_BACKWARDSMALLCACHE_H

#include "attn/Schedule/BackwardSchedule.h"

namespace attn::detail {

/// The five kernels with `schedule`, which all of them have; or why the target
/// cannot run it.
Result<BackwardSelection> getSmallCacheBackward(const AttentionProblem &problem,
                                                const Schedule &schedule,
                                                const TargetInfo &target);

/// The fastest one with the fields of `given`.
Result<BackwardSelection>
selectSmallCacheBackward(const AttentionProblem &problem,
                         const TargetInfo &target,
                         const ScheduleOverrides &given);

} // namespace attn::detail

#endif // LIB_SCHEDULE_BACKWARDSMALLCACHE_H
