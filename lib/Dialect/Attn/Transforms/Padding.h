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

/// Unless `region` is defined everywhere, makes it see the last valid position
/// along `loop` (Loop) in place of those from `end` on, so that it reads its
/// captured tensors in range. Returns the position it was given.
mlir::Value clampPosition(mlir::Region &region, unsigned loop, mlir::Value end);

/// Masks the positions along `loop` (Loop) from `end` on; fills `maskMod` if it
/// is empty.
void maskPadded(mlir::Region &maskMod, unsigned loop, mlir::Value end);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_PADDING_H
