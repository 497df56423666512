//===- MaskReport.cpp - The block picture of a mask -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskReport.h"

#include "attn/Analysis/MaskProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"
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

/// The greatest score that is chosen for a pair like a mask's value, if there
/// is one.
static std::optional<double> getMaskValue(AttentionOp op) {
  constexpr double kGreatestMask = -1000;
  std::optional<double> greatest;
  op.getScoreMod().walk([&](arith::SelectOp select) {
    for (Value value : {select.getTrueValue(), select.getFalseValue()}) {
      FloatAttr number;
      if (matchPattern(value, m_Constant(&number)) &&
          number.getValueAsDouble() <= kGreatestMask)
        greatest = std::max(greatest.value_or(number.getValueAsDouble()),
                            number.getValueAsDouble());
    }
  });
  return greatest;
}

/// Why tiles are visited that may have no visible pair.
static json::Array explainVisited(AttentionOp op) {
  json::Array reasons;
  bool readsData =
      op.getMaskMod()
          .walk([](Operation *inner) {
            return isa<tensor::ExtractOp, BlockListedOp, SegmentOp>(inner)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  if (readsData)
    reasons.push_back(
        "the mask reads data: tiles that it hides by them are found "
        "on the device, before the attention");
  std::optional<double> value = getMaskValue(op);
  if (value && !op.hasMaskMod())
    reasons.push_back(
        llvm::formatv("scores may reach the mask value {0:e}: see "
                      "the option mask-threshold",
                      *value)
            .str());
  return reasons;
}

/// All tiles, as without a mask.
static BlockMap getFullMap(const AttentionProblem &problem, int64_t tileM,
                           int64_t tileN) {
  BlockMap map{tileM,
               tileN,
               llvm::divideCeilSigned(problem.queryLength, tileM),
               llvm::divideCeilSigned(problem.kvLength, tileN),
               {}};
  map.blocks.assign(map.rowTiles * map.keyTiles, BlockState::Full);
  return map;
}

json::Value attn::describeMask(AttentionOp op, const AttentionProblem &problem,
                               const TargetInfo &target,
                               const Candidate &chosen) {
  json::Array reasons = explainVisited(op);
  if (!op.hasMaskMod() && reasons.empty())
    return nullptr;
  const Schedule &schedule = chosen.schedule;
  MaskBox all{{0, problem.batch - 1},
              {0, problem.queryHeads - 1},
              {0, problem.queryLength - 1},
              {0, problem.kvLength - 1}};
  auto classify = [&](int64_t scale) -> std::optional<BlockMap> {
    int64_t tileM = schedule.tileM * scale, tileN = schedule.tileN * scale;
    if (!op.hasMaskMod())
      return getFullMap(problem, tileM, tileN);
    return MaskProgram(op.getMaskMod())
        .classifyBlocks(all, tileM, tileN, kMostBoxes);
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
      {"why_not_more", std::move(reasons)},
      {"predicted_saving", predictSaving(problem, target, chosen)},
      {"picture", drawBlocks(*picture)}};
}
