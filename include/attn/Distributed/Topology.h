//===- Topology.h - Ranks and their links -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many ranks there are, and how fast they reach each other.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_TOPOLOGY_H
#define ATTN_DISTRIBUTED_TOPOLOGY_H

#include "attn/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// One direction of what a rank sends or receives.
struct Link {
  double gbps;           ///< bytes per second / 1e9
  double latencySeconds; ///< of a message
};

/// Ranks in nodes. The defaults are assumed, not measured: 8 GPUs of a node by
/// NVLink 4, a 400 Gb/s NIC for each.
struct Topology {
  int64_t ranks = 1;
  int64_t nodeRanks = 8; ///< consecutive ranks share a node
  Link link = {360, 3e-6};
  Link nic = {45, 8e-6};

  bool isSameNode(int64_t a, int64_t b) const {
    return a / nodeRanks == b / nodeRanks;
  }

  /// "node=8 gbps=360 latency-us=3 nic-gbps=45 nic-latency-us=8", in any order;
  /// what is left out keeps its default.
  static Result<Topology> parse(int64_t ranks, std::string_view text);
  std::string print() const;
};

} // namespace attn

#endif // ATTN_DISTRIBUTED_TOPOLOGY_H
