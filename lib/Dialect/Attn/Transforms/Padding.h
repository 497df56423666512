//===- Padding.h - Static shapes for ragged tiles ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pads tiles, and makes regions take no notice of what is padded. Private to
// lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_PADDING_H
#define LIB_DIALECT_ATTN_TRANSFORMS_PADDING_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// `tile` with `padding` behind its dynamic dimensions, which become
/// `sizes[dim]`.
mlir::Value pad(mlir::OpBuilder &builder, mlir::Value tile,
                llvm::ArrayRef<int64_t> sizes, double padding = 0);

/// A tile [1, 1, rows, columns] that is 0 in place of the first `count` rows of
/// `tile`, which are not read.
mlir::Value replaceFirstRows(mlir::OpBuilder &builder, mlir::Value tile,
                             mlir::Value count);

/// Unless `region` is defined everywhere, makes it see the last valid position
/// along `loop` (Loop) in place of those from `end` on, so that it reads its
/// captured tensors in range. Returns the position it was given.
mlir::Value clampPosition(mlir::Region &region, unsigned loop, mlir::Value end);

/// The same at the other end: makes `region` see `first` in place of the
/// positions before it.
mlir::Value clampFirstPosition(mlir::Region &region, unsigned loop,
                               mlir::Value first);

/// Masks the positions along `loop` (Loop) from `end` on; fills `maskMod` if it
/// is empty.
void maskPadded(mlir::Region &maskMod, unsigned loop, mlir::Value end);

/// Masks the positions along `loop` (Loop) before `first`, none of which
/// `maskMod` lets see, if it would look there at entries of a table.
void maskBefore(mlir::Region &maskMod, unsigned loop, mlir::Value first);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_PADDING_H
