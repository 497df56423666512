//===- PrologueKernels.h - Kernels that precede an attention ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of a prologue (Kernel/Prologue.h): their launches and their code.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_LAUNCH_PROLOGUEKERNELS_H
#define LIB_CONVERSION_ATTNTOTILE_LAUNCH_PROLOGUEKERNELS_H

#include "Kernel/Prologue.h"

namespace attn {

class LaunchProgram;

/// Warps of a CTA of these kernels.
inline constexpr int64_t kPrologueWarps = 4;

/// CTAs of a kernel that checks data, each at points as far apart as there are
/// threads.
inline constexpr int64_t kAssertCtas = 32;

/// Adds the kernels and the workspaces to what is launched for the kernels
/// called `name`.
void addPrologue(LaunchProgram &program, const TiledAttention &attention,
                 llvm::StringRef name);

/// Builds the kernel called `name` that appends rows to pools.
mlir::LogicalResult buildAppendKernel(mlir::OpBuilder &builder,
                                      TiledAttention &attention, AppendOp op,
                                      llvm::StringRef name);

/// The operands of the attn.merge of a function without an attention.
mlir::FailureOr<TiledAttention> findMerge(mlir::Operation *function);
/// Adds its kernel.
void addMerge(LaunchProgram &program, llvm::StringRef name);
/// Builds it.
mlir::LogicalResult buildMergeKernel(mlir::OpBuilder &builder,
                                     TiledAttention &attention, MergeOp op,
                                     llvm::StringRef name);

/// Builds the kernel called `name` of the chain that ends in `last`.
mlir::LogicalResult buildRowKernel(mlir::OpBuilder &builder,
                                   TiledAttention &attention,
                                   mlir::Operation *last, llvm::StringRef name);

/// Builds the kernel called `name` of a check.
mlir::LogicalResult buildAssertKernel(mlir::OpBuilder &builder,
                                      TiledAttention &attention,
                                      DeviceAssertOp op, llvm::StringRef name);

/// Builds the kernel called `name` that writes the worklist of the splits.
mlir::LogicalResult buildPlanKernel(mlir::OpBuilder &builder,
                                    TiledAttention &attention,
                                    llvm::StringRef name);

/// Builds the kernels.
mlir::LogicalResult buildPrologueKernels(mlir::OpBuilder &builder,
                                         TiledAttention &attention,
                                         llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_LAUNCH_PROLOGUEKERNELS_H
