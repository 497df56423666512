//===- TileBackward.cpp - Loops over tiles of the backward ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-backward.
//
//===----------------------------------------------------------------------===//

#include "Padding.h"
#include "TiledForm.h"
#include "attn/Analysis/KeyTiles.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_TILEBACKWARDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;

namespace {
/// Where a tile is: (b, h), the first row, and the first key.
struct Place {
  Value b, h, m, n;
};

/// The operands of a step that have rows, or keys; all of static size.
struct RowTile {
  Value query, dOutput, lse, delta;
};
struct KeyTile {
  Value key, value;
};

/// Builds both loop nests of one op.
class BackwardTiler {
public:
  BackwardTiler(AttentionBackwardOp op, int64_t tileM, int64_t tileN)
      : op(op), tileM(tileM), tileN(tileN), builder(op), loc(op.getLoc()) {}

  void run();

private:
  void readSizes();
  void prepareRegions();

  // Tiles.
  OpFoldResult countInTile(int64_t tile, Value first, OpFoldResult total);
  Value getTile(Value from, const Place &place, unsigned loop, Value head,
                double padding = 0);
  RowTile getRowTile(const Place &place);
  KeyTile getKeyTile(const Place &place);
  Value getBiasTile(const Place &place);
  void insertTile(Value tile, Value into, const Place &place, unsigned loop,
                  Value head, scf::ForallOp forall);
  Value createOutput(Value like, Type element);
  Value createZeroTile(Value like, int64_t rows);

  // Loops.
  KeyTileBounds getKeyBounds(const Place &place);
  BackwardStepOp createStep(const RowTile &rows, const KeyTile &keys,
                            const Place &place, Value dQuery, Value dKey,
                            Value dValue);
  void createQueryNest();
  void createKeyNest();
  SmallVector<Value> createRowLoop(const KeyTile &keys, Place place,
                                   ValueRange init);
  SmallVector<Value> createStepIfVisible(const KeyTile &keys, Place place,
                                         ValueRange state);

  Value asValue(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }
  Value index(int64_t n) { return asValue(builder.getIndexAttr(n)); }

  AttentionBackwardOp op;
  int64_t tileM, tileN;
  OpBuilder builder;
  Location loc;

