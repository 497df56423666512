//===- Visibility.cpp - Which tokens see which ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Visibility.h"

#include "attn/Support/Format.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace attn {

TokenRanges Visibility::getKeys(const TokenRanges &rows) const {
  std::vector<TokenRange> keys;
  for (const TokenRange &range : rows)
    for (const TokenRange &seen : getKeys(range))
      keys.push_back(seen);
  return TokenRanges(std::move(keys));
}

TokenRanges Visibility::getRows(const TokenRanges &keys) const {
  std::vector<TokenRange> rows;
  for (const TokenRange &range : keys)
    for (const TokenRange &seeing : getRows(range))
      rows.push_back(seeing);
  return TokenRanges(std::move(rows));
}

/// Adds those of `rows` that see some key of `keys`.
static void findRows(const Visibility &visibility, TokenRange rows,
                     TokenRange keys, std::vector<TokenRange> &found) {
  if (rows.size() <= 0 || !visibility.countPairs(rows, keys))
    return;
  if (rows.size() == 1) {
    found.push_back(rows);
    return;
  }
  int64_t middle = rows.begin + rows.size() / 2;
  findRows(visibility, {rows.begin, middle}, keys, found);
  findRows(visibility, {middle, rows.end}, keys, found);
}

TokenRanges Visibility::getRows(TokenRange keys) const {
  std::vector<TokenRange> found;
  findRows(*this, {0, getTokens()}, keys, found);
  return TokenRanges(std::move(found));
}

TokenRange Visibility::getKeySpan(TokenRange rows) const {
  TokenRanges keys = getKeys(rows);
  if (keys.empty())
    return {};
  return {keys.begin()->begin, std::prev(keys.end())->end};
}

namespace {
/// Sums of consecutive ranges of `keys`, for many rows.
class RangeSums {
public:
  RangeSums(const TokenRanges &keys, int64_t rows) : keys(keys), rows(rows) {}

  int64_t get(const TokenRange *begin, const TokenRange *end) {
    // Sums from the first range on are made where that is less work.
    if (before.empty() && (end - begin) * rows > keys.end() - keys.begin()) {
      before.push_back(0);
      for (const TokenRange &range : keys)
        before.push_back(before.back() + range.size());
    }
    if (!before.empty())
      return before[end - keys.begin()] - before[begin - keys.begin()];
    int64_t sum = 0;
    for (; begin != end; ++begin)
      sum += begin->size();
    return sum;
  }

private:
  const TokenRanges &keys;
  int64_t rows;
  std::vector<int64_t> before; ///< tokens before each range, and behind all
};
} // namespace

