//===- LinearAttention.h - Kernels of linear attention ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.linear_attention has no tiled form: its one kernel walks the chunks of a
// head, and one before it sums up the log decays. Where all rows see all keys
// one kernel adds up the state, and another one multiplies the rows by it.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_LINEAR_LINEARATTENTION_H
#define LIB_CONVERSION_ATTNTOTILE_LINEAR_LINEARATTENTION_H

#include "Kernel/KernelOperands.h"

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Schedule/Schedule.h"

#include "mlir/IR/IRMapping.h"

namespace attn {

/// Warps of a CTA of the kernel that sums up decays; each takes a chunk.
inline constexpr int64_t kDecayWarps = 4;

/// A linear attention and what its kernels share.
struct LinearKernels {
  LinearAttentionOp op;
  Schedule schedule;
  llvm::SmallVector<KernelOperand> operands;
  /// What one kernel writes for the next one: log2(e) times the sum of the log
  /// decays of a chunk up to a position, [B, Hq, M up to a whole chunk], or,
  /// where all rows see all keys, the state as a factor, [B, Hq, D, Dv].
  std::optional<WorkspaceView> workspace;
  int64_t stateRows; ///< D as the kernel holds it

  int64_t getChunk() const { return schedule.tileM; }
  int64_t getColumns() const { return schedule.tileDv; }
  int64_t getSlices() const;

  /// Makes a kernel of `warps` with the operands and the workspace as
  /// parameters, to which `values` maps them, and sets the builder to its body.
  /// Returns the workspace, null without one.
  mlir::Value beginKernel(mlir::OpBuilder &builder, llvm::StringRef name,
                          int64_t warps, mlir::IRMapping &values) const;
};

/// The kernel that walks the chunks.
void buildChunkKernel(mlir::OpBuilder &builder, const LinearKernels &kernels,
                      llvm::StringRef name);
/// The kernel of the state of all keys, and that of all rows.
void buildStateKernel(mlir::OpBuilder &builder, const LinearKernels &kernels,
                      llvm::StringRef name);
void buildRowKernel(mlir::OpBuilder &builder, const LinearKernels &kernels,
                    llvm::StringRef name);
/// The sums of log decays.
void buildDecayKernel(mlir::OpBuilder &builder, const LinearKernels &kernels,
                      llvm::StringRef name);

/// Makes the kernels and the program of the linear attention of a function;
/// returns the number of kernels.
mlir::FailureOr<int64_t> buildLinearKernels(mlir::OpBuilder &builder,
                                            mlir::Operation *function,
                                            llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_LINEAR_LINEARATTENTION_H
