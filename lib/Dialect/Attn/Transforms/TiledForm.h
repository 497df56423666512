//===- TiledForm.h - Pieces of the tiled form -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes that make or change the tiled form (docs/Forms.md) share:
// the initial state, partial states, and its verification. Private
// to lib/Dialect/Attn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_TRANSFORMS_TILEDFORM_H
#define LIB_DIALECT_ATTN_TRANSFORMS_TILEDFORM_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Utils/KeyLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// The size of a tile at `offset` in [0, total): `tile`, or what is left.
mlir::OpFoldResult boundedTile(mlir::OpBuilder &builder, mlir::Location loc,
                               int64_t tile, mlir::OpFoldResult offset,
                               mlir::OpFoldResult total);

/// True if `tile` is known to divide `total`.
bool divides(int64_t tile, mlir::OpFoldResult total);

/// A tensor of the given sizes filled with `value`.
mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         mlir::FloatType type, const llvm::APFloat &value);

/// Replaces each attn.length in `region` by M or N, the sequence dimensions of
/// `query` and `key`.
void replaceLengths(mlir::OpBuilder &builder, mlir::Region &region,
                    mlir::Value query, mlir::Value key);

/// True if what `region` yields can depend on its argument `number`. A list
/// with a dimension of 1 does not depend on the batch (head).
bool dependsOnArgument(mlir::Region &region, unsigned number);

/// The state before the first key: acc = 0 and the neutral row values of
/// `reduction`, with `rows` = [B, Hq, M] rows.
RunningState createInitialState(mlir::OpBuilder &builder, mlir::Location loc,
                                RowReductionInterface reduction,
                                llvm::ArrayRef<mlir::OpFoldResult> rows,
                                mlir::OpFoldResult valueDim,
                                mlir::FloatType scoreType);

/// Erases `op`, which is dead, and whatever it alone used.
void eraseWithProducers(mlir::Operation *op);

/// The values of the state of each split, where `combine` takes stacks of what
/// a nest over (b, h, m, split) gives; none if it takes others.
llvm::SmallVector<mlir::Value> getPartialState(CombineOp combine);

/// Checks what the tiled form says of a step, and of the end of a sequence of
/// key loops; emits an error where it does not hold.
mlir::LogicalResult verifyTiledStep(OnlineAttentionOp step);
mlir::LogicalResult verifyTiledEnd(NormalizeOp normalize);

} // namespace attn

#endif // LIB_DIALECT_ATTN_TRANSFORMS_TILEDFORM_H
