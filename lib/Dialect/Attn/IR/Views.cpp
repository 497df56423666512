//===- Views.cpp - Where the keys and values of a tile are ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// The whole tensor that `tensor` is a slice of.
static Value getWhole(Value tensor) {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  return slice ? slice.getSource() : tensor;
}

PagedOp attn::getPages(Value tensor) {
  return getWhole(tensor).getDefiningOp<PagedOp>();
}

RaggedOp attn::getRagged(Value tensor) {
  return getWhole(tensor).getDefiningOp<RaggedOp>();
}

Value attn::getStorage(Value pool) {
  while (auto append = pool.getDefiningOp<AppendOp>())
    pool = append.getPools()[cast<OpResult>(pool).getResultNumber()];
  return pool;
}

StringRef KeyStorage::findTmaObstacle(const Family &family) const {
  if (!family.hasRoles())
    return "";
  if (getPages(key) || getPages(value))
    return "TMA reads whole tiles, and keys or values are in pages";
  if (getRagged(key) || getRagged(value))
    return "TMA reads whole tiles, and sequences lie behind each other";
  if (!lengths)
    return "";
  if (family.facts.tensorColumns)
    return "keys end at their lengths, behind which nothing clears what "
           "products in tensor memory read";
  return getElementTypeOrSelf(value).getIntOrFloatBitWidth() < 16
             ? "keys end at their lengths, behind which nothing clears values "
               "of 8 bits"
             : "";
}
