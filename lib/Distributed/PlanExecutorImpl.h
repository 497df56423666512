//===- PlanExecutorImpl.h - One rank's part of a plan -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of the executor share: keys that move are PlanExecutor.cpp,
// queries that move are PlanQueries.cpp, what stands beside scores is
// PlanBias.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DISTRIBUTED_PLANEXECUTORIMPL_H
#define LIB_DISTRIBUTED_PLANEXECUTORIMPL_H

#include "PlanExchange.h"

namespace attn {

struct SavedAttention {
  /// Of the rank's heads and of the tokens that it holds.
  TokenArray query, key, value, output, lse;
  const float *sink = nullptr, *bias = nullptr;
  const int64_t *lengths = nullptr;
};

class PlanExecutor::Impl {
public:
  Impl(Plan plan, PlanSizes sizes, PlanCommunicator communicator,
       PlanKernels kernels, PlanMemory memory)
      : plan(std::move(plan)), sizes(sizes), kernels(std::move(kernels)),
        memory(std::move(memory)),
        exchanger(std::move(communicator), this->memory) {}

  Result<std::shared_ptr<const SavedAttention>>
  forward(const PlanInputs &inputs, const CallResults &results);
  Status backward(const SavedAttention &saved, const void *dOutput,
                  const CallGradients &gradients);

  int64_t getSentBytes() const { return exchanger.getSentBytes(); }

private:
  /// An array of the rank's tokens, and what the rank has of its heads.
  struct Shared {
    TokenArray own, held;
    bool isOfKeys = false;
  };
  using Visit = std::function<Status(const CallInputs &)>;

  Status checkStart(const PlanInputs &inputs) const;
  std::string printFacts(const PlanInputs &inputs) const;

  /// Output 0 and the LSE that there is without keys: -inf, or the sink.
  void fillWithoutKeys(const SavedAttention &saved);
  /// The bias of some keys, and back to those of all.
  TokenArray takeBias(const SavedAttention &saved, const TokenRanges &keys);
  void putBias(float *whole, const TokenArray &part, const TokenRanges &keys);
  CallInputs makeInputs(const SavedAttention &saved, const Call &call,
                        const void *query, const TokenArray &keys,
                        const TokenArray &values) const;

  Status computeCalls(const SavedAttention &saved);
  Status differentiateCalls(const SavedAttention &saved,
                            const TokenArray &dOutput, const TokenArray &dQuery,
                            const TokenArray &dKey, const TokenArray &dValue,
                            float *dBias);
  Status visitCalls(const SavedAttention &saved, const Visit &visit);
  Wait sendKeys(size_t stage, const TokenArray &key, const TokenArray &value);
  Status returnSums(const std::vector<TokenArray> &held,
                    const std::vector<TokenArray> &sums);

  // Where queries move (PlanQueries.cpp).
  using VisitRows = std::function<Status(const CallInputs &,
                                         const std::vector<TokenArray> &rows)>;
  Status visitQueryCalls(const SavedAttention &saved,
                         const std::vector<TokenArray> &own,
                         const VisitRows &visit);
  Wait sendRows(size_t stage, const std::vector<TokenArray> &arrays);
  Status computeQueryCalls(const SavedAttention &saved);
  Status mergeAnswers(const SavedAttention &saved, const TokenArray &output,
                      const TokenArray &lse);
  Status differentiateQueryCalls(const SavedAttention &saved,
                                 const TokenArray &dOutput,
                                 const TokenArray &dQuery,
                                 const TokenArray &dKey,
                                 const TokenArray &dValue);

  TokenArray take(const TokenArray &array, const TokenRanges &tokens);
  bool isQuiet(size_t stage) const;
  Status spread(const std::vector<Shared> &arrays);
  Status gather(const std::vector<Shared> &arrays, Arrival arrival);

  Shared share(const void *data, size_t rowBytes, bool isOfKeys = false);
  TokenArray allocate(const TokenArray &like, const TokenRanges &tokens) {
    return memory.allocate(like.batch, like.heads, tokens, like.rowBytes);
  }
  HeadRange getHeads(int64_t rank, bool isOfKeys) const;
  bool isInGroup(int64_t peer) const {
    return plan.getFirstOfGroup(peer) == plan.getFirstOfGroup(rank());
  }
  int64_t rank() const { return exchanger.getRank(); }
  int64_t size() const { return plan.ranks.size(); }
  const RankPlan &mine() const { return plan.ranks[rank()]; }

  Plan plan;
  PlanSizes sizes;
  PlanKernels kernels;
  ArrayMemory memory;
  PlanExchange exchanger;
};

} // namespace attn

#endif // LIB_DISTRIBUTED_PLANEXECUTORIMPL_H
