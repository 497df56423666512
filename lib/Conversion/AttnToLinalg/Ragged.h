//===- Ragged.h - Sequences behind each other, in linalg --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_RAGGED_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_RAGGED_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// A tensor of `type` and `sizes` whose elements `body` yields, by their
/// indices.
mlir::Value
emitElements(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::RankedTensorType type,
             llvm::ArrayRef<mlir::OpFoldResult> sizes,
             llvm::function_ref<void(mlir::OpBuilder &, mlir::Location,
                                     mlir::ValueRange)>
                 body);

/// A copy of what the view shows. A row behind the packed tensor counts as its
/// last.
mlir::Value emitRagged(mlir::OpBuilder &builder, RaggedOp op);

/// Loops over sequences and their rows, which insert each row of all heads.
mlir::Value emitPack(mlir::OpBuilder &builder, PackOp op);

/// The differences of neighbouring offsets.
mlir::Value emitSequenceLengths(mlir::OpBuilder &builder, SequenceLengthsOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_RAGGED_H
