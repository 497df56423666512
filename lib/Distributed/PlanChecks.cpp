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
  int64_t count = 0, size = plan.ranks.size();
  for (const RankPlan &rank : plan.ranks) {
    all = all.unite(rank.rows);
    count += rank.rows.count();
  }
  if (!(all == TokenRanges{{0, plan.tokens}}) || count != plan.tokens)
    return Error{"expected each of " + print(plan.tokens) +
                 " tokens on one rank, got " + print(count) +
                 " on all ranks, " + print(all.count()) + " of them distinct"};
  if (plan.headShards < 1 || size < 1 || size % plan.headShards)
    return Error{"expected head_shards to divide " + print(size) +
                 " ranks, got " + print(plan.headShards)};
  if (plan.movesQueries() && plan.headShards != 1)
    return Error{"expected head_shards 1 of a plan that moves queries, got " +
                 print(plan.headShards)};
  size_t numStages = plan.ranks.front().stages.size();
  for (int64_t r = 0; r < size; ++r)
    if (plan.ranks[r].stages.size() != numStages)
      return Error{"rank " + print(r) + ": expected " + print(numStages) +
                   " stages, got " + print(plan.ranks[r].stages.size())};
  return {};
}

/// The tokens of `transfers` that are for `peer`, of which there is one.
static const TokenRanges *findTransfer(const std::vector<Transfer> &transfers,
                                       int64_t peer) {
  const TokenRanges *found = nullptr;
  for (const Transfer &transfer : transfers)
    if (transfer.peer == peer) {
      if (found)
        return nullptr;
      found = &transfer.tokens;
    }
  return found;
}

namespace {
/// What is received in a stage is sent in it, by a rank that has it by then,
/// and calls use what has arrived.
class TransferChecker {
public:
  explicit TransferChecker(const Plan &plan) : plan(plan) {
    for (size_t r = 0; r < plan.ranks.size(); ++r) {
      held.push_back(plan.ranks[r].rows);
      ofGroup.push_back(plan.getHeld(r));
    }
  }

  Status run();

private:
  bool isRank(int64_t peer) const {
    return peer >= 0 && peer < int64_t(plan.ranks.size());
  }
  /// `before`: what the rank has when the stage begins.
  Status checkSends(int64_t rank, size_t stage, const TokenRanges &before);
  Status checkReceives(int64_t rank, size_t stage);
  Status checkCalls(int64_t rank, size_t stage);

  const Plan &plan;
  std::vector<TokenRanges> held, ofGroup;
};
} // namespace

static std::string describe(int64_t rank, size_t stage) {
  return "rank " + print(rank) + ", stage " + print(stage) + ": ";
}

Status TransferChecker::checkSends(int64_t rank, size_t stage,
                                   const TokenRanges &before) {
  for (const Transfer &transfer : plan.ranks[rank].stages[stage].send) {
    const TokenRanges *received =
        isRank(transfer.peer)
            ? findTransfer(plan.ranks[transfer.peer].stages[stage].receive,
                           rank)
            : nullptr;
    if (!received || !(*received == transfer.tokens))
      return Error{describe(rank, stage) + "expected rank " +
                   print(transfer.peer) + " to receive what is sent to it"};
    if (!before.contain(transfer.tokens))
      return Error{describe(rank, stage) +
                   "expected to have what is sent to rank " +
                   print(transfer.peer)};
  }
  return {};
}

Status TransferChecker::checkReceives(int64_t rank, size_t stage) {
  for (const Transfer &transfer : plan.ranks[rank].stages[stage].receive) {
    const TokenRanges *sent =
        isRank(transfer.peer)
            ? findTransfer(plan.ranks[transfer.peer].stages[stage].send, rank)
            : nullptr;
    if (!sent || !(*sent == transfer.tokens))
      return Error{describe(rank, stage) + "expected rank " +
                   print(transfer.peer) + " to send what is received from it"};
    held[rank] = held[rank].unite(transfer.tokens);
  }
  return {};
}

Status TransferChecker::checkCalls(int64_t rank, size_t stage) {
  for (const Call &call : plan.ranks[rank].stages[stage].calls) {
    if (plan.movesQueries()) {
      if (!held[rank].contain(call.rows) || !ofGroup[rank].contain(call.keys))
        return Error{describe(rank, stage) +
                     "expected calls of rows that have arrived, over keys that "
                     "the rank owns"};
      continue;
    }
    if (!held[rank].contain(call.keys))
      return Error{describe(rank, stage) +
                   "expected calls to use what has arrived"};
    if (!(call.rows == ofGroup[rank]))
      return Error{describe(rank, stage) +
                   "expected calls of all rows that the rank has"};
  }
  return {};
}

Status TransferChecker::run() {
  for (size_t i = 0; i < plan.ranks.front().stages.size(); ++i) {
    std::vector<TokenRanges> before = held;
    for (size_t r = 0; r < plan.ranks.size(); ++r) {
      if (Status status = checkReceives(r, i); !status)
        return status;
      if (Status status = checkSends(r, i, before[r]); !status)
        return status;
      if (Status status = checkCalls(r, i); !status)
        return status;
    }
  }
  return {};
}

/// Two of the sets share a token.
static bool overlap(const std::vector<TokenRanges> &sets) {
  TokenRanges seen;
  int64_t count = 0;
  for (const TokenRanges &set : sets) {
    seen = seen.unite(set);
    count += set.count();
  }
  return seen.count() != count;
}

/// A key in two calls of a rank would count twice; or a row, where keys stay.
static Status checkKeys(const Plan &plan) {
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    std::vector<TokenRanges> rows, keys;
    for (const Stage &stage : plan.ranks[r].stages)
      for (const Call &call : stage.calls) {
        rows.push_back(call.rows);
        keys.push_back(call.keys);
      }
    if (plan.movesQueries() && overlap(rows))
      return Error{"rank " + print(r) +
                   ": expected each row in one call, got it in two"};
    if (!plan.movesQueries() && overlap(keys))
      return Error{"rank " + print(r) +
                   ": expected each key in one call, got it in two"};
  }
  return {};
}

Status checkTransfers(const Plan &plan) {
  if (Status status = checkRows(plan); !status)
    return status;
  if (Status status = TransferChecker(plan).run(); !status)
    return status;
  return checkKeys(plan);
}

/// The pairs of calls are the visible ones, and no two calls share a pair, so
/// that as many as there are means each of them once.
static Status checkPairs(const Plan &plan, const Visibility &visibility) {
  TokenRange all = {0, plan.tokens};
  int64_t visible = visibility.countPairs(all, all);
  for (int64_t shard = 0; shard < plan.headShards; ++shard) {
    int64_t pairs = 0;
    for (size_t r = shard; r < plan.ranks.size(); r += plan.headShards)
      for (const Stage &stage : plan.ranks[r].stages)
        for (const Call &call : stage.calls)
          pairs += visibility.countPairs(call.rows, call.keys);
    if (pairs != visible)
      return Error{"expected " + print(visible) +
                   " visible pairs to be computed, got " + print(pairs)};
  }
  return {};
}

Status checkPlan(const Plan &plan, const Visibility &visibility) {
  if (Status status = checkTransfers(plan); !status)
    return status;
  return checkPairs(plan, visibility);
}

} // namespace attn
