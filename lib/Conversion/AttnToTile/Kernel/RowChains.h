//===- RowChains.h - Rows that change before an attention -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries and keys that are turned or normalised are computed by a kernel in
// front of the attention's, which reads them from a workspace. Ops in a row
// make one kernel, in which a warp has a row in registers.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWCHAINS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWCHAINS_H

#include "Kernel/KernelOperands.h"

#include "attn/Dialect/Attn/IR/RowOps.h"

namespace attn {

/// The ops that one kernel computes, the last behind the others.
struct RowChain {
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Value source; ///< of the first

  /// The longest chain that ends in `last`. The columns that two rotations turn
  /// are in the same pairs, or others: a lane has both columns of a pair.
  static RowChain get(mlir::Operation *last);
};

/// Adds the ends of the chains that tiles of `nest` are slices of to `ops`,
/// each behind those whose results it reads.
void findRowChains(mlir::Operation *nest,
                   llvm::SetVector<mlir::Operation *> &ops);

/// The workspace of the chain that ends in `last`.
WorkspaceView getRowView(const TiledAttention &attention,
                         mlir::Operation *last);

/// Adds to the operands what the chains of the prologue read. Fails with a
/// diagnostic where a kernel cannot.
mlir::LogicalResult addRowOperands(TiledAttention &attention);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWCHAINS_H
