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

#include "Backward/BackwardSmallCache.h"
#include "Launch/PrologueKernels.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

BackwardChunks::BackwardChunks(BackwardNest &queries) {
  Schedule schedule = queries.attention.schedule.getValues();
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
  Schedule schedule = queries.attention.schedule.getValues();
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
/// Sizes that all rounds have.
struct RoundSizes {
  RoundSizes(LaunchProgram &program, const BackwardChunks &chunks)
      : tileM(chunks.tileM), tileN(chunks.tileN),
        chunk(program.constant(chunks.chunkTiles)),
        batches(program.dim("query", kBatch)),
        heads(program.dim("query", kHead)),
        rows(program.dim("query", kSequence)),
        keys(program.dim("key", kSequence)),
        groups(batches * program.dim("key", kHead)),
        // Without key heads there is no group, without rows no tile of one.
        groupHeads(heads.floorDiv(program.dim("key", kHead).max(1))),
        groupTiles((groupHeads * rows.ceilDiv(tileM)).max(1)),
        perRound(chunk.floorDiv(groupTiles).max(1)),
        perGroup(groupTiles.ceilDiv(chunk)), keyTiles(keys.ceilDiv(tileN)),
        paddedKeys(keyTiles * tileN), paddedRows(rows.alignTo(tileM)),
        windowRows(chunk.min(groups * groupTiles) * tileM),
        // cp.async reads 16 bytes at a time.
        rowStride(keys.alignTo(8)) {}

  int64_t tileM, tileN;
  Size chunk; ///< row tiles of a round, at most
  Size batches, heads, rows, keys;
  Size groups;             ///< all of them
  Size groupHeads;         ///< query heads of a group
  Size groupTiles;         ///< its row tiles
  Size perRound, perGroup; ///< groups of a round, rounds of a group
  Size keyTiles, paddedKeys;
  Size paddedRows; ///< of a head: whole tiles
  Size windowRows; ///< rows that the workspace has room for
  Size rowStride;  ///< of P and dS
};

/// What a round takes.
struct Round {
  static Round get(const RoundSizes &e, Size iteration);

  Size firstGroup, groups;
  Size firstTile, tiles;
  Size firstRow; ///< counted in whole tiles
};
} // namespace

Round Round::get(const RoundSizes &e, Size iteration) {
  Size firstGroup = iteration.floorDiv(e.perGroup) * e.perRound;
  Size groups = e.perRound.min(e.groups - firstGroup);
  Size firstTile = firstGroup * e.groupTiles;
  firstTile = firstTile + iteration.mod(e.perGroup) * e.chunk;
  Size tiles = e.chunk.min((firstGroup + groups) * e.groupTiles - firstTile);
  // No tile of no row.
  tiles = tiles * e.rows.min(1);
  return {firstGroup, groups, firstTile, tiles, firstTile * e.tileM};
}

/// A row of the workspace for each row of the round's tiles.
static void addScoreView(LaunchProgram &program, BackwardStepOp step,
                         StringRef name, const RoundSizes &e,
                         const Round &round) {
  auto query = cast<RankedTensorType>(getSource(step.getQuery()).getType());
  auto key = cast<RankedTensorType>(getSource(step.getKey()).getType());
  SmallVector<int64_t> shape(query.getShape().drop_back());
  shape.push_back(key.getDimSize(kSequence));
  Size ofHead = e.paddedRows * e.rowStride;
  Size bytes = e.windowRows * e.rowStride * 2;
  Size start = -(round.firstRow * e.rowStride * 2);
  program.addWorkspace(
      {name.str(),
       tile::GlobalType::get(step.getContext(), shape, query.getElementType())},
      bytes, start, {e.batches, e.heads, e.rows, e.keys},
      {e.heads * ofHead, ofHead, e.rowStride});
}

/// f32 sums [N, columns] of a key head, nothing where a round has whole groups.
static void addSumView(LaunchProgram &program, BackwardStepOp step,
                       StringRef name, int64_t columns, const RoundSizes &e) {
  int64_t keys = cast<RankedTensorType>(getSource(step.getKey()).getType())
                     .getDimSize(kSequence);
  int64_t shape[] = {ShapedType::isDynamic(keys)
                         ? keys
                         : static_cast<int64_t>(llvm::alignTo(keys, e.tileN)),
                     columns};
  MLIRContext *context = step.getContext();
  Size width = program.constant(columns), one = program.constant(1);
  Size bytes = one.min(e.perGroup - one) * e.paddedKeys * width * 4;
  program.addWorkspace(
      {name.str(),
       tile::GlobalType::get(context, shape, Float32Type::get(context))},
      bytes, program.constant(0), {e.paddedKeys, width}, {width});
}

void attn::buildSmallCacheProgram(OpBuilder &builder, TiledBackward &backward,
                                  StringRef name) {
  BackwardNest &queries = backward.nests.front();
  BackwardStepOp step = queries.steps.front();
  BackwardChunks chunks(queries);
  LaunchProgram &program = backward.program.emplace(builder, queries.attention);
  RoundSizes e(program, chunks);
  Round round = Round::get(
      e, program.beginRounds(e.groups.ceilDiv(e.perRound) * e.perGroup));
  addPrologue(program, queries.attention, name);
  int64_t ofD = chunks.getSlices(chunks.headDim),
          ofDv = chunks.getSlices(chunks.valueDim);
  Size one = program.constant(1);
  program.addKernel(name + "_delta", round.tiles);
  program.addKernel(name + "_scores", round.tiles, e.keyTiles, one);
  program.addKernel(name + "_dq", round.tiles, program.constant(ofD), one);
  program.addKernel(name + "_dk", e.keyTiles, program.constant(ofD),
                    round.groups);
  program.addKernel(name + "_dv", e.keyTiles, program.constant(ofDv),
                    round.groups);
  for (StringRef name : {"row_lse", "delta"})
    addRowView(program, step, name, chunks.tileM);
  for (StringRef name : {"probabilities", "d_scores"})
    addScoreView(program, step, name, e, round);
  addSumView(program, step, "d_key_sums",
             ofD * chunks.getColumns(chunks.headDim), e);
  addSumView(program, step, "d_value_sums",
             ofDv * chunks.getColumns(chunks.valueDim), e);
  program.setRoundParameter(round.firstTile);
  program.finish();
}
