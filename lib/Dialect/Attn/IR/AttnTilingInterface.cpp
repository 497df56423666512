//===- AttnTilingInterface.cpp - TilingInterface of attn ops -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops are (b, h, m) for attention and normalize, and (b, h, m, n) for
// online_attention, where n is a reduction. Head dimensions are never tiled
// here. Slices keep rank 4.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Offset and size of a tile along one loop.
struct TileRange {
  OpFoldResult offset;
  OpFoldResult size;
};

/// A unit-stride slice of `source`; the op is added to `slices`.
static Value slice(OpBuilder &builder, Location loc, Value source,
                   ArrayRef<TileRange> ranges,
                   SmallVectorImpl<Operation *> &slices) {
  Sizes offsets, sizes;
  for (const TileRange &range : ranges) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  Sizes strides(ranges.size(), builder.getIndexAttr(1));
  auto op = tensor::ExtractSliceOp::create(builder, loc, source, offsets, sizes,
                                           strides);
  slices.push_back(op);
  return op;
}

/// The whole extent of `source` along `dim`.
static TileRange wholeRange(OpBuilder &builder, Value source, unsigned dim) {
  return {builder.getIndexAttr(0),
          getDim(builder, source.getLoc(), source, dim)};
}

/// True if `range` is all of dimension `dim` of `source`.
static bool isWholeRange(TileRange range, Value source, unsigned dim) {
  if (!isConstantIntValue(range.offset, 0))
    return false;
  auto type = cast<ShapedType>(source.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(range.size, type.getDimSize(dim));
  auto dimOp = dyn_cast_if_present<tensor::DimOp>(
      dyn_cast<Value>(range.size) ? cast<Value>(range.size).getDefiningOp()
                                  : nullptr);
  return dimOp && dimOp.getSource() == source &&
         dimOp.getConstantIndex() == static_cast<int64_t>(dim);
}

/// The key heads that the query heads `heads` read (attention_c4). Fails where
/// the tile is neither one head, nor whole groups, nor within one group.
template <typename OpTy>
static FailureOr<TileRange> keyHeads(OpBuilder &builder, OpTy op,
                                     TileRange heads) {
  Value query = op.getQuery(), key = op.getKey();
  Location loc = op.getLoc();
  if (isWholeRange(heads, query, kHead))
    return wholeRange(builder, key, kHead);
  AttentionDims dims = AttentionDims::get(op);
  std::optional<int64_t> tile = getConstantIntValue(heads.size);
  if (!tile)
    return failure();
  bool isStatic = !ShapedType::isDynamic(dims.queryHeads) &&
                  !ShapedType::isDynamic(dims.keyHeads);
  if (!isStatic) {
    if (*tile != 1)
      return failure();
    auto asValue = [&](OpFoldResult ofr) {
      return getValueOrCreateConstantIndexOp(builder, loc, ofr);
    };
    Value group = asValue(getDim(builder, loc, query, kHead));
    group = arith::DivUIOp::create(builder, loc, group,
                                   asValue(getDim(builder, loc, key, kHead)));
    Value head =
        arith::DivUIOp::create(builder, loc, asValue(heads.offset), group);
    return TileRange{head, builder.getIndexAttr(1)};
  }
  int64_t group = dims.queryHeads / dims.keyHeads;
  if (*tile % group != 0 && group % *tile != 0)
    return failure();
  AffineExpr head = builder.getAffineSymbolExpr(0).floorDiv(group);
  OpFoldResult offset =
      affine::makeComposedFoldedAffineApply(builder, loc, head, {heads.offset});
  int64_t size = std::max<int64_t>(1, *tile / group);
  return TileRange{offset, builder.getIndexAttr(size)};
}

/// The slices of query, key, value and (if there is one) bias that the tile
/// `(b, h, m, n)` reads.
template <typename OpTy>
static FailureOr<SmallVector<Value>>
sliceInputs(OpBuilder &builder, OpTy op, ArrayRef<TileRange> tile,
            SmallVectorImpl<Operation *> &slices) {
  FailureOr<TileRange> heads = keyHeads(builder, op, tile[kLoopH]);
  if (failed(heads))
    return failure();
  Location loc = op.getLoc();
  Value query = op.getQuery(), key = op.getKey(), value = op.getValue();
  SmallVector<Value> inputs;
  inputs.push_back(slice(builder, loc, query,
                         {tile[kLoopB], tile[kLoopH], tile[kLoopM],
                          wholeRange(builder, query, kHeadDim)},
                         slices));
  for (Value source : {key, value})
    inputs.push_back(slice(builder, loc, source,
                           {tile[kLoopB], *heads, tile[kLoopN],
                            wholeRange(builder, source, kHeadDim)},
                           slices));
  if (Value bias = op.getBias()) {
    SmallVector<TileRange> ranges(tile);
    auto type = cast<ShapedType>(bias.getType());
    for (unsigned i = 0; i < 4; ++i)
      if (type.getDimSize(i) == 1)
        ranges[i] = {builder.getIndexAttr(0), builder.getIndexAttr(1)};
    inputs.push_back(slice(builder, loc, bias, ranges, slices));
  }
  return inputs;
}

/// Pairs up the offsets and sizes that the interface passes.
static SmallVector<TileRange> zipRanges(ArrayRef<OpFoldResult> offsets,
                                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<TileRange> ranges;
  for (auto [offset, size] : llvm::zip_equal(offsets, sizes))
    ranges.push_back({offset, size});
  return ranges;
}

/// Ranges [0, dim) of the first `count` dimensions of `source`.
static SmallVector<Range> domainOf(OpBuilder &builder, Value source,
                                   unsigned count) {
  SmallVector<Range> domain;
  for (unsigned i = 0; i < count; ++i)
    domain.push_back({builder.getIndexAttr(0),
                      getDim(builder, source.getLoc(), source, i),
                      builder.getIndexAttr(1)});
  return domain;
}

/// Where the tile `(b, h, m, ...)` lies in a result [B, Hq, M(, whole)].
static void resultPosition(OpBuilder &builder, Value headDimSource,
                           unsigned rank, ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes, Sizes &resultOffsets,
                           Sizes &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.begin() + 3);
  resultSizes.assign(sizes.begin(), sizes.begin() + 3);
  if (rank == 3)
    return;
  resultOffsets.push_back(builder.getIndexAttr(0));
  resultSizes.push_back(
      getDim(builder, headDimSource.getLoc(), headDimSource, kHeadDim));
}

