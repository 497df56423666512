//===- RowBounds.cpp - Ranges of keys that come from data -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowBounds.h"

#include "attn/Analysis/IndexRanges.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The bounds of one row
//===----------------------------------------------------------------------===//

namespace {
/// Builds a region (b, h, i) that yields a bound of a band.
class BoundBuilder {
public:
  BoundBuilder(Region &region, Region &maskMod, const MaskAnalysis &mask,
               Location loc)
      : builder(&region), maskMod(maskMod), mask(mask), loc(loc) {
    SmallVector<Type> types(3, builder.getIndexType());
    Block *block =
        builder.createBlock(&region, {}, types, SmallVector<Location>(3, loc));
    for (unsigned i : {kLoopB, kLoopH, kLoopM})
      mapping.map(maskMod.getArgument(i), block->getArgument(i));
    row = block->getArgument(kLoopM);
  }

  /// The first key that the row may see, from 0 to `keys`: what is made of it
  /// may have 32 bits.
  void buildLower(const MaskBand &band, Value keys) {
    Value result = constant(0);
    for (const LinearForm &bound : band.keyFrom)
      result = arith::MaxSIOp::create(builder, loc, result, evaluate(bound));
    YieldOp::create(builder, loc,
                    arith::MinSIOp::create(builder, loc, result, keys));
  }

  /// The key after the last one, 0 where the band does not have the row.
  void buildUpper(const MaskBand &band, Value keys) {
    Value result = keys;
    for (const LinearForm &bound : band.keyUpTo) {
      Value end = evaluate(bound);
      end = arith::AddIOp::create(builder, loc, end, constant(1));
      result = arith::MinSIOp::create(builder, loc, result, end);
    }
    result = arith::MaxSIOp::create(builder, loc, result, constant(0));
    auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
      Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
      result =
          arith::SelectOp::create(builder, loc, holds, result, constant(0));
    };
    for (const LinearForm &bound : band.rowFrom)
      require(arith::CmpIPredicate::sge, row, evaluate(bound));
    for (const LinearForm &bound : band.rowUpTo)
      require(arith::CmpIPredicate::sle, row, evaluate(bound));
    for (const LinearForm &condition : band.conditions) {
      auto [left, right] = condition.splitBySign();
      Value sum = evaluate(left);
      require(arith::CmpIPredicate::sle, sum, evaluate(right));
    }
    YieldOp::create(builder, loc, result);
  }

private:
  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }

  Value evaluate(const LinearForm &form) {
    SmallVector<Value> dims = {row, constant(0)}, symbols;
    for (Value value : mask.rowValues)
      dims.push_back(materialize(value));
    for (Value value : mask.symbols)
      symbols.push_back(materialize(value));
    return affine::expandAffineExpr(
        builder, loc, form.toExpr(builder.getContext()), dims, symbols);
  }

  /// A value of the mask, as an index.
  Value materialize(Value value) {
    return castToTerm(builder, loc, clone(value));
  }

  Value clone(Value value) {
    if (mapping.contains(value))
      return mapping.lookup(value);
    if (!maskMod.isAncestor(value.getParentRegion()))
      return value;
    for (Value operand : value.getDefiningOp()->getOperands())
      clone(operand);
    builder.clone(*value.getDefiningOp(), mapping);
    return mapping.lookup(value);
  }

  OpBuilder builder;
  Region &maskMod;
  const MaskAnalysis &mask;
  Location loc;
  IRMapping mapping;
  Value row;
};
} // namespace

//===----------------------------------------------------------------------===//
// The bounds of all tiles
//===----------------------------------------------------------------------===//

/// Bounds for every tile of rows, computed before the loop over them.
static KeyBoundsOp createKeyBounds(const MaskedTile &tile,
                                   const MaskAnalysis &mask,
                                   ArrayRef<MaskBand> bands) {
  OpBuilder builder(tile.forall);
  SmallVector<int64_t> shape;
  SmallVector<Value> operands;
  for (OpFoldResult size : tile.getSizes()) {
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    operands.push_back(
        getValueOrCreateConstantIndexOp(builder, tile.loc, size));
  }
  if (!ShapedType::isDynamic(shape[kLoopM]))
    shape[kLoopM] = llvm::divideCeil(shape[kLoopM], tile.tileM);
  shape.push_back(4 * bands.size());
  Value end = getValueOrCreateConstantIndexOp(builder, tile.loc, tile.keys);
  auto bounds = KeyBoundsOp::create(
      builder, tile.loc, RankedTensorType::get(shape, builder.getI32Type()),
      operands[0], operands[1], operands[2], tile.tileM, 2 * bands.size());
  for (auto [number, band] : llvm::enumerate(bands)) {
    auto make = [&](size_t i) {
      return BoundBuilder(bounds.getBounds()[i], tile.maskMod, mask, tile.loc);
    };
    make(2 * number).buildLower(band, end);
    make(2 * number + 1).buildUpper(band, end);
  }
  return bounds;
}

/// Reads the ranges of a tile.
static KeyVisibility readVisibility(OpBuilder &builder, const MaskedTile &tile,
                                    KeyBoundsOp bounds,
                                    ArrayRef<MaskBand> bands) {
  SmallVector<Value> at =
      tile.getPlace(builder, bounds.getType(), bounds.getTile());
  at.push_back(Value());
  auto read = [&](int64_t number) -> OpFoldResult {
    at.back() = arith::ConstantIndexOp::create(builder, tile.loc, number);
    Value entry = tensor::ExtractOp::create(builder, tile.loc, bounds, at);
    return arith::IndexCastOp::create(builder, tile.loc, builder.getIndexType(),
                                      entry)
        .getResult();
  };
  KeyVisibility visibility;
  for (size_t band = 0; band < bands.size(); ++band) {
    int64_t first = 4 * band;
    visibility.some.push_back({read(first), read(first + 1)});
    if (bands[band].isExact)
      visibility.all.push_back({read(first + 2), read(first + 3)});
  }
  return visibility;
}

