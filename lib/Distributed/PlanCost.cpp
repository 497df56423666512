//===- PlanCost.cpp - What a plan costs -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Planner.h"

#include <algorithm>

namespace attn {

namespace {
/// The bytes of tokens, and the time that they take.
class Pricer {
public:
  Pricer(const Plan &plan, const AttentionProblem &problem,
         const Topology &topology, const ComputeModel &compute)
      : plan(plan), problem(problem), topology(topology), compute(compute),
        isBackward(problem.pass == AttentionPass::Backward),
        element(getSizeBytes(problem.elementType)) {}

  PlanCost run();

private:
  struct Traffic {
    double seconds = 0;
    int64_t bytes = 0;
  };

  /// Of one token: K and V of the heads that a call has; and in f32.
  int64_t getKeyBytes(int64_t element) const;
  /// Of one token, of the heads that another rank of the group computes: what
  /// goes there before a call, and comes back after it.
  int64_t getExchangeBytes(bool isBack) const;
  bool isExchange(size_t stage) const {
    return plan.headShards > 1 && stage == 0;
  }

  Traffic price(int64_t rank, const std::vector<Transfer> &transfers,
                int64_t bytesOfToken) const;
  Traffic priceStage(int64_t rank, size_t stage, int64_t bytesOfToken) const;
  double priceCalls(const RankPlan &rank, const Stage &stage) const;
  int64_t countMemory(const RankPlan &rank) const;
  void priceRank(int64_t rank, PlanCost &cost) const;

  const Plan &plan;
  const AttentionProblem &problem;
  const Topology &topology;
  const ComputeModel &compute;
  bool isBackward;
  int64_t element;
};
} // namespace

int64_t Pricer::getKeyBytes(int64_t element) const {
  int64_t heads = std::max<int64_t>(problem.kvHeads / plan.headShards, 1);
  return problem.batch * heads * problem.getKvRowElements() * element;
}

int64_t Pricer::getExchangeBytes(bool isBack) const {
  int64_t rows = problem.batch * problem.queryHeads / plan.headShards * element;
  int64_t query = rows * problem.headDim, output = rows * problem.valueDim;
  int64_t keys = getKeyBytes(element);
  if (isBackward) // dO there; dQ, dK and dV back.
    return isBack ? query + keys : output;
  return isBack ? output : query + keys;
}

Pricer::Traffic Pricer::price(int64_t rank,
                              const std::vector<Transfer> &transfers,
                              int64_t bytesOfToken) const {
  double seconds[2] = {0, 0};
  Traffic traffic;
  for (const Transfer &transfer : transfers) {
    bool isFar = !topology.isSameNode(rank, transfer.peer);
    const Link &link = isFar ? topology.nic : topology.link;
    int64_t bytes = transfer.tokens.count() * bytesOfToken;
    seconds[isFar] += link.latencySeconds + bytes / (link.gbps * 1e9);
    traffic.bytes += bytes;
  }
  traffic.seconds = std::max(seconds[0], seconds[1]);
  return traffic;
}

/// Both directions at once; the bytes are those that are sent.
Pricer::Traffic Pricer::priceStage(int64_t rank, size_t stage,
                                   int64_t bytesOfToken) const {
  const Stage &work = plan.ranks[rank].stages[stage];
  Traffic in = price(rank, work.receive, bytesOfToken);
  Traffic out = price(rank, work.send, bytesOfToken);
  return {std::max(in.seconds, out.seconds), out.bytes};
}

double Pricer::priceCalls(const RankPlan &rank, const Stage &stage) const {
  double seconds = 0;
  size_t parts = 0;
  for (const Stage &any : rank.stages)
    parts += any.calls.size();
  for (const Call &call : stage.calls) {
    seconds += compute.launchSeconds +
               call.pairs * compute.secondsPerPair / plan.headShards;
    // Partial outputs in f32, written and read again.
    if (parts > 1)
      seconds += 2.0 * 4 * call.rows.count() * problem.batch *
                 problem.queryHeads / plan.headShards * problem.valueDim /
                 compute.memoryBytesPerSecond;
  }
  return seconds;
}

int64_t Pricer::countMemory(const RankPlan &rank) const {
  int64_t arriving = 0;
  for (size_t i = 0; i < rank.stages.size(); ++i) {
    int64_t tokens = 0;
    for (const Transfer &transfer : rank.stages[i].receive)
      tokens += transfer.tokens.count();
    int64_t bytes = isExchange(i) ? getExchangeBytes(false)
                                  : getKeyBytes(element + 4 * isBackward);
    arriving = std::max(arriving, tokens * bytes);
  }
  // A stage arrives while another one is computed, if there is more than one.
  bool isRing = plan.scheme == Scheme::Ring;
  int64_t own = problem.batch *
                (problem.queryHeads * (problem.headDim + problem.valueDim) +
                 problem.kvHeads * problem.getKvRowElements()) *
                element * rank.rows.count();
  return own + arriving * (isRing ? 2 : 1);
}

void Pricer::priceRank(int64_t number, PlanCost &cost) const {
  const RankPlan &rank = plan.ranks[number];
  double arrived = 0, done = 0, busy = 0, last = 0;
  int64_t bytes = 0;
  auto add = [&](double &time, Traffic traffic) {
    time += traffic.seconds;
    bytes += traffic.bytes;
  };
  for (size_t i = 0; i < rank.stages.size(); ++i) {
    bool isHeads = isExchange(i);
    add(arrived,
        priceStage(number, i,
                   isHeads ? getExchangeBytes(false) : getKeyBytes(element)));
    double seconds = priceCalls(rank, rank.stages[i]);
    done = std::max(done, arrived) + seconds;
    busy += seconds;
    if (isHeads)
      add(last, priceStage(number, i, getExchangeBytes(true)));
    else if (isBackward) // Sums follow the keys of a ring, or return at the
                         // end.
      add(plan.scheme == Scheme::Ring ? arrived : last,
          priceStage(number, i, getKeyBytes(4)));
  }
  // The sums of a ring take one hop more to come home.
  if (isBackward && plan.scheme == Scheme::Ring && rank.stages.size() > 1)
    add(last, priceStage(number, rank.stages.size() - 1, getKeyBytes(4)));
  cost.seconds = std::max(cost.seconds, std::max(done, arrived) + last);
  cost.computeSeconds = std::max(cost.computeSeconds, busy);
  cost.sentBytes = std::max(cost.sentBytes, bytes);
  cost.memoryBytes = std::max(cost.memoryBytes, countMemory(rank));
}

PlanCost Pricer::run() {
  PlanCost cost;
  int64_t most = 0, sum = 0;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    priceRank(rank, cost);
    int64_t pairs = plan.ranks[rank].countPairs();
    most = std::max(most, pairs);
    sum += pairs;
  }
  if (sum)
    cost.balance = double(most) * plan.ranks.size() / sum;
  return cost;
}

PlanCost pricePlan(const Plan &plan, const AttentionProblem &problem,
                   const Topology &topology, const ComputeModel &compute) {
  return Pricer(plan, problem, topology, compute).run();
}

} // namespace attn
