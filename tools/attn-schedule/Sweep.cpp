//===- Sweep.cpp - Selections over a range of sizes -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"

#include "attn/Schedule/TwoLevelModel.h"
#include "attn/Support/Format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace attn {

//===----------------------------------------------------------------------===//
// Range
//===----------------------------------------------------------------------===//

/// A point is a selection, up to some tens of milliseconds.
static constexpr int kMostPoints = 10000;

Result<SweepRange> SweepRange::parse(std::string_view text) {
  Error error{"expected a sweep NAME[,NAME]=FIRST:LAST[:FACTOR], got '" +
              std::string(text) + "'"};
  size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return error;
  SweepRange range;
  range.names = split(text.substr(0, equals), ',');
  std::vector<std::string> numbers = split(text.substr(equals + 1), ':');
  if (numbers.size() < 2 || numbers.size() > 3 ||
      !parseInteger(numbers[0], range.first) ||
      !parseInteger(numbers[1], range.last) ||
      (numbers.size() == 3 && !parseDouble(numbers[2], range.factor)))
    return error;
  if (range.first < 1 || range.last < range.first || !(range.factor > 1))
    return Error{"expected 1 <= FIRST <= LAST and FACTOR > 1 in sweep '" +
                 std::string(text) + "'"};
  double steps = std::log(static_cast<double>(range.last) /
                          static_cast<double>(range.first)) /
                 std::log(range.factor);
  if (!(steps < kMostPoints))
    return Error{"expected at most " + std::to_string(kMostPoints) +
                 " values of a sweep, got '" + std::string(text) + "'"};
  return range;
}

std::vector<int64_t> SweepRange::getValues() const {
  std::vector<int64_t> values;
  double value = static_cast<double>(first);
  // Behind 2^63 a value is no integer.
  while (value < 0x1p63 && static_cast<int64_t>(value + 0.5) <= last) {
    auto rounded = static_cast<int64_t>(value + 0.5);
    if (values.empty() || values.back() != rounded)
      values.push_back(rounded);
    value *= factor;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// One point
//===----------------------------------------------------------------------===//

/// The problem text with field `name` replaced or added.
static std::string setProblemField(const std::string &text,
                                   const std::string &name, int64_t value) {
  std::vector<std::string> fields;
  for (const std::string &field : split(text, ' '))
    if (!field.empty() && field.compare(0, name.size() + 1, name + "=") != 0)
      fields.push_back(field);
  fields.push_back(name + "=" + std::to_string(value));
  return join(fields, " ");
}

static bool isTargetField(const std::string &name) {
  std::vector<TargetField> fields = getTargetFields();
  return std::any_of(
      fields.begin(), fields.end(),
      [&](const TargetField &field) { return field.name == name; });
}

/// What the idealised model moves with one CTA's shared memory as fast memory.
static void setIdealCounts(SweepPoint &point) {
  int64_t cache = point.target.sharedMemoryPerCtaBytes /
                  getSizeBytes(point.problem.elementType);
  int64_t heads = point.problem.getKvHeadCount();
  HeadShape head = HeadShape::get(point.problem);
  point.idealBound = getLowerBounds(head, cache).get() * heads;
  if (auto best = getBestLargeForward(head, cache))
    point.idealLarge = best->traffic.getTotal() * heads;
  if (auto best = getBestSmallForward(head, cache))
    point.idealSmall = best->traffic.getTotal() * heads;
}

Result<SweepPoint> runSweepPoint(const SweepRange &range, int64_t value,
                                 std::string problemText, TargetInfo target,
                                 const ScheduleOverrides &overrides) {
  for (const std::string &name : range.names) {
    if (!isTargetField(name)) {
      problemText = setProblemField(problemText, name, value);
      continue;
    }
    Status status = setTargetField(target, name, std::to_string(value));
    if (!status)
      return Error{status.error()};
  }
  Result<AttentionProblem> problem = AttentionProblem::parse(problemText);
  if (!problem)
    return Error{problem.error()};
  SweepPoint point = {value, *problem, target, std::nullopt, ""};
  SelectorOptions emitted;
  emitted.features = getGeneratorFeatures(*problem, target);
  Result<Selection> selection =
      selectSchedule(*problem, target, overrides, emitted);
  if (selection)
    point.selection = std::move(*selection);
  else
    point.error = selection.error();
  setIdealCounts(point);
  return point;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static std::string printCandidate(const Candidate *candidate) {
  if (!candidate)
    return "-";
  return formatBytes(candidate->cost.getL2Bytes()) + " in " +
         formatSeconds(candidate->cost.seconds);
}

static std::string printElements(const std::optional<int64_t> &elements) {
  return elements ? formatCount(*elements) : "-";
}

std::string printSweep(const SweepRange &range,
                       const std::vector<SweepPoint> &points) {
  Table table(
      {join(range.names, ","), "chosen", "large_cache", "split_kv",
       "small_cache", "limiter", "ideal large", "ideal small", "ideal bound"},
      {Table::Right, Table::Left, Table::Right, Table::Right, Table::Right,
       Table::Left, Table::Right, Table::Right, Table::Right});
  for (const SweepPoint &point : points) {
    auto get = [&](ScheduleKind kind) {
      return printCandidate(point.selection ? point.selection->getBest(kind)
                                            : nullptr);
    };
    const Candidate *chosen =
        point.selection ? &point.selection->chosen() : nullptr;
    table.addRow(
        {std::to_string(point.value),
         chosen ? std::string(getName(chosen->schedule.kind)) : "none",
         get(ScheduleKind::LargeCache), get(ScheduleKind::SplitKV),
         get(ScheduleKind::SmallCache), chosen ? chosen->cost.limiter : "-",
         printElements(point.idealLarge), printElements(point.idealSmall),
         formatCount(point.idealBound)});
  }
  return table.print();
}

nlohmann::ordered_json getSweepJson(const SweepRange &range,
                                    const std::vector<SweepPoint> &points) {
  using Json = nlohmann::ordered_json;
  auto orNull = [](const std::optional<int64_t> &elements) {
    return elements ? Json(*elements) : Json();
  };
  Json rows = Json::array();
  for (const SweepPoint &point : points) {
    Json row = {{"value", point.value},
                {"ideal",
                 {{"large_elements", orNull(point.idealLarge)},
                  {"small_elements", orNull(point.idealSmall)},
                  {"bound_elements", point.idealBound}}}};
    if (point.selection)
      row["report"] = getReportJson(point.problem, point.target,
                                    *point.selection, {/*maxRanked=*/1});
    else
      row["error"] = point.error;
    rows.push_back(std::move(row));
  }
  return {{"sweep", range.names}, {"points", rows}};
}

} // namespace attn
