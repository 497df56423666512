//===- AttentionDims.cpp - Names of attention's dimensions -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace attn;

/// The first static size among the two, or dynamic.
static int64_t firstStatic(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) ? b : a;
}

AttentionDims AttentionDims::get(ShapedType query, ShapedType key,
                                 ShapedType value) {
  AttentionDims dims;
  dims.batch = firstStatic(
      query.getDimSize(kBatch),
      firstStatic(key.getDimSize(kBatch), value.getDimSize(kBatch)));
  dims.queryHeads = query.getDimSize(kHead);
  dims.keyHeads = firstStatic(key.getDimSize(kHead), value.getDimSize(kHead));
  dims.queryRows = query.getDimSize(kSequence);
  dims.keyRows =
      firstStatic(key.getDimSize(kSequence), value.getDimSize(kSequence));
  dims.headDim =
      firstStatic(query.getDimSize(kHeadDim), key.getDimSize(kHeadDim));
  dims.valueDim = value.getDimSize(kHeadDim);
  return dims;
}

OpFoldResult attn::getDim(OpBuilder &builder, Location loc, Value value,
                          unsigned dim) {
  // A view is not there to ask once it is folded into loads, and a change of
  // rows has the sizes of what it changes.
  value = skipRowOps(value);
  if (auto view = value.getDefiningOp<ReifyRankedShapedTypeOpInterface>();
      view && isa<PagedOp, RaggedOp, SelectHeadsOp>(view)) {
    ReifiedRankedShapedTypeDims shapes;
    (void)view.reifyResultShapes(builder, shapes);
    return shapes.front()[dim];
  }
  return tensor::getMixedSize(builder, loc, value, dim);
}

FloatType attn::getScoreType(Value query) {
  Type element = getElementTypeOrSelf(query.getType());
  return element.isF64() ? cast<FloatType>(element)
                         : FloatType(Float32Type::get(query.getContext()));
}

bool attn::isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

bool attn::isByte(Type type) {
  return isFloat8(type) || getElementTypeOrSelf(type).isInteger(8);
}

Type attn::getWeightType(Type query, Type value) {
  return isByte(query) ? getElementTypeOrSelf(value)
                       : getElementTypeOrSelf(query);
}

double attn::getScaleValue(std::optional<APFloat> scale, Value query) {
  if (scale)
    return scale->convertToDouble();
  int64_t headDim = cast<ShapedType>(query.getType()).getDimSize(kHeadDim);
  return 1.0 / std::sqrt(static_cast<double>(headDim));
}
