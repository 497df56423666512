//===- PlacementSearch.cpp - Swaps of chunks between ranks ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Placement.h"

#include <algorithm>
#include <array>
#include <random>

namespace attn {

/// Bytes of a table of needs, by ranks and chunks, beyond which none is made.
static constexpr int64_t kMostEntries = int64_t(1) << 22;
/// Pairs of chunks that see each other beyond which none is made, either.
static constexpr int64_t kMostNeeds = int64_t(1) << 25;
/// Entries that tried swaps may touch, and tries.
static constexpr int64_t kMostWork = int64_t(1) << 23, kMostTries = 1 << 15;
/// What counts as better.
static constexpr double kLeastGain = 0.01;

namespace {
/// What a chunk needs and costs.
struct Chunk {
  int64_t tokens = 0, pairs = 0;
  std::vector<int64_t> needs; ///< chunks of keys that its rows see
};

class Search {
public:
  Search(int64_t tokens, int64_t ranks, int64_t size, double pairsPerToken)
      : tokens(tokens), ranks(ranks), size(size),
        chunks((tokens + size - 1) / size), pairsPerToken(pairsPerToken) {}

  /// Finds what chunks need. False where that is more than kMostNeeds.
  bool findNeeds(const Visibility &visibility);
  /// Takes the placement as it is. False where a chunk is cut.
  bool start(const Placement &placement);
  void improve();

  double getWorst() const;
  Placement getPlacement() const;

private:
  /// A rank's rows with those of a chunk, or with -1 without them.
  void countNeeds(int64_t chunk, int64_t rank, int64_t sign);
  void setOwner(int64_t chunk, int64_t rank);
  void swap(int64_t a, int64_t b);
  double score(int64_t rank) const {
    return double(pairs[rank]) +
           pairsPerToken * double(std::max(received[rank], sent[rank]));
  }

  int64_t tokens, ranks, size;
  std::vector<Chunk> chunks;
  double pairsPerToken;
  std::vector<int64_t> owner, receivers; ///< of each chunk; ranks that need it
  std::vector<std::vector<int64_t>> owned;  ///< chunks of each rank
  std::vector<std::vector<int32_t>> needed; ///< by rank and chunk: by how many
  std::vector<int64_t> pairs, received, sent; ///< of each rank; tokens
  int64_t work = 0;
  std::mt19937 random{1};
};
} // namespace

bool Search::findNeeds(const Visibility &visibility) {
  int64_t total = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    TokenRange rows = {int64_t(i) * size,
                       std::min(int64_t(i + 1) * size, tokens)};
    chunks[i].tokens = rows.size();
    chunks[i].pairs = visibility.countPairs(rows, {0, tokens});
    for (const TokenRange &keys : visibility.getKeys(rows))
      for (int64_t k = keys.begin / size; k * size < keys.end; ++k)
        if (chunks[i].needs.empty() || chunks[i].needs.back() != k)
          chunks[i].needs.push_back(k);
    total += int64_t(chunks[i].needs.size());
    if (total > kMostNeeds)
      return false;
  }
  return true;
}

bool Search::start(const Placement &placement) {
  owner.assign(chunks.size(), -1);
  receivers.assign(chunks.size(), 0);
  owned.assign(ranks, {});
  needed.assign(ranks, std::vector<int32_t>(chunks.size()));
  for (std::vector<int64_t> *counts : {&pairs, &received, &sent})
    counts->assign(ranks, 0);
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (const TokenRange &rows : placement.rows[rank]) {
      if (rows.begin % size || (rows.end % size && rows.end != tokens))
        return false;
      for (int64_t i = rows.begin / size; i * size < rows.end; ++i) {
        owned[rank].push_back(i);
        owner[i] = rank;
      }
    }
  for (size_t i = 0; i < chunks.size(); ++i)
    countNeeds(int64_t(i), owner[i], 1);
  return true;
}

