//===- Placement.h - Which rank has which tokens ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ways to hand the tokens of a sequence to ranks, in chunks.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_PLACEMENT_H
#define ATTN_DISTRIBUTED_PLACEMENT_H

#include "attn/Distributed/Visibility.h"

#include <optional>
#include <string>
#include <vector>

namespace attn {

/// Who owns which rows of Q, K, V and O: every token has one rank.
struct Placement {
  std::string name;
  std::vector<TokenRanges> rows; ///< of each rank
};

/// The ways that are tried, in chunks of `chunk` tokens:
///
///   contiguous  rank r has the r-th part
///   zigzag      parts r and 2P-1-r of 2P: as much work for each under causal
///               masks (the dual chunk swap of Megatron and ring attention)
///   striped     chunks r, r+P, r+2P, ...
///   documents   whole documents, the longest first, to the rank with the least
///               work that has room; what fits nowhere is cut
///   heap        chunks in order of their work, to the rank with the least
///
/// Those that a sequence has too few chunks for, and documents without
/// documents, are left out.
std::vector<Placement> getPlacements(const Visibility &visibility,
                                     int64_t ranks, int64_t chunk);

/// "swapped": one of `placements` after swaps of chunks between ranks, which
/// make the largest sum of a rank less: its visible pairs, and `pairsPerToken`
/// for each token whose keys it receives. A bounded number of swaps is tried,
/// drawn with a fixed seed. None where that is no better than what there is, by
/// a hundredth at least.
std::optional<Placement>
improvePlacement(const Visibility &visibility,
                 const std::vector<Placement> &placements, int64_t chunk,
                 double pairsPerToken);

} // namespace attn

#endif // ATTN_DISTRIBUTED_PLACEMENT_H
