//===- ScheduleReportJson.cpp - A selection as data -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportDetail.h"
#include "attn/Support/Format.h"

#include <nlohmann/json.hpp>

namespace attn {

using Json = nlohmann::ordered_json;

/// What setTargetField takes.
static Json getNumbersJson(const TargetInfo &target) {
  Json json;
  for (const TargetField &field : getTargetFields())
    json[field.name] = std::stod(printTargetField(target, field.name));
  return json;
}

/// Numbers as numbers, flags as booleans, names as strings.
static Json getScheduleJson(const Schedule &schedule) {
  Json json;
  for (const ScheduleField &field : getScheduleFields()) {
    std::string value = getScheduleField(schedule, field.name);
    switch (field.type) {
    case ScheduleField::Type::Integer:
      json[std::string(field.name)] = std::stoll(value);
      break;
    case ScheduleField::Type::Flag:
      json[std::string(field.name)] = value == "1";
      break;
    case ScheduleField::Type::Name:
      json[std::string(field.name)] = value;
      break;
    }
  }
  return json;
}

static Json getCostJson(const Cost &cost) {
  Json operands = Json::object(), terms = Json::object();
  for (const OperandBytes &moved : cost.operands)
    operands[std::string(getName(moved.operand))] = {
        {"read_bytes", moved.read}, {"written_bytes", moved.written}};
  for (const CostTerm &term : cost.terms)
    terms[term.name] = term.seconds;
  return {{"seconds", cost.seconds},
          {"limiter", cost.limiter},
          {"terms", terms},
          {"l2_read_bytes", cost.l2ReadBytes},
          {"l2_written_bytes", cost.l2WriteBytes},
          {"operands", operands},
          {"dram_bytes", cost.dramBytes},
          {"workspace_bytes", cost.workspaceBytes},
          {"ctas", cost.ctas},
          {"ctas_per_sm", cost.ctasPerSm},
          {"waves", cost.waves},
          {"shared_memory_bytes", cost.sharedMemoryBytes},
          {"registers_per_thread", cost.registersPerThread},
          {"may_spill", cost.maySpill},
          {"visible_scores", cost.visibleScores},
          {"computed_scores", cost.computedScores},
          {"flops", cost.flops}};
}

static Json getBoundsJson(const LowerBounds &bounds, int64_t heads) {
  return {{"elements", bounds.get() * heads},
          {"compulsory", bounds.compulsory * heads},
          {"large_cache", bounds.largeCache * heads},
          {"small_cache", bounds.smallCache * heads}};
}

static Json getRejectionsJson(const Selection &selection) {
  Json rejected = Json::array();
  for (const detail::RejectionGroup &group : detail::groupRejections(selection))
    rejected.push_back({{"constraint", group.constraint},
                        {"count", group.count},
                        {"nearest", group.example->schedule.print()},
                        {"message", group.example->violation.message}});
  return rejected;
}

Json getReportJson(const AttentionProblem &problem, const TargetInfo &target,
                   const Selection &selection, const ReportOptions &options) {
  Json ranked = Json::array();
  for (const auto &[rank, candidate] :
       detail::getRankedRows(selection, options.maxRanked)) {
    Json row = {
        {"rank", rank},
        {"text", candidate->schedule.print()},
        {"schedule", getScheduleJson(candidate->schedule)},
        {"cost", getCostJson(candidate->cost)},
        {"ratio_to_lower_bound",
         getRatioToLowerBound(problem, candidate->schedule, selection.bounds)}};
    if (rank > 1)
      row["why_not"] = describeLoss(*candidate, selection.chosen());
    ranked.push_back(std::move(row));
  }
  return {{"schema_version", 1},
          {"problem", problem.print()},
          {"target",
           {{"name", target.name},
            {"product", target.product},
            {"shared_memory_bytes", target.sharedMemoryPerCtaBytes},
            {"numbers", getNumbersJson(target)}}},
          {"lower_bound",
           getBoundsJson(selection.bounds, problem.getKvHeadCount())},
          {"legal", selection.ranked.size()},
          {"ranked", ranked},
          {"rejected", getRejectionsJson(selection)}};
}

} // namespace attn
