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

Value attn::clampPosition(Region &region, unsigned loop, Value end) {
  Block &block = region.front();
  Value position = block.getArgument(block.getNumArguments() - 4 + loop);
  if (isDefinedBeyond(region, loop))
    return position;
  OpBuilder builder(end.getContext()); // the region may be nobody's
  builder.setInsertionPointToStart(&block);
  Location loc = end.getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, end, one);
  Value clamped = arith::MinSIOp::create(builder, loc, position, last);
  position.replaceAllUsesExcept(clamped, clamped.getDefiningOp());
  return position;
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
  auto yield = cast<YieldOp>(maskMod.front().getTerminator());
  builder.setInsertionPoint(yield);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       position, end);
  Value visible = arith::AndIOp::create(builder, loc, yield.getValue(), exists);
  yield->setOperand(0, visible);
}