int64_t Visibility::countPairs(const TokenRanges &rows,
                               const TokenRanges &keys) const {
  RangeSums sums(keys, rows.end() - rows.begin());
  int64_t pairs = 0;
  for (const TokenRange &rowRange : rows) {
    // Of many ranges of keys, those between the first and the last that is
    // seen, and among these those that all rows see.
    TokenRange seen = getKeySpan(rowRange), full = getFullKeys(rowRange);
    const TokenRange *first = std::partition_point(
        keys.begin(), keys.end(),
        [&](const TokenRange &range) { return range.end <= seen.begin; });
    const TokenRange *last =
        std::partition_point(first, keys.end(), [&](const TokenRange &range) {
          return range.begin < seen.end;
        });
    const TokenRange *whole =
        std::partition_point(first, last, [&](const TokenRange &range) {
          return range.begin < full.begin;
        });
    const TokenRange *partial =
        std::partition_point(whole, last, [&](const TokenRange &range) {
          return range.end <= full.end;
        });
    for (const TokenRange *key = first; key != whole; ++key)
      pairs += countPairs(rowRange, *key);
    pairs += rowRange.size() * sums.get(whole, partial);
    for (const TokenRange *key = partial; key != last; ++key)
      pairs += countPairs(rowRange, *key);
  }
  return pairs;
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

BandVisibility::BandVisibility(int64_t tokens, MaskPattern pattern)
    : Visibility(tokens), mask(pattern) {
  // What is farther than all tokens is no limit, and no overflow.
  for (std::optional<int64_t> *side : {&mask.left, &mask.right})
    if (*side)
      *side = std::clamp(**side, -tokens, tokens);
}

TokenRange BandVisibility::getKeySpan(TokenRange rows) const {
  if (rows.size() <= 0 ||
      (mask.left && mask.right && *mask.left + *mask.right < 0))
    return {};
  int64_t begin = mask.left ? std::max<int64_t>(rows.begin - *mask.left, 0) : 0;
  int64_t end =
      mask.right ? std::min(rows.end + *mask.right, getTokens()) : getTokens();
  return {begin, end};
}

TokenRange BandVisibility::getFullKeys(TokenRange rows) const {
  return {mask.left ? rows.end - 1 - *mask.left : 0,
          mask.right ? rows.begin + *mask.right + 1 : getTokens()};
}

TokenRanges BandVisibility::getKeys(TokenRange rows) const {
  return {getKeySpan(rows)};
}

TokenRanges BandVisibility::getRows(TokenRange keys) const {
  if (keys.size() <= 0 ||
      (mask.left && mask.right && *mask.left + *mask.right < 0))
    return {};
  int64_t begin =
      mask.right ? std::max<int64_t>(keys.begin - *mask.right, 0) : 0;
  int64_t end =
      mask.left ? std::min(keys.end + *mask.left, getTokens()) : getTokens();
  return TokenRanges{{begin, end}};
}

/// The sum of min(max(y, 0), width) over all y <= x.
static int64_t sumClamped(int64_t x, int64_t width) {
  if (x <= 0)
    return 0;
  if (x <= width)
    return x * (x + 1) / 2;
  return width * (width + 1) / 2 + (x - width) * width;
}

/// Pairs whose key is at most `shift` behind the row.
static int64_t countUpTo(TokenRange rows, TokenRange keys, int64_t shift) {
  return sumClamped(rows.end + shift - keys.begin, keys.size()) -
         sumClamped(rows.begin + shift - keys.begin, keys.size());
}

int64_t BandVisibility::countPairs(TokenRange rows, TokenRange keys) const {
  if (rows.size() <= 0 || keys.size() <= 0)
    return 0;
  int64_t upTo = mask.right ? countUpTo(rows, keys, *mask.right)
                            : rows.size() * keys.size();
  int64_t before = mask.left ? countUpTo(rows, keys, -*mask.left - 1) : 0;
  return std::max<int64_t>(upTo - before, 0);
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

DocumentVisibility::DocumentVisibility(const std::vector<int64_t> &lengths,
                                       MaskPattern mask)
    : Visibility(std::accumulate(lengths.begin(), lengths.end(), int64_t(0))),
      band(getTokens(), mask) {
  int64_t begin = 0;
  for (int64_t length : lengths) {
    documents.push_back({begin, begin + length});
    begin += length;
  }
}

static TokenRange intersect(TokenRange a, TokenRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// The first document that ends behind `token`.
static auto findDocument(const std::vector<TokenRange> &documents,
                         int64_t token) {
  return std::partition_point(
      documents.begin(), documents.end(),
      [&](const TokenRange &document) { return document.end <= token; });
}

template <typename Find>
TokenRanges DocumentVisibility::findInDocuments(TokenRange tokens,
                                                Find find) const {
  std::vector<TokenRange> found;
  for (auto document = findDocument(documents, tokens.begin);
       document != documents.end() && document->begin < tokens.end; ++document)
    for (const TokenRange &range : find(intersect(tokens, *document)))
      found.push_back(intersect(range, *document));
  return TokenRanges(std::move(found));
}

TokenRanges DocumentVisibility::getKeys(TokenRange rows) const {
  return findInDocuments(rows,
                         [&](TokenRange part) { return band.getKeys(part); });
}

TokenRanges DocumentVisibility::getRows(TokenRange keys) const {
  return findInDocuments(keys,
                         [&](TokenRange part) { return band.getRows(part); });
}

int64_t DocumentVisibility::countPairs(TokenRange rows, TokenRange keys) const {
  TokenRange span = {std::max(rows.begin, keys.begin), 0};
  int64_t pairs = 0;
  for (auto document = findDocument(documents, span.begin);
       document != documents.end() &&
       document->begin < std::min(rows.end, keys.end);
       ++document)
    pairs +=
        band.countPairs(intersect(rows, *document), intersect(keys, *document));
  return pairs;
}

//===----------------------------------------------------------------------===//
// Whole chunks
//===----------------------------------------------------------------------===//

TokenRanges ChunkVisibility::getKeys(TokenRange rows) const {
  std::vector<TokenRange> keys;
  for (const TokenRange &seen : exact.getKeys(rows))
    keys.push_back(
        {seen.begin / chunk * chunk,
         std::min((seen.end + chunk - 1) / chunk * chunk, getTokens())});
  return TokenRanges(std::move(keys));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Result<BlockVisibility> BlockVisibility::parse(std::string_view picture,
                                               int64_t tokens, int64_t block) {
  BlockVisibility result(tokens, block);
  size_t blocks = (tokens + block - 1) / block;
  for (const std::string &line : split(picture, '\n')) {
    if (line.size() != blocks ||
        line.find_first_not_of(".+#") != std::string::npos)
      return Error{"line " + std::to_string(result.lines.size() + 1) +
                   ": expected " + std::to_string(blocks) +
                   " of '.', '+' and '#', a block of " + std::to_string(block) +
                   " keys each, got '" + line.substr(0, 80) + "'"};
    result.lines.push_back(line);
  }
  if (result.lines.size() != blocks)
    return Error{"expected " + std::to_string(blocks) + " lines, a block of " +
                 std::to_string(block) + " rows each, got " +
                 std::to_string(result.lines.size())};
  return result;
}

TokenRange BlockVisibility::getBlock(int64_t number) const {
  return {number * block, std::min((number + 1) * block, getTokens())};
}

TokenRanges BlockVisibility::getKeys(TokenRange rows) const {
  std::vector<TokenRange> keys;
  for (int64_t row = rows.begin / block; row * block < rows.end; ++row)
    for (size_t key = 0; key < lines.size(); ++key)
      if (lines[row][key] != '.')
        keys.push_back(getBlock(key));
  return TokenRanges(std::move(keys));
}

TokenRanges BlockVisibility::getRows(TokenRange keys) const {
  if (keys.size() <= 0)
    return {};
  std::vector<TokenRange> rows;
  for (size_t row = 0; row < lines.size(); ++row)
    for (int64_t key = keys.begin / block; key * block < keys.end; ++key)
      if (lines[row][key] != '.')
        rows.push_back(getBlock(row));
  return TokenRanges(std::move(rows));
}

int64_t BlockVisibility::countPairs(TokenRange rows, TokenRange keys) const {
  int64_t pairs = 0;
  for (int64_t row = rows.begin / block; row * block < rows.end; ++row)
    for (int64_t key = keys.begin / block; key * block < keys.end; ++key) {
      int64_t area = intersect(rows, getBlock(row)).size() *
                     intersect(keys, getBlock(key)).size();
      if (lines[row][key] != '.')
        pairs += lines[row][key] == '#' ? area : (area + 1) / 2;
    }
  return pairs;
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

TokenRanges PredicateVisibility::getKeys(TokenRange rows) const {
  std::vector<TokenRange> keys;
  for (int64_t key = 0; key < getTokens(); ++key)
    if (countPairs(rows, {key, key + 1}))
      keys.push_back({key, key + 1});
  return TokenRanges(std::move(keys));
}

int64_t PredicateVisibility::countPairs(TokenRange rows,
                                        TokenRange keys) const {
  int64_t pairs = 0;
  for (int64_t row = rows.begin; row < rows.end; ++row)
    for (int64_t key = keys.begin; key < keys.end; ++key)
      pairs += visible(row, key);
  return pairs;
}

} // namespace attn
