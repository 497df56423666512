//===- BlockLists.h - Lists of key tiles for each row tile ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where sizes are constant and closed expressions would visit tiles that hold
// no visible pair, a table of the visible tiles. Private to
// lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H
#define LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H

#include "attn/Analysis/KeyRanges.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include <optional>

namespace attn {

/// One table of integers: for each row tile a header, then the lists.
struct BlockLists {
  /// The header of row tile r, from entry r * kHeader on: where its list begins
  /// in the table, and at which count of keys its full tiles, its partial tiles
  /// and its ragged tile end. The list has the first key of each.
  enum Header { kBegin, kFullEnd, kPartialEnd, kRaggedEnd, kHeader };

  std::vector<int32_t> table;
};

/// What is known of the tiles of a mask when the kernel is compiled.
struct StaticTiles {
  /// The ranges of keys are as good as it gets.
  bool rangesSuffice = false;
  /// The tiles, where they leave out some that ranges would visit, or hold more
  /// full ones.
  std::optional<BlockLists> lists;
};

/// The tiles of a step over all `keys` keys, compared with at most `mostRanges`
/// ranges of keys.
StaticTiles findStaticTiles(OnlineAttentionOp step, const MaskAnalysis &mask,
                            mlir::OpFoldResult rows, mlir::OpFoldResult keys,
                            unsigned mostRanges);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_BLOCKLISTS_H
