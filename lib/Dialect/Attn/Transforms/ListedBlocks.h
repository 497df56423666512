//===- ListedBlocks.h - Key tiles from lists in tensors ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lists that a mask looks into by attn.block_listed, or those that
// attn.create_block_mask makes. Private to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_LISTEDBLOCKS_H
#define LIB_DIALECT_ATTN_TRANSFORMS_LISTEDBLOCKS_H

#include "MaskedTile.h"
#include "attn/Analysis/IndexMath.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include <optional>

namespace attn {

/// Lists of blocks whose union a mask sees at most, none of which overlap.
struct ListedBlocks {
  struct List {
    mlir::Value numBlocks, indices;
    bool isFull; ///< every pair in its blocks is visible
    /// Which attn.block_listed of the mask it is of, if of one.
    std::optional<unsigned> number;
  };

  int64_t rows = 0, keys = 0; ///< of a block
  llvm::SmallVector<List, 2> lists;
};

/// The lists that the mask of a tile looks into, if it is false outside of them
/// and their blocks are made of whole tiles.
std::optional<ListedBlocks> findListedBlocks(const MaskedTile &tile);

/// True if looking at all pairs may find tiles to skip that nothing else does.
bool isWorthListing(const MaskedTile &tile);

/// Lists of the tiles of a nest, made before it.
ListedBlocks createBlockLists(const MaskedTile &tile);

/// An attn.create_block_mask before the nest, whose pairs are (tile of rows,
/// tile of keys); its region is empty.
CreateBlockMaskOp createListsOfTiles(const MaskedTile &tile);

/// Makes a mask one of the blocks that attn.block_listed number `present` has,
/// and no other.
void specializeMask(mlir::Region &maskMod, unsigned present);

/// Reads a list at the rows of a tile.
class ListReader {
public:
  ListReader(mlir::OpBuilder &builder, const MaskedTile &tile,
             const ListedBlocks &mask, const ListedBlocks::List &list);

  /// The keys in the listed blocks, which the end of all keys may cut.
  mlir::OpFoldResult getLength(mlir::OpBuilder &builder) const;
  /// The same as if nothing were cut.
  mlir::OpFoldResult getPaddedLength(mlir::OpBuilder &builder) const;
  /// The first key of the tile that is `offset` keys into the list.
  mlir::OpFoldResult getKey(mlir::OpBuilder &builder,
                            mlir::OpFoldResult offset) const;

private:
  mlir::Value toValue(mlir::OpBuilder &builder,
                      mlir::OpFoldResult number) const;
  mlir::OpFoldResult read(mlir::OpBuilder &builder, mlir::Value tensor,
                          llvm::ArrayRef<mlir::Value> indices) const;
  mlir::OpFoldResult readIndex(mlir::OpBuilder &builder,
                               mlir::OpFoldResult slot) const;

  mlir::Location loc;
  int64_t block, tile;
  mlir::OpFoldResult keys;
  ListedBlocks::List list;
  llvm::SmallVector<mlir::Value> at; ///< batch, head, row block
  mlir::Value lastSlot;
};

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_LISTEDBLOCKS_H
