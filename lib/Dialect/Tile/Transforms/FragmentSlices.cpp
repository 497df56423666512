//===- FragmentSlices.cpp - Maps of some columns --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn::tile;

FragmentType attn::tile::getSliceType(FragmentType type, int64_t columns) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = columns;
  return FragmentType::get(type.getContext(), shape, type.getElementType(),
                           type.getLayout());
}

void attn::tile::cloneMapOfColumns(OpBuilder &builder, MapOp map,
                                   int64_t column, int64_t columns,
                                   IRMapping &mapping) {
  auto copy = cast<MapOp>(builder.clone(*map, mapping));
  copy.getResult().setType(
      getSliceType(cast<FragmentType>(map.getResult().getType()), columns));
  BlockArgument inSlice = copy.getBody().front().getArguments().back();
  if (column == 0 || inSlice.use_empty())
    return;
  OpBuilder inner = OpBuilder::atBlockBegin(inSlice.getOwner());
  Location loc = map.getLoc();
  Value first = arith::ConstantIntOp::create(inner, loc, column, 32);
  auto sum = arith::AddIOp::create(inner, loc, inSlice, first);
  inSlice.replaceAllUsesExcept(sum, sum);
}
