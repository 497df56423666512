//===- BackwardScores.h - Kernels of gradients of scores --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients of a bias, of captured tensors and of a sink, as kernels beside
// those of a backward. A kernel of tiles writes a tile of the gradient in each
// CTA; a kernel of vectors leaves a number for each row or key, which a kernel
// of sums adds up; a kernel that scatters adds to exact sums in memory, which
// one before it makes 0 and one behind it rounds. Private to
// lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSCORES_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSCORES_H

#include "Backward/TiledBackward.h"

namespace attn {

/// Moves the nests of gradients of scores out of `backward.nests`, and finds
/// the sums of `function`.
void takeScoreNests(TiledBackward &backward, mlir::Operation *function);

/// Emits an error for what the GPU cannot do.
mlir::LogicalResult checkScores(TiledBackward &backward);

/// Adds the gradients to the operands, and the sink if its own is wanted.
void addScoreOperands(TiledAttention &attention, TiledBackward &backward);

/// Adds the kernels and the vectors between them. They begin with `name`.
void addScoreKernels(LaunchProgram &program, TiledBackward &backward,
                     llvm::StringRef name);

/// Builds all of the kernels.
mlir::LogicalResult buildScoreKernels(mlir::OpBuilder &builder,
                                      TiledBackward &backward);

/// Builds the kernels before and behind one that scatters; else nothing.
mlir::LogicalResult buildClearingKernel(mlir::OpBuilder &builder,
                                        TiledBackward &backward,
                                        ScoreNest &nest);
mlir::LogicalResult buildSumRoundingKernel(mlir::OpBuilder &builder,
                                           TiledBackward &backward,
                                           ScoreNest &nest);

/// Builds one of sums.
mlir::LogicalResult buildSumKernel(mlir::OpBuilder &builder,
                                   TiledBackward &backward, SumKernel &sum);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSCORES_H
