//===- BackwardScatterNest.cpp - Gradients of any element -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a captured tensor that score_mod reads at computed indices: a
// table of relative positions, buckets, embeddings of tokens. Scores that
// belong to one element by what is known of the indices are added up tile on
// tile first: those of a row, or of a diagonal, where i - j is the same.
//
//===----------------------------------------------------------------------===//

#include "BackwardTiler.h"
#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace attn;

/// Which scores of a read are added up first. Found out before regions are made
/// fit for padded tiles, which hides what is known.
void BackwardTiler::findScatterWalks() {
  for (const ScoreGradient &gradient : scoreGradients) {
    if (!gradient.isScattered() || gradient.reads.size() != 1)
      continue;
    tensor::ExtractOp read = gradient.reads.front();
    if (isInvariant(read, /*stepI=*/1, /*stepJ=*/1))
      readsOfDiagonals.insert(read);
    else if (isInvariant(read, /*stepI=*/0, /*stepJ=*/1))
      readsOfRows.insert(read);
  }
  // From a square tile to the next one diagonals stay.
  if (!readsOfDiagonals.empty())
    scoreTiles.m = scoreTiles.n = std::gcd(scoreTiles.m, scoreTiles.n);
}

/// Adds what the scores at `place` give for the read to `sum`.
Value BackwardTiler::createScatterStep(const Scatter &scatter,
                                       const ScoreTiles &operands,
                                       const Place &place,
                                       const TileRange &range, Value sum) {
  Value scores = createScoreStep(scatter.gradient, operands, place, range, sum);
  if (scatter.gradient.reads.size() > 1)
    scores.getDefiningOp<BackwardStepOp>().setRead(scatter.number);
  return scores;
}

Value BackwardTiler::createScatter(const Scatter &scatter, Value scores,
                                   const Place &place, Value table) {
  tensor::ExtractOp read = scatter.getRead();
  auto op = BackwardScatterOp::create(
      builder, loc, table.getType(), scores, table,
      ValueRange{place.b, place.h, place.m, place.n}, read.getIndices().size());
  for (auto [number, region] : llvm::enumerate(op.getIndices()))
    buildIndex(read, number, region);
  return op.getResult();
}

/// What the rows at `place` add.
Value BackwardTiler::scatterRows(const ScoreGradient &gradient, Place place,
                                 Value table) {
  bool isOfRows = readsOfRows.contains(gradient.reads.front());
  SmallVector<TileRange> ranges = visitedKeys->get(
      builder, loc, place.b, place.h, getStaying(place.m, tiles.m, rows),
      {rows, keys, tiles.m, tiles.n});
  ScoreTiles operands{getWholeRowTile(place), KeyTile()};
  auto body = [&](const TileRange &range, Value position, Value carried) {
    place.n = position;
    operands.keys = getKeyTile(place);
    if (isOfRows)
      return createScatterStep({gradient, 0}, operands, place, range, carried);
    for (unsigned i = 0; i < gradient.reads.size(); ++i) {
      Value scores = createScatterStep({gradient, i}, operands, place, range,
                                       createZeroScores());
      carried = createScatter({gradient, i}, scores, place, carried);
    }
    return carried;
  };
  if (!isOfRows)
    return createTileLoops(ranges, tiles.n, table, body);
  Value sums = createTileLoops(ranges, tiles.n, createZeroScores(), body);
  place.n = index(0);
  return createScatter({gradient, 0}, sums, place, table);
}

/// All tiles of a length.
Value BackwardTiler::countAll(OpFoldResult total, int64_t tile) {
  Value all = asValue(total);
  return builder.createOrFold<arith::CeilDivUIOp>(loc, all, index(tile));
}

