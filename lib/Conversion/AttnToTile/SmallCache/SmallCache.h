//===- SmallCache.h - The kernels of the small-cache schedule -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The small-cache schedule (docs/CostModel.md): two kernels for each chunk of
// row tiles, which meet in a workspace that holds the chunk's scores.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_SMALLCACHE_SMALLCACHE_H
#define LIB_CONVERSION_ATTNTOTILE_SMALLCACHE_SMALLCACHE_H

#include "Launch/LaunchProgram.h"

namespace attn {

/// Builds NAME_scores and NAME_output at the insertion point, and the program
/// that launches them.
mlir::LogicalResult buildSmallCacheKernels(mlir::OpBuilder &builder,
                                           TiledAttention &attention,
                                           llvm::StringRef name);

/// The launches: rounds, one for each chunk, of the two kernels; and the
/// workspaces, a chunk's window of the tensors that the kernels see:
/// "scores" [B, Hq, M, N] and "statistics" [B, Hq, 2 key tiles, M].
LaunchProgram getSmallCacheProgram(mlir::OpBuilder &builder,
                                   TiledAttention &attention,
                                   llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_SMALLCACHE_SMALLCACHE_H
