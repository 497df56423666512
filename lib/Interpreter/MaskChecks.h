//===- MaskChecks.h - Checks of what a mask reads -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What docs/Spec.md asks of the contents of block lists and offsets, which a
// kernel does not check.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_MASKCHECKS_H
#define ATTN_LIB_INTERPRETER_MASKCHECKS_H

#include "Values.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Reference/Attention.h"

namespace attn {

/// Fails at an attn.block_listed or attn.segment of the region whose tensors do
/// not fit an attention with these sizes, or are not in order.
mlir::LogicalResult checkMaskData(mlir::Region &region,
                                  const Environment &environment,
                                  const reference::Tensor &query,
                                  const reference::Tensor &key);

/// Checks that each of the lengths of `op` is one of `capacity` positions.
mlir::LogicalResult checkLengths(mlir::Operation *op, llvm::StringRef name,
                                 const TensorValue &lengths, int64_t batches,
                                 int64_t capacity);

/// Checks that each entry of a table whose page has a key that exists, and is
/// not left of all that some row of the batch sees, is a page of the pool.
mlir::LogicalResult checkEntries(PagedOp paged, AttentionOp attention,
                                 const Environment &environment,
                                 const reference::AttentionOptions &options);

/// Checks that there are new rows for the pools' heads and one for each slot,
/// that slots are -1 or rows of the pools, and no two of them one row.
mlir::LogicalResult checkSlots(AppendOp append, const Environment &environment);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_MASKCHECKS_H
