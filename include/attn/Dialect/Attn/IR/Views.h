//===- Views.h - Where the keys and values of a tile are --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_VIEWS_H
#define ATTN_DIALECT_ATTN_IR_VIEWS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The pages that `tensor`, or the tensor that it is a slice of, is a view of;
/// null if it is none.
PagedOp getPages(mlir::Value tensor);

/// True if the keys and values of `op` have to be read row by row: they end
/// before their tensors do, or are in pages.
template <typename OpTy>
bool readsByRow(OpTy op) {
  return op.getKeyLengths() || getPages(op.getKey()) || getPages(op.getValue());
}

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_VIEWS_H
