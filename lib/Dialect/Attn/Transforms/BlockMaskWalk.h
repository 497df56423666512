//===- BlockMaskWalk.h - Loops over listed blocks ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Key tiles from lists in tensors: those that a mask looks into by
// attn.block_listed, or those that attn.create_block_mask makes. Private to
// lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_BLOCKMASKWALK_H
#define LIB_DIALECT_ATTN_TRANSFORMS_BLOCKMASKWALK_H

#include "KeyWalk.h"

namespace attn {

/// Lists of blocks whose union a mask sees at most, none of which overlap.
struct ListedBlocks {
  struct List {
    mlir::Value numBlocks, indices;
    bool isFull; ///< every pair in its blocks is visible
    /// The mask within its blocks; null for that of the step.
    std::shared_ptr<mlir::Region> maskMod;
  };

  int64_t rows = 0, keys = 0; ///< of a block
  llvm::SmallVector<List, 2> lists;
};

/// The lists that the mask of a step looks into, if it is false outside of them
/// and their blocks are made of whole tiles.
std::optional<ListedBlocks> findListedBlocks(OnlineAttentionOp step);

/// Lists of the tiles of a step, made before the loop over its row tiles.
ListedBlocks createBlockLists(OnlineAttentionOp step, mlir::OpFoldResult keys);

/// Walks the tiles of listed blocks.
void walkListedBlocks(mlir::OpBuilder &builder, UnsplitLoops loops,
                      const ListedBlocks &blocks);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_BLOCKMASKWALK_H
