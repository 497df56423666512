//===- MaskedTile.cpp - A tile of rows under a mask -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedTile.h"

#include "TiledForm.h"
#include "attn/Analysis/IndexMath.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace attn;

SmallVector<OpFoldResult> MaskedTile::getSizes() const {
  SmallVector<OpFoldResult> sizes(extents.begin(), extents.end());
  for (unsigned dim : {kLoopB, kLoopH})
    if (!dependsOnArgument(maskMod, dim))
      sizes[dim] = Builder(loc.getContext()).getIndexAttr(1);
  return sizes;
}

SmallVector<Value> MaskedTile::getPlace(OpBuilder &builder, ShapedType tensor,
                                        int64_t rows) const {
  IndexMath math(builder, loc);
  auto toValue = [&](OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(builder, loc, number);
  };
  SmallVector<Value> place;
  for (unsigned dim : {kLoopB, kLoopH})
    place.push_back(tensor.getDimSize(dim) == 1 ? toValue(math.constant(0))
                                                : at[dim]);
  place.push_back(toValue(math.floorDiv(OpFoldResult(at[kLoopM]), rows)));
  return place;
}
