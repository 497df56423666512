//===- PlanReport.cpp - Plans as text and JSON ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Planner.h"

#include "attn/Support/Format.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attn {

static size_t countShown(const PlanSelection &selection, int64_t top) {
  return std::min<size_t>(selection.ranked.size(), top);
}

std::string printPlanReport(const AttentionProblem &problem,
                            const Topology &topology,
                            const PlanSelection &selection, int64_t top) {
  const PlanChoice &best = selection.ranked.front();
  std::string text =
      "problem   " + problem.print() + "\n" + "ranks     " + topology.print() +
      "\n" + "plan      " + best.plan.printScheme() + ", " +
      best.plan.placement + " chunks of " + std::to_string(best.plan.chunk) +
      "\n" + "bounds    " + formatSeconds(selection.leastSeconds) +
      " of work for each rank; " + formatBytes(selection.leastBytes) +
      " of keys and values that a rank sees and does not own, "
      "all ranks\n\n";
  Table table({"rank", "scheme", "placement", "time", "waiting", "sent",
               "memory", "max/mean work", "against rank 1"},
              {Table::Right, Table::Left, Table::Left, Table::Right,
               Table::Right, Table::Right, Table::Right, Table::Right,
               Table::Left});
  for (size_t i = 0; i < countShown(selection, top); ++i) {
    const auto &[plan, cost] = selection.ranked[i];
    double slower = cost.seconds / best.cost.seconds;
    table.addRow({std::to_string(i + 1), plan.printScheme(), plan.placement,
                  formatSeconds(cost.seconds),
                  formatSeconds(cost.seconds - cost.computeSeconds),
                  formatBytes(cost.sentBytes), formatBytes(cost.memoryBytes),
                  formatFixed(cost.balance, 2),
                  i == 0 ? "chosen" : formatFixed(slower, 2) + "x slower"});
  }
  text += table.print();
  if (!selection.rejections.empty())
    text += "\nNot possible:\n";
  for (const std::string &rejection : selection.rejections)
    text += "  " + rejection + "\n";
  return text +
         "\nOf the slowest rank each. Times are predicted, links assumed "
         "unless they are given.\n";
}

nlohmann::json getPlanReportJson(const AttentionProblem &problem,
                                 const Topology &topology,
                                 const PlanSelection &selection, int64_t top) {
  auto ranked = nlohmann::json::array();
  for (size_t i = 0; i < countShown(selection, top); ++i) {
    const auto &[plan, cost] = selection.ranked[i];
    ranked.push_back({{"scheme", plan.printScheme()},
                      {"placement", plan.placement},
                      {"seconds", cost.seconds},
                      {"compute_seconds", cost.computeSeconds},
                      {"sent_bytes", cost.sentBytes},
                      {"memory_bytes", cost.memoryBytes},
                      {"balance", cost.balance}});
  }
  return {{"problem", problem.print()},
          {"topology", topology.print()},
          {"least_seconds", selection.leastSeconds},
          {"least_bytes", selection.leastBytes},
          {"ranked", std::move(ranked)},
          {"rejections", selection.rejections},
          {"plan", getPlanJson(selection.ranked.front().plan)}};
}

} // namespace attn
