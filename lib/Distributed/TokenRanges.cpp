//===- TokenRanges.cpp - Sets of tokens -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/TokenRanges.h"

#include <algorithm>

namespace attn {

TokenRanges TokenRanges::share(std::vector<TokenRange> set) {
  TokenRanges result;
  if (!set.empty())
    result.ranges =
        std::make_shared<const std::vector<TokenRange>>(std::move(set));
  return result;
}

TokenRanges::TokenRanges(std::vector<TokenRange> given) {
  auto isBefore = [](const TokenRange &a, const TokenRange &b) {
    return a.begin < b.begin;
  };
  if (!std::is_sorted(given.begin(), given.end(), isBefore))
    std::sort(given.begin(), given.end(), isBefore);
  size_t size = 0;
  for (const TokenRange &range : given) {
    if (range.size() <= 0)
      continue;
    if (size && range.begin <= given[size - 1].end)
      given[size - 1].end = std::max(given[size - 1].end, range.end);
    else
      given[size++] = range;
  }
  given.resize(size);
  *this = share(std::move(given));
}

TokenRanges TokenRanges::unite(const TokenRanges &other) const {
  std::vector<TokenRange> all(begin(), end());
  all.insert(all.end(), other.begin(), other.end());
  return TokenRanges(std::move(all));
}

TokenRanges TokenRanges::intersect(const TokenRanges &other) const {
  std::vector<TokenRange> result;
  auto a = begin();
  auto b = other.begin();
  while (a != end() && b != other.end()) {
    TokenRange both = {std::max(a->begin, b->begin), std::min(a->end, b->end)};
    if (both.size() > 0)
      result.push_back(both);
    if (a->end < b->end)
      ++a;
    else
      ++b;
  }
  return share(std::move(result));
}

TokenRanges TokenRanges::subtract(const TokenRanges &other) const {
  std::vector<TokenRange> result;
  auto hole = other.begin();
  for (TokenRange range : *this) {
    while (hole != other.end() && hole->end <= range.begin)
      ++hole;
    for (auto next = hole; next != other.end() && next->begin < range.end;
         ++next) {
      if (next->begin > range.begin)
        result.push_back({range.begin, next->begin});
      range.begin = next->end;
    }
    if (range.size() > 0)
      result.push_back(range);
  }
  return share(std::move(result));
}

int64_t TokenRanges::count() const {
  int64_t tokens = 0;
  for (const TokenRange &range : *this)
    tokens += range.size();
  return tokens;
}

} // namespace attn
