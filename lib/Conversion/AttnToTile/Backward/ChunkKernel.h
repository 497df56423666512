//===- ChunkKernel.h - Kernels of a small-cache backward --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernels of a small-cache backward share: parameters, row tiles, and
// which tiles there are. Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_CHUNKKERNEL_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_CHUNKKERNEL_H

#include "Backward/BackwardSmallCache.h"
#include "Kernel/KernelScope.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

namespace attn {

/// Positions that a nest visits: the bounds of its loops, of which each begins
/// where the one before ends.
struct Bounds {
  mlir::Value lower, upper;
};

/// What the kernels share: parameters, row tiles, bounds.
class ChunkKernelBuilder : protected KernelScope {
public:
  ChunkKernelBuilder(mlir::OpBuilder &builder, TiledBackward &backward,
                     BackwardNest &nest, small_cache::Kernel number)
      : KernelScope(builder, nest.attention), backward(backward), nest(nest),
        queries(backward.nests.front()), number(number), chunks(queries),
        loc(attention.forall.getLoc()) {}

protected:
  mlir::LogicalResult begin();
  void mapRowTile();
  mlir::FailureOr<Bounds> buildBounds(BackwardNest &of, mlir::ValueRange at);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> getIndices(mlir::Value tile);
  llvm::SmallVector<mlir::Value> getTileIndices() {
    return llvm::map_to_vector(
        attention.forall.getInductionVars(),
        [&](mlir::Value iv) { return values.lookup(iv); });
  }
  mlir::Value getTensor(mlir::Value tile) {
    return values.lookup(getSource(tile));
  }

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  template <typename OpTy>
  mlir::Value compute(mlir::Value a, mlir::Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  /// `n` in tiles of `tile`, rounded up.
  mlir::Value countTiles(mlir::Value n, int64_t tile) {
    n = compute<mlir::arith::AddIOp>(n, constant(tile - 1));
    return compute<mlir::arith::DivUIOp>(n, constant(tile));
  }
  mlir::Value getRows() {
    return tile::DimOp::create(
        builder, loc, getTensor(queries.steps.front().getQuery()), kSequence);
  }

  TiledBackward &backward;
  BackwardNest &nest, &queries;
  small_cache::Kernel number;
  BackwardChunks chunks;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> workspaces; ///< by small_cache::Workspace
  mlir::Value firstTile;                     ///< of the round
};

/// The kernels that multiply P and dS with the other operands.
mlir::LogicalResult buildQueryGradientKernel(mlir::OpBuilder &builder,
                                             TiledBackward &backward);
mlir::LogicalResult buildKeyGradientKernel(mlir::OpBuilder &builder,
                                           TiledBackward &backward,
                                           small_cache::Kernel number);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_CHUNKKERNEL_H
