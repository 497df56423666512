//===- ModToMap.cpp - Score and mask regions on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/ModToMap.h"

#include "Kernel/Fragments.h"
#include "Kernel/MaskBounds.h"
#include "Kernel/RowTerms.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"

using namespace mlir;
using namespace attn;

/// Where the tensors end; null where no coordinate has to be kept within.
struct ModToMap::Limits {
  Value lastRow; ///< of the query
  Value lastKey; ///< of the tile
  /// Of the tile, before which entries of tables are not used; null without
  /// tables.
  Value firstKey;
  Value keys; ///< of the tile that exist
  /// That exists, of all; null where columns are kept from leaving the tensors.
  Value lastColumn;
  Value positions; ///< query positions of a packed tile; null without packing
};

bool ModToMap::changesScores(OnlineAttentionOp step) {
  return step.getBias() || step.hasScoreMod();
}

/// score + bias[b or 0, h or 0, i or 0, j or 0].
Value ModToMap::applyBias(OnlineAttentionOp step, Value score,
                          const Coordinates &at) {
  Location loc = step.getLoc();
  Value source = step.getBias();
  if (auto slice = source.getDefiningOp<tensor::ExtractSliceOp>())
    source = slice.getSource();
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<Value> indices;
  Value coordinates[] = {at.batch, at.head, at.row, at.col};
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    indices.push_back(
        type.getDimSize(dim) == 1
            ? arith::ConstantIntOp::create(builder, loc, 0, 64).getResult()
            : toWidth(builder, loc, coordinate, 64));
  Value bias = tile::ExtractOp::create(builder, loc, type.getElementType(),
                                       values.lookup(source), indices);
  if (!bias.getType().isF32())
    bias = arith::ExtFOp::create(builder, loc, builder.getF32Type(), bias);
  return arith::AddFOp::create(builder, loc, score, bias);
}

/// Rows and columns past the end exist in the tile, but reads must not leave
/// the tensors: they use the last row and column instead, if one of `regions`
/// reads there, or `always`.
ModToMap::Limits ModToMap::getLimits(OnlineAttentionOp step, Value keysInTile,
                                     ArrayRef<Region *> regions, bool always) {
  Location loc = step.getLoc();
  auto readsAt = [&](unsigned loop) {
    return always || llvm::any_of(regions, [&](Region *region) {
             return !isDefinedBeyond(*region, loop);
           });
  };
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Limits limits;
  auto queryType = cast<RankedTensorType>(step.getQuery().getType());
  if (int64_t heads = queryType.getDimSize(kHead); heads > 1) {
    ScheduleAttr schedule = *step.getSchedule();
    limits.positions = arith::ConstantIntOp::create(
        builder, loc, schedule.getValues().tileM / heads, 32);
  }
  if (readsAt(kLoopM)) {
    auto slice = step.getQuery().getDefiningOp<tensor::ExtractSliceOp>();
    Value query = values.lookup(slice ? slice.getSource() : step.getQuery());
    Value rows = tile::DimOp::create(builder, loc, query, kSequence);
    limits.lastRow = arith::SubIOp::create(
        builder, loc, toWidth(builder, loc, rows, 32), one);
  }
  if (keysInTile)
    limits.keys = toWidth(builder, loc, keysInTile, 32);
  if (keysInTile && readsAt(kLoopN))
    limits.lastKey = arith::SubIOp::create(builder, loc, limits.keys, one);
  if (step.getFirstKey() && step.hasMaskMod() &&
      llvm::any_of(regions, [](Region *mod) { return readsByTable(*mod); })) {
    Value first = toWidth(builder, loc, values.lookup(step.getFirstKey()), 32);
    Value begin =
        toWidth(builder, loc, values.lookup(step.getOffsets()[kLoopN]), 32);
    limits.firstKey = arith::SubIOp::create(builder, loc, first, begin);
  }
  return limits;
}

