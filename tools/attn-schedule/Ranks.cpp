//===- Ranks.cpp - Plans for several GPUs ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"

#include "attn/Schedule/BackwardSchedule.h"
#include "attn/Schedule/ScheduleSelector.h"
#include "attn/Support/Format.h"

#include <fstream>
#include <iterator>
#include <memory>

using namespace attn;

/// Predicted seconds of the whole attention on one GPU.
static Result<double> getSeconds(const AttentionProblem &problem,
                                 const TargetInfo &target, bool deterministic) {
  if (problem.pass == AttentionPass::Backward) {
    Result<BackwardSelection> selection =
        selectBackwardSchedules(problem, target, {{}, {}, deterministic});
    if (!selection)
      return Error{selection.error()};
    return selection->getSeconds();
  }
  SelectorOptions options;
  options.features = getGeneratorFeatures(problem, target);
  Result<Selection> selection = selectSchedule(problem, target, {}, options);
  if (!selection)
    return Error{selection.error()};
  return selection->chosen().cost.seconds;
}

static Result<std::vector<int64_t>> parseLengths(const std::string &text,
                                                 int64_t tokens) {
  std::vector<int64_t> lengths;
  int64_t sum = 0;
  for (const std::string &word : split(text, ',')) {
    int64_t length;
    if (!parseInteger(word, length) || length < 1 || length > tokens)
      return Error{"expected lengths of documents from 1 to N = " +
                   std::to_string(tokens) + ", got '" + word + "'"};
    lengths.push_back(length);
    sum += length;
  }
  if (sum != tokens)
    return Error{"expected documents of N = " + std::to_string(tokens) +
                 " tokens in all, got " + std::to_string(sum)};
  return lengths;
}

static Result<std::unique_ptr<Visibility>>
readBlocks(const AttentionProblem &problem, const RanksOptions &options) {
  if (problem.mask.isBand() || !options.documents.empty())
    return Error{"expected --blocks with mask=full and without --documents: "
                 "they say who sees whom"};
  if (options.planner.chunk < 1)
    return Error{"expected --chunk with --blocks: how many tokens a block has"};
  std::ifstream file(options.blocks);
  if (!file)
    return Error{options.blocks + ": cannot read the file"};
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  Result<BlockVisibility> blocks =
      BlockVisibility::parse(text, problem.kvLength, options.planner.chunk);
  if (!blocks)
    return Error{options.blocks + ": " + blocks.error()};
  return std::unique_ptr<Visibility>(
      std::make_unique<BlockVisibility>(std::move(*blocks)));
}

static Result<std::unique_ptr<Visibility>>
makeVisibility(const AttentionProblem &problem, const RanksOptions &options) {
  const std::string &documents = options.documents;
  if (problem.queryLength != problem.kvLength)
    return Error{"expected M = N for several ranks, which share out one "
                 "sequence, got M=" +
                 std::to_string(problem.queryLength) +
                 " N=" + std::to_string(problem.kvLength)};
  if (problem.mask.density != 1)
    return Error{"expected a mask whose pairs are known for several ranks, got "
                 "a density: give --documents, or a band"};
  if (!options.blocks.empty())
    return readBlocks(problem, options);
  if (documents.empty())
    return std::unique_ptr<Visibility>(
        std::make_unique<BandVisibility>(problem.kvLength, problem.mask));
  Result<std::vector<int64_t>> lengths =
      parseLengths(documents, problem.kvLength);
  if (!lengths)
    return Error{lengths.error()};
  return std::unique_ptr<Visibility>(
      std::make_unique<DocumentVisibility>(*lengths, problem.mask));
}

Result<RanksResult> attn::planRanks(const std::string &problemText,
                                    const TargetInfo &target,
                                    const RanksOptions &options) {
  Result<AttentionProblem> problem = AttentionProblem::parse(problemText);
  if (!problem)
    return Error{problem.error()};
  if (Result<Topology> alone = Topology::parse(options.ranks, ""); !alone)
    return Error{"--ranks: " + alone.error()};
  Result<Topology> topology = Topology::parse(options.ranks, options.link);
  if (!topology)
    return Error{"--link: " + topology.error()};
  Result<std::unique_ptr<Visibility>> visibility =
      makeVisibility(*problem, options);
  if (!visibility)
    return Error{visibility.error()};
  Result<double> seconds =
      getSeconds(*problem, target, options.planner.deterministic);
  if (!seconds)
    return Error{seconds.error()};
  TokenRange all = {0, problem->kvLength};
  int64_t pairs =
      BandVisibility(problem->kvLength, problem->mask).countPairs(all, all);
  ComputeModel compute;
  compute.secondsPerPair = pairs ? *seconds / pairs : 0;
  compute.memoryBytesPerSecond = target.dramGBps * 1e9;
  Result<PlanSelection> selection =
      selectPlan(*problem, **visibility, *topology, compute, options.planner);
  if (!selection)
    return Error{selection.error()};
  if (!options.blocks.empty())
    for (PlanChoice &choice : selection->ranked)
      choice.plan.mask = "blocks";
  return RanksResult{*problem, *topology, std::move(*selection)};
}
