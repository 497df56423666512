//===- Planner.cpp - The plan with the least time -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Planner.h"

#include <algorithm>

namespace attn {

namespace {
class Planner {
public:
  Planner(const AttentionProblem &problem, const Visibility &visibility,
          const Topology &topology, const ComputeModel &compute,
          const PlannerOptions &options)
      : problem(problem), visibility(visibility), topology(topology),
        compute(compute), options(options),
        chunk(options.chunk ? std::min(options.chunk, visibility.getTokens())
                            : getDefaultChunk()) {}

  Result<PlanSelection> run();

private:
  int64_t getDefaultChunk() const;
  double getPairsPerToken() const;
  bool isAsked(const Placement &placement) const;
  Status check() const;
  void add(const Placement &placement, Scheme scheme, KeyOrder order,
           int64_t headShards = 1);
  void addTokenSchemes();
  void addHeadSchemes();
  void addBounds();

  const AttentionProblem &problem;
  const Visibility &visibility;
  const Topology &topology;
  const ComputeModel &compute;
  const PlannerOptions &options;
  int64_t chunk;
  PlanSelection selection;
};
} // namespace

/// Whole tiles of any kernel, which bits follow from; where these may differ,
/// enough of them for a zigzag.
int64_t Planner::getDefaultChunk() const {
  int64_t chunk = 256;
  while (!options.deterministic && chunk > 16 &&
         visibility.getTokens() < 2 * topology.ranks * chunk)
    chunk /= 2;
  return chunk;
}

/// What it costs to receive a token's keys, by the slower link, in the time of
/// pairs.
double Planner::getPairsPerToken() const {
  const Link &link =
      topology.ranks > topology.nodeRanks ? topology.nic : topology.link;
  int64_t element = getSizeBytes(problem.elementType);
  if (problem.pass == AttentionPass::Backward)
    element += 4;
  double seconds = problem.batch * problem.kvHeads *
                   problem.getKvRowElements() * element / (link.gbps * 1e9);
  return seconds / std::max(compute.secondsPerPair, 1e-30);
}

/// Where the bits are not to depend on the ranks, tiles of rows are those of
/// the whole sequence.
bool Planner::isAsked(const Placement &placement) const {
  if (!options.placement.empty() && options.placement != placement.name)
    return false;
  if (options.deterministic)
    for (const TokenRanges &rows : placement.rows)
      for (const TokenRange &range : rows)
        if (range.begin % chunk ||
            (range.end % chunk && range.end != visibility.getTokens()))
          return false;
  return true;
}

Status Planner::check() const {
  int64_t tokens = visibility.getTokens();
  if (problem.queryLength != tokens || problem.kvLength != tokens)
    return Error{"expected M = N = " + std::to_string(tokens) +
                 ", since rows and keys of ranks are the same tokens, got M=" +
                 std::to_string(problem.queryLength) +
                 " N=" + std::to_string(problem.kvLength)};
  if (chunk < 1)
    return Error{"expected a chunk of at least 1 token, got " +
                 std::to_string(chunk)};
  constexpr int64_t kMostChunks = int64_t(1) << 16;
  if (tokens / chunk > kMostChunks)
    return Error{"expected at most " + std::to_string(kMostChunks) +
                 " chunks, got " + std::to_string(tokens / chunk)};
  return {};
}

void Planner::add(const Placement &placement, Scheme scheme, KeyOrder order,
                  int64_t headShards) {
  if (!isAsked(placement) ||
      (options.headShards && options.headShards != headShards))
    return;
  PlanChoice choice;
  ChunkVisibility chunks(visibility, chunk);
  choice.plan = buildPlan(options.deterministic ? chunks : visibility,
                          placement, scheme, order, headShards, chunk);
  if (!options.scheme.empty() && options.scheme != choice.plan.printScheme())
    return;
  choice.plan.mask = problem.mask.print();
  choice.plan.documents = visibility.getDocuments();
  choice.cost = pricePlan(choice.plan, problem, topology, compute);
  selection.ranked.push_back(std::move(choice));
}

void Planner::addTokenSchemes() {
  if (options.deterministic)
    selection.rejections.push_back(
        "ring; group-cast, own first; query-cast: the order of keys depends on "
        "the ranks, and deterministic plans have the bits of one GPU");
  else if (options.headShards == 1 && options.scheme.empty())
    selection.rejections.push_back(
        "query-cast: queries move, and with 1 head shard rows are to stay");
  std::vector<Placement> placements =
      getPlacements(visibility, topology.ranks, chunk);
  if (std::optional<Placement> better =
          improvePlacement(visibility, placements, chunk, getPairsPerToken()))
    placements.push_back(std::move(*better));
  for (const Placement &placement : placements) {
    add(placement, Scheme::GroupCast, KeyOrder::Ascending);
    if (topology.ranks == 1)
      return;
    add(placement, Scheme::AllGather, KeyOrder::Ascending);
    if (options.deterministic)
      continue;
    add(placement, Scheme::GroupCast, KeyOrder::OwnFirst);
    // Stripes of a ring are equal work already; a heap's are no ring at all.
    if (placement.name == "contiguous" || placement.name == "zigzag" ||
        placement.name == "striped")
      add(placement, Scheme::Ring, KeyOrder::OwnFirst);
    if (options.headShards != 1 || !options.scheme.empty())
      add(placement, Scheme::QueryCast, KeyOrder::OwnFirst);
  }
}

void Planner::addHeadSchemes() {
  for (int64_t shards = 2; shards <= topology.ranks; ++shards) {
    if (topology.ranks % shards)
      continue;
    bool isWhole = shards == topology.ranks;
    std::string name = "all-to-all over " + std::to_string(shards) + " ranks: ";
    if (problem.queryHeads % shards) {
      selection.rejections.push_back(name + "expected a divisor of Hq = " +
                                     std::to_string(problem.queryHeads));
      continue;
    }
    if (problem.kvHeads % shards && shards % problem.kvHeads) {
      selection.rejections.push_back(
          name + "expected a divisor or a multiple of Hkv = " +
          std::to_string(problem.kvHeads));
      continue;
    }
    if (!isWhole && options.deterministic)
      continue;
    for (const Placement &placement :
         getPlacements(visibility, topology.ranks / shards, chunk))
      if (isWhole || placement.name == "contiguous" ||
          placement.name == "zigzag")
        add(placement, Scheme::Ring, KeyOrder::OwnFirst, shards);
  }
}

/// All pairs shared out evenly; the keys that ranks need and do not own, of the
/// placement that needs least.
void Planner::addBounds() {
  TokenRange all = {0, visibility.getTokens()};
  selection.leastSeconds =
      visibility.countPairs(all, all) * compute.secondsPerPair / topology.ranks;
  std::optional<int64_t> least;
  for (const PlanChoice &choice : selection.ranked) {
    if (choice.plan.scheme != Scheme::GroupCast)
      continue;
    int64_t tokens = 0;
    for (const RankPlan &rank : choice.plan.ranks)
      for (const Stage &stage : rank.stages)
        for (const Transfer &transfer : stage.receive)
          tokens += transfer.tokens.count();
    least = std::min(least.value_or(tokens), tokens);
  }
  selection.leastBytes = least.value_or(0) * problem.batch * problem.kvHeads *
                         problem.getKvRowElements() *
                         getSizeBytes(problem.elementType);
}

Result<PlanSelection> Planner::run() {
  if (Status status = check(); !status)
    return Error{status.error()};
  addTokenSchemes();
  addHeadSchemes();
  std::string shards =
      options.headShards ? std::to_string(options.headShards) : "any";
  if (selection.ranked.empty())
    return Error{"expected a scheme, a placement and head shards that there "
                 "are for this problem, got '" +
                 options.scheme + "', '" + options.placement + "' and " +
                 shards};
  addBounds();
  std::stable_sort(selection.ranked.begin(), selection.ranked.end(),
                   [](const PlanChoice &a, const PlanChoice &b) {
                     return a.cost.seconds != b.cost.seconds
                                ? a.cost.seconds < b.cost.seconds
                                : a.cost.sentBytes < b.cost.sentBytes;
                   });
  selection.times =
      tracePlan(selection.ranked.front().plan, problem, topology, compute);
  return std::move(selection);
}

Result<PlanSelection> selectPlan(const AttentionProblem &problem,
                                 const Visibility &visibility,
                                 const Topology &topology,
                                 const ComputeModel &compute,
                                 const PlannerOptions &options) {
  return Planner(problem, visibility, topology, compute, options).run();
}

} // namespace attn
