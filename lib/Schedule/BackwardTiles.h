//===- BackwardTiles.h - Tiles that a mask leaves ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Schedule.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULE_BACKWARDTILES_H
#define LIB_SCHEDULE_BACKWARDTILES_H

#include "attn/Schedule/BackwardSchedule.h"
#include "attn/Schedule/Family.h"

#include <algorithm>

namespace attn::detail {

/// Positions [begin, end).
struct Span {
  int64_t begin, end;
  int64_t getSize() const { return std::max<int64_t>(end - begin, 0); }
};

/// The positions of [0, total) that some position of `stay` sees if it sees
/// those from itself - left on, up to itself + right; in whole tiles.
Span getVisited(Span stay, std::optional<int64_t> left,
                std::optional<int64_t> right, int64_t tile, int64_t total);

/// True if a step of `streamed` rows or keys is done for some columns after the
/// other (--attn-tile-slice-steps).
bool isStepSliced(const AttentionProblem &problem, const Family &family,
                  int64_t streamed);

/// True if products read a streamed tile, that of scores (Q or K) or the other
/// (dO or V), both for scores and for a gradient: as [n, k] and as [k, n].
inline bool isReadBothWays(BackwardKernel kernel, bool isOfScores) {
  if (kernel == BackwardKernel::QueryGradient ||
      kernel == BackwardKernel::KeyGradient)
    return isOfScores;
  return kernel != BackwardKernel::ValueGradient;
}

/// Writes `rows` of a gradient, of the type `given` and with `columns`, and
/// their largest magnitudes.
void writeGradient(Traffic &traffic, Operand gradient,
                   const AttentionProblem &problem,
                   std::optional<ElementType> given, int64_t rows,
                   int64_t columns);

/// Calls `visit(staying, streamed)` for each tile that stays of one head. CTAs
/// of a cluster stream what some of their tiles visit.
template <typename Visit>
void forEachTile(const AttentionProblem &problem, bool keysStay,
                 const Schedule &schedule, Visit visit) {
  const MaskPattern &mask = problem.mask;
  int64_t offset = mask.alignment == MaskPattern::Alignment::TopLeft
                       ? 0
                       : problem.kvLength - problem.queryLength;
  auto shift = [](std::optional<int64_t> bound, int64_t by) {
    return bound ? std::optional(*bound + by) : std::nullopt;
  };
  // Seen from keys, left and right are exchanged.
  std::optional<int64_t> left =
      shift(keysStay ? mask.right : mask.left, keysStay ? offset : -offset);
  std::optional<int64_t> right =
      shift(keysStay ? mask.left : mask.right, keysStay ? -offset : offset);
  int64_t tile = keysStay ? schedule.tileN : schedule.tileM;
  int64_t total = keysStay ? problem.kvLength : problem.queryLength;
  int64_t streamTile = keysStay ? schedule.tileM : schedule.tileN;
  int64_t streamTotal = keysStay ? problem.queryLength : problem.kvLength;
  int64_t cluster = schedule.clusterN * tile;
  for (int64_t begin = 0; begin < total; begin += tile) {
    int64_t first = begin / cluster * cluster;
    Span all{first, std::min(first + cluster, total)};
    visit(Span{begin, std::min(begin + tile, total)},
          getVisited(all, left, right, streamTile, streamTotal));
  }
}

} // namespace attn::detail

#endif // LIB_SCHEDULE_BACKWARDTILES_H
