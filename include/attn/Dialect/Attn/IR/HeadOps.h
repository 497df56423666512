//===- HeadOps.h - Which key head serves a query head -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_HEADOPS_H
#define ATTN_DIALECT_ATTN_IR_HEADOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/HeadOps.h.inc"

namespace attn {

/// The entry of `map` for `head`, both of type index; one that is no head of
/// `source` is its last.
mlir::Value readHead(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value map, mlir::Value source, mlir::Value head);

/// The map by which the head of `slice` is read; null if it is not by one.
mlir::Value getHeadMap(mlir::Value slice);

/// The attn.sum_heads that alone reads `gradient`, of a tensor of heads that a
/// map selects of `source`, where it has the sizes of that; null for others.
SumHeadsOp getHeadSum(mlir::Value gradient, mlir::Value source);

/// Makes every slice of one head of an attn.select_heads under `root` one of
/// what that is of, and erases the views that nothing else reads.
void foldSelectedHeads(mlir::Operation *root);

/// Takes grouped-query attention for attentions under `root` whose keys and
/// values are selected by a constant map of equal groups in order.
void foldEqualGroups(mlir::Operation *root);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_HEADOPS_H
