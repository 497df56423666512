//===- LookupBuilder.h - Searches in sorted tensors -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.segment and attn.block_listed as loops that halve what is left. The
// caller says how an entry is read: from a tensor, or from memory.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_LOOKUPBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_LOOKUPBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace attn {

/// Reads the entry at a position. Positions and entries have the type of the
/// numbers that the search is given: index, i32 or i64.
using EntryReader = llvm::function_ref<mlir::Value(mlir::OpBuilder &builder,
                                                   mlir::Value position)>;

/// How many of `count` entries, which ascend or stay, are at most `number`.
mlir::Value buildCountAtMost(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value count, mlir::Value number,
                             EntryReader read);

/// attn.segment: `entries` is the size of the offsets.
mlir::Value buildSegment(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value entries, mlir::Value position,
                         EntryReader read);

/// attn.block_listed, i1: `count` is the number of listed blocks.
mlir::Value buildBlockListed(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value count, mlir::Value block,
                             EntryReader read);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_LOOKUPBUILDER_H