/// The position of the element at `row` and `col` of the tile, both i32.
ModToMap::Coordinates ModToMap::getCoordinates(Location loc, ValueRange offsets,
                                               Value row, Value col,
                                               const Limits &limits) {
  if (limits.lastKey)
    col = arith::MinSIOp::create(builder, loc, col, limits.lastKey);
  if (limits.firstKey)
    col = arith::MaxSIOp::create(builder, loc, col, limits.firstKey);
  Coordinates at;
  at.batch = offsets[0];
  at.head = offsets[1];
  if (limits.positions) {
    // A packed tile: head after head.
    Value heads = arith::DivUIOp::create(builder, loc, row, limits.positions);
    at.head = arith::AddIOp::create(builder, loc, at.head, heads);
    row = arith::RemUIOp::create(builder, loc, row, limits.positions);
  }
  at.row = arith::AddIOp::create(builder, loc, offsets[2], row);
  if (limits.lastRow)
    at.row = arith::MinSIOp::create(builder, loc, at.row, limits.lastRow);
  at.col = arith::AddIOp::create(builder, loc, offsets[3], col);
  return at;
}

/// The score after `factor`, bias and score_mod.
FailureOr<Value> ModToMap::changeScore(OnlineAttentionOp step, Value score,
                                       double factor, const Coordinates &at) {
  Location loc = step.getLoc();
  if (factor != 1.0) {
    Value scale = arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(factor)));
    score = arith::MulFOp::create(builder, loc, score, scale);
  }
  if (step.getBias())
    score = applyBias(step, score, at);
  if (step.hasScoreMod())
    return inlineRegion(step.getScoreMod(), score, at);
  return score;
}

/// The score, or that of a hidden key where the mask hides it or column `col`
/// of the tile is past the keys, or before the first one.
FailureOr<Value> ModToMap::hideScore(OnlineAttentionOp step, Value score,
                                     Value col, const Coordinates &at,
                                     const Limits &limits) {
  Location loc = step.getLoc();
  Value visible;
  if (step.hasMaskMod()) {
    FailureOr<Value> mask = inlineRegion(step.getMaskMod(), Value(), at);
    if (failed(mask))
      return failure();
    visible = boundByRow(builder, *mask, at.col, col);
  }
  Value bounded;
  if (visible && limits.lastColumn)
    bounded = boundColumn(builder, visible, at.col, limits.lastColumn);
  if (bounded) {
    visible = bounded;
  } else if (limits.keys) {
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, col, limits.keys);
    visible =
        visible
            ? arith::AndIOp::create(builder, loc, visible, exists).getResult()
            : exists;
  }
  if (limits.firstKey) {
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, col, limits.firstKey);
    visible = arith::AndIOp::create(builder, loc, visible, exists);
  }
  if (!visible)
    return score;
  double hiddenScore = step.getNormalization().getHiddenScore();
  Value hidden = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(hiddenScore)));
  return arith::SelectOp::create(builder, loc, visible, score, hidden)
      .getResult();
}

/// The step's offsets in the kernel, i32.
SmallVector<Value> ModToMap::getOffsets(OnlineAttentionOp step) {
  return llvm::map_to_vector(step.getOffsets(), [&](Value offset) {
    return toWidth(builder, step.getLoc(), values.lookup(offset), 32);
  });
}

/// Nothing of a row may depend on the key tile.
ModToMap::Coordinates ModToMap::getRowCoordinates(Location loc,
                                                  ValueRange offsets, Value row,
                                                  Limits limits) {
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  SmallVector<Value> places(offsets);
  places[kLoopN] = zero;
  limits.lastKey = limits.firstKey = Value();
  return getCoordinates(loc, places, row, zero, limits);
}

