//===- Prologue.h - Kernels before those of an attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.create_block_mask and attn.key_bounds read data that only the device
// has: kernels of their own write their results to workspaces, from which the
// kernels of the attention read them. attn.device_assert only looks at it, and
// attn.append writes to a cache that the attention reads.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_PROLOGUE_H
#define LIB_CONVERSION_ATTNTOTILE_PROLOGUE_H

#include "KernelOperands.h"

namespace attn {

class LaunchProgram;

/// Warps of a CTA of these kernels.
inline constexpr int64_t kPrologueWarps = 4;

/// CTAs of a kernel that checks data, each at points as far apart as there are
/// threads.
inline constexpr int64_t kAssertCtas = 32;

/// The name of prologue op `number`'s own kernel or workspace: that of the
/// first op has no number.
inline std::string getPrologueName(const llvm::Twine &name, unsigned number) {
  return (name + (number ? llvm::Twine(number) : llvm::Twine())).str();
}

/// True for an op whose results a prologue computes; `op` may be null.
bool isPrologueOp(mlir::Operation *op);

/// Row tiles in order, those with the most keys first: the tiles of one batch,
/// or where batches see different keys those of all of them, one batch after
/// the other. Read by CTAs that take a tile each, of the same number for all
/// heads.
struct TileOrder {
  unsigned prologue; ///< number of the op that has the keys of each tile
  bool isOfBatches;
};

/// The order that an attention's grid follows, if a prologue makes one.
std::optional<TileOrder> getTileOrder(const TiledAttention &attention);

/// Finds what the loops of an attention, in one or several nests, read of such
/// ops.
void findPrologue(TiledAttention &attention,
                  llvm::ArrayRef<mlir::scf::ForallOp> nests);

/// Adds the kernels and the workspaces to what is launched for the kernels
/// called `name`.
void addPrologue(LaunchProgram &program, const TiledAttention &attention,
                 llvm::StringRef name);

/// Builds the kernel called `name` that appends rows to pools, prologue op
/// `number`.
mlir::LogicalResult buildAppendKernel(mlir::OpBuilder &builder,
                                      TiledAttention &attention, AppendOp op,
                                      llvm::StringRef name);

/// Builds the kernel called `name` of a check.
mlir::LogicalResult buildAssertKernel(mlir::OpBuilder &builder,
                                      TiledAttention &attention,
                                      DeviceAssertOp op, llvm::StringRef name);

/// Builds the kernels.
mlir::LogicalResult buildPrologueKernels(mlir::OpBuilder &builder,
                                         TiledAttention &attention,
                                         llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_PROLOGUE_H
