//===- TensorProducts.h - Products in tensor memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of --attn-tile-specialize-warps, for families whose products are in tensor
// memory: each product of a key loop has a tile there, and a barrier that says
// when it is complete.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_TENSORPRODUCTS_H
#define LIB_DIALECT_TILE_TRANSFORMS_TENSORPRODUCTS_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace attn::tile {

/// True for a fragment that a fill makes zeros.
bool isZero(mlir::Value fragment);

/// The tile in tensor memory whose columns an operand takes the place of; any
/// other tile itself.
mlir::Value getPlace(mlir::Value tile);

/// True if consumers read or write `tile` in `op`, or what takes its place.
bool touchesPlace(mlir::Operation *op, mlir::Value tile);

class TensorProducts {
public:
  /// Makes tiles and barriers for the products of the kernel's loops, which all
  /// of them have in one order; appends the barriers. Fails where tensor memory
  /// is too small.
  mlir::LogicalResult create(mlir::OpBuilder &builder, KernelOp kernel,
                             llvm::ArrayRef<mlir::scf::ForOp> loops,
                             mlir::SmallVectorImpl<mlir::Value> &barriers);
  /// Replaces the products of a loop. `parity` is that of the phases in which
  /// its step completes them.
  void convert(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
               mlir::Value warpgroup, mlir::Value parity);
  /// Reads the sums behind the last loop, and gives the tiles back at the end
  /// of the warpgroup's role.
  void finish(mlir::OpBuilder &builder, mlir::Value warpgroup);

private:
  struct Product {
    mlir::Value tile;
    mlir::Value barrier; ///< null if a later product's says it
    FragmentType stored; ///< A, if it is a fragment
    /// Where it goes: the tile of that product, or one of its own.
    std::optional<unsigned> place;
    mlir::Value operand;
    bool isSum = false; ///< over the steps of all loops, in its tile
    bool meets = false; ///< the warps meet before it
  };
  std::optional<unsigned> findPlace(llvm::ArrayRef<MmaOp> ops);
  void describe(llvm::ArrayRef<mlir::scf::ForOp> loops);
  void chooseMeetings();
  mlir::Value storeOperand(mlir::OpBuilder &builder, mlir::Value fragment,
                           const Product &product, mlir::Value warpgroup);
  MbarrierWaitOp convert(mlir::OpBuilder &builder, MmaOp op,
                         const Product &product, mlir::Value warpgroup,
                         mlir::Value parity, MbarrierWaitOp waitBefore);

  AllocTensorsOp alloc;
  mlir::SmallVector<Product> products;
  mlir::scf::ForOp last; ///< of the loops that are converted
  /// Of the sums, with the numbers of `last`'s results.
  mlir::SmallVector<std::pair<mlir::Value, unsigned>> sums;
};

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_TENSORPRODUCTS_H