bool attn::areExact(ArrayRef<MaskBand> bands) {
  return llvm::all_of(bands, [](const MaskBand &band) { return band.isExact; });
}

/// The bands of a mask, if they say it all and some depend on the row by data.
static std::vector<MaskBand> getDataBands(const MaskAnalysis &mask,
                                          unsigned mostRanges) {
  std::vector<MaskBand> bands = mask.getRowBands();
  bool isUsable =
      !mask.rowValues.empty() && bands.size() <= mostRanges && areExact(bands);
  return isUsable ? bands : std::vector<MaskBand>();
}

std::optional<KeyVisibility>
attn::computeRowVisibility(OpBuilder &builder, const MaskedTile &tile,
                           const MaskAnalysis &mask, unsigned mostRanges) {
  std::vector<MaskBand> bands = getDataBands(mask, mostRanges);
  if (bands.empty())
    return std::nullopt;
  return readVisibility(builder, tile, createKeyBounds(tile, mask, bands),
                        bands);
}

//===----------------------------------------------------------------------===//
// Tiles of rows for tiles of keys
//===----------------------------------------------------------------------===//

namespace {
/// Builds the mask of tiles: its rows are tiles of keys, its keys tiles of
/// rows.
class TileMaskBuilder {
public:
  TileMaskBuilder(const MaskedTile &tile, KeyBoundsOp bounds, Region &region)
      : tile(tile), bounds(bounds), builder(&region), loc(tile.loc) {
    SmallVector<Type> types(4, builder.getIndexType());
    block =
        builder.createBlock(&region, {}, types, SmallVector<Location>(4, loc));
  }

  /// True where all pairs are visible, or where some are and not all.
  void build(bool isFull) {
    Value number = block->getArgument(kLoopM);
    Value size = constant(tile.tileM);
    Value first = arith::MulIOp::create(builder, loc, number, size);
    Value end = arith::AddIOp::create(builder, loc, first, size);
    end = arith::MinUIOp::create(
        builder, loc, end,
        getValueOrCreateConstantIndexOp(builder, loc, tile.extents[kLoopM]));
    Value some = flag(false), all = flag(false);
    for (size_t band = 0; band < bounds.getBounds().size() / 2; ++band) {
      auto isWithin = [&](Value a, Value b, Value c, Value d) -> Value {
        using Predicate = arith::CmpIPredicate;
        Value holds = arith::CmpIOp::create(builder, loc, Predicate::slt, a, b);
        return arith::AndIOp::create(
            builder, loc, holds,
            arith::CmpIOp::create(builder, loc, Predicate::sle, c, d));
      };
      Value lower = read(4 * band), upper = read(4 * band + 1);
      Value next = arith::AddIOp::create(builder, loc, first, constant(1));
      some = either(some, isWithin(lower, end, next, upper));
      // The greatest lower bound is at most `first`.
      lower = read(4 * band + 2);
      upper = read(4 * band + 3);
      all = either(all, isWithin(lower, next, end, upper));
    }
    YieldOp::create(builder, loc, isFull ? all : without(some, all));
  }

private:
  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }
  Value flag(bool value) {
    return arith::ConstantIntOp::create(builder, loc, value, 1);
  }
  Value either(Value a, Value b) {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  Value without(Value a, Value b) {
    Value isNot = arith::XOrIOp::create(builder, loc, b, flag(true));
    return arith::AndIOp::create(builder, loc, a, isNot);
  }
  /// A number of the tile of rows.
  Value read(int64_t number) {
    SmallVector<Value> at;
    for (unsigned dim : {kLoopB, kLoopH})
      at.push_back(bounds.getType().getDimSize(dim) == 1
                       ? constant(0)
                       : block->getArgument(dim));
    at.append({block->getArgument(kLoopN), constant(number)});
    Value entry = tensor::ExtractOp::create(builder, loc, bounds, at);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      entry);
  }

  const MaskedTile &tile;
  KeyBoundsOp bounds;
  OpBuilder builder;
  Location loc;
  Block *block;
};
} // namespace

std::optional<ListedBlocks> attn::createListsOfBounds(const MaskedTile &tile,
                                                      Region &maskMod,
                                                      const MaskAnalysis &mask,
                                                      unsigned mostRanges) {
  std::vector<MaskBand> bands = getDataBands(mask, mostRanges);
  if (bands.empty())
    return std::nullopt;
  auto [batches, heads, keys] = tile.extents;
  MaskedTile rowTile{tile.loc,   tile.forall, {batches, heads, tile.keys},
                     maskMod,    {},          tile.tileN,
                     tile.tileM, keys};
  KeyBoundsOp bounds = createKeyBounds(rowTile, mask, bands);
  ListedBlocks lists{tile.tileM, tile.tileN, {}};
  for (bool isFull : {true, false}) {
    CreateBlockMaskOp made = createListsOfTiles(tile);
    TileMaskBuilder(tile, bounds, made.getMaskMod()).build(isFull);
    // Of tiles that are visible all pairs are, there being one.
    lists.lists.push_back(
        {made.getFullNumBlocks(), made.getFullIndices(), isFull, {}});
  }
  return lists;
}