FailureOr<Value> ModToMap::createMap(OnlineAttentionOp step, Value source,
                                     ArrayRef<Region *> regions,
                                     const Limits &limits, ValueRange offsets,
                                     Change change) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = step.getLoc();
  auto place = [&](Value row) {
    return getRowCoordinates(loc, offsets, row, limits);
  };
  if (failed(buildRowTerms(regions, kLoopM, /*ofRowsOnly=*/false,
                           step.getSchedule()->getValues().tileM, place)))
    return failure();
  SmallVector<Value> inputs = {source};
  llvm::append_range(inputs, getRowTerms());
  auto map = tile::MapOp::create(builder, loc, source.getType(), inputs);
  Block *body = createMapBody(builder, map);
  setRowTerms(body->getArguments().slice(1, rowTerms.size()));
  Value row = body->getArgument(inputs.size()),
        col = body->getArguments().back();
  Coordinates at = getCoordinates(loc, offsets, row, col, limits);
  // Key tiles begin at multiples of their size.
  tile = {offsets[kLoopN], step.getSchedule()->getValues().tileN};
  FailureOr<Value> element = change(body->getArgument(0), col, at);
  tile.reset();
  clearRowTerms();
  if (failed(element))
    return failure();
  tile::YieldOp::create(builder, loc, *element);
  hoistReads(map);
  return map.getResult();
}

/// The limits of scores: of bias, mods and masks.
ModToMap::Limits ModToMap::getScoreLimits(OnlineAttentionOp step,
                                          Value keysInTile,
                                          ArrayRef<Region *> regions,
                                          ValueRange offsets) {
  Location loc = step.getLoc();
  Limits limits =
      getLimits(step, keysInTile, regions, /*always=*/!!step.getBias());
  if (limits.keys && !limits.lastKey) {
    Value end =
        arith::AddIOp::create(builder, loc, offsets.back(), limits.keys);
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    limits.lastColumn = arith::SubIOp::create(builder, loc, end, one);
  }
  return limits;
}

FailureOr<Value> ModToMap::apply(OnlineAttentionOp step, Value scores,
                                 double factor, Value keysInTile) {
  if (factor == 1.0 && !changesScores(step) && !step.hasMaskMod() &&
      !keysInTile)
    return scores;
  SmallVector<Value> offsets = getOffsets(step);
  Region *regions[] = {&step.getScoreMod(), &step.getMaskMod()};
  Limits limits = getScoreLimits(step, keysInTile, regions, offsets);
  return createMap(
      step, scores, regions, limits, offsets,
      [&](Value score, Value col, const Coordinates &at) -> FailureOr<Value> {
        FailureOr<Value> changed = changeScore(step, score, factor, at);
        if (failed(changed))
          return failure();
        return hideScore(step, *changed, col, at, limits);
      });
}

FailureOr<Value> ModToMap::applyMasks(OnlineAttentionOp step, Value scores,
                                      Value keysInTile) {
  if (!step.hasMaskMod() && !keysInTile)
    return scores;
  SmallVector<Value> offsets = getOffsets(step);
  Region *regions[] = {&step.getMaskMod()};
  Limits limits = getScoreLimits(step, keysInTile, regions, offsets);
  return createMap(step, scores, regions, limits, offsets,
                   [&](Value score, Value col, const Coordinates &at) {
                     return hideScore(step, score, col, at, limits);
                   });
}

/// The factor of a region that yields its score times what is of a row, or of a
/// row and a tile of `columns` keys; null if it does anything else.
static Value findRowFactor(Region &region, int64_t columns) {
  Block &block = region.front();
  Value score = block.getArgument(0), col = block.getArguments().back();
  auto product = cast<attn::YieldOp>(block.getTerminator())
                     .getValue()
                     .getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != &block)
    return {};
  Value factor = product.getLhs() == score   ? product.getRhs()
                 : product.getRhs() == score ? product.getLhs()
                                             : Value();
  if (!factor || factor == score || !factor.getType().isF32())
    return {};
  auto isOfTile = [&](Value value) {
    std::optional<int64_t> keys = getKeyBlock(value.getDefiningOp());
    return keys && *keys % columns == 0;
  };
  auto isOfKey = [&](Value value) { return value == score || value == col; };
  for (Operation *op : getProducers(region, factor, isOfTile))
    if (op->getNumRegions() > 0 || llvm::any_of(op->getOperands(), isOfKey))
      return {};
  return factor;
}

