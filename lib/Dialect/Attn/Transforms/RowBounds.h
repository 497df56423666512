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

#include "ListedBlocks.h"
#include "attn/Analysis/KeyRanges.h"

#include <optional>

namespace attn {

/// True if bands say all there is to know of their mask.
bool areExact(llvm::ArrayRef<MaskBand> bands);

/// What a tile of rows sees, read at `builder`, if bounds of at most
/// `mostRanges` bands say it all and some of them depend on the row in a way
/// that only looking at each row tells.
std::optional<KeyVisibility> computeRowVisibility(mlir::OpBuilder &builder,
                                                  const MaskedTile &tile,
                                                  const MaskAnalysis &mask,
                                                  unsigned mostRanges);

/// Lists of the tiles of rows that each tile of keys visits, by the bounds on
/// the keys of each tile of rows: cheaper than looking at all pairs. In `tile`
/// keys are rows and rows keys; `maskMod` and `mask` are not exchanged. Nothing
/// where computeRowVisibility says nothing.
std::optional<ListedBlocks> createListsOfBounds(const MaskedTile &tile,
                                                mlir::Region &maskMod,
                                                const MaskAnalysis &mask,
                                                unsigned mostRanges);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_ROWBOUNDS_H
