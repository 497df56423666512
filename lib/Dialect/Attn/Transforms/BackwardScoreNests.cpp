//===- BackwardScoreNests.cpp - Nests of gradients of scores ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a bias or of a captured tensor adds up those of scores. Where
// it has elements for pairs of rows and keys, a tile of it stays and the heads
// that share it stream past. Else the scores of each row, or of each key, are
// added up first, then attn.backward_sum adds up what belongs together.
// Elements that are found by other indices than positions are in
// BackwardScatterNest.cpp.
//
//===----------------------------------------------------------------------===//

#include "BackwardTiler.h"
#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;

/// Rows and keys of a tile of scores. Four tiles of operands, of 16-bit
/// elements, and the scores of three matrices fit into a CTA of every target.
static TileSizes getScoreTiles(AttentionBackwardOp op, TileSizes queryTiles) {
  AttentionDims dims = AttentionDims::get(op);
  int64_t columns = (dims.headDim + dims.valueDim) / 2;
  int64_t most = columns <= 256 ? 64 : columns <= 512 ? 32 : 16;
  // What the nest of dQ leaves is there for whole tiles of its rows.
  bool isOfGpu = queryTiles.m % 16 == 0;
  return {isOfGpu ? std::gcd(most, queryTiles.m) : queryTiles.m,
          std::min(most, queryTiles.n)};
}

void BackwardTiler::findScoreNests() {
  scoreGradients = findScoreGradients(op).gradients;
  scoreTiles = queryTiles;
  if (!scoreGradients.empty())
    scoreTiles = getScoreTiles(op, queryTiles);
  findScatterWalks();
}

/// A step that adds the gradients of the scores at `place` to `sum`.
Value BackwardTiler::createScoreStep(const ScoreGradient &gradient,
                                     const ScoreTiles &operands,
                                     const Place &place, const TileRange &range,
                                     Value sum) {
  StepGradients gradients;
  gradients.scores = sum;
  BackwardStepOp step = createStep(operands.rows, operands.keys, place, range,
                                   op.getMaskMod(), gradients);
  if (!gradient.isBias)
    step.getCaptureMutable().assign(gradient.of);
  return step.getDScoresResult();
}

/// The rows at `place` with all that belongs to them.
RowTile BackwardTiler::getWholeRowTile(const Place &place) {
  RowTile rowTile = getRowTile(place);
  if (delta)
    rowTile.delta = getTile(delta, place, kLoopM, place.h);
  return rowTile;
}

Value BackwardTiler::createZeroScores() {
  OpFoldResult one = builder.getIndexAttr(1);
  FloatType type = op.getScoreType();
  return createFilled(
      builder, loc,
      {one, one, builder.getIndexAttr(tiles.m), builder.getIndexAttr(tiles.n)},
      type, APFloat::getZero(type.getFloatSemantics()));
}

//===----------------------------------------------------------------------===//
// Sums of rows, or of keys
//===----------------------------------------------------------------------===//

/// `scores` summed over its rows (kLoopM) or keys (kLoopN).
Value BackwardTiler::sumScores(Value scores, unsigned loop) {
  FloatType type = op.getScoreType();
  OpFoldResult one = builder.getIndexAttr(1);
  int64_t dims[] = {loop};
  Value zero = createFilled(
      builder, loc,
      {one, one, builder.getIndexAttr(loop == kLoopM ? tiles.n : tiles.m)},
      type, APFloat::getZero(type.getFloatSemantics()));
  return linalg::ReduceOp::create(
             builder, loc, ValueRange(scores), ValueRange(zero),
             ArrayRef<int64_t>(dims),
             [](OpBuilder &b, Location l, ValueRange args) {
               Value sum = arith::AddFOp::create(b, l, args[0], args[1]);
               linalg::YieldOp::create(b, l, sum);
             })
      .getResult(0);
}

