//===- RoleTrace.h - What roles do to barriers ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The sequence of barrier operations, copies and uses of shared memory of each
/// warp of a kernel with roles, for given sizes: the control flow of a kernel
/// is arithmetic on sizes and numbers of CTAs, which is folded.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_TILE_TRANSFORMS_ROLETRACE_H
#define ATTN_LIB_DIALECT_TILE_TRANSFORMS_ROLETRACE_H

#include "BarrierProof.h"
#include "attn/Dialect/Tile/IR/Tile.h"

namespace attn::tile {

/// What a cluster of a launch is told.
struct TracedLaunch {
  int64_t rows = 0;  ///< of every tensor but the second and the third
  int64_t keys = 0;  ///< of the second and the third, the key and the value
  int64_t heads = 1; ///< of the first, the query; others have one
  int64_t block = 0; ///< %ctaid.x of its first CTA
  /// What a vector in memory has at every place, as lengths; none: its index.
  std::optional<int64_t> length = std::nullopt;
  /// CTAs of the launch, which persistent ones share tiles with; none: those of
  /// the cluster, which have all tiles.
  std::optional<int64_t> grid = std::nullopt;
};

/// The protocol of one cluster. An error is at the operation that cannot be
/// followed.
mlir::FailureOr<Protocol> traceRoles(KernelOp kernel,
                                     const TracedLaunch &launch);

} // namespace attn::tile

#endif // ATTN_LIB_DIALECT_TILE_TRANSFORMS_ROLETRACE_H
