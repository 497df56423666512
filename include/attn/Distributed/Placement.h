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

} // namespace attn

#endif // ATTN_DISTRIBUTED_PLACEMENT_H
