//===- Visibility.h - Which tokens see which --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a planner asks of a mask: which keys a range of rows needs, and how much
// work that is. Rows and keys are the same tokens (self-attention).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_VISIBILITY_H
#define ATTN_DISTRIBUTED_VISIBILITY_H

#include "attn/Distributed/TokenRanges.h"
#include "attn/Schedule/AttentionProblem.h"
#include "attn/Support/Result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

class Visibility {
public:
  explicit Visibility(int64_t tokens) : tokens(tokens) {}
  virtual ~Visibility() = default;

  int64_t getTokens() const { return tokens; }
  /// The keys that some row of `rows` sees.
  virtual TokenRanges getKeys(TokenRange rows) const = 0;
  /// From the first to the last of them; empty if there are none.
  virtual TokenRange getKeySpan(TokenRange rows) const;
  /// Keys that each of `rows` sees; those that are easy to say, or none.
  virtual TokenRange getFullKeys(TokenRange rows) const { return {}; }
  /// The rows that see some key of `keys`. By default single rows are asked
  /// for.
  virtual TokenRanges getRows(TokenRange keys) const;
  /// How many pairs of `rows` and `keys` are visible.
  virtual int64_t countPairs(TokenRange rows, TokenRange keys) const = 0;
  /// Sequences that do not see each other; empty where that is not known.
  virtual std::vector<TokenRange> getDocuments() const { return {}; }

  TokenRanges getKeys(const TokenRanges &rows) const;
  TokenRanges getRows(const TokenRanges &keys) const;
  int64_t countPairs(const TokenRanges &rows, const TokenRanges &keys) const;

private:
  int64_t tokens;
};

/// A band around the diagonal: full, causal, windows. `mask.density` is 1.
class BandVisibility : public Visibility {
public:
  BandVisibility(int64_t tokens, MaskPattern mask);

  using Visibility::countPairs;
  using Visibility::getKeys;
  using Visibility::getRows;
  TokenRanges getKeys(TokenRange rows) const override;
  TokenRange getKeySpan(TokenRange rows) const override;
  TokenRanges getRows(TokenRange keys) const override;
  TokenRange getFullKeys(TokenRange rows) const override;
  int64_t countPairs(TokenRange rows, TokenRange keys) const override;

private:
  MaskPattern mask;
};

/// Sequences one behind the other, each of which has the band for itself.
class DocumentVisibility : public Visibility {
public:
  DocumentVisibility(const std::vector<int64_t> &lengths, MaskPattern mask);

  using Visibility::countPairs;
  using Visibility::getKeys;
  using Visibility::getRows;
  TokenRanges getKeys(TokenRange rows) const override;
  TokenRanges getRows(TokenRange keys) const override;
  int64_t countPairs(TokenRange rows, TokenRange keys) const override;
  std::vector<TokenRange> getDocuments() const override { return documents; }

private:
  /// What `find` has of each document's part of `tokens`.
  template <typename Find>
  TokenRanges findInDocuments(TokenRange tokens, Find find) const;

  BandVisibility band;
  std::vector<TokenRange> documents;
};

/// Another's, where rows see whole chunks of keys: a call over these has the
/// tiles that one over the whole sequence has.
class ChunkVisibility : public Visibility {
public:
  ChunkVisibility(const Visibility &exact, int64_t chunk)
      : Visibility(exact.getTokens()), exact(exact), chunk(chunk) {}

  using Visibility::countPairs;
  using Visibility::getKeys;
  using Visibility::getRows;
  TokenRanges getKeys(TokenRange rows) const override;
  int64_t countPairs(TokenRange rows, TokenRange keys) const override {
    return exact.countPairs(rows, keys);
  }
  std::vector<TokenRange> getDocuments() const override {
    return exact.getDocuments();
  }

private:
  const Visibility &exact;
  int64_t chunk;
};

/// Blocks of tokens, as a picture draws them: a line for each block of rows, in
/// it a character for each block of keys: '.' none of its pairs is visible, '#'
/// all are, '+' some, which are taken to be half of them.
class BlockVisibility : public Visibility {
public:
  static Result<BlockVisibility> parse(std::string_view picture, int64_t tokens,
                                       int64_t block);

  using Visibility::countPairs;
  using Visibility::getKeys;
  using Visibility::getRows;
  TokenRanges getKeys(TokenRange rows) const override;
  TokenRanges getRows(TokenRange keys) const override;
  int64_t countPairs(TokenRange rows, TokenRange keys) const override;

private:
  BlockVisibility(int64_t tokens, int64_t block)
      : Visibility(tokens), block(block) {}
  TokenRange getBlock(int64_t number) const;

  int64_t block;
  std::vector<std::string> lines;
};

/// Any predicate visible(row, key), asked pair by pair: for small sizes.
class PredicateVisibility : public Visibility {
public:
  using Predicate = std::function<bool(int64_t row, int64_t key)>;
  PredicateVisibility(int64_t tokens, Predicate visible)
      : Visibility(tokens), visible(std::move(visible)) {}

  using Visibility::countPairs;
  using Visibility::getKeys;
  using Visibility::getRows;
  TokenRanges getKeys(TokenRange rows) const override;
  int64_t countPairs(TokenRange rows, TokenRange keys) const override;

private:
  Predicate visible;
};

} // namespace attn

#endif // ATTN_DISTRIBUTED_VISIBILITY_H
