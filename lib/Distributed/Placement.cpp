//===- Placement.cpp - Which rank has which tokens ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/Placement.h"

#include <algorithm>
#include <numeric>

namespace attn {

namespace {
/// Hands out the chunks of a sequence.
class Placer {
public:
  Placer(const Visibility &visibility, int64_t ranks, int64_t chunk)
      : visibility(visibility), ranks(ranks), chunk(chunk),
        numChunks((visibility.getTokens() + chunk - 1) / chunk) {}

  std::vector<Placement> run();

private:
  TokenRange getChunk(int64_t i) const {
    return {i * chunk, std::min((i + 1) * chunk, visibility.getTokens())};
  }
  /// The `part`-th of `parts` parts of all chunks.
  TokenRange getPart(int64_t part, int64_t parts) const {
    return {getChunk(numChunks * part / parts).begin,
            std::min(numChunks * (part + 1) / parts * chunk,
                     visibility.getTokens())};
  }
  int64_t getWork(TokenRange rows) const {
    return visibility.countPairs(rows, {0, visibility.getTokens()});
  }

  Placement placeParts(bool zigzag) const;
  Placement placeStripes() const;
  /// Bundles of chunks, the one with most work first, each to the rank with the
  /// least work that has room for it, or for a part of it.
  Placement placeBundles(std::string name,
                         std::vector<std::vector<int64_t>> bundles) const;
  std::vector<std::vector<int64_t>> getDocumentBundles() const;

  const Visibility &visibility;
  int64_t ranks, chunk, numChunks;
};
} // namespace

Placement Placer::placeParts(bool zigzag) const {
  Placement result = {zigzag ? "zigzag" : "contiguous", {}};
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (zigzag)
      result.rows.push_back(
          {getPart(rank, 2 * ranks), getPart(2 * ranks - 1 - rank, 2 * ranks)});
    else
      result.rows.push_back({getPart(rank, ranks)});
  return result;
}

Placement Placer::placeStripes() const {
  std::vector<std::vector<TokenRange>> rows(ranks);
  for (int64_t i = 0; i < numChunks; ++i)
    rows[i % ranks].push_back(getChunk(i));
  Placement result = {"striped", {}};
  for (std::vector<TokenRange> &own : rows)
    result.rows.push_back(TokenRanges(std::move(own)));
  return result;
}

Placement
Placer::placeBundles(std::string name,
                     std::vector<std::vector<int64_t>> bundles) const {
  auto getBundleWork = [&](const std::vector<int64_t> &bundle) {
    return std::accumulate(
        bundle.begin(), bundle.end(), int64_t(0),
        [&](int64_t sum, int64_t i) { return sum + getWork(getChunk(i)); });
  };
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < bundles.size(); ++i)
    order.push_back({-getBundleWork(bundles[i]), i});
  std::sort(order.begin(), order.end());

  int64_t capacity = (numChunks + ranks - 1) / ranks;
  std::vector<int64_t> work(ranks), taken(ranks);
  std::vector<std::vector<TokenRange>> rows(ranks);
  for (auto [negativeWork, number] : order) {
    const std::vector<int64_t> &bundle = bundles[number];
    for (size_t done = 0; done < bundle.size();) {
      int64_t left = bundle.size() - done, best = -1;
      auto fits = [&](int64_t rank) { return capacity - taken[rank] >= left; };
      for (int64_t rank = 0; rank < ranks; ++rank)
        if (taken[rank] < capacity &&
            (best < 0 || fits(rank) > fits(best) ||
             (fits(rank) == fits(best) && work[rank] < work[best])))
          best = rank;
      for (; done < bundle.size() && taken[best] < capacity; ++done) {
        TokenRange rowsOfChunk = getChunk(bundle[done]);
        rows[best].push_back(rowsOfChunk);
        work[best] += getWork(rowsOfChunk);
        ++taken[best];
      }
    }
  }
  Placement result = {std::move(name), {}};
  for (std::vector<TokenRange> &own : rows)
    result.rows.push_back(TokenRanges(std::move(own)));
  return result;
}

/// A chunk belongs to the document of its first token.
std::vector<std::vector<int64_t>> Placer::getDocumentBundles() const {
  std::vector<std::vector<int64_t>> bundles;
  int64_t next = 0;
  for (const TokenRange &document : visibility.getDocuments()) {
    std::vector<int64_t> bundle;
    for (; next < numChunks && next * chunk < document.end; ++next)
      bundle.push_back(next);
    if (!bundle.empty())
      bundles.push_back(std::move(bundle));
  }
  return bundles;
}

std::vector<Placement> Placer::run() {
  std::vector<Placement> result = {placeParts(/*zigzag=*/false)};
  if (numChunks < 2 * ranks || ranks == 1)
    return result;
  result.push_back(placeParts(/*zigzag=*/true));
  result.push_back(placeStripes());
  if (!visibility.getDocuments().empty())
    result.push_back(placeBundles("documents", getDocumentBundles()));
  std::vector<std::vector<int64_t>> chunks;
  for (int64_t i = 0; i < numChunks; ++i)
    chunks.push_back({i});
  result.push_back(placeBundles("heap", std::move(chunks)));
  return result;
}

std::vector<Placement> getPlacements(const Visibility &visibility,
                                     int64_t ranks, int64_t chunk) {
  return Placer(visibility, ranks, chunk).run();
}

} // namespace attn
