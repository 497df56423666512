//===- BackwardReport.h - The kernels of a backward as text -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attn-schedule prints of a problem with pass=backward.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_BACKWARDREPORT_H
#define ATTN_SCHEDULE_BACKWARDREPORT_H

#include "attn/Schedule/BackwardSchedule.h"

#include <nlohmann/json_fwd.hpp>

namespace attn {

/// A line for each kernel, and the time of all.
std::string printBackwardReport(const AttentionProblem &problem,
                                const TargetInfo &target,
                                const BackwardSelection &selection);

/// {"schema_version", "problem", "target", "seconds", "workspace_bytes",
/// "kernels": [{"kernel",
/// "text", "seconds", "shared_memory_bytes", "registers_per_thread",
/// "operands": {NAME: {"read_bytes", "written_bytes"}}}]}
nlohmann::ordered_json
getBackwardReportJson(const AttentionProblem &problem, const TargetInfo &target,
                      const BackwardSelection &selection);

} // namespace attn

#endif // ATTN_SCHEDULE_BACKWARDREPORT_H
