//===- RowChains.h - Rows that change before an attention -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries and keys that are turned or normalised are computed by a kernel in
// front of the attention's, which reads them from a workspace; queries where
// their tile is, if the schedule says so. The kernel that appends rows to a
// cache changes them on the way. Ops in a row are computed at once.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWCHAINS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWCHAINS_H

#include "Kernel/KernelOperands.h"

#include "attn/Dialect/Attn/IR/RowOps.h"

namespace attn {

/// The end of the chain that `step` changes its query tiles by, where they are;
/// null if a kernel in front has done so, or nothing changes.
mlir::Operation *getFusedRows(OnlineAttentionOp step);

/// Adds the ends of the chains that kernels in front of `nest` compute to
/// `ops`, each behind those whose results it reads.
void findRowChains(mlir::Operation *nest,
                   llvm::SetVector<mlir::Operation *> &ops);

/// The ends of the chains that the kernel of a prologue's `op` computes: its
/// own, or those of the rows that it appends.
llvm::SmallVector<mlir::Operation *> getChangedRows(mlir::Operation *op);

/// The workspace of the chain that ends in `last`.
WorkspaceView getRowView(const TiledAttention &attention,
                         mlir::Operation *last);

/// Adds to the operands what the chains read. Fails with a diagnostic where a
/// kernel cannot.
mlir::LogicalResult addRowOperands(TiledAttention &attention);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_ROWCHAINS_H
