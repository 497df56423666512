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

namespace attn::tile {

class TensorProducts {
public:
  /// Makes tiles and barriers for the products of `loop`, which all loops of
  /// the kernel have in this order; appends the barriers. Fails where tensor
  /// memory is too small.
  mlir::LogicalResult create(mlir::OpBuilder &builder, KernelOp kernel,
                             mlir::scf::ForOp loop,
                             mlir::SmallVectorImpl<mlir::Value> &barriers);
  /// Replaces the products of a loop. `parity` is that of the phases in which
  /// its step completes them.
  void convert(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
               mlir::Value warpgroup, mlir::Value parity);
  /// Gives the tiles back.
  void free(mlir::OpBuilder &builder, mlir::Location loc);

private:
  struct Product {
    mlir::Value operand; ///< where A goes; null if it is in shared memory
    mlir::Value tile, barrier;
    bool meets = false; ///< the warps meet before it
  };
  void chooseMeetings();
  void convert(mlir::OpBuilder &builder, MmaOp op, const Product &product,
               mlir::Value warpgroup, mlir::Value parity);

  AllocTensorsOp alloc;
  mlir::SmallVector<Product> products;
};

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_TENSORPRODUCTS_H
