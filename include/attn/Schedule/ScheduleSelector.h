//===- ScheduleSelector.h - Choose a schedule -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one call the compiler makes:
//
//   Result<Selection> selection = selectSchedule(problem, target, overrides);
//   selection->chosen().schedule
//
// Selection is deterministic: the same input gives the same ranking on every
// host. Sizes that are not known when it is called (B, M, N of dynamic shapes)
// are to be replaced by typical ones: only `splits` and `chunk_rows` depend on
// them for being legal.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_SCHEDULESELECTOR_H
#define ATTN_SCHEDULE_SCHEDULESELECTOR_H

#include "attn/Schedule/Constraints.h"
#include "attn/Schedule/CostModel.h"
#include "attn/Schedule/LowerBounds.h"

#include <functional>
#include <vector>

namespace attn {

/// A legal schedule and its cost.
struct Candidate {
  Schedule schedule;
  Cost cost;
};

/// A schedule that was considered and is not legal.
struct Rejection {
  Schedule schedule;
  Violation violation; ///< the first one
};

struct Selection {
  /// Legal schedules, best first; never empty.
  std::vector<Candidate> ranked;
  std::vector<Rejection> rejected;
  /// For one K/V head, with the shared memory and the registers of an SM as the
  /// fast memory.
  LowerBounds bounds;

  const Candidate &chosen() const { return ranked.front(); }

  /// The best candidate of a kind; null if it has none.
  const Candidate *getBest(ScheduleKind kind) const;
};

/// Is told of every candidate as it is judged. The default does nothing.
class SelectionObserver {
public:
  virtual ~SelectionObserver() = default;
  virtual void onLegal(const Candidate &candidate) {}
  virtual void onRejected(const Rejection &rejection) {}
};

struct SelectorOptions {
  GeneratorFeatures features;
  SelectionObserver *observer = nullptr;
  /// A small-cache schedule needs a workspace and two phases: it is taken only
  /// where it is predicted to be faster by this factor.
  double smallCacheMargin = 1.25;
  /// The density of the mask as tiles of a schedule show it; null: the
  /// problem's, whatever the tiles.
  std::function<double(const Schedule &schedule)> density;
};

/// Ranks the schedules for `problem` on `target` that have the fields a user
/// has set; with invariance=prefix among them also those that follow from the
/// head dims: kind=split_kv mma=mma_sync, tile_n and split_keys. Fails if the
/// problem is malformed, or if no schedule is legal; the message then names the
/// limit that binds, and for user-set fields the nearest legal schedule.
Result<Selection> selectSchedule(const AttentionProblem &problem,
                                 const TargetInfo &target,
                                 const ScheduleOverrides &overrides = {},
                                 const SelectorOptions &options = {});

/// Every schedule the selector considers, legal or not, in a fixed order.
std::vector<Schedule> enumerateSchedules(const AttentionProblem &problem,
                                         const TargetInfo &target,
                                         const ScheduleOverrides &overrides,
                                         const GeneratorFeatures &features);

} // namespace attn

#endif // ATTN_SCHEDULE_SCHEDULESELECTOR_H