/// Loops over the tiles of the ranges; `body` takes where a tile begins and
/// what is carried, and gives the next of that.
Value BackwardTiler::createTileLoops(
    ArrayRef<TileRange> ranges, int64_t tile, Value init,
    function_ref<Value(const TileRange &, Value, Value)> body) {
  for (const TileRange &range : ranges) {
    auto loop = scf::ForOp::create(builder, loc, range.lower, range.upper,
                                   index(tile), ValueRange(init));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value position = range.getPosition(builder, loc, loop.getInductionVar());
    scf::YieldOp::create(builder, loc,
                         body(range, position, loop.getRegionIterArgs()[0]));
    init = loop.getResult(0);
  }
  return init;
}

/// The gradients of scores added up over the keys of each row [B, Hq, M], or
/// over the rows of each key [B, Hq, N] if the gradient has keys.
Value BackwardTiler::createVectorNest(const ScoreGradient &gradient) {
  bool keysStay = gradient.getDim(kLoopN).has_value();
  unsigned stays = keysStay ? kLoopN : kLoopM;
  unsigned streams = keysStay ? kLoopM : kLoopN;
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  OpFoldResult total = keysStay ? keys : rows;
  int64_t tile = keysStay ? tiles.n : tiles.m;
  Sizes sizes = {batch, queryHeads, total};
  Value output =
      tensor::EmptyOp::create(builder, loc, sizes, op.getScoreType());
  auto forall = scf::ForallOp::create(
      builder, loc, Sizes(3, zero), sizes,
      Sizes{one, one, builder.getIndexAttr(tile)}, output, std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], Value(), Value()};
  (keysStay ? place.n : place.m) = ivs[2];
  ScoreTiles operands;
  if (keysStay)
    operands.keys = getKeyTile(place);
  else
    operands.rows = getWholeRowTile(place);
  RowRange stay = getStaying(ivs[2], tile, total);
  SmallVector<TileRange> ranges =
      keysStay ? visitedRows->get(
                     builder, loc, place.b, place.h, stay,
                     {keys, rows, tiles.n, tiles.m, /*isEndWhole=*/true})
               : visitedKeys->get(builder, loc, place.b, place.h, stay,
                                  {rows, keys, tiles.m, tiles.n});
  auto body = [&](const TileRange &range, Value position, Value sum) {
    (keysStay ? place.m : place.n) = position;
    if (keysStay)
      operands.rows = getWholeRowTile(place);
    else
      operands.keys = getKeyTile(place);
    return createScoreStep(gradient, operands, place, range, sum);
  };
  Value sum = createTileLoops(ranges, keysStay ? tiles.m : tiles.n,
                              createZeroScores(), body);
  insertTile(sumScores(sum, streams), forall.getRegionIterArgs()[0], place,
             stays, place.h, forall);
  return forall.getResult(0);
}

//===----------------------------------------------------------------------===//
// Tiles that stay
//===----------------------------------------------------------------------===//

/// All batches and heads that add to a tile, as one loop over b Hq + h.
TileRange BackwardTiler::getSharers(const ScoreGradient &gradient,
                                    ValueRange at, Value &step) {
  Value heads = asValue(queryHeads);
  std::optional<unsigned> b = gradient.getDim(kLoopB);
  std::optional<unsigned> h = gradient.getDim(kLoopH);
  Value lower = index(0);
  if (b)
    lower = builder.createOrFold<arith::MulIOp>(loc, at[*b], heads);
  if (h)
    lower = builder.createOrFold<arith::AddIOp>(loc, lower, at[*h]);
  step = h && !b ? heads : index(1);
  Value upper;
  if (b)
    upper =
        builder.createOrFold<arith::AddIOp>(loc, lower, h ? index(1) : heads);
  else
    upper = builder.createOrFold<arith::MulIOp>(loc, asValue(batch), heads);
  // A captured tensor may have elements that no score reads.
  OpFoldResult totals[] = {batch, queryHeads, rows, keys};
  for (auto [dim, expr] : llvm::enumerate(gradient.map.getResults())) {
    if (gradient.isBias)
      break;
    Value isRead;
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      isRead =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                at[dim], asValue(totals[loop.getPosition()]));
    else
      isRead = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, at[dim],
          index(cast<AffineConstantExpr>(expr).getValue()));
    upper = arith::SelectOp::create(builder, loc, isRead, upper, lower);
  }
  return {lower, upper, /*isMasked=*/true};
}

