//===- ScheduleReport.h - A selection for people and programs ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_SCHEDULEREPORT_H
#define ATTN_SCHEDULE_SCHEDULEREPORT_H

#include "attn/Schedule/ScheduleSelector.h"

#include <nlohmann/json_fwd.hpp>

namespace attn {

struct ReportOptions {
  /// Ranked schedules to show, the chosen one included; the best of each kind
  /// is shown in any case.
  int64_t maxRanked = 10;
};

/// Elements that the chosen kind of schedule moves, over the lower bound.
double getRatioToLowerBound(const AttentionProblem &problem,
                            const Schedule &schedule,
                            const LowerBounds &bounds);

/// Why `candidate` ranks below `chosen`, e.g. "1.21x slower: shared_memory
/// 12.4 us more".
std::string describeLoss(const Candidate &candidate, const Candidate &chosen);

/// Tables: the ranked schedules with the reason why they lost, the terms and
/// the traffic of the chosen one, and the rejections by constraint.
std::string printReport(const AttentionProblem &problem,
                        const TargetInfo &target, const Selection &selection,
                        const ReportOptions &options = {});

/// The same as data; docs/CostModel.md describes the fields.
nlohmann::ordered_json getReportJson(const AttentionProblem &problem,
                                     const TargetInfo &target,
                                     const Selection &selection,
                                     const ReportOptions &options = {});

} // namespace attn

#endif // ATTN_SCHEDULE_SCHEDULEREPORT_H
