//===- Views.cpp - Where the keys and values of a tile are ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

PagedOp attn::getPages(Value tensor) {
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
    tensor = slice.getSource();
  return tensor.getDefiningOp<PagedOp>();
}

Value attn::getStorage(Value pool) {
  while (auto append = pool.getDefiningOp<AppendOp>())
    pool = append.getPools()[cast<OpResult>(pool).getResultNumber()];
  return pool;
}
