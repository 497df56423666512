//===- Plan.cpp - Who sends and computes what -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Plan.h"

#include <algorithm>

namespace attn {

int64_t RankPlan::countPairs() const {
  int64_t pairs = 0;
  for (const Stage &stage : stages)
    for (const Call &call : stage.calls)
      pairs += call.pairs;
  return pairs;
}

TokenRanges RankPlan::getKeys() const {
  std::vector<TokenRange> keys;
  for (const Stage &stage : stages)
    for (const Call &call : stage.calls)
      keys.insert(keys.end(), call.keys.begin(), call.keys.end());
  return TokenRanges(std::move(keys));
}

TokenRanges RankPlan::getRows() const {
  std::vector<TokenRange> rows;
  for (const Stage &stage : stages)
    for (const Call &call : stage.calls)
      rows.insert(rows.end(), call.rows.begin(), call.rows.end());
  return TokenRanges(std::move(rows));
}

TokenRanges Plan::getHeld(int64_t rank) const {
  TokenRanges held;
  for (int64_t member = 0; member < headShards; ++member)
    held = held.unite(ranks[getFirstOfGroup(rank) + member].rows);
  return held;
}

std::string Plan::printScheme() const {
  int64_t groups = ranks.size() / headShards;
  std::string tokens = scheme == Scheme::Ring        ? "ring"
                       : scheme == Scheme::AllGather ? "all-gather"
                       : scheme == Scheme::QueryCast ? "query-cast"
                       : order == KeyOrder::OwnFirst ? "group-cast, own first"
                                                     : "group-cast";
  if (headShards == 1)
    return tokens;
  if (groups == 1)
    return "all-to-all";
  return "all-to-all " + std::to_string(headShards) + " x " + tokens;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
class PlanBuilder {
public:
  PlanBuilder(const Visibility &visibility, const Placement &placement,
              Plan &plan)
      : visibility(visibility), groups(placement.rows), plan(plan) {
    for (const TokenRanges &rows : groups)
      needed.push_back(visibility.getKeys(rows));
  }

  void run();

private:
  int64_t count() const { return groups.size(); }
  int64_t getMember(int64_t group, int64_t member) const {
    return group * plan.headShards + member;
  }
  TokenRanges getOwnPart(const TokenRanges &rows, int64_t member) const;
  /// Keys of the others, in the stages in which `group` takes them.
  std::vector<std::vector<Transfer>> getArrivals(int64_t group) const;
  int64_t countRingSteps() const;
  void addStages(int64_t group);
  void addCall(Stage &stage, int64_t group, const TokenRanges &keys);
  /// The stages of a group whose keys stay: its own rows, and then those that
  /// have arrived.
  std::vector<Stage> getQueryStages(int64_t group) const;
  Stage makeQueryStage(int64_t group, TokenRanges rows) const;
  void exchangeHeads();
  void addSends();

  const Visibility &visibility;
  const std::vector<TokenRanges> &groups;
  std::vector<TokenRanges> needed; ///< the keys that each group sees
  Plan &plan;
  int64_t ringSteps = 0;
};
} // namespace

/// An equal part of rows, in tokens.
TokenRanges PlanBuilder::getOwnPart(const TokenRanges &rows,
                                    int64_t member) const {
  int64_t total = rows.count(), seen = 0;
  TokenRange part = {total * member / plan.headShards,
                     total * (member + 1) / plan.headShards};
  std::vector<TokenRange> own;
  for (const TokenRange &range : rows) {
    own.push_back({range.begin + std::max<int64_t>(part.begin - seen, 0),
                   std::min(range.end, range.begin + part.end - seen)});
    seen += range.size();
  }
  return TokenRanges(std::move(own));
}

/// As many as the farthest pair of groups one of which sees the other's keys.
int64_t PlanBuilder::countRingSteps() const {
  int64_t steps = 0;
  for (int64_t group = 0; group < count(); ++group)
    for (int64_t step = count() - 1; step > steps; --step)
      if (!needed[group]
               .intersect(groups[(group + count() - step) % count()])
               .empty())
        steps = step;
  return steps;
}

std::vector<std::vector<Transfer>>
PlanBuilder::getArrivals(int64_t group) const {
  std::vector<std::vector<Transfer>> arrivals;
  if (plan.scheme == Scheme::Ring) {
    // From the rank before, whatever it holds by then.
    for (int64_t step = 1; step <= ringSteps; ++step)
      arrivals.push_back({{(group + count() - 1) % count(),
                           groups[(group + count() - step) % count()]}});
    return arrivals;
  }
  arrivals.emplace_back();
  for (int64_t other = 0; other < count(); ++other) {
    if (other == group)
      continue;
    TokenRanges keys = plan.scheme == Scheme::AllGather
                           ? groups[other]
                           : needed[group].intersect(groups[other]);
    if (!keys.empty())
      arrivals.front().push_back({other, std::move(keys)});
  }
  return arrivals;
}

void PlanBuilder::addCall(Stage &stage, int64_t group,
                          const TokenRanges &keys) {
  TokenRanges seen = needed[group].intersect(keys);
  if (int64_t pairs = visibility.countPairs(groups[group], seen))
    stage.calls.push_back({groups[group], std::move(seen), pairs});
}

Stage PlanBuilder::makeQueryStage(int64_t group, TokenRanges rows) const {
  Stage stage;
  TokenRanges seen = visibility.getKeys(rows).intersect(groups[group]);
  if (int64_t pairs = visibility.countPairs(rows, seen))
    stage.calls.push_back({std::move(rows), std::move(seen), pairs});
  return stage;
}

std::vector<Stage> PlanBuilder::getQueryStages(int64_t group) const {
  TokenRanges seeing = visibility.getRows(groups[group]);
  std::vector<Stage> stages;
  stages.push_back(makeQueryStage(group, seeing.intersect(groups[group])));
  stages.push_back(makeQueryStage(group, seeing.subtract(groups[group])));
  for (int64_t other = 0; other < count(); ++other)
    if (TokenRanges rows = seeing.intersect(groups[other]);
        other != group && !rows.empty())
      stages.back().receive.push_back({other, std::move(rows)});
  return stages;
}

void PlanBuilder::addStages(int64_t group) {
  if (plan.movesQueries()) {
    plan.ranks[group] = {groups[group], getQueryStages(group)};
    return;
  }
  std::vector<Stage> stages(1);
  bool isOneCall =
      plan.scheme == Scheme::AllGather ||
      (plan.scheme == Scheme::GroupCast && plan.order == KeyOrder::Ascending);
  if (isOneCall)
    addCall(stages.back(), group, needed[group]);
  else
    addCall(stages.back(), group, groups[group]);
  for (std::vector<Transfer> &transfers : getArrivals(group)) {
    if (!isOneCall) {
      stages.emplace_back();
      addCall(stages.back(), group,
              plan.scheme == Scheme::Ring
                  ? transfers.front().tokens
                  : needed[group].subtract(groups[group]));
    }
    stages.back().receive = std::move(transfers);
  }
  for (int64_t member = 0; member < plan.headShards; ++member) {
    RankPlan &rank = plan.ranks[getMember(group, member)];
    rank.rows = getOwnPart(groups[group], member);
    rank.stages = stages;
    for (Stage &stage : rank.stages)
      for (Transfer &transfer : stage.receive)
        transfer.peer = getMember(transfer.peer, member);
  }
}

/// Before all else the ranks of a group get their heads of each other's rows.
void PlanBuilder::exchangeHeads() {
  for (int64_t rank = 0; rank < int64_t(plan.ranks.size()); ++rank) {
    Stage exchange;
    int64_t first = rank / plan.headShards * plan.headShards;
    for (int64_t peer = first; peer < first + plan.headShards; ++peer)
      if (peer != rank && !plan.ranks[peer].rows.empty())
        exchange.receive.push_back({peer, plan.ranks[peer].rows});
    plan.ranks[rank].stages.insert(plan.ranks[rank].stages.begin(),
                                   std::move(exchange));
  }
}

void PlanBuilder::addSends() {
  for (int64_t rank = 0; rank < int64_t(plan.ranks.size()); ++rank) {
    std::vector<Stage> &stages = plan.ranks[rank].stages;
    for (size_t i = 0; i < stages.size(); ++i)
      for (const Transfer &transfer : stages[i].receive)
        plan.ranks[transfer.peer].stages[i].send.push_back(
            {rank, transfer.tokens});
  }
}

void PlanBuilder::run() {
  plan.ranks.resize(count() * plan.headShards);
  if (plan.scheme == Scheme::Ring)
    ringSteps = countRingSteps();
  for (int64_t group = 0; group < count(); ++group)
    addStages(group);
  if (plan.headShards > 1)
    exchangeHeads();
  addSends();
}

Plan buildPlan(const Visibility &visibility, const Placement &placement,
               Scheme scheme, KeyOrder order, int64_t headShards,
               int64_t chunk) {
  Plan plan;
  plan.scheme = scheme;
  plan.order = order;
  plan.headShards = headShards;
  plan.placement = placement.name;
  plan.tokens = visibility.getTokens();
  plan.chunk = chunk;
  PlanBuilder(visibility, placement, plan).run();
  return plan;
}

} // namespace attn