/// What the tiles add whose number of rows is that of keys plus `diagonal`.
/// Their sum belongs where the first of them does: what is past the end there
/// is so in all.
Value BackwardTiler::scatterDiagonal(const ScoreGradient &gradient, Place place,
                                     Value diagonal, Value table) {
  Scatter scatter{gradient, 0};
  auto toPosition = [&](Value number) {
    return builder.createOrFold<arith::MulIOp>(loc, number, index(tiles.m));
  };
  auto setPlace = [&](Value rowTile) {
    place.m = toPosition(rowTile);
    place.n =
        toPosition(builder.createOrFold<arith::SubIOp>(loc, rowTile, diagonal));
  };
  Value rowTiles = countAll(rows, tiles.m), keyTiles = countAll(keys, tiles.n);
  Value first = arith::MaxSIOp::create(builder, loc, diagonal, index(0));
  Value end = arith::AddIOp::create(builder, loc, keyTiles, diagonal);
  end = arith::MinSIOp::create(builder, loc, end, rowTiles);
  Value sums = createTileLoops(
      TileRange{first, end, /*isMasked=*/true}, /*tile=*/1, createZeroScores(),
      [&](const TileRange &range, Value number, Value sum) {
        setPlace(number);
        return createScatterStep(scatter,
                                 {getWholeRowTile(place), getKeyTile(place)},
                                 place, range, sum);
      });
  setPlace(first);
  return createScatter(scatter, sums, place, table);
}

/// A loop over (b, h, tile of rows), or over (b, h, diagonal of tiles).
Value BackwardTiler::createScatterLoop(const ScoreGradient &gradient,
                                       Value table) {
  auto divide = [&](Value a, Value b) -> Value {
    return arith::DivUIOp::create(builder, loc, a, b);
  };
  auto remainder = [&](Value a, Value b) -> Value {
    return arith::RemUIOp::create(builder, loc, a, b);
  };
  auto times = [&](Value a, Value b) -> Value {
    return builder.createOrFold<arith::MulIOp>(loc, a, b);
  };
  bool alongDiagonals = readsOfDiagonals.contains(gradient.reads.front());
  Value numTiles = countAll(rows, tiles.m), keyTiles = countAll(keys, tiles.n);
  if (alongDiagonals)
    numTiles = arith::AddIOp::create(builder, loc, numTiles, keyTiles);
  Value ofBatch = times(asValue(queryHeads), numTiles);
  Value lower = index(0), upper = times(asValue(batch), ofBatch);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, index(1),
                                 ValueRange(table));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Place place{divide(number, ofBatch),
              divide(remainder(number, ofBatch), numTiles), Value(), Value()};
  Value tile = remainder(number, numTiles);
  if (!alongDiagonals)
    place.m = times(tile, index(tiles.m));
  else
    tile = arith::SubIOp::create(builder, loc, tile, keyTiles);
  Value sum = loop.getRegionIterArgs()[0];
  sum = alongDiagonals ? scatterDiagonal(gradient, place, tile, sum)
                       : scatterRows(gradient, place, sum);
  scf::YieldOp::create(builder, loc, sum);
  return loop.getResult(0);
}

/// A loop that gives the whole gradient, one tile after the other.
Value BackwardTiler::createScatterNest(const ScoreGradient &gradient) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Type element = getElementTypeOrSelf(gradient.result.getType());
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero}, ArrayRef<OpFoldResult>{one},
      ArrayRef<OpFoldResult>{one}, createOutput(gradient.of, element),
      std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  FloatType type = op.getScoreType();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, gradient.of);
  Value table = createFilled(builder, loc, sizes, type,
                             APFloat::getZero(type.getFloatSemantics()));
  table = createScatterLoop(gradient, table);
  auto tableType = cast<RankedTensorType>(table.getType());
  if (element != type)
    table =
        arith::TruncFOp::create(builder, loc, tableType.clone(element), table);
  SmallVector<OpFoldResult> zeros(sizes.size(), zero), ones(sizes.size(), one);
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      builder, loc, table, forall.getRegionIterArgs()[0], zeros, sizes, ones);
  return forall.getResult(0);
}