FailureOr<Value> ModToMap::buildRowFactor(OnlineAttentionOp step) {
  if (step.getBias() || !step.hasScoreMod())
    return Value();
  Region *region = &step.getScoreMod();
  int64_t rows = step.getSchedule()->getValues().tileM,
          columns = step.getSchedule()->getValues().tileN;
  Value factor = findRowFactor(*region, columns);
  if (!factor)
    return Value();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = step.getLoc();
  SmallVector<Value> offsets = getOffsets(step);
  Limits limits = getLimits(step, Value(), region, /*always=*/false);
  auto place = [&](Value row) {
    return getRowCoordinates(loc, offsets, row, limits);
  };
  if (failed(buildRowTerms(region, kLoopM, /*ofRowsOnly=*/false, rows, place)))
    return failure();
  auto map = tile::MapOp::create(builder, loc, getRowType(builder, rows),
                                 getRowTerms());
  Block *body = createMapBody(builder, map);
  setRowTerms(body->getArguments().drop_back());
  tile = {offsets[kLoopN], columns};
  Coordinates at = place(body->getArguments().back());
  Value score =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0f));
  FailureOr<Value> element =
      inlineValue(*region, factor, score, {at.batch, at.head, at.row, at.col});
  tile.reset();
  clearRowTerms();
  if (failed(element))
    return failure();
  tile::YieldOp::create(builder, loc, *element);
  hoistReads(map);
  hoistInvariant(map);
  return map.getResult();
}

/// Before the loops, if nothing of a step is in it.
static Value hoisted(Value value) {
  if (Operation *op = value.getDefiningOp())
    hoistInvariant(op);
  return value;
}

/// The last key there is; null where it is that of a view.
Value ModToMap::getLastColumn(OnlineAttentionOp step) {
  auto slice = step.getKey().getDefiningOp<tensor::ExtractSliceOp>();
  Value keys = values.lookupOrNull(slice ? slice.getSource() : step.getKey());
  if (!keys || !isa<tile::GlobalType>(keys.getType()))
    return Value();
  Location loc = step.getLoc();
  Value number = toWidth(
      builder, loc, tile::DimOp::create(builder, loc, keys, kSequence), 32);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  return hoisted(arith::SubIOp::create(builder, loc, number, one));
}

/// All loops of a kernel apply it alike, and to a tile's position alone: the
/// first tile's weights are made by one code, whichever loop it is in
/// (--attn-tile-overlap-softmax).
FailureOr<Value> ModToMap::applyProbMod(OnlineAttentionOp step, Value p,
                                        Value keysInTile) {
  if (!step.hasProbMod())
    return p;
  Location loc = step.getLoc();
  Region *region = &step.getProbMod();
  Value lastColumn =
      isDefinedBeyond(*region, kLoopN) ? Value() : getLastColumn(step);
  Value firstColumn;
  if (step.getFirstKey() && readsByTable(*region))
    firstColumn =
        hoisted(toWidth(builder, loc, values.lookup(step.getFirstKey()), 32));
  Limits limits = getLimits(step, lastColumn ? Value() : keysInTile, region,
                            /*always=*/false);
  limits.firstKey = Value();
  if (limits.lastRow)
    limits.lastRow = hoisted(limits.lastRow);
  SmallVector<Value> offsets = getOffsets(step);
  for (Value &offset : MutableArrayRef(offsets).drop_back())
    offset = hoisted(offset);
  return createMap(
      step, p, region, limits, offsets,
      [&](Value weight, Value, Coordinates at) -> FailureOr<Value> {
        if (lastColumn)
          at.col = arith::MinSIOp::create(builder, loc, at.col, lastColumn);
        if (firstColumn)
          at.col = arith::MaxSIOp::create(builder, loc, at.col, firstColumn);
        FailureOr<Value> changed = inlineRegion(*region, weight, at);
        if (failed(changed))
          return failure();
        // What a hidden key's number is does not matter.
        Value zero = arith::ConstantOp::create(builder, loc,
                                               builder.getF32FloatAttr(0.0f));
        Value isZero = arith::CmpFOp::create(
            builder, loc, arith::CmpFPredicate::OEQ, weight, zero);
        return arith::SelectOp::create(builder, loc, isZero, zero, *changed)
            .getResult();
      });
}
