//===- ProductRole.h - What the products' thread does -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of --attn-tile-specialize-products: the consumers' role without all but their
// products, for every warpgroup. Private to lib/Dialect/Tile/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_PRODUCTROLE_H
#define LIB_DIALECT_TILE_TRANSFORMS_PRODUCTROLE_H

#include "KeyStream.h"

#include "llvm/ADT/MapVector.h"

namespace attn::tile {

/// For the tile of each product before which warps meet, the barrier that they
/// arrive at instead.
using ReadyBarriers = llvm::MapVector<mlir::Value, mlir::Value>;

/// The tile that a stage, or columns, are a part of.
mlir::Value getWhole(mlir::Value tile);

class ProductRole {
public:
  /// `operands` are the barriers of the tiles that products read.
  ProductRole(RolesOp roles, int64_t warpgroups, const ReadyBarriers &ready,
              llvm::ArrayRef<mlir::Value> operands)
      : consumer(roles.getConsumer()), ready(ready), operands(operands),
        builder(roles.getContext()), warpgroup(roles.getWarpgroup()),
        maps(warpgroups) {}

  /// Builds the role into an empty region. False if it would need to know what
  /// only the consumers compute.
  bool build(mlir::Region &role);

private:
  bool isWanted(mlir::Operation *op) const;
  bool isThere(mlir::Value value, unsigned group) const;
  bool isAvailable(mlir::Operation *op, unsigned group) const;
  bool emitBlock(mlir::Block &block);
  bool emitSteps(llvm::ArrayRef<mlir::Operation *> ops);
  bool emit(mlir::Operation *op, unsigned group, bool canShare);
  bool emitShared(mlir::Operation *op);
  void emitUniform(UniformOp op, unsigned group);
  bool emitBranch(mlir::scf::IfOp branch, unsigned group);
  bool emitLoop(mlir::scf::ForOp loop);
  void waitUntilReady(MmaTensorOp product, unsigned group);
  bool isSame(mlir::Value value) const;
  bool isSameAndThere(mlir::Value value) const {
    return isSame(value) && isThere(value, /*group=*/0);
  }

  mlir::Region &consumer;
  const ReadyBarriers &ready;
  llvm::ArrayRef<mlir::Value> operands;
  mlir::OpBuilder builder;
  mlir::Value warpgroup;
  /// What stands for a value of the consumers, for each warpgroup.
  llvm::SmallVector<mlir::IRMapping> maps;
  mlir::Value parity; ///< of the steps of the loop that is built
};

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_PRODUCTROLE_H
