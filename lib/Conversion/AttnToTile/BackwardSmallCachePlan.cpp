//===- BackwardSmallCachePlan.cpp - Rounds of a small-cache backward ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As in SmallCachePlan.cpp the kernels index P and dS of the whole attention,
// and the workspace holds one round's window of them.
//
//===----------------------------------------------------------------------===//

#include "BackwardSmallCache.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

BackwardChunks::BackwardChunks(BackwardNest &queries) {
  Schedule schedule = getSchedule(queries.attention.schedule);
  AttentionDims dims = AttentionDims::get(queries.steps.front());
  tileM = queries.getTileM();
  tileN = queries.getTileN();
  slice = schedule.tileD;
  columns = schedule.tileDv;
  rowWarps = schedule.warps;
  keyWarps = std::min(rowWarps, tileN / 16);
  chunkTiles = schedule.chunkRows / tileM;
  headDim = dims.headDim;
  valueDim = dims.valueDim;
}

LogicalResult attn::checkBackwardChunks(BackwardNest &queries) {
  BackwardStepOp step = queries.steps.front();
  Schedule schedule = getSchedule(queries.attention.schedule);
  int64_t m = queries.getTileM(), n = queries.getTileN();
  if (schedule.mma != MmaFamily::MmaSync)
    return step.emitOpError()
           << "expected mma = \"mma_sync\" in a small-cache backward, got "
           << queries.attention.schedule;
  if (schedule.chunkRows < 1 || schedule.chunkRows % m != 0)
    return step.emitOpError()
           << "expected chunk_rows to be a positive multiple of tile_m, got "
           << queries.attention.schedule;
  for (int64_t tile : {schedule.tileD, schedule.tileDv})
    if (tile < 1 || tile % 16 != 0)
      return step.emitOpError()
             << "expected tile_d and tile_dv to be positive multiples of 16, "
                "got "
             << queries.attention.schedule;
  int64_t keyWarps = std::min(schedule.warps, n / 16);
  if (m % (16 * schedule.warps) != 0 || n % (16 * keyWarps) != 0)
    return step.emitOpError() << "expected tile_m to be a multiple of 16 * "
                                 "warps and tile_n of 16, "
                                 "and of 16 * warps where it is more, got "
                              << queries.attention.schedule;
  return success();
}

namespace {
/// The expressions (docs/Manifest.md) that launches are made of.
struct RoundExpressions {
  explicit RoundExpressions(const BackwardChunks &chunks)
      : tileM(chunks.tileM), chunk(chunks.chunkTiles) {
    using llvm::formatv;
    tilesPerHead = formatv("ceildiv({0}, {1})", rows, tileM);
    // Without key heads there is no group, without rows no tile of one.
    groups = formatv("({0} * {1})", batches, keyHeads);
    groupTiles = formatv("max(1, floordiv({0}, max(1, {1})) * {2})", heads,
                         keyHeads, tilesPerHead);
    perRound = formatv("max(1, floordiv({0}, {1}))", chunk, groupTiles);
    perGroup = formatv("ceildiv({0}, {1})", groupTiles, chunk);
    rounds = formatv("ceildiv({0}, {1}) * {2}", groups, perRound, perGroup);
    firstGroup =
        formatv("(floordiv(iteration, {0}) * {1})", perGroup, perRound);
    roundGroups = formatv("min({0}, {1} - {2})", perRound, groups, firstGroup);
    firstTile = formatv("({0} * {1} + mod(iteration, {2}) * {3})", firstGroup,
                        groupTiles, perGroup, chunk);
    // No tile of no row.
    roundTiles =
        formatv("min({0}, ({1} + {2}) * {3} - {4}) * min(1, {5})", chunk,
                firstGroup, roundGroups, groupTiles, firstTile, rows);
    keyTiles = formatv("ceildiv({0}, {1})", keys, chunks.tileN);
    paddedKeys = formatv("({0} * {1})", keyTiles, chunks.tileN);
    paddedRows = formatv("({0} * {1})", tilesPerHead, tileM);
    firstRow = formatv("({0} * {1})", firstTile, tileM);
    windowRows = formatv("({0} * min({1}, {2} * {3}))", tileM, chunk, groups,
                         groupTiles);
    // cp.async reads 16 bytes at a time.
    rowStride = formatv("(ceildiv({0}, 8) * 8)", keys);
  }

