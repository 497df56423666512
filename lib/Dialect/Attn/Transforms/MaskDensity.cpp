//===- MaskDensity.cpp - The part of a band that is visible -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskDensity.h"

#include "attn/Schedule/IoModel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

MaskDensity::MaskDensity(Region &maskMod, const AttentionProblem &problem)
    : program(maskMod), problem(problem) {}

double MaskDensity::get(int64_t rows, int64_t keys) {
  auto [entry, isNew] = known.try_emplace({rows, keys}, 1);
  if (isNew)
    entry->second = compute(rows, keys);
  return entry->second;
}

double MaskDensity::getTypical() {
  constexpr int64_t kSmallestTile = 128, kMostTiles = 64;
  int64_t longest = std::max(problem.queryLength, problem.kvLength);
  int64_t tile =
      llvm::alignTo(llvm::divideCeil(longest, kMostTiles), kSmallestTile);
  return get(tile, tile);
}

double MaskDensity::compute(int64_t rows, int64_t keys) {
  /// About a millisecond.
  constexpr int64_t kMostBoxes = 1 << 14;
  MaskBox all{{0, problem.batch - 1},
              {0, problem.queryHeads - 1},
              {0, problem.queryLength - 1},
              {0, problem.kvLength - 1}};
  std::optional<BlockMap> map =
      program.classifyBlocks(all, rows, keys, kMostBoxes);
  HeadShape head = HeadShape::get(problem, /*pack=*/false);
  head.mask.density = 1;
  int64_t inBand = sumVisibleTiles(head, rows, keys).tiles;
  if (!map || inBand == 0)
    return 1;
  int64_t visible = llvm::count_if(
      map->blocks, [](BlockState state) { return state != BlockState::Empty; });
  return std::min(1.0, static_cast<double>(visible) / inBand);
}
