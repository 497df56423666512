//===- Plan.h - Who sends and computes what ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attention over several ranks as data: what each rank owns, what it
// receives in which stage, and what it computes then. Executors read it as JSON
// (docs/Distributed.md).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_PLAN_H
#define ATTN_DISTRIBUTED_PLAN_H

#include "attn/Distributed/Placement.h"
#include "attn/Support/Result.h"

#include <nlohmann/json_fwd.hpp>

namespace attn {

/// Keys and values of `tokens`, from or to the rank `peer`; or their queries,
/// where a plan moves these.
struct Transfer {
  int64_t peer;
  TokenRanges tokens;
};

/// One kernel: the attention of `rows`, which are all that the rank has but
/// where queries move, over `keys`, both in ascending order.
struct Call {
  TokenRanges rows, keys;
  int64_t pairs; ///< visible, of one head
};

/// What arrives, what leaves at the same time, and what is computed of what has
/// arrived by then. Stages overlap: one is computed while the next arrives.
struct Stage {
  std::vector<Transfer> receive, send;
  std::vector<Call> calls;
};

struct RankPlan {
  TokenRanges rows; ///< owned: Q, K, V, O
  std::vector<Stage> stages;

  int64_t countPairs() const;
  /// Those of all calls.
  TokenRanges getKeys() const;
  TokenRanges getRows() const;
};

enum class Scheme {
  GroupCast, ///< keys go to the ranks that see them, and nowhere else
  AllGather, ///< all keys go everywhere
  Ring,      ///< keys go round, a rank a step
  /// Queries go to the ranks whose keys they see, and partial results return
  /// to their owner, who merges them in ascending order of ranks.
  QueryCast,
};

/// The order of a group-cast's keys: one call over all of them in ascending
/// order, whose bits do not depend on the ranks, or those that a rank owns
/// while the others arrive.
enum class KeyOrder { Ascending, OwnFirst };

/// `headShards` consecutive ranks exchange rows for heads (all to all) and then
/// hold the same tokens: 1 for none, all ranks for DeepSpeed-Ulysses, between
/// them the two-dimensional schemes (USP, LoongTrain). Calls are of
/// 1/headShards of the heads.
struct Plan {
  Scheme scheme = Scheme::GroupCast;
  KeyOrder order = KeyOrder::Ascending;
  int64_t headShards = 1;
  std::string placement;
  /// What it was made for: as MaskPattern prints it, in each of `documents`, if
  /// there are any. Empty where that is not known.
  std::string mask;
  std::vector<TokenRange> documents;
  int64_t tokens = 0, chunk = 1;
  std::vector<RankPlan> ranks;

  /// "group-cast", "ring", "all-to-all", "all-to-all 2 x ring", ...
  std::string printScheme() const;

  /// Transfers are of queries; keys stay where they are.
  bool movesQueries() const { return scheme == Scheme::QueryCast; }

  /// The first of the consecutive ranks that exchange heads with `rank`.
  int64_t getFirstOfGroup(int64_t rank) const {
    return rank - rank % headShards;
  }
  /// The tokens whose keys a rank has, of its own heads, before others' arrive.
  TokenRanges getHeld(int64_t rank) const;
};

/// The plan of a scheme. `placement` is of ranks / headShards groups; the ranks
/// of a group own equal parts of its rows.
Plan buildPlan(const Visibility &visibility, const Placement &placement,
               Scheme scheme, KeyOrder order, int64_t headShards,
               int64_t chunk);

/// Rows are a partition of the tokens; whatever is sent is received; calls use
/// what is there, and each key once: what ranks rely on who carry a plan out.
Status checkTransfers(const Plan &plan);
/// That, and each visible pair is computed once, for each head.
Status checkPlan(const Plan &plan, const Visibility &visibility);

nlohmann::json getPlanJson(const Plan &plan);
/// Reads what getPlanJson has, or what `attn-schedule --ranks --json` prints
/// with it. Fails where `checkTransfers` does, too.
Result<Plan> readPlan(const std::string &text);

} // namespace attn

#endif // ATTN_DISTRIBUTED_PLAN_H
