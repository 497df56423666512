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

/// Of each placement, how far the rank with most work is from the mean.
static std::string printBalance(const PlanSelection &selection) {
  std::string text;
  for (const char *name :
       {"contiguous", "zigzag", "striped", "documents", "heap", "swapped"})
    for (const auto &[plan, cost] : selection.ranked)
      if (plan.placement == name && plan.headShards == 1 &&
          !plan.movesQueries()) {
        text += (text.empty() ? "" : ", ") + std::string(name) + " " +
                formatFixed(cost.balance, 2);
        break;
      }
  return text;
}

/// Ranks that a table has at most.
static constexpr size_t kMostRanks = 16;

/// What each rank does in the first plan, and how long it has nothing to do.
static std::string printRanks(const PlanSelection &selection) {
  const PlanChoice &best = selection.ranked.front();
  Table table({"rank", "tokens", "received", "stages", "sent", "work", "idle"},
              {Table::Right, Table::Right, Table::Right, Table::Right,
               Table::Right, Table::Right, Table::Right});
  size_t shown = std::min(kMostRanks, selection.times.size());
  for (size_t r = 0; r < shown; ++r) {
    const RankPlan &rank = best.plan.ranks[r];
    const RankTime &time = selection.times[r];
    int64_t received = 0;
    size_t stages = 0;
    for (const Stage &stage : rank.stages) {
      stages += !stage.calls.empty();
      for (const Transfer &transfer : stage.receive)
        received += transfer.tokens.count();
    }
    table.addRow({std::to_string(r), std::to_string(rank.rows.count()),
                  std::to_string(received), std::to_string(stages),
                  formatBytes(time.sentBytes), formatSeconds(time.busy),
                  formatSeconds(best.cost.seconds - time.busy)});
  }
  std::string text = table.print();
  if (shown < selection.times.size())
    text += "and " + std::to_string(selection.times.size() - shown) +
            " ranks more\n";
  return text;
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
      "all ranks\n";
  if (std::string balance = printBalance(selection); !balance.empty())
    text += "balance   most work of a rank / mean: " + balance + "\n";
  text += "\n";
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
  text += "\nThe first plan, in tokens:\n" + printRanks(selection);
  if (!selection.rejections.empty())
    text += "\nNot possible:\n";
  for (const std::string &rejection : selection.rejections)
    text += "  " + rejection + "\n";
  return text +
         "\nSchemes: of the slowest rank each. Times are predicted, links "
         "assumed unless they are given.\n";
}

static nlohmann::json getTimesJson(const std::vector<RankTime> &times) {
  auto list = nlohmann::json::array();
  for (const RankTime &time : times) {
    auto stages = nlohmann::json::array();
    for (const StageTime &stage : time.stages)
      stages.push_back({{"arrived", stage.arrived},
                        {"begin", stage.begin},
                        {"end", stage.end},
                        {"sent_bytes", stage.sentBytes}});
    list.push_back({{"stages", std::move(stages)},
                    {"end", time.end},
                    {"busy", time.busy},
                    {"sent_bytes", time.sentBytes}});
  }
  return list;
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
          {"times", getTimesJson(selection.times)},
          {"plan", getPlanJson(selection.ranked.front().plan)}};
}

} // namespace attn
