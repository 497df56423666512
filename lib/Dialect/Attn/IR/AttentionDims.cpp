//===- AttentionDims.cpp - Names of attention's dimensions -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
  return tensor::getMixedSize(builder, loc, value, dim);
}
