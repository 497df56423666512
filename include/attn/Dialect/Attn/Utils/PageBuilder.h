//===- PageBuilder.h - Where the keys of a batch are ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a table of pages says of a batch, as arithmetic (docs/Spec.md,
// attn.paged).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_PAGEBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_PAGEBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Entry `column` of `batch` in the table of `view`, all of type index. Of a
/// table with offsets the entry nearest to where that would be.
mlir::Value readEntry(mlir::OpBuilder &builder, mlir::Location loc,
                      PagedOp view, mlir::Value batch, mlir::Value column);

/// The keys that the pages of `batch` hold, of `all` that `view` has room for.
mlir::Value buildCapacity(mlir::OpBuilder &builder, mlir::Location loc,
                          PagedOp view, mlir::Value batch, mlir::Value all);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_PAGEBUILDER_H
