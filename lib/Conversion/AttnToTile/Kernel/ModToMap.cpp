//===- ModToMap.cpp - Score and mask regions on fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/ModToMap.h"

#include "Kernel/MaskBounds.h"
#include "Kernel/RowTerms.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"
#include "attn/Dialect/Attn/Utils/LookupBuilder.h"

#include <limits>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// index, i32 or i64 as an integer of `width` bits (sign-extended).
static Value toWidth(OpBuilder &builder, Location loc, Value value,
                     unsigned width) {
  Type type = builder.getIntegerType(width);
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (value.getType().getIntOrFloatBitWidth() > width)
    return arith::TruncIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Element [at..., position] of a global tensor of i32, with `width` bits.
static Value readEntry(OpBuilder &builder, Location loc, Value source,
                       ArrayRef<Value> at, Value position, unsigned width) {
  SmallVector<Value> indices(at);
  indices.push_back(position);
  for (Value &index : indices)
    index = toWidth(builder, loc, index, 64);
  Value entry = tile::ExtractOp::create(builder, loc, builder.getI32Type(),
                                        source, indices);
  return toWidth(builder, loc, entry, width);
}

Value ModToMap::buildSearch(SegmentOp op, Value position, unsigned width) {
  Location loc = op.getLoc();
  Value source = values.lookup(op.getOffsets());
  Value entries = toWidth(builder, loc,
                          tile::DimOp::create(builder, loc, source, 0), width);
  return buildSegment(builder, loc, entries, position,
                      [&](OpBuilder &inner, Value at) {
                        return readEntry(inner, loc, source, {}, at, width);
                      });
}

/// `at` are the operands (b, h, i, j) as integers.
Value ModToMap::buildSearch(BlockListedOp op, ValueRange at, unsigned width) {
  Location loc = op.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, width);
  };
  SmallVector<Value> row(at.take_front(2));
  auto type = op.getNumBlocks().getType();
  for (auto [dim, position] : llvm::enumerate(row))
    if (type.getDimSize(dim) == 1)
      position = number(0);
  Value rowBlock =
      arith::DivUIOp::create(builder, loc, at[2], number(op.getBlock()[0]));
  Value block =
      arith::DivUIOp::create(builder, loc, at[3], number(op.getBlock()[1]));
  Value count = readEntry(builder, loc, values.lookup(op.getNumBlocks()), row,
                          rowBlock, width);
  row.push_back(rowBlock);
  Value indices = values.lookup(op.getIndices());
  return buildBlockListed(
      builder, loc, count, block, [&](OpBuilder &inner, Value position) {
        return readEntry(inner, loc, indices, row, position, width);
      });
}

/// The bits of an index value in a map.
unsigned ModToMap::getWidth(Value value) {
  return ranges.fits32Bits(value) ? 32 : 64;
}

/// The bits that `op` computes index values in: those of the widest.
unsigned ModToMap::getWidth(Operation &op) {
  unsigned width = ranges.needs64Bits(op) ? 64 : 32;
  auto take = [&](Value value) {
    if (value.getType().isIndex())
      width = std::max(width, getWidth(value));
  };
  llvm::for_each(op.getOperands(), take);
  llvm::for_each(op.getResults(), take);
  return width;
}

/// `source` as the result of `op`, a cast from or to index. An index has the
/// sign of its 64 bits already.
Value ModToMap::buildCast(Operation &op, Value source) {
  Value result = op.getResult(0);
  Type type = result.getType();
  if (isa<arith::IndexCastUIOp>(op) && type.isIndex() &&
      source.getType().getIntOrFloatBitWidth() < 64)
    source = arith::ExtUIOp::create(builder, op.getLoc(), builder.getI64Type(),
                                    source);
  return toWidth(builder, op.getLoc(), source,
                 type.isIndex() ? getWidth(result)
                                : type.getIntOrFloatBitWidth());
}

/// The element of a captured tensor at `indices`.
Value ModToMap::buildRead(tensor::ExtractOp op, ArrayRef<Value> indices) {
  SmallVector<Value> wide = llvm::map_to_vector(indices, [&](Value index) {
    return toWidth(builder, op.getLoc(), index, 64);
  });
  return tile::ExtractOp::create(builder, op.getLoc(), op.getType(),
                                 values.lookup(op.getTensor()), wide);
}

