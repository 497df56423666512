//===- PlanJson.cpp - Plans as JSON ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Plan.h"

#include <nlohmann/json.hpp>

namespace attn {

static const std::string kSchema = "attn-mlir/plan/1";

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename Ranges>
static nlohmann::json getRangesJson(const Ranges &ranges) {
  auto list = nlohmann::json::array();
  for (const TokenRange &range : ranges)
    list.push_back({range.begin, range.end});
  return list;
}

/// What transfers of a plan are of.
static const char *getMoved(const Plan &plan) {
  return plan.movesQueries() ? "rows" : "keys";
}

static nlohmann::json getJson(const std::vector<Transfer> &transfers,
                              const char *peer, const char *moved) {
  auto list = nlohmann::json::array();
  for (const Transfer &transfer : transfers)
    list.push_back(
        {{peer, transfer.peer}, {moved, getRangesJson(transfer.tokens)}});
  return list;
}

static nlohmann::json getJson(const Stage &stage, const char *moved) {
  auto calls = nlohmann::json::array();
  for (const Call &call : stage.calls)
    calls.push_back({{"rows", getRangesJson(call.rows)},
                     {"keys", getRangesJson(call.keys)},
                     {"pairs", call.pairs}});
  return {{"receive", getJson(stage.receive, "from", moved)},
          {"send", getJson(stage.send, "to", moved)},
          {"calls", std::move(calls)}};
}

nlohmann::json getPlanJson(const Plan &plan) {
  auto ranks = nlohmann::json::array();
  for (const RankPlan &rank : plan.ranks) {
    auto stages = nlohmann::json::array();
    for (const Stage &stage : rank.stages)
      stages.push_back(getJson(stage, getMoved(plan)));
    ranks.push_back({{"rows", getRangesJson(rank.rows)},
                     {"stages", std::move(stages)},
                     {"pairs", rank.countPairs()}});
  }
  return {{"schema", kSchema},
          {"scheme", plan.printScheme()},
          {"placement", plan.placement},
          {"head_shards", plan.headShards},
          {"mask", plan.mask},
          {"documents", getRangesJson(plan.documents)},
          {"tokens", plan.tokens},
          {"chunk", plan.chunk},
          {"ranks", std::move(ranks)}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
using nlohmann::json;

/// A field that is not there, or is no such value.
struct WrongField {
  std::string name;
};
} // namespace

/// The field of an object, as `T`.
template <typename T>
static T get(const json &object, const char *name) {
  try {
    return object.at(name).get<T>();
  } catch (const json::exception &) {
    throw WrongField{name};
  }
}

/// As they are: documents touch.
static std::vector<TokenRange> readRanges(const json &object,
                                          const char *name) {
  std::vector<TokenRange> ranges;
  for (auto [begin, end] :
       get<std::vector<std::pair<int64_t, int64_t>>>(object, name))
    ranges.push_back({begin, end});
  return ranges;
}

static TokenRanges readTokens(const json &object, const char *name) {
  return TokenRanges(readRanges(object, name));
}

static std::vector<Transfer> readTransfers(const json &stage, const char *name,
                                           const char *peer,
                                           const char *moved) {
  std::vector<Transfer> transfers;
  for (const json &transfer : get<std::vector<json>>(stage, name))
    transfers.push_back(
        {get<int64_t>(transfer, peer), readTokens(transfer, moved)});
  return transfers;
}

static RankPlan readRank(const json &rank, const char *moved) {
  RankPlan result;
  result.rows = readTokens(rank, "rows");
  for (const json &stage : get<std::vector<json>>(rank, "stages")) {
    Stage read;
    read.receive = readTransfers(stage, "receive", "from", moved);
    read.send = readTransfers(stage, "send", "to", moved);
    for (const json &call : get<std::vector<json>>(stage, "calls"))
      read.calls.push_back({readTokens(call, "rows"), readTokens(call, "keys"),
                            call.value("pairs", int64_t(0))});
    result.stages.push_back(std::move(read));
  }
  return result;
}

/// What Plan::printScheme has printed.
static void readScheme(const std::string &text, Plan &plan) {
  std::string tokens = text.substr(
      text.rfind(" x ") == std::string::npos ? 0 : text.rfind(" x ") + 3);
  plan.order = tokens == "group-cast, own first" ? KeyOrder::OwnFirst
                                                 : KeyOrder::Ascending;
  if (tokens == "ring")
    plan.scheme = Scheme::Ring;
  else if (tokens == "all-gather")
    plan.scheme = Scheme::AllGather;
  else if (tokens == "query-cast")
    plan.scheme = Scheme::QueryCast;
  else if (tokens == "group-cast" || tokens == "group-cast, own first" ||
           tokens == "all-to-all")
    plan.scheme = Scheme::GroupCast;
  else
    throw WrongField{"scheme"};
}

static Plan readFields(const json &data) {
  Plan plan;
  readScheme(get<std::string>(data, "scheme"), plan);
  plan.placement = get<std::string>(data, "placement");
  plan.headShards = get<int64_t>(data, "head_shards");
  plan.tokens = get<int64_t>(data, "tokens");
  plan.chunk = get<int64_t>(data, "chunk");
  plan.mask = data.contains("mask") ? get<std::string>(data, "mask") : "full";
  if (data.contains("documents"))
    plan.documents = readRanges(data, "documents");
  for (const json &rank : get<std::vector<json>>(data, "ranks"))
    plan.ranks.push_back(readRank(rank, getMoved(plan)));
  return plan;
}

Result<Plan> readPlan(const std::string &text) {
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object())
    return Error{"cannot read a plan: expected an object of JSON"};
  const json &data = root.contains("plan") ? root["plan"] : root;
  json schema = data.is_object() ? data.value("schema", json()) : json();
  if (schema != kSchema)
    return Error{"expected a plan of schema " + kSchema + ", got " +
                 schema.dump()};
  try {
    Plan plan = readFields(data);
    if (Status status = checkTransfers(plan); !status)
      return Error{status.error()};
    return plan;
  } catch (const WrongField &wrong) {
    return Error{"expected a plan of schema " + kSchema +
                 ", got one without a valid '" + wrong.name + "'"};
  }
}

} // namespace attn