/// `type` with the shape that slicing to `sizes` gives.
static Type tileType(Type type, ArrayRef<OpFoldResult> sizes) {
  auto shaped = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(shaped.getShape());
  for (unsigned i = 0; i < std::min<size_t>(3, shape.size()); ++i)
    shape[i] = getConstantIntValue(sizes[i]).value_or(ShapedType::kDynamic);
  return RankedTensorType::get(shape, shaped.getElementType());
}

/// A copy of `op` with other operands and result types. mlir::clone cannot be
/// used: it fails on empty regions if the builder has a listener.
static Operation *cloneWith(OpBuilder &builder, Operation *op,
                            ArrayRef<Type> types, ValueRange operands) {
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
    result.setType(type);
  return copy;
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> AttentionOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel);
}

SmallVector<Range> AttentionOp::getIterationDomain(OpBuilder &builder) {
  return domainOf(builder, getQuery(), 3);
}

FailureOr<TilingResult>
AttentionOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  // The regions and dropout see global coordinates, which only the whole
  // attention and attn.online_attention have.
  if (hasScoreMod() || hasMaskMod() || hasProbMod() || getDropoutSeed() ||
      !getDescales().empty())
    return failure();
  SmallVector<TileRange> tile = zipRanges(offsets, sizes);
  if (getQueryLengths() && !isWholeRange(tile[kLoopM], getQuery(), kSequence))
    return failure();
  tile.push_back(wholeRange(builder, getKey(), kSequence));
  SmallVector<Operation *> slices;
  FailureOr<SmallVector<Value>> inputs =
      sliceInputs(builder, *this, tile, slices);
  if (failed(inputs))
    return failure();
  if (getSink())
    inputs->push_back(
        slice(builder, getLoc(), getSink(), {tile[kLoopH]}, slices));
  for (Value lengths : {getKeyLengths(), getQueryLengths()})
    if (lengths)
      inputs->push_back(
          slice(builder, getLoc(), lengths, {tile[kLoopB]}, slices));
  SmallVector<Type> types;
  for (Type type : getResultTypes())
    types.push_back(tileType(type, sizes));
  Operation *tiled = cloneWith(builder, *this, types, *inputs);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult AttentionOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, Sizes &resultOffsets, Sizes &resultSizes) {
  unsigned rank = cast<ShapedType>(getResult(resultNumber).getType()).getRank();
  resultPosition(builder, getValue(), rank, offsets, sizes, resultOffsets,
                 resultSizes);
  return success();
}

FailureOr<TilingResult>
AttentionOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  FailureOr<TilingResult> result = getTiledImplementation(
      builder, offsets.take_front(3), sizes.take_front(3));
  if (succeeded(result))
    result->tiledValues = {result->tiledValues[resultNumber]};
  return result;
}

//===----------------------------------------------------------------------===//
// OnlineAttentionOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> OnlineAttentionOp::getLoopIteratorTypes() {
  SmallVector<utils::IteratorType> types(4, utils::IteratorType::parallel);
  types[kLoopN] = utils::IteratorType::reduction;
  return types;
}