/// Puts what is valid of a tile of scores into the result of `forall`, whose
/// last dimensions are rows and keys.
void BackwardTiler::insertScores(Value scores, scf::ForallOp forall) {
  Value into = forall.getRegionIterArgs()[0];
  SmallVector<Value> at = forall.getInductionVars();
  auto type = cast<RankedTensorType>(into.getType());
  auto scoresType = cast<RankedTensorType>(scores.getType());
  if (scoresType.getElementType() != type.getElementType())
    scores = arith::TruncFOp::create(
        builder, loc, scoresType.clone(type.getElementType()), scores);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Sizes totals = forall.getMixedUpperBound();
  Sizes sizes = {countInTile(tiles.m, at.end()[-2], totals.end()[-2]),
                 countInTile(tiles.n, at.back(), totals.back())};
  SmallVector<int64_t> shape = {ShapedType::kDynamic, ShapedType::kDynamic};
  for (auto [size, known] : llvm::zip_equal(sizes, shape))
    known = getConstantIntValue(size).value_or(ShapedType::kDynamic);
  Value part = tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), scores,
      Sizes(4, zero), Sizes{one, one, sizes[0], sizes[1]}, Sizes(4, one));
  Sizes all(type.getRank() - 2, one);
  llvm::append_range(all, sizes);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, part, into,
                                        getAsOpFoldResult(at), all,
                                        Sizes(type.getRank(), one));
}

/// A gradient whose last two dimensions are rows and keys.
Value BackwardTiler::createTileNest(const ScoreGradient &gradient) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value output = createOutput(gradient.of,
                              getElementTypeOrSelf(gradient.result.getType()));
  Sizes sizes = tensor::getMixedSizes(builder, loc, gradient.of);
  Sizes steps(sizes.size() - 2, one);
  steps.push_back(builder.getIndexAttr(tiles.m));
  steps.push_back(builder.getIndexAttr(tiles.n));
  auto forall = scf::ForallOp::create(builder, loc, Sizes(sizes.size(), zero),
                                      sizes, steps, output, std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  SmallVector<Value> at = forall.getInductionVars();
  Value step;
  TileRange range = getSharers(gradient, at, step);
  auto loop = scf::ForOp::create(builder, loc, range.lower, range.upper, step,
                                 ValueRange(createZeroScores()));
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), heads = asValue(queryHeads);
    Place place{builder.createOrFold<arith::DivUIOp>(loc, number, heads),
                builder.createOrFold<arith::RemUIOp>(loc, number, heads),
                at.end()[-2], at.back()};
    ScoreTiles operands = {getWholeRowTile(place), getKeyTile(place)};
    scf::YieldOp::create(builder, loc,
                         createScoreStep(gradient, operands, place, range,
                                         loop.getRegionIterArgs()[0]));
  }
  insertScores(loop.getResult(0), forall);
  return forall.getResult(0);
}

//===----------------------------------------------------------------------===//
// All gradients
//===----------------------------------------------------------------------===//

/// Adds up vectors [B, Hq, M] or [B, Hq, N] in the elements of the gradient.
Value BackwardTiler::createSum(const ScoreGradient &gradient) {
  Value vectors = createVectorNest(gradient);
  AffineExpr position = builder.getAffineDimExpr(2);
  AffineMap map = gradient.map.replaceDimsAndSymbols(
      {builder.getAffineDimExpr(0), builder.getAffineDimExpr(1), position,
       position},
      {}, 3, 0);
  return BackwardSumOp::create(builder, loc, gradient.result.getType(), vectors,
                               gradient.of, Value(), map);
}

void BackwardTiler::createScoreNests(SmallVectorImpl<Value> &results) {
  tiles = scoreTiles;
  schedule = ScheduleAttr();
  for (const ScoreGradient &gradient : scoreGradients)
    results.push_back(gradient.isScattered() ? createScatterNest(gradient)
                      : gradient.isOfTiles() ? createTileNest(gradient)
                                             : createSum(gradient));
  if (!op.getDSink())
    return;
  AffineMap head = AffineMap::get(3, 0, builder.getAffineDimExpr(1));
  results.push_back(BackwardSumOp::create(builder, loc, op.getDSink().getType(),
                                          delta, op.getSink(), op.getLse(),
                                          head));
}
