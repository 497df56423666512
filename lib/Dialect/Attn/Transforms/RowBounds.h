//===- RowBounds.h - Ranges of keys that come from data ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the bounds of a mask depend on a row by data, such as the ends of its
// document, attn.key_bounds looks at all rows of a tile. Private to
// lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_ROWBOUNDS_H
#define LIB_DIALECT_ATTN_TRANSFORMS_ROWBOUNDS_H

#include "attn/Analysis/KeyRanges.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include <optional>

namespace attn {

/// What the tile of rows at `builder` sees of `keys` keys, if bounds of at most
/// `mostRanges` bands say it all and some of them depend on the row in a way
/// that only looking at each row tells.
std::optional<KeyVisibility> computeRowVisibility(mlir::OpBuilder &builder,
                                                  OnlineAttentionOp step,
                                                  const MaskAnalysis &mask,
                                                  mlir::OpFoldResult keys,
                                                  unsigned mostRanges);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_ROWBOUNDS_H
