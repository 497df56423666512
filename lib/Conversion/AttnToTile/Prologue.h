//===- Prologue.h - Kernels before those of an attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.create_block_mask and attn.key_bounds read data that only the device
// has: kernels of their own write their results to workspaces, from which the
// kernels of the attention read them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_PROLOGUE_H
#define LIB_CONVERSION_ATTNTOTILE_PROLOGUE_H

#include "KernelOperands.h"

namespace attn {

/// Warps of a CTA of these kernels.
inline constexpr int64_t kPrologueWarps = 4;

/// True for an op that a prologue computes; `op` may be null.
bool isPrologueOp(mlir::Operation *op);

/// The rows of a tile that a prologue op looks at, if it also puts the tiles in
/// order, by the keys that they see: where all batches and heads see the same.
std::optional<int64_t> getOrderedTile(mlir::Operation *op);

/// Finds what the loops of an attention read of such ops.
void findPrologue(TiledAttention &attention);

/// Adds the kernels and the workspaces to what is launched for the kernels
/// called `name`.
void addPrologue(LaunchPlan &plan, TiledAttention &attention,
                 llvm::StringRef name);

/// Builds the kernels.
mlir::LogicalResult buildPrologueKernels(mlir::OpBuilder &builder,
                                         TiledAttention &attention,
                                         llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_PROLOGUE_H
