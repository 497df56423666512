//===- BackwardKernelBuilder.h - A kernel of the backward pass --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDKERNELBUILDER_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDKERNELBUILDER_H

#include "Backward/BackwardStep.h"
#include "Backward/Float8Factors.h"
#include "Backward/TiledBackward.h"
#include "Kernel/KernelScope.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attn {

/// Builds one of the kernels.
class BackwardKernelBuilder : KernelScope {
public:
  BackwardKernelBuilder(mlir::OpBuilder &builder, TiledBackward &backward,
                        BackwardNest &nest)
      : KernelScope(builder, nest.attention), backward(backward), nest(nest),
        loc(attention.forall.getLoc()) {}

  mlir::LogicalResult build();

private:
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  mlir::LogicalResult convertLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult convertKeyLoop(mlir::scf::ForOp loop);
  void convertInsert(mlir::tensor::InsertSliceOp insert);
  mlir::LogicalResult convertSlice(mlir::tensor::ExtractSliceOp slice);
  mlir::LogicalResult convertStep(BackwardStepOp step);
  mlir::Value createQueryGradient(mlir::Value scoreGradient, mlir::Value key);
  mlir::Value addProduct(mlir::Value sums, mlir::Value a, mlir::Value b);
  void addMaxima(BackwardStepOp step, mlir::Value scoreGradient);
  mlir::FailureOr<mlir::Value> loadFactor(mlir::Value tile);
  mlir::FailureOr<mlir::Value> loadGradientFactor(mlir::Value tile,
                                                  mlir::Value whole);
  void onlyInFirstSlice(llvm::function_ref<void()> body);
  mlir::Value getTiledPosition();
  bool streamsTilesOfCluster();
  void mapGrid();
  mlir::FailureOr<mlir::Value> loadRowValues(mlir::Value tile,
                                             mlir::Value workspace);
  mlir::FailureOr<BackwardTiles> loadTiles(BackwardStepOp step);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> getIndices(mlir::Value tile);
  void convertDelta(BackwardDeltaOp op);
  void convertFill(mlir::linalg::FillOp fill);
  mlir::LogicalResult convertStores(mlir::scf::InParallelOp op);
  mlir::LogicalResult convertStore(mlir::tensor::ParallelInsertSliceOp insert);
  mlir::Value getFactorOf(mlir::Value gradient);
  void storeMaxima(mlir::Value maxima, mlir::Value destination,
                   mlir::ValueRange at);
  llvm::SmallVector<mlir::Value> lookupAll(mlir::ValueRange outside) {
    return llvm::map_to_vector(outside,
                               [&](mlir::Value v) { return values.lookup(v); });
  }

  TiledBackward &backward;
  BackwardNest &nest;
  mlir::Location loc;
  /// lse and delta, which the first kernel writes, and what of them belongs to
  /// its rows.
  RowValues workspaces, rowValues;
  mlir::Value firstColumn; ///< of the gradient that the CTA has; null for all
  mlir::Value position;    ///< of the tile that stays: its first row or key
  mlir::Value sums;        ///< of dQ, in a fused kernel
  Float8Factors factors;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDKERNELBUILDER_H
