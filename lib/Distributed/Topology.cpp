//===- Topology.cpp - Ranks and their links -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Topology.h"

#include "attn/Support/Format.h"
#include "attn/Support/KeyValue.h"

#include <cmath>

namespace attn {

static Status setPositive(double &target, const KeyValue &field, double unit) {
  double value;
  if (!parseDouble(field.value, value) || !std::isfinite(value) || value <= 0)
    return Error{"expected a positive number for " + field.key + ", got '" +
                 field.value + "'"};
  target = value * unit;
  return {};
}

static Status setCount(int64_t &target, const KeyValue &field) {
  if (Status status = setInteger(target, field); !status)
    return status;
  if (target < 1)
    return Error{"expected " + field.key + " of at least 1, got " +
                 field.value};
  return {};
}

Result<Topology> Topology::parse(int64_t ranks, std::string_view text) {
  // Each plan that is compared has up to ranks^2 transfers: beyond this they
  // would take minutes, and more memory than there is.
  constexpr int64_t kMostRanks = 1024;
  if (ranks < 1 || ranks > kMostRanks)
    return Error{"expected from 1 to " + std::to_string(kMostRanks) +
                 " ranks, got " + std::to_string(ranks)};
  Topology topology;
  topology.ranks = ranks;
  auto fields = parseKeyValues(text);
  if (!fields)
    return Error{fields.error()};
  Link &link = topology.link, &nic = topology.nic;
  Status status = applyKeyValues(
      *fields,
      {{"node", [&](auto &f) { return setCount(topology.nodeRanks, f); }},
       {"gbps", [&](auto &f) { return setPositive(link.gbps, f, 1); }},
       {"latency-us",
        [&](auto &f) { return setPositive(link.latencySeconds, f, 1e-6); }},
       {"nic-gbps", [&](auto &f) { return setPositive(nic.gbps, f, 1); }},
       {"nic-latency-us",
        [&](auto &f) { return setPositive(nic.latencySeconds, f, 1e-6); }}},
      "link");
  if (!status)
    return Error{status.error()};
  return topology;
}

std::string Topology::print() const {
  auto show = [](const Link &link) {
    return formatFixed(link.gbps, 0) + " GB/s, " +
           formatSeconds(link.latencySeconds);
  };
  std::string text = std::to_string(ranks) + " ranks";
  if (ranks <= nodeRanks)
    return text + " of one node: " + show(link);
  return text + ", " + std::to_string(nodeRanks) + " a node: " + show(link) +
         " inside, " + show(nic) + " between nodes (one direction of a rank)";
}

} // namespace attn
