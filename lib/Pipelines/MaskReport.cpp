//===- MaskReport.cpp - The block picture of a mask -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskReport.h"

#include "attn/Analysis/MaskProgram.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
namespace json = llvm::json;

/// Boxes that may be looked at: about a tenth of a second.
static constexpr int64_t kMostBoxes = 1 << 20;
/// Characters of a picture in each direction.
static constexpr int64_t kMostCharacters = 64;

/// A line for each row of blocks.
static json::Array drawBlocks(const BlockMap &map) {
  json::Array lines;
  for (int64_t row = 0; row < map.rowTiles; ++row) {
    std::string line;
    for (int64_t key = 0; key < map.keyTiles; ++key)
      line += ".+#"[static_cast<int>(map.get(row, key))];
    lines.push_back(line);
  }
  return lines;
}

/// The part of the time of the same schedule without a mask.
static double predictSaving(AttentionProblem problem, const TargetInfo &target,
                            const Candidate &chosen) {
  problem.mask = MaskPattern::full();
  double unmasked = getCost(problem, chosen.schedule, target).seconds;
  return 1 - chosen.cost.seconds / unmasked;
}

json::Value attn::describeMask(AttentionOp op, const AttentionProblem &problem,
                               const TargetInfo &target,
                               const Candidate &chosen) {
  if (!op.hasMaskMod())
    return nullptr;
  const Schedule &schedule = chosen.schedule;
  MaskProgram program(op.getMaskMod());
  MaskBox all{{0, problem.batch - 1},
              {0, problem.queryHeads - 1},
              {0, problem.queryLength - 1},
              {0, problem.kvLength - 1}};
  auto classify = [&](int64_t scale) {
    return program.classifyBlocks(all, schedule.tileM * scale,
                                  schedule.tileN * scale, kMostBoxes);
  };
  std::optional<BlockMap> map = classify(1);
  if (!map)
    return nullptr;
  int64_t scale =
      llvm::divideCeil(std::max(map->rowTiles, map->keyTiles), kMostCharacters);
  std::optional<BlockMap> picture = scale == 1 ? map : classify(scale);
  if (!picture)
    return nullptr;
  int64_t counts[3] = {0, 0, 0};
  for (BlockState state : map->blocks)
    ++counts[static_cast<int>(state)];
  int64_t total = map->blocks.size(), visited = counts[1] + counts[2];
  return json::Object{
      {"rows", problem.queryLength},
      {"keys", problem.kvLength},
      {"tile_m", schedule.tileM},
      {"tile_n", schedule.tileN},
      {"empty", counts[0]},
      {"partial", counts[1]},
      {"full", counts[2]},
      {"visited", visited},
      {"density", static_cast<double>(visited) / total},
      {"picture_tiles", scale},
      {"predicted_saving", predictSaving(problem, target, chosen)},
      {"picture", drawBlocks(*picture)}};
}