  OpFoldResult batch, queryHeads, keyHeads, rows, keys;
  /// Query heads of a key head.
  Value group;
  /// Of the mask as it was written; the bounds follow from it.
  std::optional<MaskAnalysis> mask;
  /// delta [B, Hq, M], and the gradients.
  Value delta, dQuery, dKey, dValue;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes and regions
//===----------------------------------------------------------------------===//

void BackwardTiler::readSizes() {
  batch = getDim(builder, loc, op.getQuery(), kBatch);
  queryHeads = getDim(builder, loc, op.getQuery(), kHead);
  keyHeads = getDim(builder, loc, op.getKey(), kHead);
  rows = getDim(builder, loc, op.getQuery(), kSequence);
  keys = getDim(builder, loc, op.getKey(), kSequence);
  // Without key heads there are no query heads; 0 / 0 would trap.
  Value divisor =
      builder.createOrFold<arith::MaxUIOp>(loc, asValue(keyHeads), index(1));
  group =
      builder.createOrFold<arith::DivUIOp>(loc, asValue(queryHeads), divisor);
}

/// Reads the mask, then makes both regions fit for padded tiles.
void BackwardTiler::prepareRegions() {
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
    replaceLengths(builder, *region, op.getQuery(), op.getKey());
  if (op.hasMaskMod()) {
    mask = analyzeMask(op.getMaskMod());
    if (mask->formula.kind == MaskFormula::Unknown)
      mask.reset();
  }
  SmallVector<Region *> regions;
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
    if (!region->empty())
      regions.push_back(region);
  if (!divides(tileM, rows))
    for (Region *region : regions)
      clampPosition(*region, kLoopM, asValue(rows));
  if (divides(tileN, keys))
    return;
  if (op.hasScoreMod())
    clampPosition(op.getScoreMod(), kLoopN, asValue(keys));
  maskPaddedKeys(op.getMaskMod(), asValue(keys));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// How many of `tile` positions from `first` on are in [0, total).
OpFoldResult BackwardTiler::countInTile(int64_t tile, Value first,
                                        OpFoldResult total) {
  return divides(tile, total) ? OpFoldResult(builder.getIndexAttr(tile))
                              : boundedTile(builder, loc, tile, first, total);
}

/// The tile of `from` with rows from place.m on (kLoopM) or keys from place.n
/// on (kLoopN).
Value BackwardTiler::getTile(Value from, const Place &place, unsigned loop,
                             Value head, double padding) {
  bool isRows = loop == kLoopM;
  int64_t tile = isRows ? tileM : tileN;
  Value first = isRows ? place.m : place.n;
  OpFoldResult one = builder.getIndexAttr(1);
  OpFoldResult count = countInTile(tile, first, isRows ? rows : keys);
  Sizes offsets = {place.b, head, first}, sizes = {one, one, count};
  SmallVector<int64_t> padded = {1, 1, tile};
  if (cast<ShapedType>(from.getType()).getRank() == 4) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(getDim(builder, loc, from, kHeadDim));
    padded.push_back(0);
  }
  Sizes strides(sizes.size(), one);
  Value slice = tensor::ExtractSliceOp::create(builder, loc, from, offsets,
                                               sizes, strides);
  return pad(builder, slice, padded, padding);
}

/// Padded rows have an LSE of -inf: they take no part. Without delta.
RowTile BackwardTiler::getRowTile(const Place &place) {
  auto tile = [&](Value from, double padding = 0) {
    return getTile(from, place, kLoopM, place.h, padding);
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {tile(op.getQuery()), tile(op.getDOutput()),
          tile(op.getLse(), -infinity), Value()};
}

KeyTile BackwardTiler::getKeyTile(const Place &place) {
  Value head = builder.createOrFold<arith::DivUIOp>(loc, place.h, group);
  return {getTile(op.getKey(), place, kLoopN, head),
          getTile(op.getValue(), place, kLoopN, head)};
}

/// A size of 1 stays: it is broadcast.
Value BackwardTiler::getBiasTile(const Place &place) {
  Value bias = op.getBias();
  if (!bias)
    return bias;
  auto type = cast<ShapedType>(bias.getType());
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value positions[] = {place.b, place.h, place.m, place.n};
  int64_t tiles[] = {1, 1, tileM, tileN};
  OpFoldResult totals[] = {batch, queryHeads, rows, keys};
  Sizes offsets, sizes;
  for (unsigned dim = 0; dim < 4; ++dim) {
    bool isBroadcast = type.getDimSize(dim) == 1;
    offsets.push_back(isBroadcast ? zero : OpFoldResult(positions[dim]));
    sizes.push_back(isBroadcast || tiles[dim] == 1
                        ? one
                        : countInTile(tiles[dim], positions[dim], totals[dim]));
  }
  Value slice = tensor::ExtractSliceOp::create(builder, loc, bias, offsets,
                                               sizes, Sizes(4, one));
  return pad(builder, slice, tiles);
}

/// Puts what is valid of `tile` into `into`, at the end of `forall`.
void BackwardTiler::insertTile(Value tile, Value into, const Place &place,
                               unsigned loop, Value head,
                               scf::ForallOp forall) {
  bool isRows = loop == kLoopM;
  Value first = isRows ? place.m : place.n;
  int64_t size = isRows ? tileM : tileN;
  OpFoldResult total = isRows ? rows : keys;
  auto type = cast<RankedTensorType>(into.getType());
  auto tileType = cast<RankedTensorType>(tile.getType());
  if (tileType.getElementType() != type.getElementType())
    tile = arith::TruncFOp::create(builder, loc,
                                   tileType.clone(type.getElementType()), tile);
  Sizes offsets(type.getRank(), builder.getIndexAttr(0));
  Sizes strides(type.getRank(), builder.getIndexAttr(1));
  Sizes sizes = tensor::getMixedSizes(builder, loc, tile);
  if (!divides(size, total)) {
    sizes[kSequence] = countInTile(size, first, total);
    tile = tensor::ExtractSliceOp::create(builder, loc, tile, offsets, sizes,
                                          strides);
  }
  offsets[kBatch] = place.b;
  offsets[kHead] = head;
  offsets[kSequence] = first;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, tile, into, offsets,
                                        sizes, strides);
}

/// An uninitialized tensor with the sizes of `like`.
Value BackwardTiler::createOutput(Value like, Type element) {
  auto type = cast<RankedTensorType>(like.getType()).clone(element);
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), element);
  if (empty.getType() != type)
    empty = tensor::CastOp::create(builder, loc, type, empty);
  return empty;
}

