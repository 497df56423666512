//===- ScheduleSelector.cpp - Choose a schedule ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/ScheduleSelector.h"

#include "attn/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace attn {

const Candidate *Selection::getBest(ScheduleKind kind) const {
  for (const Candidate &candidate : ranked)
    if (candidate.schedule.kind == kind)
      return &candidate;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Ranking
//===----------------------------------------------------------------------===//

/// Seconds by which candidates are ranked.
static double getRankedSeconds(const Candidate &candidate,
                               const SelectorOptions &options) {
  double margin = candidate.schedule.kind == ScheduleKind::SmallCache
                      ? options.smallCacheMargin
                      : 1;
  return candidate.cost.seconds * margin;
}

static void rank(std::vector<Candidate> &candidates,
                 const SelectorOptions &options) {
  // Of equally fast schedules the one that takes less; then that which was
  // enumerated first.
  using Key = std::tuple<bool, double, int64_t, int64_t, int64_t, size_t>;
  std::vector<Key> keys;
  keys.reserve(candidates.size());
  for (const Candidate &candidate : candidates)
    keys.emplace_back(
        candidate.cost.maySpill, getRankedSeconds(candidate, options),
        candidate.cost.sharedMemoryBytes, candidate.cost.registersPerThread,
        candidate.schedule.stages, keys.size());
  std::sort(keys.begin(), keys.end());
  std::vector<Candidate> ranked;
  ranked.reserve(candidates.size());
  for (const Key &key : keys)
    ranked.push_back(std::move(candidates[std::get<5>(key)]));
  candidates = std::move(ranked);
}

/// Products of a key tile that a warp's code holds: mma_sync kernels are
/// unrolled over the tile.
static int64_t getUnrolledProducts(const Schedule &schedule) {
  return schedule.getRowsPerWarp() * schedule.tileN *
         (schedule.tileD + schedule.tileDv);
}

/// So few that code is small: those of the 16 rows of a decode step.
static constexpr int64_t kFewProducts = 16 * 64 * 256;

/// By what one of two schedules that are as fast is preferred: less code, which
/// compiles faster and leaves more registers, none of it copies; and of small
/// code fewer instructions, which longer tiles have, and less shared memory, so
/// that more CTAs copy while one computes.
static std::tuple<int64_t, bool, double, int64_t>
getEffort(const Candidate &candidate) {
  int64_t products = getUnrolledProducts(candidate.schedule);
  bool copies = candidate.schedule.producerWarps == 0;
  if (products > kFewProducts)
    return {products, copies, 0, 0};
  return {kFewProducts, copies, candidate.cost.getTerm("issue"),
          candidate.cost.sharedMemoryBytes};
}

/// Of the schedules that the model cannot tell from the fastest, puts the one
/// with the least effort first: less code is worth more time than fewer
/// instructions, which the model has counted.
static void preferLessEffort(std::vector<Candidate> &ranked,
                             const SelectorOptions &options) {
  constexpr double kForCode = 1.03, kForInstructions = 1.01;
  const Candidate &fastest = ranked.front();
  if (fastest.schedule.mma != MmaFamily::MmaSync)
    return;
  double seconds = getRankedSeconds(fastest, options);
  auto best = ranked.begin();
  for (auto it = ranked.begin(); it != ranked.end(); ++it) {
    bool hasLessCode =
        std::get<0>(getEffort(*it)) < std::get<0>(getEffort(*best));
    double limit = seconds * (hasLessCode ? kForCode : kForInstructions);
    if (it->cost.maySpill == fastest.cost.maySpill &&
        it->schedule.kind == fastest.schedule.kind &&
        it->schedule.mma == fastest.schedule.mma &&
        getRankedSeconds(*it, options) <= limit &&
        getEffort(*it) < getEffort(*best))
      best = it;
  }
  std::rotate(ranked.begin(), best, best + 1);
}

/// The problem as the kernels of `schedule` see it: with the density of their
/// own tiles, and without, where they skip nothing between the first and the
/// last visible key.
static AttentionProblem getSeenProblem(const AttentionProblem &problem,
                                       const Schedule &schedule,
                                       const SelectorOptions &options) {
  AttentionProblem seen = problem;
  if (schedule.kind == ScheduleKind::SmallCache &&
      !options.features.smallCacheDensity)
    seen.mask.density = 1;
  else if (options.density)
    seen.mask.density = options.density(schedule);
  return seen;
}

/// Judges every schedule of the space.
static Selection judge(const AttentionProblem &problem,
                       const TargetInfo &target,
                       const ScheduleOverrides &overrides,
                       const SelectorOptions &options) {
  static SelectionObserver silent;
  SelectionObserver &observer = options.observer ? *options.observer : silent;
  Selection selection;
  std::vector<Schedule> schedules =
      enumerateSchedules(problem, target, overrides, options.features);
  selection.ranked.reserve(schedules.size());
  for (const Schedule &schedule : schedules) {
    std::vector<Violation> violations =
        check(problem, schedule, target, options.features);
    if (violations.empty()) {
      AttentionProblem seen = getSeenProblem(problem, schedule, options);
      selection.ranked.push_back({schedule, getCost(seen, schedule, target)});
      observer.onLegal(selection.ranked.back());
    } else {
      selection.rejected.push_back({schedule, std::move(violations.front())});
      observer.onRejected(selection.rejected.back());
    }
  }
  rank(selection.ranked, options);
  if (!selection.ranked.empty())
    preferLessEffort(selection.ranked, options);
  return selection;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// How far a schedule is from the fields a user has set: a doubling of a number
/// counts 1, another kind or instruction 4.
static double getDistance(const Schedule &schedule, const Schedule &wanted,
                          const ScheduleOverrides &overrides) {
  double distance = 0;
  for (const ScheduleField &field : getScheduleFields()) {
    if (!overrides.has(field.name))
      continue;
    std::string have = getScheduleField(schedule, field.name);
    std::string want = getScheduleField(wanted, field.name);
    int64_t a = 0, b = 0;
    if (parseInteger(have, a) && parseInteger(want, b))
      distance += std::fabs(
          std::log2(static_cast<double>(std::max<int64_t>(a + 1, 1))) -
          std::log2(static_cast<double>(std::max<int64_t>(b + 1, 1))));
    else if (have != want)
      distance += 4;
  }
  return distance;
}

/// The rejected schedule that asks for least, which names the binding limit.
static const Rejection &getClosest(const std::vector<Rejection> &rejected) {
  return *std::min_element(rejected.begin(), rejected.end(),
                           [](const Rejection &a, const Rejection &b) {
                             auto key = [](const Rejection &r) {
                               return std::make_tuple(
                                   r.violation.constraint == "feature",
                                   r.schedule.tileM * r.schedule.tileDv,
                                   r.schedule.tileN * r.schedule.stages);
                             };
                             return key(a) < key(b);
                           });
}

static std::string describeNearest(const AttentionProblem &problem,
                                   const TargetInfo &target,
                                   const ScheduleOverrides &overrides,
                                   const SelectorOptions &options) {
  SelectorOptions silent = options;
  silent.observer = nullptr;
  Schedule wanted;
  overrides.apply(wanted);
  // What bits depend on is no matter of speed.
  ScheduleOverrides kept;
  if (overrides.has("invariance"))
    (void)kept.set("invariance", getName(wanted.invariance));
  Selection free = judge(problem, target, kept, silent);
  if (free.ranked.empty())
    return "; no schedule is legal without them either";
  const Candidate &nearest =
      *std::min_element(free.ranked.begin(), free.ranked.end(),
                        [&](const Candidate &a, const Candidate &b) {
                          return getDistance(a.schedule, wanted, overrides) <
                                 getDistance(b.schedule, wanted, overrides);
                        });
  return "; the nearest legal schedule is " + nearest.schedule.print();
}

static Error makeNoScheduleError(const AttentionProblem &problem,
                                 const TargetInfo &target,
                                 const ScheduleOverrides &overrides,
                                 const SelectorOptions &options,
                                 const Selection &selection) {
  std::string message = "no schedule is legal";
  if (!overrides.empty())
    message += " with " + overrides.print();
  message += " on target " + target.name;
  if (selection.rejected.empty())
    message += ": none fits the problem";
  else
    message += ": " + getClosest(selection.rejected).violation.message;
  if (!overrides.empty())
    message += describeNearest(problem, target, overrides, options);
  return Error{message};
}

//===----------------------------------------------------------------------===//
// Invariance
//===----------------------------------------------------------------------===//

/// Keys of a split with invariance=prefix: a token of a long sequence has some
/// CTAs of a key head, and a chunk of rows few parts to be merged.
static constexpr int64_t kPrefixKeys = 2048;

/// With invariance=prefix, what the bits of a row depend on is not ranked:
/// where `fields` leaves it open, it follows from the head dims.
static ScheduleOverrides fixPrefix(const AttentionProblem &problem,
                                   ScheduleOverrides fields) {
  Schedule values;
  fields.apply(values);
  if (values.invariance != Invariance::Prefix)
    return fields;
  auto setIfOpen = [&](const char *name, const std::string &value) {
    if (!fields.has(name))
      (void)fields.set(name, value);
  };
  // Tiles that fit in shared memory beside any number of rows.
  bool isNarrow = std::max(problem.headDim, problem.valueDim) <= 128;
  setIfOpen("kind", "split_kv");
  setIfOpen("mma", "mma_sync");
  setIfOpen("tile_n", isNarrow ? "64" : "32");
  fields.apply(values);
  if (values.kind == ScheduleKind::SplitKV && values.splits <= 1)
    setIfOpen("split_keys", std::to_string(alignUp(kPrefixKeys, values.tileN)));
  return fields;
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

Result<Selection> selectSchedule(const AttentionProblem &problem,
                                 const TargetInfo &target,
                                 const ScheduleOverrides &given,
                                 const SelectorOptions &options) {
  if (Status status = problem.verify(); !status)
    return Error{status.error()};
  ScheduleOverrides overrides = fixPrefix(problem, given);
  Selection selection = judge(problem, target, overrides, options);
  if (selection.ranked.empty())
    return makeNoScheduleError(problem, target, overrides, options, selection);
  selection.bounds = getLowerBounds(HeadShape::get(problem),
                                    target.sharedMemoryPerCtaBytes /
                                        getSizeBytes(problem.elementType),
                                    problem.pass);
  return selection;
}

} // namespace attn
