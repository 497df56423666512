//===- LengthBuilder.h - Which keys and rows exist --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the `lengths` clause of an attention means, as arithmetic and as part of
// its mask_mod (docs/Spec.md, attn.attention, "Lengths").
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_LENGTHBUILDER_H
#define ATTN_DIALECT_ATTN_UTILS_LENGTHBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Entry `batch + next` of `offsets`, as an index.
mlir::Value readOffset(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value offsets, mlir::Value batch, int64_t next);

/// The entry of `lengths` of a batch, as an index: of an attn.sequence_lengths
/// from the offsets.
mlir::Value readLength(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value lengths, mlir::Value batch);

/// How many of `capacity` positions of `batch` exist: its entry of `lengths`,
/// but at least 0 and at most `capacity`. All are of type index.
mlir::Value buildLength(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value lengths, mlir::Value batch,
                        mlir::Value capacity);

/// The same of the keys of an attention, which are no more than what there are
/// pages of in the tables of `key` and `value`.
mlir::Value buildKeyLength(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value key, mlir::Value value,
                           mlir::Value lengths, mlir::Value batch,
                           mlir::Value capacity);

/// Makes each attn.length in the regions of `op` for which it has lengths that
/// of batch b.
void resolveLengths(mlir::OpBuilder &builder, AttentionOp op);

/// Lets a mask_mod hide what is behind the length of its batch: the rows, or
/// the keys. Who takes nothing of a hidden pair then need not know of lengths.
void hideBehind(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Region &maskMod, Sequence sequence, mlir::Value lengths);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_LENGTHBUILDER_H
