//===- Views.h - Where the keys and values of a tile are --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_VIEWS_H
#define ATTN_DIALECT_ATTN_IR_VIEWS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// What `tensor` selects heads of by a map; `tensor` itself if it does not.
mlir::Value skipHeadMap(mlir::Value tensor);

/// The pages that `tensor`, what it selects heads of, or the tensor that it is
/// a slice of, is a view of; null if it is none.
PagedOp getPages(mlir::Value tensor);

/// The sequences behind each other that `tensor`, what it selects heads of, or
/// the tensor that it is a slice of, is a view of; null if it is none.
RaggedOp getRagged(mlir::Value tensor);

/// What `tensor` is the first columns of, of latent rows: the source of a slice
/// of them of all rows; `tensor` itself if it is none.
mlir::Value skipColumns(mlir::Value tensor);

/// True if the values of an attention are the first columns of its keys, in the
/// same pages if they are in pages (the latent of MLA).
bool isValueInKey(mlir::Value key, mlir::Value value);

/// `pool` before what has been appended to it: what it is a version of.
mlir::Value getStorage(mlir::Value pool);

/// True if rows are appended to the keys or values of `op` before.
template <typename OpTy>
bool appendsFirst(OpTy op) {
  auto isAppended = [](mlir::Value cache) {
    PagedOp pages = getPages(cache);
    return (pages ? pages.getPool() : skipHeadMap(cache))
               .template getDefiningOp<AppendOp>() != nullptr;
  };
  return isAppended(op.getKey()) || isAppended(op.getValue());
}

/// True if the keys and values of `op` have to be read row by row: they end
/// before their tensors do, or are in pages.
template <typename OpTy>
bool readsByRow(OpTy op) {
  return op.getKeyLengths() || getPages(op.getKey()) || getPages(op.getValue());
}

/// True if rows of these types are wider than those of kernels with a schedule
/// of their own for keys and values, and whole panels of a tile, of 16 bits or
/// fewer, and slices of the values of so many columns end within the keys.
bool haveLatentRows(mlir::ShapedType key, mlir::ShapedType value);

/// True if `op`, of keys that `key` is and values that `value` is, reads values
/// in the tiles of keys: those of a cache.
template <typename OpTy>
bool readsValueInKey(OpTy op, mlir::Value key, mlir::Value value) {
  return readsByRow(op) &&
         haveLatentRows(mlir::cast<mlir::ShapedType>(key.getType()),
                        mlir::cast<mlir::ShapedType>(value.getType())) &&
         isValueInKey(key, value);
}

/// Where the keys and values of an attention are.
struct KeyStorage {
  mlir::Value key, value;

  template <typename OpTy>
  static KeyStorage of(OpTy op) {
    return {op.getKey(), op.getValue()};
  }

  /// Why TMA cannot bring tiles of `tileN` of them, or with 0 of any; empty if
  /// it can.
  std::string findTmaObstacle(int64_t tileN = 0) const;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_VIEWS_H
