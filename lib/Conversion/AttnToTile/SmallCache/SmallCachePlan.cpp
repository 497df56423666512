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

#include "Launch/LaunchProgram.h"
#include "Launch/PrologueKernels.h"
#include "SmallCache/SmallCache.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

namespace {
/// Sizes that all rounds have.
struct SmallCacheSizes {
  SmallCacheSizes(LaunchProgram &program, ScheduleAttr schedule,
                  int64_t rowValues)
      : tileM(schedule.getValues().tileM),
        chunkTiles(program.constant(schedule.getValues().chunkRows / tileM)),
        batches(program.dim("query", kBatch)),
        heads(program.dim("query", kHead)),
        rows(program.dim("query", kSequence)),
        keys(program.dim("key", kSequence)), allHeads(batches * heads),
        tiles(allHeads * rows.ceilDiv(tileM)),
        keyTiles(keys.ceilDiv(schedule.getValues().tileN)),
        statisticsRows(keyTiles * rowValues), paddedRows(rows.alignTo(tileM)),
        windowRows(chunkTiles.min(tiles) * tileM),
        // cp.async reads 16 bytes at a time.
        rowStride(keys.alignTo(8)) {}

  int64_t tileM;
  Size chunkTiles; ///< row tiles of a round
  Size batches, heads, rows, keys;
  Size allHeads; ///< of all batches
  Size tiles;    ///< row tiles of all heads
  Size keyTiles;
  Size statisticsRows; ///< one for each row value and key tile
  Size paddedRows;     ///< of a head: whole tiles
  Size windowRows;     ///< rows that the workspace has room for
  Size rowStride;      ///< of the probabilities
};
} // namespace

/// P [B, Hq, M, N]: a row of the workspace for each row of the chunk's tiles,
/// of which the first is `firstRow`, counted in whole tiles.
static void addProbabilities(LaunchProgram &program, TiledAttention &attention,
                             const SmallCacheSizes &e, Size firstRow) {
  RankedTensorType query = attention.getQueryType();
  SmallVector<int64_t> shape(query.getShape().drop_back());
  shape.push_back(attention.getKeyType().getDimSize(kSequence));
  Type element = query.getElementType();
  Size ofHead = e.paddedRows * e.rowStride;
  Size bytes = e.windowRows * e.rowStride * 2;
  Size start = -(firstRow * e.rowStride * 2);
  program.addWorkspace(
      {"scores", tile::GlobalType::get(element.getContext(), shape, element)},
      bytes, start, {e.batches, e.heads, e.rows, e.keys},
      {e.heads * ofHead, ofHead, e.rowStride});
}

/// Row values [B, Hq, key tiles * their number, M]: a row of the workspace for
/// each, and for each key tile.
static void addStatistics(LaunchProgram &program, TiledAttention &attention,
                          const SmallCacheSizes &e, Size firstRow,
                          int64_t rowValues) {
  RankedTensorType query = attention.getQueryType();
  int64_t keys = attention.getKeyType().getDimSize(kSequence);
  int64_t rows =
      ShapedType::isDynamic(keys)
          ? keys
          : rowValues *
                llvm::divideCeil(keys, attention.schedule.getValues().tileN);
  int64_t shape[] = {query.getDimSize(kBatch), query.getDimSize(kHead), rows,
                     query.getDimSize(kSequence)};
  MLIRContext *context = query.getContext();
  Size bytes = e.windowRows * e.statisticsRows * 4;
  Size start = -(firstRow * 4);
  program.addWorkspace(
      {"statistics",
       tile::GlobalType::get(context, shape, Float32Type::get(context))},
      bytes, start, {e.batches, e.heads, e.statisticsRows, e.rows},
      {e.heads * e.paddedRows, e.paddedRows, e.windowRows});
}

LaunchProgram attn::getSmallCacheProgram(OpBuilder &builder,
                                         TiledAttention &attention,
                                         StringRef name) {
  LaunchProgram program(builder, attention);
  auto rowValues = static_cast<int64_t>(
      attention.first.getNormalization().getRowValues().size());
  SmallCacheSizes e(program, attention.schedule, rowValues);
  Size iteration = program.beginRounds(e.tiles.ceilDiv(e.chunkTiles));
  addPrologue(program, attention, name);
  Size firstTile = iteration * e.chunkTiles;
  Size roundTiles = e.chunkTiles.min(e.tiles - firstTile);
  Size firstRow = firstTile * e.tileM;
  addProbabilities(program, attention, e, firstRow);
  if (rowValues > 0)
    addStatistics(program, attention, e, firstRow, rowValues);
  program.addKernel(name + "_scores", roundTiles, e.keyTiles,
                    program.constant(1));
  Size slices = program.constant(attention.getDvSlices());
  program.addKernel(name + "_output", roundTiles, slices, program.constant(1));
  program.setRoundParameter(firstTile);
  program.finish();
  return program;
}