SmallVector<Range> OnlineAttentionOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> domain = domainOf(builder, getQuery(), 3);
  domain.push_back({builder.getIndexAttr(0),
                    getDim(builder, getLoc(), getKey(), kSequence),
                    builder.getIndexAttr(1)});
  return domain;
}

FailureOr<TilingResult>
OnlineAttentionOp::getTiledImplementation(OpBuilder &builder,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  SmallVector<TileRange> tile = zipRanges(offsets, sizes);
  SmallVector<Operation *> slices;
  FailureOr<SmallVector<Value>> operands =
      sliceInputs(builder, *this, tile, slices);
  if (failed(operands))
    return failure();
  // Lengths are looked up by the global batch.
  if (getKeyLengths())
    operands->push_back(getKeyLengths());
  if (getFirstKey())
    operands->push_back(getFirstKey());
  // The tile's coordinates start where the op's do, plus the tile's offset.
  AffineExpr sum =
      builder.getAffineSymbolExpr(0) + builder.getAffineSymbolExpr(1);
  for (auto [base, range] : llvm::zip_equal(getOffsets(), tile)) {
    OpFoldResult offset = affine::makeComposedFoldedAffineApply(
        builder, loc, sum, {getAsOpFoldResult(base), range.offset});
    operands->push_back(getValueOrCreateConstantIndexOp(builder, loc, offset));
  }
  if (getDropoutSeed())
    operands->append({getDropoutSeed(), getDropoutOffset()});
  SmallVector<Type> types;
  RunningState state = getState();
  for (Value init : state.getValues()) {
    SmallVector<TileRange> ranges(tile.begin(), tile.begin() + 3);
    if (cast<ShapedType>(init.getType()).getRank() == 4)
      ranges.push_back(wholeRange(builder, init, kHeadDim));
    operands->push_back(slice(builder, loc, init, ranges, slices));
    types.push_back(operands->back().getType());
  }
  Operation *tiled = cloneWith(builder, *this, types, *operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult OnlineAttentionOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, Sizes &resultOffsets, Sizes &resultSizes) {
  unsigned rank = cast<ShapedType>(getResult(resultNumber).getType()).getRank();
  resultPosition(builder, getAcc(), rank, offsets, sizes, resultOffsets,
                 resultSizes);
  return success();
}

FailureOr<TilingResult> OnlineAttentionOp::generateResultTileValue(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes) {
  Sizes tileOffsets(offsets.take_front(3)), tileSizes(sizes.take_front(3));
  TileRange keys = wholeRange(builder, getKey(), kSequence);
  tileOffsets.push_back(keys.offset);
  tileSizes.push_back(keys.size);
  FailureOr<TilingResult> result =
      getTiledImplementation(builder, tileOffsets, tileSizes);
  if (succeeded(result))
    result->tiledValues = {result->tiledValues[resultNumber]};
  return result;
}

//===----------------------------------------------------------------------===//
// NormalizeOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> NormalizeOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel);
}

SmallVector<Range> NormalizeOp::getIterationDomain(OpBuilder &builder) {
  return domainOf(builder, getAcc(), 3);
}

FailureOr<TilingResult>
NormalizeOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<TileRange> tile = zipRanges(offsets, sizes);
  SmallVector<Operation *> slices;
  SmallVector<Value> operands;
  RunningState state = getState();
  for (Value source : state.getValues()) {
    SmallVector<TileRange> ranges(tile);
    if (cast<ShapedType>(source.getType()).getRank() == 4)
      ranges.push_back(wholeRange(builder, source, kHeadDim));
    operands.push_back(slice(builder, getLoc(), source, ranges, slices));
  }
  if (getSink())
    operands.push_back(
        slice(builder, getLoc(), getSink(), {tile[kLoopH]}, slices));
  // How many rows share a key head is not known here.
  if (getDescale())
    return failure();
  SmallVector<Type> types;
  for (Type type : getResultTypes())
    types.push_back(tileType(type, sizes));
  Operation *tiled = cloneWith(builder, *this, types, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult NormalizeOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, Sizes &resultOffsets, Sizes &resultSizes) {
  unsigned rank = cast<ShapedType>(getResult(resultNumber).getType()).getRank();
  resultPosition(builder, getAcc(), rank, offsets, sizes, resultOffsets,
                 resultSizes);
  return success();
}

FailureOr<TilingResult>
NormalizeOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  FailureOr<TilingResult> result = getTiledImplementation(
      builder, offsets.take_front(3), sizes.take_front(3));
  if (succeeded(result))
    result->tiledValues = {result->tiledValues[resultNumber]};
  return result;
}