Value BackwardTiler::createZeroTile(Value like, int64_t count) {
  OpFoldResult one = builder.getIndexAttr(1);
  FloatType type = op.getScoreType();
  return createFilled(builder, loc,
                      {one, one, builder.getIndexAttr(count),
                       getDim(builder, loc, like, kHeadDim)},
                      type, APFloat::getZero(type.getFloatSemantics()));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The key tiles that some row of the row tile sees.
KeyTileBounds BackwardTiler::getKeyBounds(const Place &place) {
  OpFoldResult zero = builder.getIndexAttr(0);
  if (!mask)
    return {zero, zero, zero, keys, keys};
  IRMapping mapping;
  for (auto [position, value] :
       {std::pair<unsigned, Value>{kLoopB, place.b}, {kLoopH, place.h}})
    mapping.map(op.getMaskMod().getArgument(position), value);
  std::function<Value(Value)> clone = [&](Value value) {
    if (mapping.contains(value) || value.getParentRegion() != &op.getMaskMod())
      return mapping.lookupOrDefault(value);
    for (Value operand : value.getDefiningOp()->getOperands())
      clone(operand);
    builder.clone(*value.getDefiningOp(), mapping);
    return mapping.lookup(value);
  };
  auto materialize = [&](Value term) -> OpFoldResult {
    Value value = clone(term);
    Type index = builder.getIndexType();
    if (value.getType().isInteger(1))
      value = arith::IndexCastUIOp::create(builder, loc, index, value);
    else if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, loc, index, value);
    return getAsOpFoldResult(value);
  };
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  AffineExpr s1 = builder.getAffineSymbolExpr(1);
  OpFoldResult last = affine::makeComposedFoldedAffineApply(
      builder, loc, s0 + s1 - 1,
      {OpFoldResult(place.m), countInTile(tileM, place.m, rows)});
  KeyVisibility visibility = computeVisibility(
      builder, loc, *mask, {OpFoldResult(place.m), last}, keys, materialize,
      /*mostRanges=*/1);
  return computeKeyTileBounds(builder, loc, visibility, tileN, keys);
}

BackwardStepOp BackwardTiler::createStep(const RowTile &rowTile,
                                         const KeyTile &keyTile,
                                         const Place &place, Value dQueryTile,
                                         Value dKeyTile, Value dValueTile) {
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  auto step = BackwardStepOp::create(
      builder, loc, typeOf(dQueryTile), typeOf(dKeyTile), typeOf(dValueTile),
      rowTile.query, keyTile.key, keyTile.value, getBiasTile(place),
      rowTile.dOutput, rowTile.lse, rowTile.delta,
      ValueRange{place.b, place.h, place.m, place.n}, dQueryTile, dKeyTile,
      dValueTile, op.getScaleAttr(), op.getScheduleAttr());
  IRMapping mapping;
  op.getScoreMod().cloneInto(&step.getScoreMod(), mapping);
  op.getMaskMod().cloneInto(&step.getMaskMod(), mapping);
  return step;
}

/// The nest over row tiles: delta and dQ.
void BackwardTiler::createQueryNest() {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Type element = getElementTypeOrSelf(op.getDQuery().getType());
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef<OpFoldResult>{batch, queryHeads, rows},
      ArrayRef<OpFoldResult>{one, one, builder.getIndexAttr(tileM)},
      ValueRange{createOutput(op.getQuery(), element),
                 createOutput(op.getLse(), op.getScoreType())},
      std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  ValueRange ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], ivs[2], Value()};
  auto tile = [&](Value from) {
    return from ? getTile(from, place, kLoopM, place.h) : from;
  };
  Value output = tile(op.getOutput()), dLse = tile(op.getDLse());
  RowTile rowTile = getRowTile(place);
  rowTile.delta = BackwardDeltaOp::create(builder, loc, rowTile.lse.getType(),
                                          output, rowTile.dOutput, dLse);
  KeyTileBounds bounds = getKeyBounds(place);
  auto loop = scf::ForOp::create(
      builder, loc, asValue(bounds.begin), asValue(bounds.raggedEnd),
      index(tileN), ValueRange(createZeroTile(op.getQuery(), tileM)));
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    place.n = loop.getInductionVar();
    BackwardStepOp step =
        createStep(rowTile, getKeyTile(place), place,
                   loop.getRegionIterArgs()[0], Value(), Value());
    scf::YieldOp::create(builder, loc, step->getResults());
  }
  auto outs = forall.getRegionIterArgs();
  insertTile(loop.getResult(0), outs[0], place, kLoopM, place.h, forall);
  insertTile(rowTile.delta, outs[1], place, kLoopM, place.h, forall);
  dQuery = forall.getResult(0);
  delta = forall.getResult(1);
}

/// (dK, dV) of the key tile after the row tile at `place`, if it sees a key.
SmallVector<Value> BackwardTiler::createStepIfVisible(const KeyTile &keyTile,
                                                      Place place,
                                                      ValueRange state) {
  auto emit = [&]() {
    RowTile rowTile = getRowTile(place);
    rowTile.delta = getTile(delta, place, kLoopM, place.h);
    return createStep(rowTile, keyTile, place, Value(), state[0], state[1]);
  };
  if (!mask)
    return SmallVector<Value>(emit()->getResults());
  KeyTileBounds bounds = getKeyBounds(place);
  Value isAfter = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        place.n, asValue(bounds.begin));
  Value isBefore =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, place.n,
                            asValue(bounds.raggedEnd));
  Value isVisible = arith::AndIOp::create(builder, loc, isAfter, isBefore);
  auto branch = scf::IfOp::create(builder, loc, state.getTypes(), isVisible,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, emit()->getResults());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, state);
  return SmallVector<Value>(branch.getResults());
}

