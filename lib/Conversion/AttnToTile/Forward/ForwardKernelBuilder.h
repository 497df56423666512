//===- ForwardKernelBuilder.h - Builds the kernel of a forward --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ForwardGrid.cpp, which finds the tile of a CTA, and ForwardKernel.cpp,
// which computes it, have in common.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_FORWARD_FORWARDKERNELBUILDER_H
#define LIB_CONVERSION_ATTNTOTILE_FORWARD_FORWARDKERNELBUILDER_H

#include "Forward/OnlineStep.h"
#include "Kernel/KernelScope.h"
#include "Kernel/Prologue.h"

namespace attn {

/// Builds the kernel of one tiled attention.
class ForwardKernelBuilder : KernelScope {
public:
  ForwardKernelBuilder(mlir::OpBuilder &builder, TiledAttention &attention)
      : KernelScope(builder, attention) {}

  mlir::LogicalResult build(llvm::StringRef name);

private:
  void addWorkspaces(tile::KernelOp kernel);
  mlir::FailureOr<mlir::Value> takeSplit(mlir::Value number);
  void mapTile(mlir::Value tile, mlir::Value head, mlir::Value batch);
  void exitUnlessNeeded();
  void takeTables();
  void takeSequences();
  void takePartials(mlir::Value packed, mlir::Value first, mlir::Value rows);
  mlir::Value takeSequence(mlir::Value packed, mlir::Value first,
                           mlir::Value rows);
  void exitBehind(mlir::Value rows);
  template <typename OpTy>
  mlir::Value create(mlir::Value a, mlir::Value b) {
    return OpTy::create(builder, attention.forall.getLoc(), a, b);
  }
  mlir::LogicalResult mapOrderedGrid(TileOrder order);
  mlir::LogicalResult mapGrid();
  mlir::LogicalResult mapPersistentGrid();
  mlir::Value walkInTurns(mlir::Value total);
  mlir::LogicalResult mapPlannedGrid();
  mlir::LogicalResult checkGrid();
  /// Sets the builder to where a tile is computed.
  mlir::LogicalResult takeTiles();
  void takeColumns();
  mlir::LogicalResult checkSharing();
  int64_t getWarpColumns() {
    return attention.getTileDv() / attention.getSharing();
  }
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult convertStep(OnlineAttentionOp step);
  /// The keys of a tile that are read: those before `end`, all if it is null,
  /// from `first` on, 0 if it is null.
  struct KeyRows {
    mlir::Value end, first;
  };
  mlir::FailureOr<KeyRows> getKeyRows(OnlineAttentionOp step);
  mlir::FailureOr<mlir::Value> loadValue(OnlineAttentionOp step,
                                         mlir::Value key, const KeyRows &keys);
  mlir::FailureOr<mlir::Value> loadKeys(mlir::Value slice, int64_t cols,
                                        mlir::Value column,
                                        const KeyRows &keys);
  mlir::LogicalResult convertNormalize(NormalizeOp op);
  mlir::LogicalResult convertOutputMod(OutputModOp op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> getPlace();
  void storeTile(mlir::Value tile, mlir::Value tensor,
                 llvm::SmallVector<mlir::Value> place);
  mlir::LogicalResult convertStores(mlir::scf::InParallelOp op);
  mlir::FailureOr<QueryTile> getQuery();
  QueryTile narrowQuery(mlir::Value tile);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  getFragments(mlir::Operation *user, mlir::ValueRange state);
  void setState(mlir::ValueRange results, mlir::ValueRange fragments);

  QueryTile query;
  /// Of this CTA's slice of V and O, null without dv-split; of this warp's
  /// columns of that, null where it has all columns of O.
  mlir::Value firstColumn, warpColumn;
  mlir::Value split; ///< of the keys; null if there is one
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_FORWARD_FORWARDKERNELBUILDER_H
