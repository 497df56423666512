//===- MergeKernel.h - The kernel that merges partial results ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H
#define LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H

#include "KernelOperands.h"

namespace attn {

/// Warps of a CTA, each of which merges a row.
inline constexpr int64_t kMergeWarps = 4;

/// Builds the kernel that computes the outputs of `attention` from the partial
/// results of its splits. Grid: x = B * Hq * M rows, kMergeWarps a CTA.
mlir::LogicalResult buildMergeKernel(mlir::OpBuilder &builder,
                                     TiledAttention &attention,
                                     llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_MERGEKERNEL_H
