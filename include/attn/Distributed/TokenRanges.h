//===- TokenRanges.h - Sets of tokens ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions of a sequence that several ranks share, as half-open ranges.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_TOKENRANGES_H
#define ATTN_DISTRIBUTED_TOKENRANGES_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace attn {

/// The tokens [begin, end).
struct TokenRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const TokenRange &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// A set of tokens: ranges in ascending order, none empty, none next to
/// another. Copies share them: a plan has the same sets at many places.
class TokenRanges {
public:
  TokenRanges() = default;
  TokenRanges(std::initializer_list<TokenRange> ranges)
      : TokenRanges(std::vector<TokenRange>(ranges)) {}
  /// The union of ranges in any order.
  explicit TokenRanges(std::vector<TokenRange> ranges);

  TokenRanges unite(const TokenRanges &other) const;
  TokenRanges intersect(const TokenRanges &other) const;
  TokenRanges subtract(const TokenRanges &other) const;
  /// True if every token of `other` is one of these.
  bool contain(const TokenRanges &other) const {
    return other.subtract(*this).empty();
  }

  /// Number of tokens.
  int64_t count() const;
  bool empty() const { return begin() == end(); }
  const TokenRange *begin() const { return ranges ? ranges->data() : nullptr; }
  const TokenRange *end() const {
    return ranges ? ranges->data() + ranges->size() : nullptr;
  }
  bool operator==(const TokenRanges &other) const {
    return ranges == other.ranges ||
           std::equal(begin(), end(), other.begin(), other.end());
  }

private:
  /// Of ranges that are a set already.
  static TokenRanges share(std::vector<TokenRange> ranges);

  std::shared_ptr<const std::vector<TokenRange>> ranges;
};

} // namespace attn

#endif // ATTN_DISTRIBUTED_TOKENRANGES_H
