//===- CombineKernel.h - The kernel that combines states --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_FORWARD_COMBINEKERNEL_H
#define LIB_CONVERSION_ATTNTOTILE_FORWARD_COMBINEKERNEL_H

#include "Kernel/KernelOperands.h"

namespace attn {

/// Warps of a CTA, each of which combines a row.
inline constexpr int64_t kCombineWarps = 4;

/// Builds the kernel that computes the outputs of `attention` from the states
/// of its splits. Grid: x = B * Hq * M rows, kCombineWarps a CTA.
mlir::LogicalResult buildCombineKernel(mlir::OpBuilder &builder,
                                       TiledAttention &attention,
                                       llvm::StringRef name);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_FORWARD_COMBINEKERNEL_H
