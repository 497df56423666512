//===- ScheduleReport.cpp - A selection as text ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/ScheduleReport.h"

#include "ReportDetail.h"
#include "attn/Schedule/Constraints.h"
#include "attn/Schedule/Family.h"
#include "attn/Support/Format.h"

#include <algorithm>

namespace attn {

//===----------------------------------------------------------------------===//
// What to show
//===----------------------------------------------------------------------===//

std::vector<detail::RankedRow> detail::getRankedRows(const Selection &selection,
                                                     int64_t maxRanked) {
  std::vector<RankedRow> rows;
  for (size_t i = 0; i < selection.ranked.size(); ++i) {
    const Candidate &candidate = selection.ranked[i];
    bool isBestOfKind =
        selection.getBest(candidate.schedule.kind) == &candidate;
    if (static_cast<int64_t>(i) < maxRanked || isBestOfKind)
      rows.push_back({i + 1, &candidate});
  }
  return rows;
}

std::vector<detail::RejectionGroup>
detail::groupRejections(const Selection &selection) {
  std::vector<RejectionGroup> groups;
  for (const Rejection &rejection : selection.rejected) {
    auto group = std::find_if(
        groups.begin(), groups.end(), [&](const RejectionGroup &g) {
          return g.constraint == rejection.violation.constraint;
        });
    if (group == groups.end()) {
      groups.push_back({rejection.violation.constraint, 0, &rejection});
      group = groups.end() - 1;
    }
    ++group->count;
    auto size = [](const Rejection &r) {
      return (r.schedule.tileM + r.schedule.tileN * r.schedule.stages) *
             (r.schedule.tileD + r.schedule.tileDv);
    };
    if (size(rejection) < size(*group->example))
      group->example = &rejection;
  }
  return groups;
}

double getRatioToLowerBound(const AttentionProblem &problem,
                            const Schedule &schedule,
                            const LowerBounds &bounds) {
  return static_cast<double>(getTraffic(problem, schedule).getTotal()) /
         static_cast<double>(bounds.get() * problem.getKvHeadCount());
}

std::string describeLoss(const Candidate &candidate, const Candidate &chosen) {
  if (candidate.cost.maySpill && !chosen.cost.maySpill)
    return "may spill registers";
  double ratio = candidate.cost.seconds / chosen.cost.seconds;
  const CostTerm *worst = nullptr;
  double most = 0;
  for (const CostTerm &term : candidate.cost.terms) {
    double excess = term.seconds - chosen.cost.getTerm(term.name);
    // A term far below the limiter explains nothing.
    if (excess > most && term.seconds > candidate.cost.seconds / 4) {
      most = excess;
      worst = &term;
    }
  }
  std::string text =
      ratio < 1.005 ? "as fast" : formatFixed(ratio, 2) + "x slower";
  bool isOtherKind = candidate.schedule.kind != chosen.schedule.kind;
  if (ratio < 0.995)
    return formatFixed(ratio, 2) + (isOtherKind
                                        ? "x, within the small-cache margin"
                                        : "x, too close to tell: more code "
                                          "or instructions");
  if (worst)
    text += ": " + worst->name + " " + formatSeconds(most) + " more";
  else if (ratio < 1.005 && ratio >= 0.995)
    text += ", but takes more shared memory, registers or stages";
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "128x64", with the head-dim slices of a small-cache schedule.
static std::string printTiles(const Schedule &schedule) {
  std::string text =
      std::to_string(schedule.tileM) + "x" + std::to_string(schedule.tileN);
  if (schedule.kind == ScheduleKind::SmallCache)
    text += "x" + std::to_string(schedule.tileD);
  return text + "/" + std::to_string(schedule.tileDv);
}

/// What else tells schedules with the same tiles apart.
static std::string printOptions(const Schedule &schedule) {
  std::vector<std::string> options;
  // Where it is a choice.
  if (schedule.producerWarps > 0 && !getFamily(schedule.mma).hasRoles())
    options.push_back("producer");
  if (schedule.queryInRegisters)
    options.push_back("q_in_regs");
  if (schedule.queryPrologue == QueryPrologue::Fused)
    options.push_back("q_fused");
  if (schedule.packGqa)
    options.push_back("pack_gqa");
  if (schedule.splits > 1)
    options.push_back("splits=" + std::to_string(schedule.splits));
  if (schedule.splitKeys)
    options.push_back("split_keys=" + std::to_string(schedule.splitKeys));
  if (schedule.isPlanned())
    options.push_back("balance=" + std::string(getName(schedule.balance)));
  if (schedule.clusterM * schedule.clusterD > 1)
    options.push_back("cluster=" + std::to_string(schedule.clusterM) + "x" +
                      std::to_string(schedule.clusterD));
  if (schedule.exp2OnFma)
    options.push_back("exp2_on_fma=" + std::to_string(schedule.exp2OnFma));
  if (schedule.promote)
    options.push_back("promote");
  if (schedule.chunkRows)
    options.push_back("chunk=" + std::to_string(schedule.chunkRows));
  return options.empty() ? "-" : join(options, " ");
}

static std::string printRanking(const AttentionProblem &problem,
                                const Selection &selection,
                                const ReportOptions &options) {
  Table table(
      {"rank", "kind", "tiles", "stages", "warps", "options", "ctas/sm", "smem",
       "regs", "L2 bytes", "x bound", "time", "limiter", "against rank 1"},
      {Table::Right, Table::Left, Table::Left, Table::Right, Table::Right,
       Table::Left, Table::Right, Table::Right, Table::Right, Table::Right,
       Table::Right, Table::Right, Table::Left, Table::Left});
  for (const auto &[rank, candidate] :
       detail::getRankedRows(selection, options.maxRanked)) {
    const Schedule &schedule = candidate->schedule;
    const Cost &cost = candidate->cost;
    double ratio = getRatioToLowerBound(problem, schedule, selection.bounds);
    table.addRow(
        {std::to_string(rank), std::string(getName(schedule.kind)),
         printTiles(schedule), std::to_string(schedule.stages),
         std::to_string(schedule.warps), printOptions(schedule),
         std::to_string(cost.ctasPerSm), formatBytes(cost.sharedMemoryBytes),
         std::to_string(cost.registersPerThread),
         formatBytes(cost.getL2Bytes()), formatFixed(ratio, 1),
         formatSeconds(cost.seconds), cost.limiter,
         rank == 1 ? "chosen" : describeLoss(*candidate, selection.chosen())});
  }
  return table.print();
}

static std::string printTraffic(const Cost &cost) {
  Table table({"operand", "read", "written"},
              {Table::Left, Table::Right, Table::Right});
  for (const OperandBytes &moved : cost.operands)
    table.addRow({std::string(getName(moved.operand)), formatBytes(moved.read),
                  formatBytes(moved.written)});
  table.addRow(
      {"all", formatBytes(cost.l2ReadBytes), formatBytes(cost.l2WriteBytes)});
  return table.print();
}

static std::string printTerms(const Cost &cost) {
  Table table({"term", "time"}, {Table::Left, Table::Right});
  for (const CostTerm &term : cost.terms)
    table.addRow({term.name, formatSeconds(term.seconds)});
  table.addRow({"predicted", formatSeconds(cost.seconds)});
  return table.print();
}

static std::string printRejections(const Selection &selection) {
  if (selection.rejected.empty())
    return "no schedule was rejected\n";
  Table table({"rejected", "for", "nearest"},
              {Table::Right, Table::Left, Table::Left});
  for (const detail::RejectionGroup &group : detail::groupRejections(selection))
    table.addRow({std::to_string(group.count), group.constraint,
                  printTiles(group.example->schedule) + ": " +
                      group.example->violation.message});
  return table.print();
}

/// What the other place of the query's rotations and norms would cost.
static std::string explainQueryPrologue(const AttentionProblem &problem,
                                        const TargetInfo &target,
                                        const Candidate &chosen) {
  if (!problem.changesQuery() || target.kind == TargetKind::Cpu)
    return "";
  std::string text = "query     ";
  Schedule other = chosen.schedule;
  bool isFused = other.queryPrologue == QueryPrologue::Fused;
  text += isFused ? "fused" : "kernel";
  other.queryPrologue = isFused ? QueryPrologue::Kernel : QueryPrologue::Fused;
  std::vector<Violation> violations =
      check(problem, other, target, getGeneratorFeatures(problem, target));
  if (!violations.empty())
    return text + ": " + violations.front().message + "\n";
  Cost cost = getCost(problem, other, target);
  const Cost &fused = isFused ? chosen.cost : cost;
  const Cost &kernel = isFused ? cost : chosen.cost;
  return text + ": " + formatSeconds(fused.seconds) + " fused, " +
         formatSeconds(kernel.seconds) +
         " with a kernel in front, which moves " +
         formatBytes(kernel.getL2Bytes() - fused.getL2Bytes()) + " more\n";
}

std::string printReport(const AttentionProblem &problem,
                        const TargetInfo &target, const Selection &selection,
                        const ReportOptions &options) {
  const Candidate &chosen = selection.chosen();
  const LowerBounds &bounds = selection.bounds;
  int64_t heads = problem.getKvHeadCount();
  std::string text;
  text += "problem   " + problem.print() + "\n";
  text += "target    " + target.name + " (" + target.product + "), " +
          std::to_string(target.sharedMemoryPerCtaBytes) +
          " bytes of shared memory\n";
  text += "schedule  " + chosen.schedule.print() + "\n";
  text += "bound     " + formatCount(bounds.get() * heads) +
          " elements (compulsory " + formatCount(bounds.compulsory * heads) +
          ", large cache " + formatCount(bounds.largeCache * heads) +
          ", small cache " + formatCount(bounds.smallCache * heads) + ")\n";
  text += explainQueryPrologue(problem, target, chosen);
  text += "DRAM      " + formatBytes(chosen.cost.dramBytes) + ", workspace " +
          formatBytes(chosen.cost.workspaceBytes) + ", " +
          formatCount(chosen.cost.ctas) + " CTAs in " +
          formatFixed(chosen.cost.waves, 1) + " waves\n";
  text += "\n" + printRanking(problem, selection, options);
  text += "\nBetween L2 and SMs:\n" + printTraffic(chosen.cost);
  text += "\nIf nothing else limited it:\n" + printTerms(chosen.cost);
  text += "\n" + printRejections(selection);
  return text;
}

} // namespace attn
