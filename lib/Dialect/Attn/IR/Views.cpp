//===- Views.cpp - Where the keys and values of a tile are ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
