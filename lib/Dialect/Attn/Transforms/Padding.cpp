//===- Padding.cpp - Static shapes for ragged tiles -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Padding.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ModRegion.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

#include "mlir/Dialect/Tensor/Utils/Utils.h"

using namespace mlir;
using namespace attn;

Value attn::pad(OpBuilder &builder, Value tile, ArrayRef<int64_t> sizes,
                double padding) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.hasStaticShape())
    return tile;
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::zip_equal(shape, sizes))
    if (ShapedType::isDynamic(dim))
      dim = size;
  Location loc = tile.getLoc();
  TypedAttr number;
  if (auto floatType = dyn_cast<FloatType>(type.getElementType()))
    number = builder.getFloatAttr(floatType, padding);
  else
    number = builder.getIntegerAttr(type.getElementType(),
                                    static_cast<int64_t>(padding));
  Value element = arith::ConstantOp::create(builder, loc, number);
  return tensor::createPadHighOp(type.clone(shape), tile, element,
                                 /*nofold=*/false, loc, builder);
}

Value attn::replaceFirstRows(OpBuilder &builder, Value tile, Value count) {
  Location loc = tile.getLoc();
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tile);
  Value source = tile;
  // What reads a slice of a view reads no more than that.
  if (auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>();
      slice && slice.hasUnitStride() && slice.getSourceType().getRank() == 4) {
    source = slice.getSource();
    offsets = slice.getMixedOffsets();
    sizes = slice.getMixedSizes();
  }
  auto combine = [&](OpFoldResult number, Value other, bool isSum) {
    Value value = getValueOrCreateConstantIndexOp(builder, loc, number);
    return isSum ? builder.createOrFold<arith::AddIOp>(loc, value, other)
                 : builder.createOrFold<arith::SubIOp>(loc, value, other);
  };
  offsets[kSequence] = combine(offsets[kSequence], count, /*isSum=*/true);
  sizes[kSequence] = combine(sizes[kSequence], count, /*isSum=*/false);
  Value rest = tensor::ExtractSliceOp::create(builder, loc, source, offsets,
                                              sizes, strides);
  SmallVector<OpFoldResult> low(4, builder.getIndexAttr(0)), high(low);
  low[kSequence] = count;
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(builder, loc, type, rest, low, high, zero);
}

/// Makes `region` see `clamp` of a position in place of it, unless it is
/// defined everywhere. Returns the position it was given.
template <typename ClampOp>
static Value clampTo(Region &region, unsigned loop, OpBuilder &builder,
                     llvm::function_ref<Value()> getBound) {
  Block &block = region.front();
  Value position = block.getArgument(block.getNumArguments() - 4 + loop);
  if (isDefinedBeyond(region, loop))
    return position;
  builder.setInsertionPointToStart(&block);
  Value bound = getBound();
  Value clamped =
      ClampOp::create(builder, bound.getLoc(), position, bound).getResult();
  position.replaceAllUsesExcept(clamped, clamped.getDefiningOp());
  return position;
}

Value attn::clampPosition(Region &region, unsigned loop, Value end) {
  OpBuilder builder(end.getContext()); // the region may be nobody's
  return clampTo<arith::MinSIOp>(region, loop, builder, [&]() -> Value {
    Value one = arith::ConstantIndexOp::create(builder, end.getLoc(), 1);
    return arith::SubIOp::create(builder, end.getLoc(), end, one);
  });
}

Value attn::clampFirstPosition(Region &region, unsigned loop, Value first) {
  OpBuilder builder(first.getContext());
  return clampTo<arith::MaxSIOp>(region, loop, builder, [&] { return first; });
}

/// Hides what `maskMod` lets see unless `position` compares to `bound` so.
static void restrict(Region &maskMod, arith::CmpIPredicate predicate,
                     Value position, Value bound) {
  auto yield = cast<YieldOp>(maskMod.front().getTerminator());
  OpBuilder builder(yield);
  Location loc = bound.getLoc();
  Value exists =
      arith::CmpIOp::create(builder, loc, predicate, position, bound);
  Value visible = arith::AndIOp::create(builder, loc, yield.getValue(), exists);
  yield->setOperand(0, visible);
}

void attn::maskPadded(Region &maskMod, unsigned loop, Value end) {
  OpBuilder builder(end.getContext());
  Location loc = end.getLoc();
  if (maskMod.empty()) {
    addMaskModBlock(builder, loc, maskMod);
    Value yes =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    YieldOp::create(builder, loc, yes);
  }
  Value position = clampPosition(maskMod, loop, end);
  restrict(maskMod, arith::CmpIPredicate::slt, position, end);
}

void attn::maskBefore(Region &maskMod, unsigned loop, Value first) {
  if (!readsByTable(maskMod))
    return;
  Value position = clampFirstPosition(maskMod, loop, first);
  restrict(maskMod, arith::CmpIPredicate::sge, position, first);
}