/// Clones one op of a region, with index values as integers of getWidth bits.
LogicalResult ModToMap::cloneOp(Operation &op, IRMapping &mapping) {
  Location loc = op.getLoc();
  unsigned width = getWidth(op);
  auto lookupAsIs = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    return values.lookupOrNull(value);
  };
  auto lookup = [&](Value value) -> Value {
    Value mapped = lookupAsIs(value);
    if (mapped && value.getType().isIndex())
      return toWidth(builder, loc, mapped, width);
    return mapped;
  };
  auto setResult = [&](Value result, Value mapped) {
    if (result.getType().isIndex())
      mapped = toWidth(builder, loc, mapped, getWidth(result));
    mapping.map(result, mapped);
  };
  Type integer = builder.getIntegerType(width);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (!constant.getType().isIndex()) {
      builder.clone(op, mapping);
      return success();
    }
    int64_t number = cast<IntegerAttr>(constant.getValue()).getInt();
    mapping.map(
        constant.getResult(),
        arith::ConstantIntOp::create(builder, loc, number, width).getResult());
    return success();
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    mapping.map(op.getResult(0), buildCast(op, lookupAsIs(op.getOperand(0))));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> indices =
        llvm::map_to_vector(extract.getIndices(), lookupAsIs);
    mapping.map(extract.getResult(), buildRead(extract, indices));
    return success();
  }
  if (auto segment = dyn_cast<SegmentOp>(op)) {
    setResult(segment.getResult(),
              buildSearch(segment, lookup(segment.getPosition()), width));
    return success();
  }
  if (auto listed = dyn_cast<BlockListedOp>(op)) {
    SmallVector<Value> at =
        llvm::map_to_vector(listed->getOperands().drop_front(2), lookup);
    mapping.map(listed.getResult(), buildSearch(listed, at, width));
    return success();
  }
  bool isScalar = isa<arith::ArithDialect, math::MathDialect>(op.getDialect());
  if (!isScalar || op.getNumRegions() != 0)
    return op.emitOpError() << "expected arith, math or tensor.extract in a "
                               "region on the GPU";
  SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookup);
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(type.isIndex() ? integer : type);
  Operation *copy = builder.create(
      OperationState(loc, op.getName(), operands, types, op.getAttrs()));
  for (auto [result, mapped] :
       llvm::zip_equal(op.getResults(), copy->getResults()))
    setResult(result, mapped);
  return success();
}

FailureOr<Value> ModToMap::inlineRegion(Region &region, Value score,
                                        const Coordinates &at) {
  Value coordinates[] = {at.batch, at.head, at.row, at.col};
  return inlineRegion(region, score, ValueRange(coordinates));
}

/// A value of a row in 32 bits; a longer one is cut to the nearest
/// (RowTerms.h).
static Value toRegister(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (type.isF32())
    return value;
  if (type.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
  if (type.isInteger(64))
    value = cutTo32Bits(builder, loc, value);
  return toWidth(builder, loc, value, 32);
}

/// Back from toRegister; index stays in 32 bits.
static Value fromRegister(OpBuilder &builder, Location loc, Value element,
                          Type type) {
  if (!type.isInteger(1))
    return element;
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, element,
                               zero);
}

/// What `value` of a region is for a score, if the region takes one, and
/// coordinates.
FailureOr<Value> ModToMap::inlineValue(Region &region, Value value, Value score,
                                       ValueRange coordinates) {
  Location loc = region.front().getTerminator()->getLoc();
  // Regions come and go: what is known of one says nothing of the next.
  ranges = IndexRanges();
  for (const RowTerm &term : rowTerms)
    if (term.value.getType().isIndex() && !ranges.fits32Bits(term.value))
      ranges.setSaturated(term.value);
  IRMapping mapping;
  SmallVector<Value> arguments;
  if (score)
    arguments.push_back(score);
  for (auto [argument, coordinate] : llvm::zip_equal(
           region.getArguments().take_back(coordinates.size()), coordinates))
    arguments.push_back(
        argument.getType().isIndex()
            ? toWidth(builder, loc, coordinate, getWidth(argument))
            : coordinate);
  mapping.map(region.getArguments(), arguments);
  for (const RowTerm &term : rowTerms)
    if (term.region == &region)
      mapping.map(term.value, fromRegister(builder, loc, term.element,
                                           term.value.getType()));
  auto isKnown = [&](Value known) { return mapping.contains(known); };
  for (Operation *op : getProducers(region, value, isKnown))
    if (failed(cloneOp(*op, mapping)))
      return failure();
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  return values.lookup(value);
}

FailureOr<Value> ModToMap::inlineRegion(Region &region, Value score,
                                        ValueRange coordinates) {
  Value yielded = cast<YieldOp>(region.front().getTerminator()).getValue();
  return inlineValue(region, yielded, score, coordinates);
}

/// Where the tensors end; null where no coordinate has to be kept within.
struct ModToMap::Limits {
  Value lastRow; ///< of the query
  Value lastKey; ///< of the tile
  Value keys;    ///< of the tile that exist
  /// That exists, of all; null where columns are kept from leaving the tensors.
  Value lastColumn;
  Value positions; ///< query positions of a packed tile; null without packing
};

//===----------------------------------------------------------------------===//
// Values of rows
//===----------------------------------------------------------------------===//

