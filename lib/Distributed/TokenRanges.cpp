//===- TokenRanges.cpp - Sets of tokens -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/TokenRanges.h"

#include <algorithm>

namespace attn {

TokenRanges::TokenRanges(std::vector<TokenRange> given) {
  std::sort(given.begin(), given.end(),
            [](const TokenRange &a, const TokenRange &b) {
              return a.begin < b.begin;
            });
  for (const TokenRange &range : given) {
    if (range.size() <= 0)
      continue;
    if (!ranges.empty() && range.begin <= ranges.back().end)
      ranges.back().end = std::max(ranges.back().end, range.end);
    else
      ranges.push_back(range);
  }
}

TokenRanges TokenRanges::unite(const TokenRanges &other) const {
  std::vector<TokenRange> all(ranges);
  all.insert(all.end(), other.begin(), other.end());
  return TokenRanges(std::move(all));
}

TokenRanges TokenRanges::intersect(const TokenRanges &other) const {
  TokenRanges result;
  auto a = begin();
  auto b = other.begin();
  while (a != end() && b != other.end()) {
    TokenRange both = {std::max(a->begin, b->begin), std::min(a->end, b->end)};
    if (both.size() > 0)
      result.ranges.push_back(both);
    if (a->end < b->end)
      ++a;
    else
      ++b;
  }
  return result;
}

TokenRanges TokenRanges::subtract(const TokenRanges &other) const {
  TokenRanges result;
  auto hole = other.begin();
  for (TokenRange range : ranges) {
    while (hole != other.end() && hole->end <= range.begin)
      ++hole;
    for (auto next = hole; next != other.end() && next->begin < range.end;
         ++next) {
      if (next->begin > range.begin)
        result.ranges.push_back({range.begin, next->begin});
      range.begin = next->end;
    }
    if (range.size() > 0)
      result.ranges.push_back(range);
  }
  return result;
}

int64_t TokenRanges::count() const {
  int64_t tokens = 0;
  for (const TokenRange &range : ranges)
    tokens += range.size();
  return tokens;
}

} // namespace attn