  std::string batches = "dim(query, 0)", heads = "dim(query, 1)",
              rows = "dim(query, 2)", keyHeads = "dim(key, 1)",
              keys = "dim(key, 2)";
  int64_t tileM, chunk;
  std::string tilesPerHead;
  std::string groups;             ///< all of them
  std::string groupTiles;         ///< row tiles of a group
  std::string perRound, perGroup; ///< groups of a round, rounds of a group
  std::string rounds;
  std::string firstGroup, roundGroups; ///< of this round
  std::string firstTile, roundTiles;   ///< of this round
  std::string keyTiles, paddedKeys;
  std::string paddedRows; ///< of a head: whole tiles
  std::string firstRow;   ///< of this round, counted in whole tiles
  std::string windowRows; ///< rows that the workspace has room for
  std::string rowStride;  ///< of P and dS
};
} // namespace

/// A row of the workspace for each row of the round's tiles.
static WorkspaceView getScoreView(BackwardStepOp step, StringRef name,
                                  const RoundExpressions &e) {
  auto query = cast<RankedTensorType>(getSource(step.getQuery()).getType());
  auto key = cast<RankedTensorType>(getSource(step.getKey()).getType());
  SmallVector<int64_t> shape(query.getShape().drop_back());
  shape.push_back(key.getDimSize(kSequence));
  WorkspaceView view;
  view.name = name.str();
  view.type =
      tile::GlobalType::get(step.getContext(), shape, query.getElementType());
  std::string sizes[] = {e.batches, e.heads, e.rows, e.keys};
  for (auto [size, expression] : llvm::zip_equal(shape, sizes))
    if (ShapedType::isDynamic(size))
      view.sizes.push_back(expression);
  view.bytes = llvm::formatv("{0} * {1} * 2", e.windowRows, e.rowStride);
  view.strides = {
      llvm::formatv("{0} * {1} * {2}", e.heads, e.paddedRows, e.rowStride),
      llvm::formatv("{0} * {1}", e.paddedRows, e.rowStride), e.rowStride};
  view.byteOffset = llvm::formatv("-({0} * {1} * 2)", e.firstRow, e.rowStride);
  return view;
}

/// f32 sums [N, columns] of a key head, nothing where a round has whole groups.
static WorkspaceView getSumView(BackwardStepOp step, StringRef name,
                                int64_t tileN, int64_t columns,
                                const RoundExpressions &e) {
  int64_t keys = cast<RankedTensorType>(getSource(step.getKey()).getType())
                     .getDimSize(kSequence);
  bool isDynamic = ShapedType::isDynamic(keys);
  WorkspaceView view;
  view.name = name.str();
  view.type = tile::GlobalType::get(
      step.getContext(),
      {isDynamic ? keys : static_cast<int64_t>(llvm::alignTo(keys, tileN)),
       columns},
      Float32Type::get(step.getContext()));
  if (isDynamic)
    view.sizes.push_back(e.paddedKeys);
  view.bytes = llvm::formatv("min(1, {0} - 1) * {1} * {2} * 4", e.perGroup,
                             e.paddedKeys, columns);
  view.strides = {std::to_string(columns)};
  view.byteOffset = "0";
  return view;
}

void attn::setSmallCachePlan(TiledBackward &backward, StringRef name) {
  BackwardNest &queries = backward.nests.front();
  BackwardStepOp step = queries.steps.front();
  BackwardChunks chunks(queries);
  RoundExpressions e(chunks);
  LaunchPlan &plan = backward.plan;
  llvm::erase_if(plan.kernels, [](const LaunchPlan::Kernel &kernel) {
    return !kernel.isPrologue;
  });
  int64_t ofD = chunks.getSlices(chunks.headDim),
          ofDv = chunks.getSlices(chunks.valueDim);
  auto add = [&](StringRef suffix, std::array<std::string, 3> grid,
                 int64_t warps) {
    plan.kernels.push_back({(name + suffix).str(), std::move(grid), warps});
  };
  add("_delta", {e.roundTiles, "1", "1"}, chunks.rowWarps);
  add("_scores", {e.roundTiles, e.keyTiles, "1"}, chunks.rowWarps);
  add("_dq", {e.roundTiles, std::to_string(ofD), "1"}, chunks.rowWarps);
  add("_dk", {e.keyTiles, std::to_string(ofD), e.roundGroups}, chunks.keyWarps);
  add("_dv", {e.keyTiles, std::to_string(ofDv), e.roundGroups},
      chunks.keyWarps);
  plan.workspaces.append(
      {getScoreView(step, "probabilities", e),
       getScoreView(step, "d_scores", e),
       getSumView(step, "d_key_sums", chunks.tileN,
                  ofD * chunks.getColumns(chunks.headDim), e),
       getSumView(step, "d_value_sums", chunks.tileN,
                  ofDv * chunks.getColumns(chunks.valueDim), e)});
  plan.repeat = e.rounds;
  plan.roundParameter = e.firstTile;
}
