//===- PlanChecks.cpp - What holds of every plan --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Plan.h"

namespace attn {

static std::string print(int64_t number) { return std::to_string(number); }

static Status checkRows(const Plan &plan) {
  TokenRanges all;
  int64_t count = 0;
  for (const RankPlan &rank : plan.ranks) {
    all = all.unite(rank.rows);
    count += rank.rows.count();
  }
  if (!(all == TokenRanges{{0, plan.tokens}}) || count != plan.tokens)
    return Error{"expected each of " + print(plan.tokens) +
                 " tokens on one rank, got " + print(count) +
                 " on all ranks, " + print(all.count()) + " of them distinct"};
  return {};
}

/// Whether `transfers` has these tokens for `peer`.
static bool hasTransfer(const std::vector<Transfer> &transfers, int64_t peer,
                        const TokenRanges &tokens) {
  for (const Transfer &transfer : transfers)
    if (transfer.peer == peer && transfer.tokens == tokens)
      return true;
  return false;
}

/// What is received in a stage is sent in it, by a rank that has it by then,
/// and calls use what has arrived.
static Status checkTransfers(const Plan &plan) {
  std::vector<TokenRanges> held;
  size_t numStages = plan.ranks.empty() ? 0 : plan.ranks.front().stages.size();
  for (const RankPlan &rank : plan.ranks) {
    held.push_back(rank.rows);
    if (rank.stages.size() != numStages)
      return Error{"expected as many stages on each rank, got " +
                   print(numStages) + " and " + print(rank.stages.size())};
  }
  for (size_t i = 0; i < numStages; ++i) {
    std::vector<TokenRanges> before = held;
    size_t sent = 0, received = 0;
    for (size_t r = 0; r < plan.ranks.size(); ++r) {
      const Stage &stage = plan.ranks[r].stages[i];
      std::string where = "rank " + print(r) + ", stage " + print(i) + ": ";
      sent += stage.send.size();
      received += stage.receive.size();
      for (const Transfer &transfer : stage.receive) {
        const Stage &sender = plan.ranks[transfer.peer].stages[i];
        if (!hasTransfer(sender.send, r, transfer.tokens))
          return Error{where + "expected rank " + print(transfer.peer) +
                       " to send what is received, got no such transfer"};
        if (!before[transfer.peer].contain(transfer.tokens))
          return Error{where + "expected rank " + print(transfer.peer) +
                       " to have what it sends"};
        held[r] = held[r].unite(transfer.tokens);
      }
      for (const Call &call : stage.calls)
        if (!held[r].contain(call.keys) || !held[r].contain(call.rows))
          return Error{where + "expected calls to use what has arrived"};
    }
    if (sent != received)
      return Error{"stage " + print(i) + ": expected as many transfers to be " +
                   "sent as received, got " + print(sent) + " and " +
                   print(received)};
  }
  return {};
}

/// The pairs of calls are the visible ones, and no two calls share a pair, so
/// that as many as there are means each of them once.
static Status checkPairs(const Plan &plan, const Visibility &visibility) {
  TokenRange all = {0, plan.tokens};
  int64_t visible = visibility.countPairs(all, all);
  for (int64_t shard = 0; shard < plan.headShards; ++shard) {
    int64_t pairs = 0;
    for (size_t r = shard; r < plan.ranks.size(); r += plan.headShards) {
      TokenRanges seen;
      for (const Stage &stage : plan.ranks[r].stages)
        for (const Call &call : stage.calls) {
          if (!seen.intersect(call.keys).empty())
            return Error{"rank " + print(r) +
                         ": expected each key in one call, got it in two"};
          seen = seen.unite(call.keys);
          pairs += visibility.countPairs(call.rows, call.keys);
        }
    }
    if (pairs != visible)
      return Error{"expected " + print(visible) +
                   " visible pairs to be computed, got " + print(pairs)};
  }
  return {};
}

Status checkPlan(const Plan &plan, const Visibility &visibility) {
  if (Status status = checkRows(plan); !status)
    return status;
  if (Status status = checkTransfers(plan); !status)
    return status;
  return checkPairs(plan, visibility);
}

} // namespace attn