void Search::countNeeds(int64_t number, int64_t rank, int64_t sign) {
  const Chunk &chunk = chunks[number];
  pairs[rank] += sign * chunk.pairs;
  for (int64_t key : chunk.needs) {
    int32_t &count = needed[rank][key];
    bool wasNeeded = count > 0;
    count += int32_t(sign);
    int64_t change = int64_t(count > 0) - int64_t(wasNeeded);
    receivers[key] += change;
    if (owner[key] != rank) {
      received[rank] += change * chunks[key].tokens;
      sent[owner[key]] += change * chunks[key].tokens;
    }
  }
  work += int64_t(chunk.needs.size());
}

void Search::setOwner(int64_t chunk, int64_t rank) {
  int64_t before = owner[chunk], count = chunks[chunk].tokens;
  bool isNeededBefore = needed[before][chunk] > 0;
  bool isNeeded = needed[rank][chunk] > 0;
  sent[before] -= count * (receivers[chunk] - isNeededBefore);
  sent[rank] += count * (receivers[chunk] - isNeeded);
  received[before] += isNeededBefore ? count : 0;
  received[rank] -= isNeeded ? count : 0;
  owner[chunk] = rank;
}

/// Of two ranks, which get each other's chunk.
void Search::swap(int64_t a, int64_t b) {
  int64_t rankA = owner[a], rankB = owner[b];
  std::replace(owned[rankA].begin(), owned[rankA].end(), a, b);
  std::replace(owned[rankB].begin(), owned[rankB].end(), b, a);
  setOwner(a, rankB);
  setOwner(b, rankA);
  for (auto [chunk, from, to] :
       {std::array{a, rankA, rankB}, std::array{b, rankB, rankA}}) {
    countNeeds(chunk, from, -1);
    countNeeds(chunk, to, 1);
  }
}

double Search::getWorst() const {
  double worst = 0;
  for (int64_t rank = 0; rank < ranks; ++rank)
    worst = std::max(worst, score(rank));
  return worst;
}

/// Swaps a chunk of the worst rank with any other, and keeps what makes both
/// ranks better than that was, and none worse than it.
void Search::improve() {
  work = 0;
  for (int64_t tried = 0; tried < kMostTries && work < kMostWork; ++tried) {
    int64_t worst = 0;
    for (int64_t rank = 1; rank < ranks; ++rank)
      if (score(rank) > score(worst))
        worst = rank;
    double before = score(worst);
    int64_t b = int64_t(random() % chunks.size()), other = owner[b];
    if (owned[worst].empty() || other == worst)
      continue;
    int64_t a = owned[worst][random() % owned[worst].size()];
    swap(a, b);
    if (std::max(score(worst), score(other)) >= before || getWorst() > before)
      swap(a, b);
    work += 2 * ranks;
  }
}

Placement Search::getPlacement() const {
  std::vector<std::vector<TokenRange>> rows(ranks);
  for (size_t i = 0; i < chunks.size(); ++i)
    rows[owner[i]].push_back(
        {int64_t(i) * size, std::min(int64_t(i + 1) * size, tokens)});
  Placement result = {"swapped", {}};
  for (std::vector<TokenRange> &own : rows)
    result.rows.push_back(TokenRanges(std::move(own)));
  return result;
}

std::optional<Placement>
improvePlacement(const Visibility &visibility,
                 const std::vector<Placement> &placements, int64_t chunk,
                 double pairsPerToken) {
  int64_t ranks = placements.front().rows.size();
  int64_t count = (visibility.getTokens() + chunk - 1) / chunk;
  if (ranks == 1 || count < 2 * ranks || ranks * count > kMostEntries)
    return std::nullopt;
  Search search(visibility.getTokens(), ranks, chunk, pairsPerToken);
  if (!search.findNeeds(visibility))
    return std::nullopt;
  std::optional<double> known, found;
  std::optional<Placement> best;
  for (const Placement &placement : placements) {
    if (!search.start(placement))
      continue;
    known = std::min(known.value_or(search.getWorst()), search.getWorst());
    search.improve();
    if (!found || search.getWorst() < *found) {
      found = search.getWorst();
      best = search.getPlacement();
    }
  }
  if (!found || *found > *known * (1 - kLeastGain))
    return std::nullopt;
  return best;
}

} // namespace attn