/// All row tiles of query head place.h.
SmallVector<Value> BackwardTiler::createRowLoop(const KeyTile &keyTile,
                                                Place place, ValueRange init) {
  auto loop = scf::ForOp::create(builder, loc, index(0), asValue(rows),
                                 index(tileM), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  place.m = loop.getInductionVar();
  scf::YieldOp::create(
      builder, loc,
      createStepIfVisible(keyTile, place, loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

/// The nest over key tiles: dK and dV, summed over the group.
void BackwardTiler::createKeyNest() {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  auto elementOf = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef<OpFoldResult>{batch, keyHeads, keys},
      ArrayRef<OpFoldResult>{one, one, builder.getIndexAttr(tileN)},
      ValueRange{createOutput(op.getKey(), elementOf(op.getDKey())),
                 createOutput(op.getValue(), elementOf(op.getDValue()))},
      std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  ValueRange ivs = forall.getInductionVars();
  Place place{ivs[0], ivs[1], Value(), ivs[2]};
  Value keyHead = ivs[1];
  KeyTile keyTile = {getTile(op.getKey(), place, kLoopN, keyHead),
                     getTile(op.getValue(), place, kLoopN, keyHead)};
  auto loop =
      scf::ForOp::create(builder, loc, index(0), group, index(1),
                         ValueRange{createZeroTile(op.getKey(), tileN),
                                    createZeroTile(op.getValue(), tileN)});
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value first = builder.createOrFold<arith::MulIOp>(loc, keyHead, group);
    place.h =
        builder.createOrFold<arith::AddIOp>(loc, first, loop.getInductionVar());
    scf::YieldOp::create(
        builder, loc, createRowLoop(keyTile, place, loop.getRegionIterArgs()));
  }
  for (auto [gradient, out] :
       llvm::zip_equal(loop.getResults(), forall.getRegionIterArgs()))
    insertTile(gradient, out, place, kLoopN, keyHead, forall);
  dKey = forall.getResult(0);
  dValue = forall.getResult(1);
}

void BackwardTiler::run() {
  readSizes();
  prepareRegions();
  createQueryNest();
  createKeyNest();
  Value gradients[] = {dQuery, dKey, dValue};
  for (auto [result, gradient] : llvm::zip_equal(op->getResults(), gradients)) {
    if (gradient.getType() != result.getType())
      gradient =
          tensor::CastOp::create(builder, loc, result.getType(), gradient);
    result.replaceAllUsesWith(gradient);
  }
  op.erase();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct TileBackward : public attn::impl::TileBackwardPassBase<TileBackward> {
  using Base::Base;

  void runOnOperation() override {
    if (tileM < 0 || tileN <= 0) {
      getOperation().emitError()
          << "options tile-m and tile-n: expected positive sizes, got "
          << tileM.getValue() << " and " << tileN.getValue();
      return signalPassFailure();
    }
    SmallVector<AttentionBackwardOp> ops;
    getOperation().walk([&](AttentionBackwardOp op) { ops.push_back(op); });
    for (AttentionBackwardOp op : ops) {
      if (op.getDBias() || !op.getCaptures().empty()) {
        leave(op);
        continue;
      }
      std::optional<ScheduleAttr> schedule = op.getSchedule();
      int64_t m = schedule ? schedule->getTileM() : 0;
      int64_t n = schedule ? schedule->getTileN() : 0;
      m = m ? m : tileM.getValue();
      BackwardTiler(op, m ? m : getDefaultRows(op), n ? n : tileN.getValue())
          .run();
      ++numTiled;
    }
  }

private:
  /// A CTA of a GPU holds dK and dV of its keys in registers; larger head
  /// dimensions leave less room for scores.
  static int64_t getDefaultRows(AttentionBackwardOp op) {
    AttentionDims dims = AttentionDims::get(op);
    return std::max(dims.headDim, dims.valueDim) > 64 ? 32 : 64;
  }

  /// What follows expects no attn.length outside of attn.attention.
  void leave(AttentionBackwardOp op) {
    OpBuilder builder(op);
    for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
      replaceLengths(builder, *region, op.getQuery(), op.getKey());
    op.emitRemark() << "gradients of "
                    << (op.getDBias() ? "a bias" : "captured tensors")
                    << " are computed unfused, from whole score tensors";
    ++numLeft;
  }
};
} // namespace
