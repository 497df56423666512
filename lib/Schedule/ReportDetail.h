//===- ReportDetail.h - What both forms of a report show -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SCHEDULE_REPORTDETAIL_H
#define ATTN_LIB_SCHEDULE_REPORTDETAIL_H

#include "attn/Schedule/ScheduleReport.h"

namespace attn {
namespace detail {

/// A ranked schedule and its place, from 1.
struct RankedRow {
  size_t rank;
  const Candidate *candidate;
};

/// The first `maxRanked` schedules and the best of each kind.
std::vector<RankedRow> getRankedRows(const Selection &selection,
                                     int64_t maxRanked);

/// Rejections for one reason, with the one that came nearest to being legal.
struct RejectionGroup {
  std::string constraint;
  int64_t count = 0;
  const Rejection *example = nullptr;
};

/// In the order in which the constraints first appear.
std::vector<RejectionGroup> groupRejections(const Selection &selection);

} // namespace detail
} // namespace attn

#endif // ATTN_LIB_SCHEDULE_REPORTDETAIL_H
