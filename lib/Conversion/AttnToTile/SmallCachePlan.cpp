//===- SmallCachePlan.cpp - Launches and workspaces in chunks -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row tiles are numbered over batch, head and row. A round takes the next
// `chunk` of them. The kernels index the scores of the whole attention, row
// tile by row tile; the workspace holds one chunk's window of it, so each round
// gives them a base address that much further back.
//
//===----------------------------------------------------------------------===//

#include "Prologue.h"
#include "SmallCache.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

namespace {
/// The expressions (docs/Manifest.md) that launches are made of.
struct SmallCacheExpressions {
  explicit SmallCacheExpressions(TiledAttention &attention) {
    ScheduleAttr schedule = attention.schedule;
    int64_t tileM = schedule.getTileM();
    chunkTiles = schedule.getChunkRows() / tileM;
    tilesPerHead = llvm::formatv("ceildiv({0}, {1})", rows, tileM);
    tiles = llvm::formatv("({0} * {1} * {2})", batches, heads, tilesPerHead);
    keyTiles = llvm::formatv("ceildiv({0}, {1})", keys, schedule.getTileN());
    statisticsRows = llvm::formatv("({0} * 2)", keyTiles);
    rounds = llvm::formatv("ceildiv({0}, {1})", tiles, chunkTiles);
    firstTile = llvm::formatv("(iteration * {0})", chunkTiles);
    roundTiles =
        llvm::formatv("min({0}, {1} - {2})", chunkTiles, tiles, firstTile);
    paddedRows = llvm::formatv("({0} * {1})", tilesPerHead, tileM);
    firstRow = llvm::formatv("({0} * {1})", firstTile, tileM);
    windowRows =
        llvm::formatv("({0} * min({1}, {2}))", tileM, chunkTiles, tiles);
    // cp.async reads 16 bytes at a time.
    rowStride = llvm::formatv("(ceildiv({0}, 8) * 8)", keys);
  }

  std::string batches = "dim(query, 0)", heads = "dim(query, 1)",
              rows = "dim(query, 2)", keys = "dim(key, 2)";
  int64_t chunkTiles;       ///< row tiles of a round
  std::string tilesPerHead; ///< row tiles
  std::string tiles;        ///< row tiles of all heads
  std::string keyTiles;
  std::string statisticsRows; ///< two for each key tile
  std::string rounds;
  std::string firstTile, roundTiles; ///< of this round
  std::string paddedRows;            ///< of a head: whole tiles
  std::string firstRow;              ///< of this round, counted in whole tiles
  std::string windowRows;            ///< rows that the workspace has room for
  std::string rowStride;             ///< of the probabilities
};
} // namespace

/// The view of a workspace with these sizes, of which `sizes` are expressions
/// for the dynamic ones.
static WorkspaceView getView(StringRef name, ArrayRef<int64_t> shape,
                             Type element, ArrayRef<std::string> sizes) {
  WorkspaceView view;
  view.name = name.str();
  view.type = tile::GlobalType::get(element.getContext(), shape, element);
  for (auto [size, expression] : llvm::zip_equal(shape, sizes))
    if (ShapedType::isDynamic(size))
      view.sizes.push_back(expression);
  return view;
}

/// P [B, Hq, M, N]: a row of the workspace for each row of the chunk's tiles.
static WorkspaceView getProbabilities(TiledAttention &attention,
                                      const SmallCacheExpressions &e) {
  RankedTensorType query = attention.getQueryType();
  RankedTensorType key = attention.getKeyType();
  SmallVector<int64_t> shape(query.getShape().drop_back());
  shape.push_back(key.getDimSize(kSequence));
  WorkspaceView view = getView("scores", shape, query.getElementType(),
                               {e.batches, e.heads, e.rows, e.keys});
  view.bytes = llvm::formatv("{0} * {1} * 2", e.windowRows, e.rowStride);
  view.strides = {
      llvm::formatv("{0} * {1} * {2}", e.heads, e.paddedRows, e.rowStride),
      llvm::formatv("{0} * {1}", e.paddedRows, e.rowStride), e.rowStride};
  view.byteOffset = llvm::formatv("-({0} * {1} * 2)", e.firstRow, e.rowStride);
  return view;
}

/// E and s [B, Hq, 2 key tiles, M]: two rows of the workspace for each key
/// tile.
static WorkspaceView getStatistics(TiledAttention &attention,
                                   const SmallCacheExpressions &e) {
  RankedTensorType query = attention.getQueryType();
  int64_t keys = attention.getKeyType().getDimSize(kSequence);
  int64_t rows =
      ShapedType::isDynamic(keys)
          ? keys
          : 2 * llvm::divideCeil(keys, attention.schedule.getTileN());
  int64_t shape[] = {query.getDimSize(kBatch), query.getDimSize(kHead), rows,
                     query.getDimSize(kSequence)};
  WorkspaceView view =
      getView("statistics", shape, Float32Type::get(query.getContext()),
              {e.batches, e.heads, e.statisticsRows, e.rows});
  view.bytes = llvm::formatv("{0} * {1} * 4", e.windowRows, e.statisticsRows);
  view.strides = {llvm::formatv("{0} * {1}", e.heads, e.paddedRows),
                  e.paddedRows, e.windowRows};
  view.byteOffset = llvm::formatv("-({0} * 4)", e.firstRow);
  return view;
}

LaunchPlan attn::getSmallCachePlan(TiledAttention &attention, StringRef name) {
  SmallCacheExpressions e(attention);
  LaunchPlan plan;
  addPrologue(plan, attention, name);
  plan.kernels.append(
      {{name.str() + "_scores", {e.roundTiles, e.keyTiles, "1"}},
       {name.str() + "_output",
        {e.roundTiles, std::to_string(attention.getDvSlices()), "1"}}});
  plan.workspaces.append(
      {getProbabilities(attention, e), getStatistics(attention, e)});
  plan.repeat = e.rounds;
  plan.roundParameter = e.firstTile;
  return plan;
}
