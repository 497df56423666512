//===- BackwardSmallCache.h - Small-cache kernels of a backward -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The small-cache backward (docs/Rationale/Backward.md): P and dS of a chunk of
// rows go through a workspace, and each gradient is a matrix product over it.
// Row tiles are numbered over batch, head and row, rows fastest; a round takes
// whole groups of heads that share a key head, or a part of one. Then dK and dV
// of that group go from round to round in f32.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSMALLCACHE_H
#define LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSMALLCACHE_H

#include "Backward/TiledBackward.h"

namespace attn {

/// What the kernels of a small-cache backward know of its schedule.
struct BackwardChunks {
  explicit BackwardChunks(BackwardNest &queries);

  int64_t tileM, tileN;
  int64_t slice;              ///< columns of Q, K, dO and V at once
  int64_t columns;            ///< of a gradient that a CTA has, at most
  int64_t rowWarps, keyWarps; ///< of kernels whose tiles of rows, keys stay
  int64_t chunkTiles;         ///< row tiles of a round
  int64_t headDim, valueDim;

  /// Columns that a CTA has of a gradient of `dim` columns, and how many such.
  int64_t getColumns(int64_t dim) const {
    return std::min<int64_t>(columns, llvm::alignTo(dim, 16));
  }
  int64_t getSlices(int64_t dim) const {
    return llvm::divideCeil(dim, getColumns(dim));
  }
};

/// The kernels of a program after the prologue, in order, and its own views.
namespace small_cache {
enum Kernel {
  kRowValues,
  kScores,
  kQueryGradient,
  kKeyGradient,
  kValueGradient
};
/// P and dS [B, Hq, M, N] as the kernels address them; sums of one key head
/// [N, D] and [N, Dv], with whole tiles.
enum Workspace { kLse, kDelta, kProbabilities, kDScores, kKeySums, kValueSums };
inline constexpr unsigned kNumKernels = 5;
} // namespace small_cache

/// An error where a kernel cannot have the schedule.
mlir::LogicalResult checkBackwardChunks(BackwardNest &queries);

/// Builds the program: rounds of the small cache's kernels.
void buildSmallCacheProgram(mlir::OpBuilder &builder, TiledBackward &backward,
                            llvm::StringRef name);

/// Builds the kernels; returns their number.
mlir::FailureOr<int64_t> buildSmallCacheBackward(mlir::OpBuilder &builder,
                                                 TiledBackward &backward,
                                                 llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_BACKWARD_BACKWARDSMALLCACHE_H
