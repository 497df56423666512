//===- Sweep.h - Selections over a range of sizes --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTN_SCHEDULE_SWEEP_H
#define ATTN_TOOLS_ATTN_SCHEDULE_SWEEP_H

#include "attn/Schedule/ScheduleReport.h"

#include <optional>

namespace attn {

/// FIRST, FIRST * FACTOR, ... up to LAST, for one or more fields at once.
struct SweepRange {
  std::vector<std::string> names; ///< problem or target fields
  int64_t first = 0;
  int64_t last = 0;
  double factor = 2;

  /// Parses "D=64:4096", "M,N=1024:65536:4", "smem-bytes=16384:262144".
  static Result<SweepRange> parse(std::string_view text);

  std::vector<int64_t> getValues() const;
};

struct SweepPoint {
  int64_t value;
  AttentionProblem problem;
  TargetInfo target;
  std::optional<Selection> selection; ///< empty where no schedule is legal
  std::string error;                  ///< then why
  /// Elements that the idealised algorithms move with a CTA's shared memory as
  /// fast memory, and the lower bound there. Empty where no tile fits.
  std::optional<int64_t> idealLarge = std::nullopt;
  std::optional<int64_t> idealSmall = std::nullopt;
  int64_t idealBound = 0;
};

/// Selects with the range's fields set to `value`. Fails where problem or
/// target are malformed; a problem without a legal schedule is a point.
Result<SweepPoint> runSweepPoint(const SweepRange &range, int64_t value,
                                 std::string problemText, TargetInfo target,
                                 const ScheduleOverrides &overrides);

/// One line for each point.
std::string printSweep(const SweepRange &range,
                       const std::vector<SweepPoint> &points);
nlohmann::ordered_json getSweepJson(const SweepRange &range,
                                    const std::vector<SweepPoint> &points);

} // namespace attn

#endif // ATTN_TOOLS_ATTN_SCHEDULE_SWEEP_H