/// A fragment of row term `value`.
FailureOr<Value> ModToMap::buildRowTerm(Region &region, Value value,
                                        int64_t rows, Place place) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = value.getLoc();
  Type i32 = builder.getI32Type();
  auto type =
      tile::FragmentType::get(builder.getContext(), {rows},
                              value.getType().isF32() ? value.getType() : i32,
                              tile::FragmentLayout::Row);
  auto map = tile::MapOp::create(builder, loc, type, ValueRange());
  Block *body = builder.createBlock(&map.getBody(), {}, {i32}, {loc});
  Coordinates at = place(body->getArgument(0));
  Value coordinates[] = {at.batch, at.head, at.row, at.col};
  // A term of rows does not depend on the score.
  Value score;
  if (region.getNumArguments() > std::size(coordinates))
    score =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0f));
  FailureOr<Value> element = inlineValue(region, value, score, coordinates);
  if (failed(element))
    return failure();
  tile::YieldOp::create(builder, loc, toRegister(builder, loc, *element));
  hoistInvariant(map);
  return map.getResult();
}

LogicalResult ModToMap::buildRowTerms(ArrayRef<Region *> regions,
                                      unsigned position, bool ofRowsOnly,
                                      int64_t rows, Place place) {
  SmallVector<RowTerm> terms;
  ranges = IndexRanges();
  rowTerms.clear();
  for (Region *region : regions)
    for (Value value : findRowTerms(*region, position, ofRowsOnly, ranges)) {
      FailureOr<Value> fragment = buildRowTerm(*region, value, rows, place);
      if (failed(fragment))
        return failure();
      terms.push_back({region, value, *fragment, Value()});
    }
  rowTerms = std::move(terms);
  return success();
}

SmallVector<Value> ModToMap::getRowTerms() {
  return llvm::map_to_vector(rowTerms,
                             [](const RowTerm &term) { return term.fragment; });
}

void ModToMap::setRowTerms(ValueRange elements) {
  for (auto [term, element] : llvm::zip_equal(rowTerms, elements))
    term.element = element;
}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

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
        builder, loc, schedule.getTileM() / heads, 32);
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
  return limits;
}

/// The position of the element at `row` and `col` of the tile, both i32.
ModToMap::Coordinates ModToMap::getCoordinates(Location loc, ValueRange offsets,
                                               Value row, Value col,
                                               const Limits &limits) {
  if (limits.lastKey)
    col = arith::MinSIOp::create(builder, loc, col, limits.lastKey);
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
/// of the tile is past the keys.
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

FailureOr<Value> ModToMap::createMap(OnlineAttentionOp step, Value source,
                                     ArrayRef<Region *> regions,
                                     const Limits &limits, ValueRange offsets,
                                     Change change) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = step.getLoc();
  // Nothing of a row may depend on the key tile.
  auto place = [&](Value row) {
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
    SmallVector<Value> places(offsets);
    places[kLoopN] = zero;
    Limits rowLimits = limits;
    rowLimits.lastKey = Value();
    return getCoordinates(loc, places, row, zero, rowLimits);
  };
  if (failed(buildRowTerms(regions, kLoopM, /*ofRowsOnly=*/false,
                           step.getSchedule()->getTileM(), place)))
    return failure();
  SmallVector<Value> inputs = {source};
  llvm::append_range(inputs, getRowTerms());
  auto map = tile::MapOp::create(builder, loc, source.getType(), inputs);
  Type i32 = builder.getI32Type();
  SmallVector<Type> types = llvm::map_to_vector(inputs, [](Value input) {
    return cast<tile::FragmentType>(input.getType()).getElementType();
  });
  types.append({i32, i32});
  Block *body = builder.createBlock(&map.getBody(), {}, types,
                                    SmallVector<Location>(types.size(), loc));
  setRowTerms(body->getArguments().slice(1, rowTerms.size()));
  Value row = body->getArgument(types.size() - 2),
        col = body->getArguments().back();
  Coordinates at = getCoordinates(loc, offsets, row, col, limits);
  FailureOr<Value> element = change(body->getArgument(0), col, at);
  clearRowTerms();
  if (failed(element))
    return failure();
  tile::YieldOp::create(builder, loc, *element);
  return map.getResult();
}

FailureOr<Value> ModToMap::apply(OnlineAttentionOp step, Value scores,
                                 double factor, Value keysInTile) {
  if (factor == 1.0 && !changesScores(step) && !step.hasMaskMod() &&
      !keysInTile)
    return scores;
  Location loc = step.getLoc();
  SmallVector<Value> offsets = getOffsets(step);
  Region *regions[] = {&step.getScoreMod(), &step.getMaskMod()};
  Limits limits =
      getLimits(step, keysInTile, regions, /*always=*/!!step.getBias());
  if (limits.keys && !limits.lastKey) {
    Value end =
        arith::AddIOp::create(builder, loc, offsets.back(), limits.keys);
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    limits.lastColumn = arith::SubIOp::create(builder, loc, end, one);
  }
  return createMap(
      step, scores, regions, limits, offsets,
      [&](Value score, Value col, const Coordinates &at) -> FailureOr<Value> {
        FailureOr<Value> changed = changeScore(step, score, factor, at);
        if (failed(changed))
          return failure();
        return hideScore(step, *changed, col, at, limits);
      });
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
  Limits limits = getLimits(step, lastColumn ? Value() : keysInTile, region,
                            /*always=*/false);
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
