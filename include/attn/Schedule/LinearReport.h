//===- LinearReport.h - A linear attention as text --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attn-schedule prints of a linear attention, and from which length on it
// is faster than softmax attention.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_LINEARREPORT_H
#define ATTN_SCHEDULE_LINEARREPORT_H

#include "attn/Schedule/LinearAttention.h"

#include <nlohmann/json_fwd.hpp>

namespace attn {

/// The least multiple of 64 from which on linear attention is predicted to be
/// faster than causal softmax attention on tensors of that length, or nothing
/// up to 2^20. Fails where a target has no kernel of one of them.
Result<std::optional<int64_t>> findCrossover(const LinearProblem &problem,
                                             const TargetInfo &target,
                                             const ScheduleOverrides &given);

std::string printLinearReport(const LinearProblem &problem,
                              const TargetInfo &target,
                              const LinearSelection &selection,
                              std::optional<int64_t> crossover);

/// Of the gradients of query, key and value.
using LinearBackward = std::array<LinearSelection, 3>;
Result<LinearBackward> selectLinearBackward(const LinearProblem &problem,
                                            const TargetInfo &target,
                                            const ScheduleOverrides &given);
std::string printLinearBackward(const LinearProblem &problem,
                                const TargetInfo &target,
                                const LinearBackward &selections);
nlohmann::ordered_json getLinearBackwardJson(const LinearProblem &problem,
                                             const TargetInfo &target,
                                             const LinearBackward &selections);

nlohmann::ordered_json getLinearReportJson(const LinearProblem &problem,
                                           const TargetInfo &target,
                                           const LinearSelection &selection,
                                           std::optional<int64_t> crossover);

} // namespace attn

#endif // ATTN_SCHEDULE_LINEARREPORT_H
