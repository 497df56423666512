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
  RankTime traceRank(int64_t rank) const;

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
  /// Of one token, where queries move: what goes to the holder of keys, and
  /// what comes back.
  int64_t getQueryBytes(bool isBack) const;
  int64_t getBytesThere(size_t stage) const {
    return isExchange(stage)     ? getExchangeBytes(false)
           : plan.movesQueries() ? getQueryBytes(false)
                                 : getKeyBytes(element);
  }
  bool isExchange(size_t stage) const {
    return plan.headShards > 1 && stage == 0;
  }

  Traffic price(int64_t rank, const std::vector<Transfer> &transfers,
                int64_t bytesOfToken) const;
  /// `isBack`: what has been received is sent, to whom it came from.
  Traffic priceStage(int64_t rank, size_t stage, int64_t bytesOfToken,
                     bool isBack = false) const;
  Traffic priceReturn(int64_t rank, size_t stage) const;
  double priceCalls(const RankPlan &rank, const Stage &stage) const;
  /// Partial outputs of rows in f32, written and read again.
  double priceMerge(int64_t rows) const {
    return 2.0 * 4 * rows * problem.batch * problem.queryHeads /
           plan.headShards * problem.valueDim / compute.memoryBytesPerSecond;
  }
  int64_t countMemory(const RankPlan &rank) const;

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

int64_t Pricer::getQueryBytes(bool isBack) const {
  int64_t query = problem.headDim, output = problem.valueDim;
  int64_t bytes = 0;
  if (isBackward) // Q, dO, LSE and delta there; dQ back.
    bytes = isBack ? query * 4 : (query + output) * element + 8;
  else // O and LSE back.
    bytes = isBack ? output * 4 + 4 : query * element;
  return problem.batch * problem.queryHeads * bytes;
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
                                   int64_t bytesOfToken, bool isBack) const {
  const Stage &work = plan.ranks[rank].stages[stage];
  Traffic in = price(rank, work.receive, bytesOfToken);
  Traffic out = price(rank, work.send, bytesOfToken);
  return {std::max(in.seconds, out.seconds), isBack ? in.bytes : out.bytes};
}

/// What goes back to where it came from when all stages are done.
Pricer::Traffic Pricer::priceReturn(int64_t rank, size_t stage) const {
  if (isExchange(stage))
    return priceStage(rank, stage, getExchangeBytes(true));
  if (plan.movesQueries())
    return priceStage(rank, stage, getQueryBytes(true), /*isBack=*/true);
  if (isBackward && plan.scheme != Scheme::Ring)
    return priceStage(rank, stage, getKeyBytes(4), /*isBack=*/true);
  return {};
}

double Pricer::priceCalls(const RankPlan &rank, const Stage &stage) const {
  double seconds = 0;
  size_t parts = 0;
  for (const Stage &any : rank.stages)
    parts += any.calls.size();
  for (const Call &call : stage.calls) {
    seconds += compute.launchSeconds +
               call.pairs * compute.secondsPerPair / plan.headShards;
    if (parts > 1 || plan.movesQueries())
      seconds += priceMerge(call.rows.count());
  }
  // Others have computed parts of these.
  if (plan.movesQueries())
    for (const Transfer &transfer : stage.send)
      seconds += priceMerge(transfer.tokens.count());
  return seconds;
}

int64_t Pricer::countMemory(const RankPlan &rank) const {
  int64_t arriving = 0;
  for (size_t i = 0; i < rank.stages.size(); ++i) {
    int64_t tokens = 0;
    for (const Transfer &transfer : rank.stages[i].receive)
      tokens += transfer.tokens.count();
    int64_t bytes = isExchange(i) ? getExchangeBytes(false)
                    : plan.movesQueries()
                        ? getQueryBytes(false) + getQueryBytes(true)
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

RankTime Pricer::traceRank(int64_t number) const {
  const RankPlan &rank = plan.ranks[number];
  RankTime time;
  double arrived = 0, done = 0, last = 0;
  for (size_t i = 0; i < rank.stages.size(); ++i) {
    Traffic there = priceStage(number, i, getBytesThere(i));
    arrived += there.seconds;
    double seconds = priceCalls(rank, rank.stages[i]);
    double begin = std::max(done, arrived);
    done = begin + seconds;
    time.stages.push_back({arrived, begin, done, there.bytes});
    time.busy += seconds;
    time.sentBytes += there.bytes;
    Traffic back = priceReturn(number, i);
    last += back.seconds;
    // The sums of a ring follow its keys.
    if (isBackward && plan.scheme == Scheme::Ring && !isExchange(i)) {
      back = priceStage(number, i, getKeyBytes(4));
      arrived += back.seconds;
    }
    time.sentBytes += back.bytes;
  }
  // They take one hop more to come home.
  if (isBackward && plan.scheme == Scheme::Ring && rank.stages.size() > 1) {
    Traffic home = priceStage(number, rank.stages.size() - 1, getKeyBytes(4));
    last += home.seconds;
    time.sentBytes += home.bytes;
  }
  time.end = std::max(done, arrived) + last;
  return time;
}

PlanCost Pricer::run() {
  PlanCost cost;
  int64_t most = 0, sum = 0;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    RankTime time = traceRank(rank);
    cost.seconds = std::max(cost.seconds, time.end);
    cost.computeSeconds = std::max(cost.computeSeconds, time.busy);
    cost.sentBytes = std::max(cost.sentBytes, time.sentBytes);
    cost.memoryBytes =
        std::max(cost.memoryBytes, countMemory(plan.ranks[rank]));
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

std::vector<RankTime> tracePlan(const Plan &plan,
                                const AttentionProblem &problem,
                                const Topology &topology,
                                const ComputeModel &compute) {
  Pricer pricer(plan, problem, topology, compute);
  std::vector<RankTime> times;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    times.push_back(pricer.traceRank(rank));
  return times;
}

} // namespace attn
